package models

import (
	"math"

	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// mbStage is a row of the tables of EfficientNet.
type mbStage struct {
	fused                           bool
	expand, kernel, stride, in, out int
	blocks                          int
}

// MBConv is the block of EfficientNet: it widens its input, convolves it (each channel by itself, and scales the
// channels, unless it is fused), and narrows it again, with a shortcut where the shapes agree.
type MBConv struct {
	nn.Base
	Block           *nn.Sequential
	StochasticDepth *ops.StochasticDepth
	shortcut        bool
	fused           bool
}

// ClassName is the name that the module prints.
func (m *MBConv) ClassName() string {
	if m.fused {
		return "FusedMBConv"
	}
	return "MBConv"
}

func newMBConv(s mbStage, drop float64, norm ops.NormLayer) *MBConv {
	conv := func(in, out, kernel, stride, groups int, act bool) nn.Layer {
		return ops.NewConv2dNormActivation(in, out, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
			Stride: nn.Size{stride}, Groups: groups, Norm: norm, Activation: ops.SiLU, NoActivation: !act})
	}
	wide, b := divisible(float64(s.in*s.expand)), nn.NewSequential()
	switch {
	case s.fused && wide == s.in:
		b.Append(conv(s.in, s.out, s.kernel, s.stride, 1, true))
	case s.fused:
		b.Append(conv(s.in, wide, s.kernel, s.stride, 1, true))
		b.Append(conv(wide, s.out, 1, 1, 1, false))
	default:
		if wide != s.in {
			b.Append(conv(s.in, wide, 1, 1, 1, true))
		}
		b.Append(conv(wide, wide, s.kernel, s.stride, wide, true))
		b.Append(ops.NewSqueezeExcitation(wide, max(1, s.in/4), ops.SqueezeExcitationOptions{Activation: ops.SiLU}))
		b.Append(conv(wide, s.out, 1, 1, 1, false))
	}
	return nn.New(&MBConv{Block: b, StochasticDepth: ops.NewStochasticDepth(drop, ops.RowMode),
		shortcut: s.stride == 1 && s.in == s.out, fused: s.fused})
}

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *MBConv) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		y := m.Block.Forward(x)
		if m.shortcut {
			y = m.StochasticDepth.Forward(y).Add(x)
		}
		return y
	})
}

// EfficientNet is a family of networks for images (Tan and Le, EfficientNet: Rethinking Model Scaling for Convolutional
// Neural Networks, 2019; EfficientNetV2: Smaller Models and Faster Training, 2021).
type EfficientNet struct {
	nn.Base
	Features   *nn.Sequential
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Classifier *nn.Sequential
}

// newEfficientNet builds a network of stages; last is the number of channels before the classifier, 0 for four times
// those of the last stage.
func newEfficientNet(table []mbStage, last int, drop float64, bn nn.BatchNorm2dOptions, opts []Options) *EfficientNet {
	o := optionsOf(opts, 1000)
	norm, depth := ops.BatchNorm2d(bn), o.StochasticDepth.Or(0.2)
	conv := func(in, out, kernel, stride int) nn.Layer {
		return ops.NewConv2dNormActivation(in, out, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
			Stride: nn.Size{stride}, Norm: norm, Activation: ops.SiLU})
	}
	total, done := 0, 0
	for _, s := range table {
		total += s.blocks
	}
	f := nn.NewSequential(conv(3, table[0].in, 3, 2))
	for _, s := range table {
		stage := nn.NewSequential()
		for i := range s.blocks {
			b := s
			if i > 0 {
				b.in, b.stride = s.out, 1
			}
			stage.Append(newMBConv(b, depth*float64(done)/float64(total), norm))
			done++
		}
		f.Append(stage)
	}
	in := table[len(table)-1].out
	if last == 0 {
		last = 4 * in
	}
	f.Append(conv(in, last, 1, 1))
	m := nn.New(&EfficientNet{Features: f, AvgPool: nn.NewAdaptiveAvgPool2d(1), Classifier: nn.NewSequential(
		nn.NewDropout(nn.DropoutOptions{P: tensor.Some(o.Dropout.Or(drop)), Inplace: true}),
		nn.NewLinear(last, o.NumClasses))})
	initialize(m, func(c *nn.Conv2d) {
		nninit.KaimingNormal(c.Weight, nninit.KaimingOptions{Mode: nninit.FanOut})
	}, func(l *nn.Linear) {
		bound := 1 / math.Sqrt(float64(l.OutFeatures))
		nninit.Uniform(l.Weight, -bound, bound)
	}, true)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *EfficientNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Classifier.Forward(flatten(nn.Chain(x, m.Features, m.AvgPool)))
}

