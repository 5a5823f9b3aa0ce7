package models

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
)

// ResNetOptions are the options of the residual networks; the zero value is torchvision's default.
type ResNetOptions struct {
	NumClasses       int // default 1000
	ZeroInitResidual bool
}

// block is a residual block; norm is the batch norm that ends it.
type block interface {
	nn.Layer
	norm() *nn.BatchNorm2d
}

// BasicBlock is two convolutions of 3x3 and a shortcut around them.
type BasicBlock struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	ReLU       *nn.ReLU `torch:"relu"`
	Conv2      *nn.Conv2d
	BN2        *nn.BatchNorm2d
	Downsample *nn.Sequential // nil where the shapes agree
}

// Bottleneck is a convolution of 3x3 between two of 1x1, and a shortcut around them.
type Bottleneck struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	Conv2      *nn.Conv2d
	BN2        *nn.BatchNorm2d
	Conv3      *nn.Conv2d
	BN3        *nn.BatchNorm2d
	ReLU       *nn.ReLU `torch:"relu"`
	Downsample *nn.Sequential
}

// convNB is a convolution without bias that keeps the size but for its stride.
func convNB(in, out, kernel, stride, groups int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel,
		nn.Conv2dOptions{Stride: nn.Size{stride}, Padding: nn.Size{(kernel - 1) / 2}, Groups: tensor.Some(groups),
			NoBias: true})
}

func newBasicBlock(in, planes, stride, _, _ int, down *nn.Sequential) block {
	return nn.New(&BasicBlock{
		Conv1: convNB(in, planes, 3, stride, 1), BN1: nn.NewBatchNorm2d(planes),
		ReLU:  nn.NewReLU(nn.InplaceOptions{Inplace: true}),
		Conv2: convNB(planes, planes, 3, 1, 1), BN2: nn.NewBatchNorm2d(planes), Downsample: down,
	})
}

func newBottleneck(in, planes, stride, groups, base int, down *nn.Sequential) block {
	width := planes * base / 64 * groups
	return nn.New(&Bottleneck{
		Conv1: convNB(in, width, 1, 1, 1), BN1: nn.NewBatchNorm2d(width),
		Conv2: convNB(width, width, 3, stride, groups), BN2: nn.NewBatchNorm2d(width),
		Conv3: convNB(width, 4*planes, 1, 1, 1), BN3: nn.NewBatchNorm2d(4 * planes),
		ReLU: nn.NewReLU(nn.InplaceOptions{Inplace: true}), Downsample: down,
	})
}

func (b *BasicBlock) norm() *nn.BatchNorm2d { return b.BN2 }
func (b *Bottleneck) norm() *nn.BatchNorm2d { return b.BN3 }

// addShortcut adds what goes around a block to y, in place.
func addShortcut(y *tensor.Tensor, down *nn.Sequential, x *tensor.Tensor) *tensor.Tensor {
	if down == nil {
		return y.AddInPlace(x)
	}
	around := down.Forward(x)
	y = y.AddInPlace(around)
	if nn.IsTransient(down) {
		tensor.ReleaseConsumed(around, x, y)
	}
	return y
}

// Transient returns the block, which keeps nothing, unless hooks look into it.
func (b *BasicBlock) Transient() nn.Module {
	if !nn.IsTransient(b.Conv1, b.BN1, b.ReLU, b.Conv2, b.BN2) || b.Downsample != nil && !nn.IsTransient(b.Downsample) {
		return nil
	}
	return b
}

// Transient returns the block, which keeps nothing, unless hooks look into it.
func (b *Bottleneck) Transient() nn.Module {
	if !nn.IsTransient(b.Conv1, b.BN1, b.ReLU, b.Conv2, b.BN2, b.Conv3, b.BN3) ||
		b.Downsample != nil && !nn.IsTransient(b.Downsample) {
		return nil
	}
	return b
}

// Forward maps (N, in, H, W) to (N, planes, H/stride, W/stride).
func (b *BasicBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return b.Run(b, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := nn.Chain(x, b.Conv1, b.BN1, b.ReLU, b.Conv2, b.BN2)
		return b.ReLU.Forward(addShortcut(y, b.Downsample, x))
	})
}

// Forward maps (N, in, H, W) to (N, 4*planes, H/stride, W/stride).
func (b *Bottleneck) Forward(x *tensor.Tensor) *tensor.Tensor {
	return b.Run(b, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := nn.Chain(x, b.Conv1, b.BN1, b.ReLU, b.Conv2, b.BN2, b.ReLU, b.Conv3, b.BN3)
		return b.ReLU.Forward(addShortcut(y, b.Downsample, x))
	})
}

