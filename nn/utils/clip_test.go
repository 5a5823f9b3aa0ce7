package utils_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
)

func TestClipGradNorm(t *testing.T) {
	for _, c := range []struct {
		p           tensor.Opt[float64]
		norm, first float64
	}{{norm: 5, first: 0.6}, {tensor.Some(1.0), 7, 3.0 / 7}, {tensor.Some(0.0), 2, 1.5},
		{tensor.Some(math.Inf(1)), 4, 0.75}} {
		a, b := tensor.FromSlice([]float64{1}, 1).SetRequiresGrad(true),
			tensor.FromSlice([]float64{1, 1}, 2).SetRequiresGrad(true)
		a.SetGrad(tensor.FromSlice([]float64{3}, 1))
		b.SetGrad(tensor.FromSlice([]float64{0, -4}, 2))
		norm := utils.ClipGradNorm([]*tensor.Tensor{a, b}, 1, utils.ClipOptions{NormType: c.p}).Item()
		if first := a.Grad().Item(); math.Abs(norm-c.norm) > 1e-12 || math.Abs(first-c.first) > 1e-5 {
			t.Errorf("norm of type %v is %v and the gradient %v, want %v and %v", c.p, norm, first, c.norm, c.first)
		}
	}
}
