package torch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/linalg"
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

// Out of an operator with several results takes the first one; the others are new tensors. Composed operators and those
// with a kernel agree on that.
func TestOutOfSeveralResults(t *testing.T) {
	x := torch.FromSlice([]float32{4, 1, 1, 3}, 2, 2)
	one := func(a, _ *torch.Tensor) *torch.Tensor { return a }
	first := func(a, _, _ *torch.Tensor) *torch.Tensor { return a }
	for name, f := range map[string]func(o *torch.Tensor) *torch.Tensor{
		"sort":     func(o *torch.Tensor) *torch.Tensor { return one(x.Sort(torch.SortOptions{Out: o})) },
		"max":      func(o *torch.Tensor) *torch.Tensor { return one(x.MaxDim(0, torch.MaxDimOptions{Out: o})) },
		"svd":      func(o *torch.Tensor) *torch.Tensor { return first(linalg.SVD(x, linalg.SVDOptions{Out: o})) },
		"slogdet":  func(o *torch.Tensor) *torch.Tensor { return one(linalg.Slogdet(x, torch.OutOptions{Out: o})) },
		"eigh":     func(o *torch.Tensor) *torch.Tensor { return one(linalg.Eigh(x, linalg.EighOptions{Out: o})) },
		"qr":       func(o *torch.Tensor) *torch.Tensor { return one(linalg.QR(x, linalg.QROptions{Out: o})) },
		"solve_ex": func(o *torch.Tensor) *torch.Tensor { return one(linalg.SolveEx(x, x, linalg.SolveExOptions{Out: o})) },
		"lu":       func(o *torch.Tensor) *torch.Tensor { return first(linalg.LU(x, linalg.LUOptions{Out: o})) },
	} {
		out := torch.Empty([]int{0})
		if err := torch.Try(func() {
			want, got := f(nil), f(out)
			if got != out || !torch.Equal(got, want) {
				t.Errorf("%s: the result is %v, want %v in the out tensor", name, got, want)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
