package shape_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Empty tensors of one dimension fit everywhere: with no others the dimension may be any, as in PyTorch.
func TestCatOfEmpty(t *testing.T) {
	none := func(dt tensor.DType) *tensor.Tensor { return torch.Zeros([]int{0}, torch.ZerosOptions{DType: dt}) }
	for _, dim := range []int{0, -1, 1, -2, 5} {
		a := none(tensor.Float32).SetRequiresGrad(true)
		y := torch.Cat([]*tensor.Tensor{a, none(tensor.Int64)}, torch.CatOptions{Dim: dim})
		if y.DType() != tensor.Float32 || y.Dim() != 1 || y.Numel() != 0 {
			t.Errorf("dimension %d: got %v", dim, y)
		}
		if y.Sum().Backward(); a.Grad() == nil || a.Grad().Numel() != 0 || a.Grad().Dim() != 1 {
			t.Errorf("dimension %d: the gradient is %v", dim, a.Grad())
		}
	}
	x := torch.Ones([]int{2, 2})
	if err := torch.Try(func() { torch.Cat([]*tensor.Tensor{none(tensor.Float32), x}, torch.CatOptions{Dim: 2}) }); err == nil {
		t.Error("dimension 2 of a matrix: no error")
	}
	if y := torch.Cat([]*tensor.Tensor{none(tensor.Float32), x}, torch.CatOptions{Dim: 1}); !y.Equal(x) {
		t.Errorf("got %v, want %v", y, x)
	}
}
