package nn_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A module's Forward allocates little more than its result: there is no boxing and no look-up on the way to the
// operator.
func TestForwardAllocs(t *testing.T) {
	x := torch.Randn([]int{1, 16})
	img := torch.Randn([]int{1, 4, 8, 8})
	for _, tc := range []struct {
		name string
		m    nn.Layer
		x    *tensor.Tensor
		most float64
	}{
		{"Linear", nn.NewLinear(16, 16), x, 2},
		{"ReLU", nn.NewReLU(), x, 2},
		{"Dropout", nn.NewDropout(), x, 0},
		{"Conv2d", nn.NewConv2d(4, 4, 3), img, 56},
	} {
		nn.Eval(tc.m)
		for _, p := range nn.Parameters(tc.m) {
			p.SetRequiresGrad(false) // NoGrad would allocate where goroutines are told apart in plain Go
		}
		if n := testing.AllocsPerRun(100, func() { tc.m.Forward(tc.x) }); n > tc.most {
			t.Errorf("%s allocates %v times, expected at most %v", tc.name, n, tc.most)
		} else {
			t.Logf("%s: %v", tc.name, n)
		}
	}
}
