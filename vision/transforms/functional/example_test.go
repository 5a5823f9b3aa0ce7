package functional_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// A tensor and an image of bytes go through the same functions.
func ExampleResize() {
	x := torch.Zeros([]int{3, 20, 40})
	fmt.Println(F.Resize(x, []int{10}).Shape())
	im := F.Resize(pil.New("RGB", 40, 20), []int{10})
	fmt.Println(im.Width, im.Height)
	// Output:
	// [3 10 20]
	// 20 10
}