// ResNet is a residual network for images (He et al., Deep Residual Learning for Image Recognition, 2015). Its state
// dict is that of torchvision's class of the same name, and so are the first weights after the same seed.
type ResNet struct {
	nn.Base
	Conv1   *nn.Conv2d
	BN1     *nn.BatchNorm2d
	ReLU    *nn.ReLU      `torch:"relu"`
	MaxPool *nn.MaxPool2d `torch:"maxpool"`
	Layer1  *nn.Sequential
	Layer2  *nn.Sequential
	Layer3  *nn.Sequential
	Layer4  *nn.Sequential
	AvgPool *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	FC      *nn.Linear
}

// newResNet builds four stages of the given numbers of blocks.
func newResNet(make func(in, planes, stride, groups, base int, down *nn.Sequential) block, expansion int, layers [4]int,
	groups, base int, opts []ResNetOptions) *ResNet {
	o := ResNetOptions{}
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.NumClasses == 0 {
		o.NumClasses = 1000
	}
	in := 64
	stage := func(planes, blocks, stride int) *nn.Sequential {
		s := nn.NewSequential()
		for i := range blocks {
			var down *nn.Sequential
			if i > 0 {
				stride = 1
			} else if stride != 1 || in != planes*expansion {
				down = nn.NewSequential(convNB(in, planes*expansion, 1, stride, 1), nn.NewBatchNorm2d(planes*expansion))
			}
			s.Append(make(in, planes, stride, groups, base, down))
			in = planes * expansion
		}
		return s
	}
	m := nn.New(&ResNet{
		Conv1: convNB(3, 64, 7, 2, 1), BN1: nn.NewBatchNorm2d(64), ReLU: nn.NewReLU(nn.InplaceOptions{Inplace: true}),
		MaxPool: nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}),
		Layer1:  stage(64, layers[0], 1), Layer2: stage(128, layers[1], 2), Layer3: stage(256, layers[2], 2),
		Layer4:  stage(512, layers[3], 2),
		AvgPool: nn.NewAdaptiveAvgPool2d(nn.Size{1, 1}), FC: nn.NewLinear(512*expansion, o.NumClasses),
	})
	for c := range nn.Modules(m) {
		if c, ok := c.(*nn.Conv2d); ok {
			fanOut(c)
		}
	}
	if o.ZeroInitResidual {
		for c := range nn.Modules(m) {
			if b, ok := c.(block); ok {
				nninit.Zeros(b.norm().Weight)
			}
		}
	}
	return m
}

// fanOut draws a convolution's weights from a normal distribution whose variance keeps that of gradients.
func fanOut(c *nn.Conv2d) {
	nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut, Nonlinearity: "relu"})
	if c.Bias != nil {
		nninit.Zeros(c.Bias)
	}
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *ResNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Chain(x, m.Conv1, m.BN1, m.ReLU, m.MaxPool, m.Layer1, m.Layer2, m.Layer3, m.Layer4, m.AvgPool)
	return m.FC.Forward(x.Flatten(tensor.FlattenOptions{StartDim: 1}))
}

// NewResNet18 makes torchvision's resnet18.
func NewResNet18(opts ...ResNetOptions) *ResNet {
	return newResNet(newBasicBlock, 1, [4]int{2, 2, 2, 2}, 1, 64, opts)
}

// NewResNet34 makes torchvision's resnet34.
func NewResNet34(opts ...ResNetOptions) *ResNet {
	return newResNet(newBasicBlock, 1, [4]int{3, 4, 6, 3}, 1, 64, opts)
}

// NewResNet50 makes torchvision's resnet50.
func NewResNet50(opts ...ResNetOptions) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 1, 64, opts)
}

// NewResNet101 makes torchvision's resnet101.
func NewResNet101(opts ...ResNetOptions) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 23, 3}, 1, 64, opts)
}

// NewResNet152 makes torchvision's resnet152.
func NewResNet152(opts ...ResNetOptions) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 8, 36, 3}, 1, 64, opts)
}

// NewResNeXt50x32x4d makes torchvision's resnext50_32x4d: 32 groups of 4 channels.
func NewResNeXt50x32x4d(opts ...ResNetOptions) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 32, 4, opts)
}

// NewWideResNet50x2 makes torchvision's wide_resnet50_2, whose inner convolutions are twice as wide.
func NewWideResNet50x2(opts ...ResNetOptions) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 1, 128, opts)
}
