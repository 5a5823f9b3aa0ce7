package loss_test

import (
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestBackwardDTypes calls backward operators with tensors of several dtypes: the gradient has the input's dtype, as in
// PyTorch, and what does not convert to it is refused.
func TestBackwardDTypes(t *testing.T) {
	ones := func(dt tensor.DType) *tensor.Tensor { return tensor.FromSlice([]float32{1, 1, 1}).ToDType(dt) }
	for _, name := range []string{"smooth_l1_loss", "huber_loss", "mse_loss", "soft_margin_loss"} {
		for _, c := range []struct{ grad, input, target tensor.DType }{
			{tensor.Float32, tensor.Float32, tensor.Int8}, {tensor.Float64, tensor.Float32, tensor.Float32},
			{tensor.Float32, tensor.Float64, tensor.Float32},
			{tensor.Float32, tensor.Float32, tensor.Float64}, {tensor.Float32, tensor.Float16, tensor.Float16},
			{tensor.Float32, tensor.Int8, tensor.Float64}, {tensor.Float32, tensor.Int8, tensor.Int8},
			{tensor.Bool, tensor.Bool, tensor.Bool},
		} {
			args := []any{ones(c.grad), ones(c.input), ones(c.target), 0}
			if name == "smooth_l1_loss" || name == "huber_loss" {
				args = append(args, 0.5)
			}
			var got *tensor.Tensor
			err := tensor.Try(func() { got = op.Call1("aten::"+name+"_backward", args...) })
			switch {
			case c.input.IsFloat() && err != nil:
				t.Errorf("%s_backward of %v: %v", name, c, err)
			case c.input.IsFloat() && got.DType() != c.input:
				t.Errorf("%s_backward of %v is %s", name, c, got.DType())
			case !c.input.IsFloat() && (err == nil || !strings.Contains(err.Error(), "can't be cast") &&
				!strings.Contains(err.Error(), "not implemented for")):
				t.Errorf("%s_backward of %v: error %v", name, c, err)
			}
		}
	}
}
