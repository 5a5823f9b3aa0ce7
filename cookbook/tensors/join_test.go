package tensors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
)

// Cat joins along a dimension that exists; Stack would make a new one.
func Example_cat() {
	a, b := torch.Ones([]int{2, 3}), torch.Zeros([]int{2, 1})
	fmt.Println(torch.Cat([]*torch.Tensor{a, b}, torch.CatOptions{Dim: 1}))
	fmt.Println(torch.Size(torch.Cat([]*torch.Tensor{a, a}).Shape()))
	// Output:
	// tensor([[1., 1., 1., 0.],
	//         [1., 1., 1., 0.]])
	// torch.Size([4, 3])
}

// Tensors of different types are promoted; an empty list is refused.
func TestCatTypes(t *testing.T) {
	x := torch.Cat([]*torch.Tensor{torch.TensorOf[int64](1), torch.TensorOf[float32](2.5)})
	near(t, x, 1, 2.5)
	if x.DType() != torch.Float32 {
		t.Error(x.DType())
	}
	fails(t, "expected a non-empty list of Tensors", func() { torch.Cat(nil) })
}

// The dimension counts from either end, and is bounded by the number of dimensions.
func TestCatDim(t *testing.T) {
	a := torch.Ones([]int{2, 3})
	shaped(t, torch.Cat([]*torch.Tensor{a, a}, torch.CatOptions{Dim: -1}), 2, 6)
	fails(t, "Dimension out of range (expected to be in range of [-2, 1], but got 2)", func() {
		torch.Cat([]*torch.Tensor{a, a}, torch.CatOptions{Dim: 2})
	})
}

// All sizes but the one along the dimension agree; a 1-d tensor without elements is skipped.
func TestCatShapes(t *testing.T) {
	a := torch.Ones([]int{2, 3})
	fails(t, "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 1 for tensor number 1 "+
		"in the list.", func() {
		torch.Cat([]*torch.Tensor{a, torch.Zeros([]int{2, 1})})
	})
	fails(t, "Tensors must have same number of dimensions: got 2 and 1", func() {
		torch.Cat([]*torch.Tensor{a, torch.Zeros([]int{3})})
	})
	shaped(t, torch.Cat([]*torch.Tensor{a, torch.Empty([]int{0})}), 2, 3)
}

// What NumPy's concatenate does, along rows and columns.
func TestCatIntegers(t *testing.T) {
	v := torch.TensorOf[int64]
	near(t, torch.Cat([]*torch.Tensor{v(1, 2, 3), v(11, 22, 33), v(44, 55, 66)}), 1, 2, 3, 11, 22, 33, 44, 55, 66)
	a := torch.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	b := torch.FromSlice([]int64{11, 21, 31, 7, 8, 9}, 2, 3)
	near(t, torch.Cat([]*torch.Tensor{a, b}), 1, 2, 3, 4, 5, 6, 11, 21, 31, 7, 8, 9)
	near(t, torch.Cat([]*torch.Tensor{a, b}, torch.CatOptions{Dim: 1}), 1, 2, 3, 11, 21, 31, 4, 5, 6, 7, 8, 9)
}

// Chunk gives at most the number asked for, of equal size except for the last. The pieces are views.
func TestChunk(t *testing.T) {
	for _, c := range []struct {
		n, chunks int
		want      []int
	}{{11, 6, []int{2, 2, 2, 2, 2, 1}}, {13, 6, []int{3, 3, 3, 3, 1}}, {12, 5, []int{3, 3, 3, 3}}} {
		var sizes []int
		for _, piece := range torch.Chunk(torch.Arange(c.n), c.chunks) {
			sizes = append(sizes, piece.Size(0))
		}
		if !slices.Equal(sizes, c.want) {
			t.Errorf("%d into %d: %v, want %v", c.n, c.chunks, sizes, c.want)
		}
	}
	x := torch.Zeros([]int{4})
	torch.Chunk(x, 2)[1].FillScalarInPlace(7)
	near(t, x, 0, 0, 7, 7)
	fails(t, "chunk expects `chunks` to be greater than 0, got: 0", func() { torch.Chunk(x, 0) })
}
