package models

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// AlexNet is a convolutional network for images (Krizhevsky, One weird trick for parallelizing convolutional neural
// networks, 2014).
type AlexNet struct {
	nn.Base
	Features   *nn.Sequential
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Classifier *nn.Sequential
}

// NewAlexNet makes torchvision's alexnet.
func NewAlexNet(opts ...Options) *AlexNet {
	o := optionsOf(opts, 1000)
	p := o.Dropout.Or(0.5)
	pool := func() nn.Layer { return nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}}) }
	conv := func(in, out, kernel, stride, pad int) nn.Layer {
		return nn.NewConv2d(in, out, kernel, nn.Conv2dOptions{Stride: nn.Size{stride}, Padding: nn.Size{pad}})
	}
	return nn.New(&AlexNet{
		Features: nn.NewSequential(
			conv(3, 64, 11, 4, 2), relu(), pool(),
			conv(64, 192, 5, 1, 2), relu(), pool(),
			conv(192, 384, 3, 1, 1), relu(), conv(384, 256, 3, 1, 1), relu(), conv(256, 256, 3, 1, 1), relu(), pool()),
		AvgPool: nn.NewAdaptiveAvgPool2d(6),
		Classifier: nn.NewSequential(dropout(p), nn.NewLinear(256*6*6, 4096), relu(),
			dropout(p), nn.NewLinear(4096, 4096), relu(), nn.NewLinear(4096, o.NumClasses)),
	})
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *AlexNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(flatten(nn.Chain(x, m.Features, m.AvgPool)))
}
