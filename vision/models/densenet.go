package models

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// DenseLayer computes growth new channels from all that are there.
type DenseLayer struct {
	nn.Base
	Norm1    *nn.BatchNorm2d
	ReLU1    *nn.ReLU `torch:"relu1"`
	Conv1    *nn.Conv2d
	Norm2    *nn.BatchNorm2d
	ReLU2    *nn.ReLU `torch:"relu2"`
	Conv2    *nn.Conv2d
	dropRate float64
}

// Forward maps (N, C, H, W) to (N, growth, H, W).
func (m *DenseLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := nn.Chain(x, m.Norm1, m.ReLU1, m.Conv1, m.Norm2, m.ReLU2, m.Conv2)
		if m.dropRate > 0 {
			y = torch.Dropout(y, m.dropRate, m.Training())
		}
		return y
	})
}

// DenseBlock is DenseLayers of which each sees what all before it have made.
type DenseBlock struct{ nn.ModuleDict }

// Forward maps (N, C, H, W) to (N, C+layers*growth, H, W).
func (m *DenseBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		features := []*tensor.Tensor{x}
		for _, l := range m.All() {
			all := torch.Cat(features, torch.CatOptions{Dim: 1})
			features = append(features, l.(*DenseLayer).Forward(all))
		}
		return torch.Cat(features, torch.CatOptions{Dim: 1})
	})
}

// DenseNet is a network whose layers see the results of all layers before them (Huang et al., Densely Connected
// Convolutional Networks, 2016).
type DenseNet struct {
	nn.Base
	Features   *nn.Sequential
	Classifier *nn.Linear
}

func newDenseNet(growth, first int, blocks [4]int, opts []Options) *DenseNet {
	const bottleneck = 4
	o := optionsOf(opts, 1000)
	f := nn.NewSequential().Add("conv0", convNB(3, first, 7, 2, 1)).Add("norm0", nn.NewBatchNorm2d(first)).
		Add("relu0", relu()).Add("pool0",
		nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}))
	n := first
	for i, layers := range blocks {
		b := nn.New(&DenseBlock{})
		for j := range layers {
			b.Set(fmt.Sprintf("denselayer%d", j+1), nn.New(&DenseLayer{
				Norm1: nn.NewBatchNorm2d(n), ReLU1: relu(), Conv1: convNB(n, bottleneck*growth, 1, 1, 1),
				Norm2: nn.NewBatchNorm2d(bottleneck * growth), ReLU2: relu(),
				Conv2: convNB(bottleneck*growth, growth, 3, 1, 1), dropRate: o.Dropout.Or(0),
			}))
			n += growth
		}
		f.Add(fmt.Sprintf("denseblock%d", i+1), b)
		if i < len(blocks)-1 {
			f.Add(fmt.Sprintf("transition%d", i+1), nn.NewSequential().Add("norm", nn.NewBatchNorm2d(n)).
				Add("relu", relu()).Add("conv", convNB(n, n/2, 1, 1, 1)).
				Add("pool", nn.NewAvgPool2d(2, nn.AvgPool2dOptions{Stride: nn.Size{2}})))
			n /= 2
		}
	}
	f.Add("norm5", nn.NewBatchNorm2d(n))
	m := nn.New(&DenseNet{Features: f, Classifier: nn.NewLinear(n, o.NumClasses)})
	initialize(m, func(c *nn.Conv2d) { nninit.KaimingNormal(c.Weight) }, func(*nn.Linear) {}, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *DenseNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.Features.Forward(x).ReLU()
	return m.Classifier.Forward(flatten(globalPool(x)))
}

// NewDenseNet121 makes torchvision's densenet121. Options.Dropout is its drop_rate, 0 unless given.
func NewDenseNet121(opts ...Options) *DenseNet {
	return newDenseNet(32, 64, [4]int{6, 12, 24, 16}, opts)
}

// NewDenseNet161 makes torchvision's densenet161.
func NewDenseNet161(opts ...Options) *DenseNet {
	return newDenseNet(48, 96, [4]int{6, 12, 36, 24}, opts)
}

// NewDenseNet169 makes torchvision's densenet169.
func NewDenseNet169(opts ...Options) *DenseNet {
	return newDenseNet(32, 64, [4]int{6, 12, 32, 32}, opts)
}

// NewDenseNet201 makes torchvision's densenet201.
func NewDenseNet201(opts ...Options) *DenseNet {
	return newDenseNet(32, 64, [4]int{6, 12, 48, 32}, opts)
}
