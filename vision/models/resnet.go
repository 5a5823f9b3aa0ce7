package models

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// block is a residual block; norm is the batch norm that ends it.
type block interface {
	nn.Layer
	norm() nn.Layer
}

// BasicBlock is two convolutions of 3x3 and a shortcut around them.
type BasicBlock struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        nn.Layer `torch:"bn1"`
	ReLU       *nn.ReLU `torch:"relu"`
	Conv2      *nn.Conv2d
	BN2        nn.Layer       `torch:"bn2"`
	Downsample *nn.Sequential // nil where the shapes agree
}

// Bottleneck is a convolution of 3x3 between two of 1x1, and a shortcut around them.
type Bottleneck struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        nn.Layer `torch:"bn1"`
	Conv2      *nn.Conv2d
	BN2        nn.Layer `torch:"bn2"`
	Conv3      *nn.Conv2d
	BN3        nn.Layer `torch:"bn3"`
	ReLU       *nn.ReLU `torch:"relu"`
	Downsample *nn.Sequential
}

// convNB is a convolution without bias that keeps the size but for its stride.
func convNB(in, out, kernel, stride, groups int) *nn.Conv2d {
	return dilatedConv(in, out, kernel, stride, groups, 1)
}

func dilatedConv(in, out, kernel, stride, groups, dilation int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel, nn.Conv2dOptions{Stride: nn.Size{stride},
		Padding: nn.Size{(kernel - 1) / 2 * dilation}, Dilation: nn.Size{dilation}, Groups: tensor.Some(groups),
		NoBias: true})
}

// blockArgs say how a block is built.
type blockArgs struct {
	in, planes, stride int
	groups, groupWidth int // of the Bottleneck
	dilation           int // of the Bottleneck
	norm               ops.NormLayer
	down               *nn.Sequential
}

func newBasicBlock(a blockArgs) block {
	if a.dilation > 1 || a.groups != 1 || a.groupWidth != 64 {
		tensor.Fail(tensor.ErrNotImpl, "ResNet: a BasicBlock has neither dilation nor groups")
	}
	return nn.New(&BasicBlock{
		Conv1: convNB(a.in, a.planes, 3, a.stride, 1), BN1: a.norm(a.planes),
		ReLU:  relu(),
		Conv2: convNB(a.planes, a.planes, 3, 1, 1), BN2: a.norm(a.planes), Downsample: a.down,
	})
}

func newBottleneck(a blockArgs) block {
	width := a.planes * a.groupWidth / 64 * a.groups
	return nn.New(&Bottleneck{
		Conv1: convNB(a.in, width, 1, 1, 1), BN1: a.norm(width),
		Conv2: dilatedConv(width, width, 3, a.stride, a.groups, a.dilation), BN2: a.norm(width),
		Conv3: convNB(width, 4*a.planes, 1, 1, 1), BN3: a.norm(4 * a.planes),
		ReLU: relu(), Downsample: a.down,
	})
}

func (b *BasicBlock) norm() nn.Layer { return b.BN2 }
func (b *Bottleneck) norm() nn.Layer { return b.BN3 }

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
	BN1     nn.Layer      `torch:"bn1"`
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
func newResNet(make func(blockArgs) block, expansion int, layers [4]int, groups, groupWidth int,
	opts []Options) *ResNet {
	o := optionsOf(opts, 1000)
	norm := o.Norm
	if norm == nil {
		norm = func(n int) nn.Layer { return nn.NewBatchNorm2d(n) }
	}
	in, dilation := 64, 1
	stage := func(planes, blocks, stride int, dilate bool) *nn.Sequential {
		s, before := nn.NewSequential(), dilation
		if dilate {
			dilation, stride = dilation*stride, 1
		}
		for i := range blocks {
			a := blockArgs{in: in, planes: planes, stride: 1, groups: groups, groupWidth: groupWidth,
				dilation: dilation,
				norm:     norm}
			if i == 0 {
				a.stride, a.dilation = stride, before
				if stride != 1 || in != planes*expansion {
					a.down = nn.NewSequential(convNB(in, planes*expansion, 1, stride, 1), norm(planes*expansion))
				}
			}
			s.Append(make(a))
			in = planes * expansion
		}
		return s
	}
	dilate := o.ReplaceStrideWithDilation
	m := nn.New(&ResNet{
		Conv1: convNB(3, 64, 7, 2, 1), BN1: norm(64), ReLU: relu(),
		MaxPool: nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}),
		Layer1:  stage(64, layers[0], 1, false), Layer2: stage(128, layers[1], 2, dilate[0]),
		Layer3: stage(256, layers[2], 2, dilate[1]), Layer4: stage(512, layers[3], 2, dilate[2]),
		AvgPool: nn.NewAdaptiveAvgPool2d(nn.Size{1, 1}), FC: nn.NewLinear(512*expansion, o.NumClasses),
	})
	initialize(m, fanOut, nil, false)
	if o.ZeroInitResidual {
		for c := range nn.Modules(m) {
			if b, ok := c.(block); ok {
				if p, err := nn.GetParameter(b.norm(), "weight"); err == nil { // a frozen norm has none
					nninit.Zeros(p)
				}
			}
		}
	}
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *ResNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = nn.Chain(x, m.Conv1, m.BN1, m.ReLU, m.MaxPool, m.Layer1, m.Layer2, m.Layer3, m.Layer4, m.AvgPool)
	return m.FC.Forward(x.Flatten(tensor.FlattenOptions{StartDim: 1}))
}

// NewResNet18 makes torchvision's resnet18.
func NewResNet18(opts ...Options) *ResNet {
	return newResNet(newBasicBlock, 1, [4]int{2, 2, 2, 2}, 1, 64, opts)
}

// NewResNet34 makes torchvision's resnet34.
func NewResNet34(opts ...Options) *ResNet {
	return newResNet(newBasicBlock, 1, [4]int{3, 4, 6, 3}, 1, 64, opts)
}

// NewResNet50 makes torchvision's resnet50.
func NewResNet50(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 1, 64, opts)
}

// NewResNet101 makes torchvision's resnet101.
func NewResNet101(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 23, 3}, 1, 64, opts)
}

// NewResNet152 makes torchvision's resnet152.
func NewResNet152(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 8, 36, 3}, 1, 64, opts)
}

// NewResNeXt50_32x4d makes torchvision's resnext50_32x4d: 32 groups of 4 channels.
func NewResNeXt50_32x4d(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 32, 4, opts)
}

// NewWideResNet50_2 makes torchvision's wide_resnet50_2, whose inner convolutions are twice as wide.
func NewWideResNet50_2(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 6, 3}, 1, 128, opts)
}

// NewResNeXt101_32x8d makes torchvision's resnext101_32x8d: 32 groups of 8 channels.
func NewResNeXt101_32x8d(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 23, 3}, 32, 8, opts)
}

// NewResNeXt101_64x4d makes torchvision's resnext101_64x4d: 64 groups of 4 channels.
func NewResNeXt101_64x4d(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 23, 3}, 64, 4, opts)
}

// NewWideResNet101_2 makes torchvision's wide_resnet101_2, whose inner convolutions are twice as wide.
func NewWideResNet101_2(opts ...Options) *ResNet {
	return newResNet(newBottleneck, 4, [4]int{3, 4, 23, 3}, 1, 128, opts)
}
