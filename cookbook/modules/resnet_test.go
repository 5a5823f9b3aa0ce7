package modules_test

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

// BasicBlock is two 3×3 convolutions with a shortcut around them. The fields are found by walking the struct; a tag
// gives the Python name where it is not the field's own in snake case.
type BasicBlock struct {
	nn.Base
	Conv1      *nn.Conv2d
	BN1        *nn.BatchNorm2d
	ReLU       *nn.ReLU `torch:"relu"`
	Conv2      *nn.Conv2d
	BN2        *nn.BatchNorm2d
	Downsample *nn.Sequential // nil where the shapes agree
}

func conv(in, out, kernel, stride int) *nn.Conv2d {
	return nn.NewConv2d(in, out, kernel,
		nn.Conv2dOptions{Stride: nn.Size{stride}, Padding: nn.Size{kernel / 2}, NoBias: true})
}

func newBasicBlock(in, out, stride int) *BasicBlock {
	b := &BasicBlock{Conv1: conv(in, out, 3, stride), BN1: nn.NewBatchNorm2d(out),
		ReLU:  nn.NewReLU(nn.InplaceOptions{Inplace: true}),
		Conv2: conv(out, out, 3, 1), BN2: nn.NewBatchNorm2d(out)}
	if stride != 1 || in != out {
		b.Downsample = nn.NewSequential(conv(in, out, 1, stride), nn.NewBatchNorm2d(out))
	}
	return nn.New(b)
}

func (b *BasicBlock) Forward(x *torch.Tensor) *torch.Tensor {
	y := b.ReLU.Forward(b.BN1.Forward(b.Conv1.Forward(x)))
	y = b.BN2.Forward(b.Conv2.Forward(y))
	if b.Downsample != nil {
		x = b.Downsample.Forward(x)
	}
	return b.ReLU.Forward(y.Add(x))
}

// ResNet18 is the network of torchvision's resnet18, written out: the same state dict, key by key.
type ResNet18 struct {
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

func newResNet18(classes int) *ResNet18 {
	stage := func(in, out, stride int) *nn.Sequential {
		return nn.NewSequential(newBasicBlock(in, out, stride), newBasicBlock(out, out, 1))
	}
	return nn.New(&ResNet18{
		Conv1: conv(3, 64, 7, 2), BN1: nn.NewBatchNorm2d(64), ReLU: nn.NewReLU(nn.InplaceOptions{Inplace: true}),
		MaxPool: nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}, Padding: nn.Size{1}}),
		Layer1:  stage(64, 64, 1), Layer2: stage(64, 128, 2), Layer3: stage(128, 256, 2), Layer4: stage(256, 512, 2),
		AvgPool: nn.NewAdaptiveAvgPool2d(nn.Size{1, 1}), FC: nn.NewLinear(512, classes),
	})
}

func (m *ResNet18) Forward(x *torch.Tensor) *torch.Tensor {
	x = m.MaxPool.Forward(m.ReLU.Forward(m.BN1.Forward(m.Conv1.Forward(x))))
	x = m.Layer4.Forward(m.Layer3.Forward(m.Layer2.Forward(m.Layer1.Forward(x))))
	return m.FC.Forward(torch.Flatten(m.AvgPool.Forward(x), fromDim1))
}
