package ops_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/ops"
)

func ExampleNMS() {
	boxes := torch.FromSlice([]float32{0, 0, 10, 10, 1, 1, 11, 11, 20, 20, 30, 30}, 3, 4)
	scores := torch.FromSlice([]float32{0.8, 0.9, 0.3})
	fmt.Println(ops.NMS(boxes, scores, 0.5).ToList())
	// Output: [1 2]
}

func ExampleBoxIoU() {
	a := torch.FromSlice([]float32{0, 0, 2, 2}, 1, 4)
	b := torch.FromSlice([]float32{0, 0, 2, 2, 1, 0, 3, 2, 5, 5, 6, 6}, 3, 4)
	fmt.Println(ops.BoxIoU(a, b))
	// Output: tensor([[1.0000, 0.3333, 0.0000]])
}

func ExampleRoIAlignFn() {
	features := torch.Arange(16).Float().Reshape([]int{1, 1, 4, 4})
	rois := ops.RoIs([]*torch.Tensor{torch.FromSlice([]float32{0, 0, 3, 3}, 1, 4)})
	fmt.Println(ops.RoIAlignFn(features, rois, nn.Size{2}).ToList())
	// Output: [[[[3.75 5.25] [9.75 11.25]]]]
}

func ExampleNewFeaturePyramidNetwork() {
	fpn := ops.NewFeaturePyramidNetwork([]int{8, 16}, 4)
	levels := fpn.Levels([]ops.Feature{
		{Name: "fine", T: torch.Zeros([]int{1, 8, 8, 8})}, {Name: "coarse", T: torch.Zeros([]int{1, 16, 4, 4})}})
	for _, l := range levels {
		fmt.Println(l.Name, l.T.Shape())
	}
	// Output:
	// fine [1 4 8 8]
	// coarse [1 4 4 4]
}

func ExampleNewConv2dNormActivation() {
	fmt.Println(ops.NewConv2dNormActivation(3, 8))
	// Output:
	// Conv2dNormActivation(
	//   (0): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
	//   (1): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
	//   (2): ReLU(inplace=True)
	// )
}
