package torch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Some operators convert their result to the dtype of an out tensor, others refuse one of another dtype, as in PyTorch.
func TestOutOfAnotherType(t *testing.T) {
	x := torch.FromSlice([]float32{4, 1, 2, 3}, 2, 2)
	out := func() *torch.Tensor { return torch.Empty([]int{2, 2}, torch.EmptyOptions{DType: torch.Float64}) }
	for name, c := range map[string]struct {
		f      func(o *torch.Tensor)
		refuse bool
	}{
		"add":    {func(o *torch.Tensor) { torch.Add(x, x, torch.AddOptions{Out: o}) }, false},
		"exp":    {func(o *torch.Tensor) { torch.Exp(x, torch.OutOptions{Out: o}) }, false},
		"cumsum": {func(o *torch.Tensor) { torch.CumSum(x, 0, tensor.CumSumOptions{Out: o}) }, false},
		"cat":    {func(o *torch.Tensor) { torch.Cat([]*torch.Tensor{x}, torch.CatOptions{Out: o}) }, false},
		"abs":    {func(o *torch.Tensor) { torch.Abs(x, torch.OutOptions{Out: o}) }, true},
		"mm":     {func(o *torch.Tensor) { torch.MM(x, x, torch.OutOptions{Out: o}) }, true},
		"matmul": {func(o *torch.Tensor) { torch.MatMul(x, x, torch.OutOptions{Out: o}) }, true},
		"tril":   {func(o *torch.Tensor) { torch.Tril(x, tensor.TrilOptions{Out: o}) }, true},
	} {
		err := torch.Try(func() { c.f(out()) })
		switch {
		case !c.refuse && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.refuse && (!errors.Is(err, torch.ErrDType) ||
			!strings.Contains(err.Error(), "Expected out tensor to have dtype float, but got double instead")):
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := tensor.CallOp("aten::linalg_cholesky.out", tensor.TensorValue(x.MatMul(x.MT())),
		tensor.BoolValue(false),
		tensor.TensorValue(out())); !errors.Is(err, torch.ErrDType) {
		t.Errorf("linalg_cholesky: error %v", err)
	}
}
