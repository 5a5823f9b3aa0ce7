package basics_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
)

// x[[0, 2], None]: the rows of a list, with a new dimension behind.
func Example_listAndNewAxis() {
	x := torch.TensorOf[int64](1, 2, 3)
	fmt.Println(x.Index(torch.List(0, 2), torch.NewAxis))
	// Output:
	// tensor([[1],
	//         [3]])
}

func TestIndexing(t *testing.T) {
	x := torch.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	near(t, x.Index(torch.List(0, 1), torch.List(2, 0)), 3, 4)            // x[[0, 1], [2, 0]]
	near(t, x.Index(torch.Ellipsis, 0), 1, 4)                             // x[..., 0]
	near(t, x.Index(x.GtScalar(2)), 3, 4, 5, 6)                           // x[x > 2]
	near(t, x.Index(torch.Slice(), torch.Slice(nil, nil, 2)), 1, 3, 4, 6) // x[:, ::2]

	y := torch.TensorOf[int64](1, 2, 3)
	a, b := y.Index(torch.List(0, 2), torch.NewAxis), y.Index(torch.List(0, 2)).View([]int{-1, 1})
	shaped(t, a, 2, 1)
	if !torch.Equal(a, b) {
		t.Errorf("%v is not %v", a, b)
	}
}

// There are no negative steps: a tensor is flipped with Flip, or by index.
func TestFlip(t *testing.T) {
	x := torch.Arange(24).View([]int{1, 2, 3, 4})
	back := torch.ArangeStep(3, -1, torch.ArangeStepOptions{Step: -1})
	if !torch.Equal(x.Index(torch.Slice(), torch.Slice(), torch.Slice(), back), torch.Flip(x, []int{3})) {
		t.Error("flip by index differs from Flip")
	}
	fails(t, "step must be greater than zero", func() { x.Index(torch.Slice(nil, nil, -1)) })
}

// sum and select take the dimension by number.
func TestByDimension(t *testing.T) {
	images := torch.Zeros([]int{32, 3, 56, 56})
	shaped(t, images.SumDim([]int{1}), 32, 56, 56)
	shaped(t, images.Select(1, 0), 32, 56, 56)
}
