package models

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// CNBlock is the block of ConvNeXt: a depthwise 7x7 convolution and two linear layers over the channels, with a
// shortcut around them.
type CNBlock struct {
	nn.Base
	Block           *nn.Sequential
	LayerScale      *tensor.Tensor
	StochasticDepth *ops.StochasticDepth
}

func newCNBlock(dim int, drop float64) *CNBlock {
	return nn.New(&CNBlock{
		Block: nn.NewSequential(
			nn.NewConv2d(dim, dim, 7, nn.Conv2dOptions{Padding: nn.Size{3}, Groups: tensor.Some(dim)}),
			ops.NewPermute([]int{0, 2, 3, 1}), nn.NewLayerNorm(dim, nn.LayerNormOptions{Eps: tensor.Some(1e-6)}),
			nn.NewLinear(dim, 4*dim), nn.NewGELU(), nn.NewLinear(4*dim, dim), ops.NewPermute([]int{0, 3, 1, 2})),
		LayerScale:      nn.NewParameter(torch.Ones([]int{dim, 1, 1}).MulScalar(1e-6)),
		StochasticDepth: ops.NewStochasticDepth(drop, ops.RowMode),
	})
}

// Forward maps (N, dim, H, W) to the same shape.
func (m *CNBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := m.LayerScale.Mul(m.Block.Forward(x))
		return m.StochasticDepth.Forward(y).Add(x)
	})
}

// ConvNeXt is a convolutional network for images (Liu et al., A ConvNet for the 2020s, 2022).
type ConvNeXt struct {
	nn.Base
	Features   *nn.Sequential
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Classifier *nn.Sequential
}

func newConvNeXt(width int, blocks [4]int, depth float64, opts []Options) *ConvNeXt {
	o := optionsOf(opts, 1000)
	eps := nn.LayerNormOptions{Eps: tensor.Some(1e-6)}
	norm := func(n int) nn.Layer { return ops.NewLayerNorm2d(n, eps) }
	f := nn.NewSequential(ops.NewConv2dNormActivation(3, width, ops.ConvNormActivationOptions{KernelSize: nn.Size{4},
		Stride: nn.Size{4}, Padding: nn.Size{0}, Norm: norm, NoActivation: true, Bias: tensor.Some(true)}))
	total, done := blocks[0]+blocks[1]+blocks[2]+blocks[3], 0
	for i, n := range blocks {
		stage := nn.NewSequential()
		for range n {
			stage.Append(newCNBlock(width, depthRate(o.StochasticDepth.Or(depth), done, total)))
			done++
		}
		f.Append(stage)
		if i < 3 {
			f.Append(nn.NewSequential(norm(width),
				nn.NewConv2d(width, 2*width, 2, nn.Conv2dOptions{Stride: nn.Size{2}})))
			width *= 2
		}
	}
	m := nn.New(&ConvNeXt{Features: f, AvgPool: nn.NewAdaptiveAvgPool2d(1),
		Classifier: nn.NewSequential(norm(width), nn.NewFlatten(), nn.NewLinear(width, o.NumClasses))})
	initialize(m, func(c *nn.Conv2d) { truncNormal(c.Weight, 0.02) },
		func(l *nn.Linear) { truncNormal(l.Weight, 0.02) }, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *ConvNeXt) Forward(x *tensor.Tensor) *tensor.Tensor {
	return nn.Chain(x, m.Features, m.AvgPool, m.Classifier)
}

// NewConvNeXtTiny makes torchvision's convnext_tiny.
func NewConvNeXtTiny(opts ...Options) *ConvNeXt {
	return newConvNeXt(96, [4]int{3, 3, 9, 3}, 0.1, opts)
}

// NewConvNeXtSmall makes torchvision's convnext_small.
func NewConvNeXtSmall(opts ...Options) *ConvNeXt {
	return newConvNeXt(96, [4]int{3, 3, 27, 3}, 0.4, opts)
}

// NewConvNeXtBase makes torchvision's convnext_base.
func NewConvNeXtBase(opts ...Options) *ConvNeXt {
	return newConvNeXt(128, [4]int{3, 3, 27, 3}, 0.5, opts)
}

// NewConvNeXtLarge makes torchvision's convnext_large.
func NewConvNeXtLarge(opts ...Options) *ConvNeXt {
	return newConvNeXt(192, [4]int{3, 3, 27, 3}, 0.5, opts)
}