// efficientNetB is EfficientNet-B0 with more channels and more blocks.
func efficientNetB(width, depth, drop float64, bn nn.BatchNorm2dOptions, opts []Options) *EfficientNet {
	table := []mbStage{{false, 1, 3, 1, 32, 16, 1}, {false, 6, 3, 2, 16, 24, 2}, {false, 6, 5, 2, 24, 40, 2},
		{false, 6, 3, 2, 40, 80, 3}, {false, 6, 5, 1, 80, 112, 3}, {false, 6, 5, 2, 112, 192, 4},
		{false, 6, 3, 1, 192, 320, 1}}
	for i := range table {
		s := &table[i]
		s.in, s.out = divisible(float64(s.in)*width), divisible(float64(s.out)*width)
		s.blocks = ceilMul(s.blocks, depth)
	}
	return newEfficientNet(table, 0, drop, bn, opts)
}

// slowNorm is the batch norm of the larger EfficientNets, v2Norm that of the second version.
var (
	slowNorm = nn.BatchNorm2dOptions{Eps: tensor.Some(0.001), Momentum: tensor.Some(0.01)}
	v2Norm   = nn.BatchNorm2dOptions{Eps: tensor.Some(0.001)}
)

// NewEfficientNetB0 makes torchvision's efficientnet_b0.
func NewEfficientNetB0(opts ...Options) *EfficientNet {
	return efficientNetB(1, 1, 0.2, nn.BatchNorm2dOptions{}, opts)
}

// NewEfficientNetB1 makes torchvision's efficientnet_b1.
func NewEfficientNetB1(opts ...Options) *EfficientNet {
	return efficientNetB(1, 1.1, 0.2, nn.BatchNorm2dOptions{}, opts)
}

// NewEfficientNetB2 makes torchvision's efficientnet_b2.
func NewEfficientNetB2(opts ...Options) *EfficientNet {
	return efficientNetB(1.1, 1.2, 0.3, nn.BatchNorm2dOptions{}, opts)
}

// NewEfficientNetB3 makes torchvision's efficientnet_b3.
func NewEfficientNetB3(opts ...Options) *EfficientNet {
	return efficientNetB(1.2, 1.4, 0.3, nn.BatchNorm2dOptions{}, opts)
}

// NewEfficientNetB4 makes torchvision's efficientnet_b4.
func NewEfficientNetB4(opts ...Options) *EfficientNet {
	return efficientNetB(1.4, 1.8, 0.4, nn.BatchNorm2dOptions{}, opts)
}

// NewEfficientNetB5 makes torchvision's efficientnet_b5.
func NewEfficientNetB5(opts ...Options) *EfficientNet {
	return efficientNetB(1.6, 2.2, 0.4, slowNorm, opts)
}

// NewEfficientNetB6 makes torchvision's efficientnet_b6.
func NewEfficientNetB6(opts ...Options) *EfficientNet {
	return efficientNetB(1.8, 2.6, 0.5, slowNorm, opts)
}

// NewEfficientNetB7 makes torchvision's efficientnet_b7.
func NewEfficientNetB7(opts ...Options) *EfficientNet {
	return efficientNetB(2, 3.1, 0.5, slowNorm, opts)
}

// NewEfficientNetV2S makes torchvision's efficientnet_v2_s.
func NewEfficientNetV2S(opts ...Options) *EfficientNet {
	return newEfficientNet([]mbStage{{true, 1, 3, 1, 24, 24, 2}, {true, 4, 3, 2, 24, 48, 4}, {true, 4, 3, 2, 48, 64, 4},
		{false, 4, 3, 2, 64, 128, 6}, {false, 6, 3, 1, 128, 160, 9}, {false, 6, 3, 2, 160, 256, 15}}, 1280, 0.2, v2Norm,
		opts)
}

// NewEfficientNetV2M makes torchvision's efficientnet_v2_m.
func NewEfficientNetV2M(opts ...Options) *EfficientNet {
	return newEfficientNet([]mbStage{{true, 1, 3, 1, 24, 24, 3}, {true, 4, 3, 2, 24, 48, 5}, {true, 4, 3, 2, 48, 80, 5},
		{false, 4, 3, 2, 80, 160, 7}, {false, 6, 3, 1, 160, 176, 14}, {false, 6, 3, 2, 176, 304, 18},
		{false, 6, 3, 1, 304, 512, 5}}, 1280, 0.3, v2Norm, opts)
}

// NewEfficientNetV2L makes torchvision's efficientnet_v2_l.
func NewEfficientNetV2L(opts ...Options) *EfficientNet {
	return newEfficientNet([]mbStage{{true, 1, 3, 1, 32, 32, 4}, {true, 4, 3, 2, 32, 64, 7}, {true, 4, 3, 2, 64, 96, 7},
		{false, 4, 3, 2, 96, 192, 10}, {false, 6, 3, 1, 192, 224, 19}, {false, 6, 3, 2, 224, 384, 25},
		{false, 6, 3, 1, 384, 640, 7}}, 1280, 0.4, v2Norm, opts)
}
