package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/vision/models"
)

// model is what the rows need of a network.
type model interface {
	nn.Layer
	Parameters() []*torch.Tensor
	StateDict() *torch.StateDict
}

// newModel makes a network of the comparison with PyTorch's initial weights.
func newModel(name string) model {
	switch name {
	case "mlp":
		return nn.NewSequential(nn.NewFlatten(), nn.NewLinear(784, 512), nn.NewReLU(), nn.NewLinear(512, 256),
			nn.NewReLU(), nn.NewLinear(256, 10))
	case "lenet":
		return nn.NewSequential(nn.NewConv2d(1, 32, 3), nn.NewReLU(), nn.NewConv2d(32, 64, 3), nn.NewReLU(),
			nn.NewMaxPool2d(2), nn.NewFlatten(),
			nn.NewLinear(9216, 128), nn.NewReLU(), nn.NewLinear(128, 10))
	case "resnet18":
		return models.NewResNet18()
	case "mobilenet_v2":
		return models.NewMobileNetV2()
	}
	panic(fmt.Errorf("bench: no model %q", name))
}
