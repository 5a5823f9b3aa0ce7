package models

import (
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// v3Block is a row of the tables of MobileNet V3.
type v3Block struct {
	in, kernel, expanded, out int
	squeeze                   bool // a SqueezeExcitation behind the depthwise convolution
	hard                      bool // Hardswish, else ReLU
	stride, dilation          int
}

// MobileNetV3Block widens its input, convolves each channel by itself, scales the channels, and narrows it again.
type MobileNetV3Block struct {
	nn.Base
	Block      *nn.Sequential
	shortcut   bool
	stageStart bool // strided, or dilated instead
}

func newV3Block(b v3Block, norm ops.NormLayer) *MobileNetV3Block {
	act := ops.ReLU
	if b.hard {
		act = ops.Hardswish
	}
	s := nn.NewSequential()
	if b.expanded != b.in {
		s.Append(ops.NewConv2dNormActivation(b.in, b.expanded, ops.ConvNormActivationOptions{KernelSize: nn.Size{1},
			Norm: norm, Activation: act}))
	}
	stride := b.stride
	if b.dilation > 1 {
		stride = 1
	}
	s.Append(ops.NewConv2dNormActivation(b.expanded, b.expanded, ops.ConvNormActivationOptions{
		KernelSize: nn.Size{b.kernel}, Stride: nn.Size{stride}, Dilation: b.dilation, Groups: b.expanded, Norm: norm,
		Activation: act}))
	if b.squeeze {
		s.Append(ops.NewSqueezeExcitation(b.expanded, divisible(float64(b.expanded/4)),
			ops.SqueezeExcitationOptions{ScaleActivation: ops.Hardsigmoid}))
	}
	s.Append(ops.NewConv2dNormActivation(b.expanded, b.out, ops.ConvNormActivationOptions{KernelSize: nn.Size{1},
		Norm: norm, NoActivation: true}))
	return nn.New(&MobileNetV3Block{Block: s, shortcut: b.stride == 1 && b.in == b.out, stageStart: b.stride > 1})
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *MobileNetV3Block) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := m.Block.Forward(x)
		if m.shortcut {
			y = y.Add(x)
		}
		return y
	})
}

// MobileNetV3 is a small network for images (Howard et al., Searching for MobileNetV3, 2019).
type MobileNetV3 struct {
	nn.Base
	Features   *nn.Sequential
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Classifier *nn.Sequential
}

func newMobileNetV3(table []v3Block, last int, opts []Options) *MobileNetV3 {
	o := optionsOf(opts, 1000)
	norm := o.Norm
	if norm == nil {
		norm = ops.BatchNorm2d(nn.BatchNorm2dOptions{Eps: tensor.Some(0.001), Momentum: tensor.Some(0.01)})
	}
	width, tail := o.WidthMult.Or(1), 1
	if o.ReducedTail {
		tail = 2
	}
	scaled := func(n int) int { return divisible(float64(n) * width) }
	hard := func(in, out, kernel, stride int) nn.Layer {
		return ops.NewConv2dNormActivation(in, out, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
			Stride: nn.Size{stride}, Norm: norm, Activation: ops.Hardswish})
	}
	f := nn.NewSequential(hard(3, scaled(table[0].in), 3, 2))
	n := len(table)
	for i, b := range table {
		b.dilation = 1
		if i >= n-3 { // the last stage
			if i > n-3 {
				b.in /= tail
				b.expanded /= tail
			}
			b.out /= tail
			if o.Dilated {
				b.dilation = 2
			}
		}
		b.in, b.expanded, b.out = scaled(b.in), scaled(b.expanded), scaled(b.out)
		f.Append(newV3Block(b, norm))
	}
	in := scaled(table[n-1].out / tail)
	f.Append(hard(in, 6*in, 1, 1))
	last = scaled(last / tail)
	m := nn.New(&MobileNetV3{Features: f, AvgPool: nn.NewAdaptiveAvgPool2d(1),
		Classifier: nn.NewSequential(nn.NewLinear(6*in, last),
			nn.NewHardswish(nn.InplaceOptions{Inplace: true}), dropout(o.Dropout.Or(0.2)),
			nn.NewLinear(last, o.NumClasses))})
	initialize(m, func(c *nn.Conv2d) {
		nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut})
	}, normalLinear(0.01), true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *MobileNetV3) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(flatten(nn.Chain(x, m.Features, m.AvgPool)))
}

// Stages are the numbers of the layers of Features that begin a stage (the first one, those that are strided or dilated
// instead, the last one) and their numbers of channels. Detectors and networks for segmentation stand on them.
func (m *MobileNetV3) Stages() (layers, channels []int) {
	n := m.Features.Len()
	for i := range n {
		b, ok := m.Features.At(i).(*MobileNetV3Block)
		if i == 0 || i == n-1 || ok && b.stageStart {
			out := 0
			for c := range nn.Modules(m.Features.At(i)) {
				if c, ok := c.(*nn.Conv2d); ok {
					out = c.OutChannels
				}
			}
			layers, channels = append(layers, i), append(channels, out)
		}
	}
	return layers, channels
}

// NewMobileNetV3Large makes torchvision's mobilenet_v3_large.
func NewMobileNetV3Large(opts ...Options) *MobileNetV3 {
	return newMobileNetV3([]v3Block{
		{16, 3, 16, 16, false, false, 1, 1}, {16, 3, 64, 24, false, false, 2, 1}, {24, 3, 72, 24, false, false, 1, 1},
		{24, 5, 72, 40, true, false, 2, 1}, {40, 5, 120, 40, true, false, 1, 1}, {40, 5, 120, 40, true, false, 1, 1},
		{40, 3, 240, 80, false, true, 2, 1}, {80, 3, 200, 80, false, true, 1, 1}, {80, 3, 184, 80, false, true, 1, 1},
		{80, 3, 184, 80, false, true, 1, 1}, {80, 3, 480, 112, true, true, 1, 1}, {112, 3, 672, 112, true, true, 1, 1},
		{112, 5, 672, 160, true, true, 2, 1}, {160, 5, 960, 160, true, true, 1, 1},
		{160, 5, 960, 160, true, true, 1, 1},
	}, 1280, opts)
}

// NewMobileNetV3Small makes torchvision's mobilenet_v3_small.
func NewMobileNetV3Small(opts ...Options) *MobileNetV3 {
	return newMobileNetV3([]v3Block{
		{16, 3, 16, 16, true, false, 2, 1}, {16, 3, 72, 24, false, false, 2, 1}, {24, 3, 88, 24, false, false, 1, 1},
		{24, 5, 96, 40, true, true, 2, 1}, {40, 5, 240, 40, true, true, 1, 1}, {40, 5, 240, 40, true, true, 1, 1},
		{40, 5, 120, 48, true, true, 1, 1}, {48, 5, 144, 48, true, true, 1, 1},
		{48, 5, 288, 96, true, true, 2, 1}, {96, 5, 576, 96, true, true, 1, 1}, {96, 5, 576, 96, true, true, 1, 1},
	}, 1024, opts)
}
