package tensors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Operators whose Python name ends in an underscore end in InPlace: they change the tensor and return it.
func TestInPlace(t *testing.T) {
	x := torch.Zeros([]int{1, 2, 1})
	at, version := x.DataPtr(), x.Version()
	if y := x.SqueezeInPlace(); y != x || x.DataPtr() != at || x.Version() != version+1 {
		t.Error("SqueezeInPlace must change the tensor itself, and count a version")
	}
	shaped(t, x, 2)
	leaf := torch.Ones([]int{2}).SetRequiresGrad(true)
	fails(t, "a leaf Variable that requires grad is being used in an in-place operation.",
		func() { leaf.AddScalarInPlace(1) })
}

// A tensor like another one, with memory that holds whatever was there.
func TestNewEmpty(t *testing.T) {
	x := torch.Ones([]int{4})
	y := x.NewEmpty([]int{2, 3})
	shaped(t, y, 2, 3)
	if y.DType() != torch.Float32 || y.Device() != torch.CPU || y.RequiresGrad() {
		t.Error(y.DType(), y.Device(), y.RequiresGrad())
	}
	if z := x.NewEmpty([]int{1}, tensor.NewEmptyOptions{DType: torch.Int16}).SetRequiresGrad(false); z.DType() != torch.Int16 {
		t.Error(z.DType())
	}
}

// Expand repeats a dimension of size 1 without copying: its stride becomes 0.
func Example_expand() {
	x := torch.FromSlice([]float32{1, 2, 3}, 3, 1)
	y := x.Expand([]int{3, 4})
	fmt.Println(y)
	fmt.Println(y.Strides(), y.DataPtr() == x.DataPtr(), torch.Size(x.Shape()))
	// Output:
	// tensor([[1., 1., 1., 1.],
	//         [2., 2., 2., 2.],
	//         [3., 3., 3., 3.]])
	// [1 0] true torch.Size([3, 1])
}

// A size of -1 keeps what is there. Other sizes cannot grow, and what is expanded cannot be written.
func TestExpandErrors(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3}, 3, 1)
	shaped(t, x.Expand([]int{-1, 4}), 3, 4)
	fails(t, "The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 0.",
		func() { x.Expand([]int{4, 4}) })
	fails(t, "unsupported operation: more than one element of the written-to tensor refers to a single memory location.", func() {
		x.Expand([]int{3, 4}).AddScalarInPlace(1)
	})
}

// ExpandAs takes the shape from another tensor.
func TestExpandAs(t *testing.T) {
	torch.ManualSeed(0)
	x := torch.Randn([]int{1, 3, 1, 1})
	y := x.ExpandAs(torch.Empty([]int{1, 3, 3, 3}))
	shaped(t, y, 1, 3, 3, 3)
	if !slices.Equal(y.Strides(), []int{3, 1, 0, 0}) {
		t.Error(y.Strides())
	}
	for c, v := range []float64{1.5410, -0.2934, -2.1788} {
		near(t, y.Index(0, c), v, v, v, v, v, v, v, v, v)
	}
}

// None in an index is a new dimension of size 1, as Unsqueeze makes it.
func Example_newAxis() {
	pos := torch.ArangeStart(1, 10)
	fmt.Println(pos, torch.Size(pos.Shape()))
	fmt.Println(pos.Index(torch.NewAxis), torch.Size(pos.Unsqueeze(0).Shape()))
	// Output:
	// tensor([1, 2, 3, 4, 5, 6, 7, 8, 9]) torch.Size([9])
	// tensor([[1, 2, 3, 4, 5, 6, 7, 8, 9]]) torch.Size([1, 9])
}

func TestUnsqueezeRange(t *testing.T) {
	fails(t, "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
		func() { torch.ArangeStart(1, 10).Unsqueeze(2) })
}

// Contiguous is the tensor itself when its elements lie in order, else a copy.
func TestContiguous(t *testing.T) {
	x := torch.Arange(6).View([]int{2, 3})
	if x.Contiguous() != x {
		t.Error("a contiguous tensor must come back itself")
	}
	if y := x.Permute([]int{1, 0}); y.IsContiguous() || sameMemory(y.Contiguous(), x) {
		t.Error("a permuted tensor must be copied")
	}
}

// View needs elements in order; after Permute it is Contiguous().View or Reshape.
func TestViewAfterPermute(t *testing.T) {
	x := torch.Arange(6).View([]int{2, 3}).Permute([]int{1, 0})
	fails(t, "view size is not compatible with input tensor's size and stride (at least one dimension spans across "+
		"two contiguous subspaces). Use .reshape(...) instead.",
		func() { x.View([]int{-1}) })
	near(t, x.Contiguous().View([]int{-1}), 0, 3, 1, 4, 2, 5)
	near(t, x.Reshape([]int{-1}), 0, 3, 1, 4, 2, 5)
	shaped(t, torch.Empty([]int{2, 3}), 2, 3) // Python's torch.Tensor(2, 3)
}
