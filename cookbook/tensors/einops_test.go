package tensors

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/einops"
)

// Dimensions by name: reordered, joined, averaged over, repeated.
func Example_einops() {
	x := torch.Arange(24).View([]int{2, 3, 4}).Float()
	fmt.Println(einops.Rearrange(x, "b c w -> b (c w)").Shape())
	fmt.Println(einops.Rearrange(x, "b c w -> w c b").Select(0, 0))
	fmt.Println(einops.Reduce(x, "b c w -> b c", "mean"))
	fmt.Println(einops.Repeat(torch.FromSlice([]int64{1, 2}), "a -> a 2"))
	// Output:
	// [2 12]
	// tensor([[ 0., 12.],
	//         [ 4., 16.],
	//         [ 8., 20.]])
	// tensor([[ 1.5000,  5.5000,  9.5000],
	//         [13.5000, 17.5000, 21.5000]])
	// tensor([[1, 1],
	//         [2, 2]])
}

// An image is cut into patches, each of which becomes a row.
func TestEinopsPatches(t *testing.T) {
	x := torch.Arange(16).View([]int{1, 1, 4, 4}).Float()
	rows := einops.Rearrange(x, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", einops.Axes{"p1": 2, "p2": 2})
	near(t, rows.View([]int{-1}), 0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15)
	fails(t, "Wrong shape: expected 2 dims. Received 3-dim tensor.",
		func() { einops.Rearrange(torch.Zeros([]int{2, 3, 4}), "a b -> b a") })
}
