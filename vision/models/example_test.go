package models_test

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models"
)

func ExampleGetModel() {
	m, err := models.GetModel("squeezenet1_1", models.Options{NumClasses: 5})
	if err != nil {
		panic(err)
	}
	nn.Eval(m)
	logits := m.(nn.Layer).Forward(torch.Zeros([]int{1, 3, 64, 64}))
	fmt.Println(nn.ClassName(m), nn.NumParameters(m), logits.Shape())
	// Output: SqueezeNet 725061 [1 5]
}

func ExampleGetWeight() {
	w, err := models.GetWeight("ResNet50_Weights.DEFAULT")
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Name, w.HashPrefix(), w.ResizeSize, w.CropSize, w.Categories()[281])
	fmt.Println(w.URL)
	// Output:
	// IMAGENET1K_V2 11ad3fa6 [232] [224] tabby
	// https://download.pytorch.org/models/resnet50-11ad3fa6.pth
}

func ExampleCreateFeatureExtractor() {
	f, err := models.CreateFeatureExtractor(models.NewResNet18(), torch.Rand([]int{1, 3, 64, 64}),
		models.Returned{Layer: "layer1", As: "early"},
		models.Returned{Layer: "layer4.1.relu"})
	if err != nil {
		panic(err)
	}
	nn.Eval(f)
	for name, t := range f.Features(torch.Zeros([]int{1, 3, 64, 64})) {
		fmt.Println(name, t.Shape())
	}
	// Unordered output:
	// early [1 64 16 16]
	// layer4.1.relu [1 512 2 2]
}

func ExampleNewIntermediateLayerGetter() {
	g := models.NewIntermediateLayerGetter(models.NewResNet18(), models.Returned{Layer: "layer2", As: "features"})
	fmt.Println(g.Features(torch.Zeros([]int{1, 3, 64, 64}))["features"].Shape(), slices.Contains(g.Keys(), "layer3"))
	// Output: [1 128 8 8] false
}
