package models

import (
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// Inception is the block of GoogLeNet: 1x1, 3x3 and once more 3x3 convolutions and a pooling side by side.
type Inception struct {
	nn.Base
	Branch1 *BasicConv2d
	Branch2 *nn.Sequential
	Branch3 *nn.Sequential
	Branch4 *nn.Sequential
}

func newInception(in, ch1, ch3red, ch3, ch5red, ch5, pool int) *Inception {
	return nn.New(&Inception{
		Branch1: sameConv(in, ch1, 1),
		Branch2: nn.NewSequential(sameConv(in, ch3red, 1), sameConv(ch3red, ch3, 3)),
		Branch3: nn.NewSequential(sameConv(in, ch5red, 1), sameConv(ch5red, ch5, 3)), // 5x5 in the paper
		Branch4: nn.NewSequential(nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{1}, Padding: nn.Size{1},
			CeilMode: true}), sameConv(in, pool, 1)),
	})
}

// Forward joins the four branches.
func (m *Inception) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return catChannels(m.Branch1.Forward(x), m.Branch2.Forward(x), m.Branch3.Forward(x), m.Branch4.Forward(x))
	})
}

// GoogLeNetAux is an auxiliary classifier of GoogLeNet.
type GoogLeNetAux struct {
	nn.Base
	Conv     *BasicConv2d
	FC1, FC2 *nn.Linear
	Dropout  *nn.Dropout
}

func newGoogLeNetAux(in, classes int) *GoogLeNetAux {
	return nn.New(&GoogLeNetAux{Conv: sameConv(in, 128, 1), FC1: nn.NewLinear(2048, 1024),
		FC2: nn.NewLinear(1024, classes), Dropout: dropout(0.7)})
}

// Forward maps (N, in, H, W) to logits (N, classes).
func (m *GoogLeNetAux) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		x = flatten(m.Conv.Forward(F.AdaptiveAvgPool2d(x, []int{4, 4})))
		return m.FC2.Forward(m.Dropout.Forward(m.FC1.Forward(x).ReLU()))
	})
}

// GoogLeNetOutputs is what GoogLeNet computes while training; the auxiliary logits are nil without the classifiers.
type GoogLeNetOutputs struct{ Logits, AuxLogits2, AuxLogits1 *tensor.Tensor }

// GoogLeNet is Inception V1 with batch norms (Szegedy et al., Going Deeper with Convolutions, 2014).
type GoogLeNet struct {
	nn.Base
	Conv1       *BasicConv2d
	MaxPool1    *nn.MaxPool2d `torch:"maxpool1"`
	Conv2       *BasicConv2d
	Conv3       *BasicConv2d
	MaxPool2    *nn.MaxPool2d `torch:"maxpool2"`
	Inception3a *Inception
	Inception3b *Inception
	MaxPool3    *nn.MaxPool2d `torch:"maxpool3"`
	Inception4a *Inception
	Inception4b *Inception
	Inception4c *Inception
	Inception4d *Inception
	Inception4e *Inception
	MaxPool4    *nn.MaxPool2d `torch:"maxpool4"`
	Inception5a *Inception
	Inception5b *Inception
	Aux1        *GoogLeNetAux         // nil without
	Aux2        *GoogLeNetAux         // nil without
	AvgPool     *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Dropout     *nn.Dropout
	FC          *nn.Linear
	transInput  bool
}

// NewGoogLeNet makes torchvision's googlenet.
func NewGoogLeNet(opts ...Options) *GoogLeNet {
	o := optionsOf(opts, 1000)
	pool := func(kernel int) *nn.MaxPool2d {
		return nn.NewMaxPool2d(kernel, nn.MaxPool2dOptions{Stride: nn.Size{2}, CeilMode: true})
	}
	m := &GoogLeNet{
		Conv1:    basicConv(3, 64, nn.Size{7}, nn.Conv2dOptions{Stride: nn.Size{2}, Padding: nn.Size{3}}),
		MaxPool1: pool(3), Conv2: sameConv(64, 64, 1), Conv3: sameConv(64, 192, 3), MaxPool2: pool(3),
		Inception3a: newInception(192, 64, 96, 128, 16, 32, 32),
		Inception3b: newInception(256, 128, 128, 192, 32, 96, 64),
		MaxPool3:    pool(3),
		Inception4a: newInception(480, 192, 96, 208, 16, 48, 64),
		Inception4b: newInception(512, 160, 112, 224, 24, 64, 64),
		Inception4c: newInception(512, 128, 128, 256, 24, 64, 64),
		Inception4d: newInception(512, 112, 144, 288, 32, 64, 64),
		Inception4e: newInception(528, 256, 160, 320, 32, 128, 128),
		MaxPool4:    pool(2),
		Inception5a: newInception(832, 256, 160, 320, 32, 128, 128),
		Inception5b: newInception(832, 384, 192, 384, 48, 128, 128),
		transInput:  o.TransformInput,
	}
	if !o.NoAuxLogits {
		m.Aux1, m.Aux2 = newGoogLeNetAux(512, o.NumClasses), newGoogLeNetAux(528, o.NumClasses)
	}
	m.AvgPool, m.Dropout = nn.NewAdaptiveAvgPool2d(1), dropout(o.Dropout.Or(0.2))
	m.FC = nn.NewLinear(1024, o.NumClasses)
	nn.New(m)
	if !o.NoInitWeights {
		initialize(m, func(c *nn.Conv2d) { truncNormal(c.Weight, 0.01) },
			func(l *nn.Linear) { truncNormal(l.Weight, 0.01) }, false)
	}
	return m
}

// ForwardAux maps images (N, 3, H, W) to logits (N, classes), while training also those of the auxiliary classifiers.
func (m *GoogLeNet) ForwardAux(x *tensor.Tensor) (out GoogLeNetOutputs) {
	if m.transInput {
		x = imageNetInput(x)
	}
	x = nn.Chain(x, m.Conv1, m.MaxPool1, m.Conv2, m.Conv3, m.MaxPool2, m.Inception3a, m.Inception3b, m.MaxPool3,
		m.Inception4a)
	if m.Aux1 != nil && m.Training() {
		out.AuxLogits1 = m.Aux1.Forward(x)
	}
	x = nn.Chain(x, m.Inception4b, m.Inception4c, m.Inception4d)
	if m.Aux2 != nil && m.Training() {
		out.AuxLogits2 = m.Aux2.Forward(x)
	}
	x = nn.Chain(x, m.Inception4e, m.MaxPool4, m.Inception5a, m.Inception5b, m.AvgPool)
	out.Logits = m.FC.Forward(m.Dropout.Forward(flatten(x)))
	return out
}

// Forward is the logits of ForwardAux.
func (m *GoogLeNet) Forward(x *tensor.Tensor) *tensor.Tensor { return m.ForwardAux(x).Logits }
