package pointwise_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/rng"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestRReLUGradient checks that the gradient of rrelu multiplies by the slopes that were drawn, in place and not, and
// that its node and that of selu have PyTorch's names.
func TestRReLUGradient(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		x := tensor.FromSlice([]float32{-2, -1, 0.5, 3, -4}).SetRequiresGrad(true)
		in := x
		if inPlace {
			in = x.Clone()
		}
		y := F.RReLU(in, F.RReLUOptions{Training: true, Inplace: inPlace})
		if name, want := y.GradFn().Name(), "RreluWithNoiseBackward0"; name != want && !inPlace ||
			inPlace && name != "RreluWithNoiseBackward1" {
			t.Errorf("in place %t: the node is %s", inPlace, name)
		}
		g := tensor.Grad([]*tensor.Tensor{y.Sum()}, []*tensor.Tensor{x})[0]
		for i, v := range tensor.Data[float32](y.Detach().Div(x.Detach())) {
			got := tensor.Data[float32](g)[i]
			if d := got - v; d > 1e-6 || d < -1e-6 {
				t.Errorf("in place %t: gradient %d is %v, the slope %v", inPlace, i, got, v)
			}
			if x := tensor.Data[float32](x)[i]; x > 0 && got != 1 || x < 0 && (got < 0.125 || got > 1./3) {
				t.Errorf("in place %t: slope %v of %v", inPlace, got, x)
			}
		}
	}
	x := tensor.FromSlice([]float32{-2, 1}).SetRequiresGrad(true)
	if name := F.SELU(x).GradFn().Name(); name != "EluBackward0" {
		t.Errorf("the node of selu is %s", name)
	}
}

// TestRReLU16 compares with PyTorch's numbers: the slopes are multiplied before they are rounded to 16 bits.
func TestRReLU16(t *testing.T) {
	x := tensor.FromSlice([]float32{-.75, -1.5, .5, -2.25, -.3125, -3}).BFloat16()
	rng.Default.ManualSeed(1)
	y := F.RReLU(x, F.RReLUOptions{Lower: tensor.Some(.1), Upper: tensor.Some(.4), Training: true})
	want := []float32{-0.0888671875, -0.251953125, 0.5, -0.3828125, -0.0478515625, -0.80078125}
	for i, got := range tensor.Data[float32](y.Float()) {
		if got != want[i] {
			t.Errorf("element %d is %v, want %v", i, got, want[i])
		}
	}
}
