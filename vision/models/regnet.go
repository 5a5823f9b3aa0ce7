package models

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
)

// RegNetBlock is the block of RegNet: a grouped 3x3 convolution between two of 1x1, and a shortcut around them.
type RegNetBlock struct {
	nn.Base
	Proj       *ops.Conv2dNormActivation // nil where the shapes agree
	F          *nn.Sequential
	Activation *nn.ReLU
}

// ClassName is the name that the module prints.
func (m *RegNetBlock) ClassName() string { return "ResBottleneckBlock" }

// Forward maps (N, in, H, W) to (N, out, H/stride, W/stride).
func (m *RegNetBlock) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		around := x
		if m.Proj != nil {
			around = m.Proj.Forward(x)
		}
		return m.Activation.Forward(around.Add(m.F.Forward(x)))
	})
}

func newRegNetBlock(in, out, stride, groupWidth int, squeeze float64) *RegNetBlock {
	conv := func(in, out, kernel, stride, groups int, act bool) *ops.Conv2dNormActivation {
		return ops.NewConv2dNormActivation(in, out, ops.ConvNormActivationOptions{KernelSize: nn.Size{kernel},
			Stride: nn.Size{stride}, Groups: groups, NoActivation: !act})
	}
	b := &RegNetBlock{}
	if in != out || stride != 1 {
		b.Proj = conv(in, out, 1, stride, 1, false)
	}
	b.F = nn.NewSequential().Add("a", conv(in, out, 1, 1, 1, true)).
		Add("b", conv(out, out, 3, stride, out/groupWidth, true))
	if squeeze > 0 {
		b.F.Add("se", ops.NewSqueezeExcitation(out, int(math.RoundToEven(squeeze*float64(in)))))
	}
	b.F.Add("c", conv(out, out, 1, 1, 1, false))
	b.Activation = relu()
	return nn.New(b)
}

// RegNetParams describe a RegNet: the widths of its blocks are w0 + wa·i, rounded to w0·wm^j and then to eights, in
// groups of groupWidth.
type RegNetParams struct {
	Depth, W0  int
	WA, WM     float64
	GroupWidth int
	SERatio    float64 // of SqueezeExcitation: its bottleneck by the block's input; 0 for none
}

// regStage is a run of blocks of one width.
type regStage struct{ width, blocks, groupWidth int }

// stages computes the widths as the paper does, in float32 as torchvision does.
func (p RegNetParams) stages() (out []regStage) {
	for i := range p.Depth {
		w := float32(i)*float32(p.WA) + float32(p.W0)
		step := math.RoundToEven(float64(float32(math.Log(float64(w/float32(p.W0)))) / float32(math.Log(p.WM))))
		width := int(math.RoundToEven(float64(p.W0)*math.Pow(p.WM, step)/8)) * 8
		group := min(p.GroupWidth, width)
		width = divisibleBy(float64(width), group)
		if n := len(out); n > 0 && out[n-1].width == width {
			out[n-1].blocks++
		} else {
			out = append(out, regStage{width, 1, group})
		}
	}
	return out
}

// RegNet is a family of networks for images (Radosavovic et al., Designing Network Design Spaces, 2020).
type RegNet struct {
	nn.Base
	Stem        *ops.Conv2dNormActivation
	TrunkOutput *nn.Sequential
	AvgPool     *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	FC          *nn.Linear
}

// NewRegNet makes a RegNet.
func NewRegNet(p RegNetParams, opts ...Options) *RegNet {
	o := optionsOf(opts, 1000)
	in := 32
	stem := ops.NewConv2dNormActivation(3, in, ops.ConvNormActivationOptions{Stride: nn.Size{2}})
	trunk := nn.NewSequential()
	for i, s := range p.stages() {
		stage := nn.NewSequential()
		for j := range s.blocks {
			stride := 1
			if j == 0 {
				stride = 2
			}
			stage.Add(fmt.Sprintf("block%d-%d", i+1, j), newRegNetBlock(in, s.width, stride, s.groupWidth, p.SERatio))
			in = s.width
		}
		trunk.Add(fmt.Sprintf("block%d", i+1), stage)
	}
	m := nn.New(&RegNet{Stem: stem, TrunkOutput: trunk, AvgPool: nn.NewAdaptiveAvgPool2d(1),
		FC: nn.NewLinear(in, o.NumClasses)})
	initialize(m, func(c *nn.Conv2d) {
		k := c.Weight.Shape()
		nninit.Normal(c.Weight, 0, math.Sqrt(2/float64(k[2]*k[3]*k[0])))
	}, normalLinear(0.01), false)
	nninit.Zeros(m.FC.Bias)
	return m
}

// Forward maps images (N, 3, H, W) to logits (N, classes).
func (m *RegNet) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.FC.Forward(flatten(nn.Chain(x, m.Stem, m.TrunkOutput, m.AvgPool)))
}

// NewRegNetY400MF makes torchvision's regnet_y_400mf.
func NewRegNetY400MF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{16, 48, 27.89, 2.09, 8, 0.25}, opts...)
}

// NewRegNetY800MF makes torchvision's regnet_y_800mf.
func NewRegNetY800MF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{14, 56, 38.84, 2.4, 16, 0.25}, opts...)
}

// NewRegNetY1_6GF makes torchvision's regnet_y_1_6gf.
func NewRegNetY1_6GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{27, 48, 20.71, 2.65, 24, 0.25}, opts...)
}

// NewRegNetY3_2GF makes torchvision's regnet_y_3_2gf.
func NewRegNetY3_2GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{21, 80, 42.63, 2.66, 24, 0.25}, opts...)
}

// NewRegNetY8GF makes torchvision's regnet_y_8gf.
func NewRegNetY8GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{17, 192, 76.82, 2.19, 56, 0.25}, opts...)
}

// NewRegNetY16GF makes torchvision's regnet_y_16gf.
func NewRegNetY16GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{18, 200, 106.23, 2.48, 112, 0.25}, opts...)
}

// NewRegNetY32GF makes torchvision's regnet_y_32gf.
func NewRegNetY32GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{20, 232, 115.89, 2.53, 232, 0.25}, opts...)
}

// NewRegNetY128GF makes torchvision's regnet_y_128gf.
func NewRegNetY128GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{27, 456, 160.83, 2.52, 264, 0.25}, opts...)
}

// NewRegNetX400MF makes torchvision's regnet_x_400mf.
func NewRegNetX400MF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{22, 24, 24.48, 2.54, 16, 0}, opts...)
}

// NewRegNetX800MF makes torchvision's regnet_x_800mf.
func NewRegNetX800MF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{16, 56, 35.73, 2.28, 16, 0}, opts...)
}

// NewRegNetX1_6GF makes torchvision's regnet_x_1_6gf.
func NewRegNetX1_6GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{18, 80, 34.01, 2.25, 24, 0}, opts...)
}

// NewRegNetX3_2GF makes torchvision's regnet_x_3_2gf.
func NewRegNetX3_2GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{25, 88, 26.31, 2.25, 48, 0}, opts...)
}

// NewRegNetX8GF makes torchvision's regnet_x_8gf.
func NewRegNetX8GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{23, 80, 49.56, 2.88, 120, 0}, opts...)
}

// NewRegNetX16GF makes torchvision's regnet_x_16gf.
func NewRegNetX16GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{22, 216, 55.59, 2.1, 128, 0}, opts...)
}

// NewRegNetX32GF makes torchvision's regnet_x_32gf.
func NewRegNetX32GF(opts ...Options) *RegNet {
	return NewRegNet(RegNetParams{23, 320, 69.86, 2.0, 168, 0}, opts...)
}
