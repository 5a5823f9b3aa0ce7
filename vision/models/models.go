// Package models holds image classifiers.
package models

import (
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// NewMLP classifies flattened images by two hidden layers of 512 and 256 units.
func NewMLP(inputs, classes int) *nn.Sequential {
	return nn.NewSequential(
		nn.NewFlatten(),
		nn.NewLinear(inputs, 512), nn.NewReLU(),
		nn.NewLinear(512, 256), nn.NewReLU(),
		nn.NewLinear(256, classes),
	)
}

// LeNet is a convolutional network for 28x28 images: two convolutions of 5x5, each followed by max-pooling, and two
// linear layers (LeCun et al., Gradient-based learning applied to document recognition, 1998, with rectifiers).
type LeNet struct {
	nn.Base
	Conv1 *nn.Conv2d
	Conv2 *nn.Conv2d
	FC1   *nn.Linear
	FC2   *nn.Linear
}

// NewLeNet makes a LeNet for images of one channel.
func NewLeNet(classes int) *LeNet {
	return nn.New(&LeNet{
		Conv1: nn.NewConv2d(1, 20, 5),
		Conv2: nn.NewConv2d(20, 50, 5),
		FC1:   nn.NewLinear(50*4*4, 500),
		FC2:   nn.NewLinear(500, classes),
	})
}

// Forward maps images (N, 1, 28, 28) to logits (N, classes).
func (m *LeNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = F.MaxPool2d(m.Conv1.Forward(x), []int{2}).ReLU()
	x = F.MaxPool2d(m.Conv2.Forward(x), []int{2}).ReLU()
	x = m.FC1.Forward(x.Flatten(tensor.FlattenOptions{StartDim: 1})).ReLU()
	return m.FC2.Forward(x)
}

// ResNet9 is a small residual network for small images, without its last pooling it sees 28x28 as 3x3.
type ResNet9 struct {
	nn.Base
	Conv1 *nn.Sequential
	Conv2 *nn.Sequential
	Res1  *nn.Sequential
	Conv3 *nn.Sequential
	Conv4 *nn.Sequential
	Res2  *nn.Sequential
	FC    *nn.Linear
}

func convBN(in, out int, pool bool) *nn.Sequential {
	layers := []nn.Layer{nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}, NoBias: true}),
		nn.NewBatchNorm2d(out), nn.NewReLU()}
	if pool {
		layers = append(layers, nn.NewMaxPool2d(2))
	}
	return nn.NewSequential(layers...)
}

// NewResNet9 makes a ResNet9 with the given number of filters in its first layer (16 is a quarter of the usual size).
func NewResNet9(channels, classes, width int) *ResNet9 {
	w := width
	return nn.New(&ResNet9{
		Conv1: convBN(channels, w, false),
		Conv2: convBN(w, 2*w, true),
		Res1:  nn.NewSequential(convBN(2*w, 2*w, false), convBN(2*w, 2*w, false)),
		Conv3: convBN(2*w, 4*w, true),
		Conv4: convBN(4*w, 8*w, true),
		Res2:  nn.NewSequential(convBN(8*w, 8*w, false), convBN(8*w, 8*w, false)),
		FC:    nn.NewLinear(8*w, classes),
	})
}

// Forward maps images (N, channels, H, W) to logits (N, classes).
func (m *ResNet9) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Conv2.Forward(m.Conv1.Forward(x))
	x = x.Add(m.Res1.Forward(x))
	x = m.Conv4.Forward(m.Conv3.Forward(x))
	x = x.Add(m.Res2.Forward(x))
	return m.FC.Forward(x.Amax(tensor.AmaxOptions{Dim: []int{2, 3}}))
}
