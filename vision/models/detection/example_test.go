package detection_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models/detection"
)

func ExampleNewSSDLite320MobileNetV3Large() {
	torch.ManualSeed(0)
	m := detection.NewSSDLite320MobileNetV3Large(detection.Options{NumClasses: 3, PerImage: 5})
	image := torch.Rand([]int{3, 60, 80})

	box := torch.FromSlice([]float32{10, 10, 50, 40}, 1, 4)
	target := detection.Target{Boxes: box, Labels: torch.FromSlice([]int64{1})}
	losses := m.Losses([]*torch.Tensor{image, image}, []detection.Target{target, target})
	losses["classification"].Add(losses["bbox_regression"]).Backward()

	nn.Eval(m)
	torch.NoGrad(func() {
		found := m.Detect(image)[0]
		fmt.Println(found.Boxes.Shape(), found.Scores.Shape(), found.Labels.Shape())
	})
	// Output: [5 4] [5] [5]
}
