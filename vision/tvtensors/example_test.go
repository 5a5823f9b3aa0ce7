package tvtensors_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/vision/ops"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

func ExampleNewBoundingBoxes() {
	b := tvtensors.NewBoundingBoxes(torch.FromSlice([]float32{1, 2, 4, 8}, 1, 4), ops.XYXY, [2]int{10, 20})
	b = F.HorizontalFlip(b)
	fmt.Println(b.ToList(), b.CanvasSize)
	// Output: [[16 2 19 8]] [10 20]
}
