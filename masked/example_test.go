package masked_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/masked"
)

// The mean of the numbers above 0 in each row; the last row has none.
func ExampleMean() {
	x := torch.FromSlice([]float32{1, -2, 3, 4, 5, 6, -7, -8, -9}, 3, 3)
	fmt.Println(masked.Mean(x, masked.MeanOptions{Dim: []int{1}, Mask: x.GtScalar(0)}))
	// Output: tensor([2., 5., nan])
}

// Padding gets no share of a softmax.
func ExampleSoftmax() {
	scores := torch.FromSlice([]float32{1, 1, 5})
	padding := torch.TensorOf(true, true, false)
	fmt.Println(masked.Softmax(scores, 0, masked.SoftmaxOptions{Mask: padding}))
	// Output: tensor([0.5000, 0.5000, 0.0000])
}
