package models

import (
	"math"

	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// convReLU6 is a convolution without bias, its batch norm and an activation.
func convReLU6(in, out, kernel, stride, groups int) nn.Layer {
	return ops.NewConv2dNormActivation(in, out, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
		Stride: nn.Size{stride}, Groups: groups, Activation: ops.ReLU6})
}

// InvertedResidual widens its input, convolves each channel by itself, and narrows it again, with a shortcut where the
// shapes agree.
type InvertedResidual struct {
	nn.Base
	Conv     *nn.Sequential
	shortcut bool
}

func newInvertedResidual(in, out, stride, expand int) *InvertedResidual {
	b := nn.New(&InvertedResidual{Conv: nn.NewSequential(), shortcut: stride == 1 && in == out})
	hidden := in * expand
	if expand != 1 {
		b.Conv.Append(convReLU6(in, hidden, 1, 1, 1))
	}
	b.Conv.Append(convReLU6(hidden, hidden, 3, stride, hidden))
	b.Conv.Append(convNB(hidden, out, 1, 1, 1))
	b.Conv.Append(nn.NewBatchNorm2d(out))
	return b
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (b *InvertedResidual) Forward(x *tensor.Tensor) *tensor.Tensor {
	return b.Run(b, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := b.Conv.Forward(x)
		if !b.shortcut {
			return y
		}
		z := x.Add(y)
		if nn.IsTransient(b.Conv) {
			tensor.ReleaseConsumed(y, x, z)
		}
		return z
	})
}

// Transient returns the block, which keeps nothing, unless hooks look into it.
func (b *InvertedResidual) Transient() nn.Module {
	if !nn.IsTransient(b.Conv) {
		return nil
	}
	return b
}

// MobileNetV2 is a small network for images (Sandler et al., MobileNetV2: Inverted Residuals and Linear Bottlenecks,
// 2018). Its state dict is that of torchvision's class of the same name, and so are the first weights after the same
// seed.
type MobileNetV2 struct {
	nn.Base
	Features   *nn.Sequential
	Classifier *nn.Sequential
}

// NewMobileNetV2 makes torchvision's mobilenet_v2.
func NewMobileNetV2(opts ...Options) *MobileNetV2 {
	o := optionsOf(opts, 1000)
	width := o.WidthMult.Or(1)
	in, last := divisible(32*width), divisible(1280*math.Max(1, width))
	features := nn.NewSequential(convReLU6(3, in, 3, 2, 1))
	for _, s := range []struct{ expand, channels, blocks, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		out := divisible(float64(s.channels) * width)
		for i := range s.blocks {
			stride := 1
			if i == 0 {
				stride = s.stride
			}
			features.Append(newInvertedResidual(in, out, stride, s.expand))
			in = out
		}
	}
	features.Append(convReLU6(in, last, 1, 1, 1))
	m := nn.New(&MobileNetV2{
		Features: features,
		Classifier: nn.NewSequential(nn.NewDropout(nn.DropoutOptions{P: tensor.Some(o.Dropout.Or(0.2))}),
			nn.NewLinear(last, o.NumClasses)),
	})
	initialize(m, func(c *nn.Conv2d) {
		nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut})
	}, normalLinear(0.01), true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *MobileNetV2) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = F.AdaptiveAvgPool2d(m.Features.Forward(x), []int{1, 1})
	return m.Classifier.Forward(x.Flatten(tensor.FlattenOptions{StartDim: 1}))
}
