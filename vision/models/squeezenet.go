package models

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// Fire is the block of SqueezeNet: a 1x1 convolution to few channels, then 1x1 and 3x3 convolutions side by side.
type Fire struct {
	nn.Base
	Squeeze             *nn.Conv2d
	SqueezeActivation   *nn.ReLU
	Expand1x1           *nn.Conv2d `torch:"expand1x1"`
	Expand1x1Activation *nn.ReLU   `torch:"expand1x1_activation"`
	Expand3x3           *nn.Conv2d `torch:"expand3x3"`
	Expand3x3Activation *nn.ReLU   `torch:"expand3x3_activation"`
}

func newFire(in, squeeze, expand int) *Fire {
	return nn.New(&Fire{
		Squeeze: nn.NewConv2d(in, squeeze, 1), SqueezeActivation: relu(),
		Expand1x1: nn.NewConv2d(squeeze, expand, 1), Expand1x1Activation: relu(),
		Expand3x3:           nn.NewConv2d(squeeze, expand, 3, nn.Conv2dOptions{Padding: nn.Size{1}}),
		Expand3x3Activation: relu(),
	})
}

// Forward maps (N, in, H, W) to (N, 2*expand, H, W).
func (m *Fire) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		x = nn.Chain(x, m.Squeeze, m.SqueezeActivation)
		return torch.Cat([]*tensor.Tensor{nn.Chain(x, m.Expand1x1, m.Expand1x1Activation),
			nn.Chain(x, m.Expand3x3, m.Expand3x3Activation)}, torch.CatOptions{Dim: 1})
	})
}

// SqueezeNet is a small network for images (Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer
// parameters, 2016).
type SqueezeNet struct {
	nn.Base
	Features   *nn.Sequential
	Classifier *nn.Sequential
}

// squeezeNet builds the features from a table: a number is a Fire block that squeezes to so many channels and expands
// to four times as many on either side, 0 a max pooling.
func squeezeNet(first, kernel int, table []int, opts []Options) *SqueezeNet {
	o := optionsOf(opts, 1000)
	f := nn.NewSequential(nn.NewConv2d(3, first, kernel, nn.Conv2dOptions{Stride: nn.Size{2}}), relu())
	in := first
	for _, squeeze := range table {
		if squeeze == 0 {
			f.Append(nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, CeilMode: true}))
			continue
		}
		f.Append(newFire(in, squeeze, 4*squeeze))
		in = 8 * squeeze
	}
	last := nn.NewConv2d(512, o.NumClasses, 1)
	m := nn.New(&SqueezeNet{Features: f, Classifier: nn.NewSequential(dropout(o.Dropout.Or(0.5)), last, relu(),
		nn.NewAdaptiveAvgPool2d(1))})
	initialize(m, func(c *nn.Conv2d) {
		if c == last {
			nninit.Normal(c.Weight, 0, 0.01)
		} else {
			nninit.KaimingUniform(c.Weight)
		}
	}, nil, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *SqueezeNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return flatten(nn.Chain(x, m.Features, m.Classifier))
}

// NewSqueezeNet1_0 makes torchvision's squeezenet1_0.
func NewSqueezeNet1_0(opts ...Options) *SqueezeNet {
	return squeezeNet(96, 7, []int{0, 16, 16, 32, 0, 32, 48, 48, 64, 0, 64}, opts)
}

// NewSqueezeNet1_1 makes torchvision's squeezenet1_1, which needs 2.4 times less computation.
func NewSqueezeNet1_1(opts ...Options) *SqueezeNet {
	return squeezeNet(64, 3, []int{0, 16, 16, 0, 32, 32, 0, 48, 48, 64, 64}, opts)
}
