package loss_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// What the kernels would write beyond the memory of is refused, with PyTorch's words.
func TestNLLBackwardRefuses(t *testing.T) {
	f := func(dt tensor.DType, sh ...int) *tensor.Tensor { return tensor.New(sh, dt).Zero() }
	one, classes := f(tensor.Float32), tensor.FromSlice([]int64{0, 2, 1})
	for _, c := range []struct {
		name string
		g, x *tensor.Tensor
		t    *tensor.Tensor
		w    *tensor.Tensor
		how  int
		want string
	}{
		{"nll_loss_backward", one, f(tensor.Int8, 3, 4), classes, nil, 1,
			"\"nll_loss_backward_out_frame\" not implemented for 'Char'"},
		{"nll_loss_backward", one, f(tensor.Float32, 3, 4), tensor.FromSlice([]int64{0, 2}), nil, 1,
			"size mismatch (got input: [3, 4], target: [2])"},
		{"nll_loss_backward", f(tensor.Float32, 2), f(tensor.Float32, 3, 4), classes, nil, 0,
			"Expected a tensor of dimension 1 and tensor.size[0] == 3"},
		{"nll_loss_backward", f(tensor.Float32, 2), f(tensor.Float32, 3, 4), classes, nil, 1,
			"Expected a single element grad_output tensor"},
		{"nll_loss_backward", one, f(tensor.Float32, 3, 4), classes, f(tensor.Float32, 3), 1,
			"weight tensor should be defined"},
		{"nll_loss_backward", one, f(tensor.Float32, 3, 4), classes, f(tensor.Float64, 4), 1, "expected scalar type"},
		{"nll_loss2d_backward", one, f(tensor.Bool, 2, 3, 2, 2), f(tensor.Int64, 2, 2, 2), nil, 1,
			"\"nll_loss2d_backward_out_frame\" not implemented for 'Bool'"},
		{"nll_loss2d_backward", f(tensor.Float32, 2), f(tensor.Float32, 2, 3, 2, 2), f(tensor.Int64, 2, 2, 2), nil, 0,
			"grad_output must have the shape of target"},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*tensor.Error); !ok || !strings.Contains(e.Error(), c.want) {
					t.Errorf("%s of %s: got %v, want %q", c.name, tensor.ShapeString(c.x.Shape()), e, c.want)
				}
			}()
			op.Call("aten::"+c.name, c.g, c.x, c.t, c.w, c.how, -100, one)
		}()
	}
}

// Weights and gradients have to broadcast to the elements of a loss.
func TestElementsRefuse(t *testing.T) {
	f := func(sh ...int) *tensor.Tensor { return tensor.New(sh, tensor.Float32).Zero() }
	for _, c := range []struct {
		name string
		args []any
	}{
		{"binary_cross_entropy", []any{f(2, 3), f(2, 3), f(4), 1}},
		{"binary_cross_entropy", []any{f(2, 3), f(2, 3), f(1, 2, 3), 1}},
		{"binary_cross_entropy_backward", []any{f(5), f(2, 3), f(2, 3), nil, 1}},
		{"binary_cross_entropy_backward", []any{f(2, 3), f(2, 3), f(2, 3), f(4), 0}},
		{"mse_loss_backward", []any{f(5), f(2, 3), f(2, 3), 1}},
		{"soft_margin_loss_backward", []any{f(3, 3), f(2, 3), f(2, 3), 0}},
	} {
		err := tensor.Try(func() { op.Call("aten::"+c.name, c.args...) })
		if err == nil || !errors.Is(err, tensor.ErrShape) {
			t.Errorf("%s(%v): got %v, want a mismatch of shapes", c.name, c.args, err)
		}
	}
}
