package tensors

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// The place of the maximum, in the flattened tensor or along a dimension.
func TestArgMax(t *testing.T) {
	x := torch.FromSlice([]float32{1, 5, 3, 9, 2, 9}, 2, 3)
	near(t, x.ArgMax(), 3) // the first of the two nines
	near(t, x.ArgMax(tensor.ArgMaxOptions{Dim: torch.Some(1)}), 1, 0)
	near(t, x.ArgMax(tensor.ArgMaxOptions{Dim: torch.Some(0)}), 1, 0, 1)
	shaped(t, x.ArgMax(tensor.ArgMaxOptions{Dim: torch.Some(1), KeepDim: true}), 2, 1)
	nan := float32(math.NaN())
	near(t, torch.TensorOf(1, nan, 3).ArgMax(), 1) // NaN counts as the maximum
	if err := torch.Try(func() { torch.Empty([]int{0}).ArgMax() }); err == nil {
		t.Error("ArgMax of nothing must fail")
	}
}

// Comparisons give bools and broadcast.
func Example_gt() {
	a := torch.FromSlice([]int64{1, 2, 3, 4}, 2, 2)
	b := torch.FromSlice([]int64{1, 1, 4, 4}, 2, 2)
	fmt.Println(torch.Gt(a, b))
	fmt.Println(torch.GtScalar(a, 2))
	fmt.Println(torch.Gt(a, torch.TensorOf[int64](1, 3)).Int())
	// Output:
	// tensor([[False,  True],
	//         [False, False]])
	// tensor([[False, False],
	//         [ True,  True]])
	// tensor([[0, 0],
	//         [1, 1]], dtype=torch.int32)
}

// Where chooses element by element; the condition broadcasts. With one argument it lists the places, which is
// NonzeroNumpy here.
func TestWhere(t *testing.T) {
	x := torch.FromSlice([]int64{1, -2, -3, 4}, 2, 2)
	near(t, torch.Where(x.GtScalar(0), x, x.ZerosLike()), 1, 0, 0, 4)
	near(t, torch.Where(torch.TensorOf(true, false), x, torch.TensorOf[int64](10)), 1, 10, -3, 10)
	places := torch.NonzeroNumpy(x.GtScalar(0))
	near(t, places[0], 0, 1)
	near(t, places[1], 0, 1)
}

// Gather points by a tensor of column numbers.
func TestIndexByTensor(t *testing.T) {
	index := torch.TensorOf[int64](20, 10, 25, 39, 5, 12)
	near(t, torch.Ones([]int{2, 40}).Index(0, index), 1, 1, 1, 1, 1, 1)
	points := torch.Arange(80).View([]int{2, 40})
	near(t, points.Index(torch.Slice(), index), 20, 10, 25, 39, 5, 12, 60, 50, 65, 79, 45, 52)
	fails(t, "index 40 is out of bounds for dimension 0 with size 40",
		func() { points.Index(0, torch.TensorOf[int64](40)) })
}

// Integer tensors of any size index; what "too many indices" means is that the tensor has fewer dimensions.
func TestIndexErrors(t *testing.T) {
	row := torch.Arange(40)
	near(t, row.Index(torch.TensorOf[int32](3, 4)), 3, 4)
	fails(t, "too many indices for tensor of dimension 1", func() { row.Index(0, torch.TensorOf[int64](1)) })
	fails(t, "tensors used as indices must be long, int, byte or bool tensors",
		func() { row.Index(torch.TensorOf[float32](1)) })
}
