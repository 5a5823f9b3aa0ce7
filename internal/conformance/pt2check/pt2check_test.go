package pt2check

import (
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// register adds the operators of the programs in testdata, which write their arguments, as make.py defines them.
func register() {
	tensor.Register(tensor.Def{
		Schema: "testdata::addm(Tensor(a!) x, Tensor y, int n=2) -> ()",
		Body: func(c *tensor.Ctx) {
			c.T(0).AddInPlace(c.T(1).MulScalar(c.Int(2)))
			c.Return()
		},
	})
	tensor.Register(tensor.Def{
		Schema: "testdata::double(Tensor(a!)[] xs, Tensor y) -> Tensor",
		Body: func(c *tensor.Ctx) {
			for _, x := range c.Tensors(0) {
				x.MulScalarInPlace(2)
			}
			c.Return(c.T(1).Add(c.Tensors(0)[0].Sum()))
		},
	})
}

// TestSample runs a few programs that every clone has: control flow, sizes that vary, trees of arguments, operators of
// a library that write their arguments.
func TestSample(t *testing.T) {
	register()
	results, err := Run("testdata", Options{Verbose: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, r := range results {
		if passed += r.Passed; r.Failed+r.Skipped > 0 {
			t.Errorf("%s: %s", r.Name, r.Reason)
		}
	}
	if passed < 40 {
		t.Errorf("%d cases passed", passed)
	}
}
