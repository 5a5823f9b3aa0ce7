package jit_test

import (
	"bytes"
	"os"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/damage"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
)

// Damaged archives give an error or a program that ends, without a panic and without more memory than is allowed.
func TestDamagedArchives(t *testing.T) {
	defer torch.SetMemoryLimit(torch.SetMemoryLimit(256 << 20))
	loop := func(x *torch.Tensor) *torch.Tensor {
		y := jit.For(3, []*torch.Tensor{x}, func(i int, c []*torch.Tensor) []*torch.Tensor {
			return []*torch.Tensor{c[0].Mul(x).AddScalar(i)}
		})
		return jit.If(y[0].Sum().GtScalar(0), func() []*torch.Tensor { return y },
			func() []*torch.Tensor { return []*torch.Tensor{x.Neg()} })[0]
	}
	files := map[string][]byte{}
	for name, f := range map[string]any{"loop": loop, "net": nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU())} {
		m, err := jit.Script(f, torch.Ones([]int{1, 2}))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.SaveTo(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	lite, err := os.ReadFile("testdata/exported_methods.ptl")
	if err != nil {
		t.Fatal(err)
	}
	files["lite"] = lite
	for name, b := range files {
		s := damage.New(uint64(len(name)))
		for i := range 300 {
			damaged, what := s.Bytes(b)
			if i%4 != 0 {
				if damaged, what, err = s.Archive(b); err != nil {
					t.Fatal(err)
				}
			}
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s with %s: panic %v", name, what, r)
					}
				}()
				exercise(damaged)
			}()
		}
	}
}
