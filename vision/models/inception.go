package models

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// BasicConv2d is a convolution, its batch norm and ReLU, the brick of GoogLeNet and Inception V3.
type BasicConv2d struct {
	nn.Base
	Conv *nn.Conv2d
	BN   *nn.BatchNorm2d `torch:"bn"`
}

func basicConv(in, out int, kernel nn.Size, o nn.Conv2dOptions) *BasicConv2d {
	o.NoBias = true
	return nn.New(&BasicConv2d{Conv: nn.NewConv2d(in, out, kernel, o),
		BN: nn.NewBatchNorm2d(out, nn.BatchNorm2dOptions{Eps: tensor.Some(0.001)})})
}

// sameConv is a BasicConv2d that keeps the size.
func sameConv(in, out int, kernel ...int) *BasicConv2d {
	var pad nn.Size
	for _, k := range kernel {
		pad = append(pad, k/2)
	}
	return basicConv(in, out, kernel, nn.Conv2dOptions{Padding: pad})
}

func stridedConv(in, out, kernel int) *BasicConv2d {
	return basicConv(in, out, nn.Size{kernel}, nn.Conv2dOptions{Stride: nn.Size{2}})
}

// Forward maps (N, in, H, W) to (N, out, H', W').
func (m *BasicConv2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor { return nn.Chain(x, m.Conv, m.BN).ReLUInPlace() })
}

// imageNetInput turns images that were normalised to mean 0.5 and deviation 0.5 from those with the means and
// deviations of ImageNet.
func imageNetInput(x *tensor.Tensor) *tensor.Tensor {
	mean, std := [3]float64{0.485, 0.456, 0.406}, [3]float64{0.229, 0.224, 0.225}
	var parts []*tensor.Tensor
	for c := range 3 {
		plane := x.Select(1, c).Unsqueeze(1)
		parts = append(parts, plane.MulScalar(std[c]/0.5).AddScalar((mean[c]-0.5)/0.5))
	}
	return torch.Cat(parts, torch.CatOptions{Dim: 1})
}

func catChannels(ts ...*tensor.Tensor) *tensor.Tensor { return torch.Cat(ts, torch.CatOptions{Dim: 1}) }

func globalPool(x *tensor.Tensor) *tensor.Tensor { return F.AdaptiveAvgPool2d(x, []int{1, 1}) }

// avgPool3 is the mean of the 3x3 pixels around each.
func avgPool3(x *tensor.Tensor) *tensor.Tensor {
	return F.AvgPool2d(x, []int{3}, F.AvgPool2dOptions{Stride: []int{1}, Padding: []int{1}})
}

func maxPool32(x *tensor.Tensor) *tensor.Tensor {
	return F.MaxPool2d(x, []int{3}, F.MaxPool2dOptions{Stride: []int{2}})
}

// InceptionA is the block of Inception V3 at 35x35.
type InceptionA struct {
	nn.Base
	Branch1x1     *BasicConv2d `torch:"branch1x1"`
	Branch5x5x1   *BasicConv2d `torch:"branch5x5_1"`
	Branch5x5x2   *BasicConv2d `torch:"branch5x5_2"`
	Branch3x3Dbl1 *BasicConv2d `torch:"branch3x3dbl_1"`
	Branch3x3Dbl2 *BasicConv2d `torch:"branch3x3dbl_2"`
	Branch3x3Dbl3 *BasicConv2d `torch:"branch3x3dbl_3"`
	BranchPool    *BasicConv2d
}

func newInceptionA(in, pool int) *InceptionA {
	return nn.New(&InceptionA{
		Branch1x1:   sameConv(in, 64, 1),
		Branch5x5x1: sameConv(in, 48, 1), Branch5x5x2: sameConv(48, 64, 5),
		Branch3x3Dbl1: sameConv(in, 64, 1), Branch3x3Dbl2: sameConv(64, 96, 3), Branch3x3Dbl3: sameConv(96, 96, 3),
		BranchPool: sameConv(in, pool, 1),
	})
}

// Forward joins the four branches.
func (m *InceptionA) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return catChannels(m.Branch1x1.Forward(x), nn.Chain(x, m.Branch5x5x1, m.Branch5x5x2),
			nn.Chain(x, m.Branch3x3Dbl1, m.Branch3x3Dbl2, m.Branch3x3Dbl3), m.BranchPool.Forward(avgPool3(x)))
	})
}

// InceptionB halves the size of the image.
type InceptionB struct {
	nn.Base
	Branch3x3     *BasicConv2d `torch:"branch3x3"`
	Branch3x3Dbl1 *BasicConv2d `torch:"branch3x3dbl_1"`
	Branch3x3Dbl2 *BasicConv2d `torch:"branch3x3dbl_2"`
	Branch3x3Dbl3 *BasicConv2d `torch:"branch3x3dbl_3"`
}

func newInceptionB(in int) *InceptionB {
	return nn.New(&InceptionB{Branch3x3: stridedConv(in, 384, 3), Branch3x3Dbl1: sameConv(in, 64, 1),
		Branch3x3Dbl2: sameConv(64, 96, 3), Branch3x3Dbl3: stridedConv(96, 96, 3)})
}

// Forward joins the three branches.
func (m *InceptionB) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return catChannels(m.Branch3x3.Forward(x), nn.Chain(x, m.Branch3x3Dbl1, m.Branch3x3Dbl2, m.Branch3x3Dbl3),
			maxPool32(x))
	})
}

// InceptionC is the block of Inception V3 at 17x17, with 7x7 convolutions in two steps.
type InceptionC struct {
	nn.Base
	Branch1x1     *BasicConv2d `torch:"branch1x1"`
	Branch7x7x1   *BasicConv2d `torch:"branch7x7_1"`
	Branch7x7x2   *BasicConv2d `torch:"branch7x7_2"`
	Branch7x7x3   *BasicConv2d `torch:"branch7x7_3"`
	Branch7x7Dbl1 *BasicConv2d `torch:"branch7x7dbl_1"`
	Branch7x7Dbl2 *BasicConv2d `torch:"branch7x7dbl_2"`
	Branch7x7Dbl3 *BasicConv2d `torch:"branch7x7dbl_3"`
	Branch7x7Dbl4 *BasicConv2d `torch:"branch7x7dbl_4"`
	Branch7x7Dbl5 *BasicConv2d `torch:"branch7x7dbl_5"`
	BranchPool    *BasicConv2d
}

func newInceptionC(in, c7 int) *InceptionC {
	return nn.New(&InceptionC{
		Branch1x1:   sameConv(in, 192, 1),
		Branch7x7x1: sameConv(in, c7, 1), Branch7x7x2: sameConv(c7, c7, 1, 7), Branch7x7x3: sameConv(c7, 192, 7, 1),
		Branch7x7Dbl1: sameConv(in, c7, 1), Branch7x7Dbl2: sameConv(c7, c7, 7, 1),
		Branch7x7Dbl3: sameConv(c7, c7, 1, 7), Branch7x7Dbl4: sameConv(c7, c7, 7, 1),
		Branch7x7Dbl5: sameConv(c7, 192, 1, 7),
		BranchPool:    sameConv(in, 192, 1),
	})
}

// Forward joins the four branches.
func (m *InceptionC) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return catChannels(m.Branch1x1.Forward(x), nn.Chain(x, m.Branch7x7x1, m.Branch7x7x2, m.Branch7x7x3),
			nn.Chain(x, m.Branch7x7Dbl1, m.Branch7x7Dbl2, m.Branch7x7Dbl3, m.Branch7x7Dbl4, m.Branch7x7Dbl5),
			m.BranchPool.Forward(avgPool3(x)))
	})
}

// InceptionD halves the size of the image.
type InceptionD struct {
	nn.Base
	Branch3x3x1   *BasicConv2d `torch:"branch3x3_1"`
	Branch3x3x2   *BasicConv2d `torch:"branch3x3_2"`
	Branch7x7x3x1 *BasicConv2d `torch:"branch7x7x3_1"`
	Branch7x7x3x2 *BasicConv2d `torch:"branch7x7x3_2"`
	Branch7x7x3x3 *BasicConv2d `torch:"branch7x7x3_3"`
	Branch7x7x3x4 *BasicConv2d `torch:"branch7x7x3_4"`
}

func newInceptionD(in int) *InceptionD {
	return nn.New(&InceptionD{
		Branch3x3x1: sameConv(in, 192, 1), Branch3x3x2: stridedConv(192, 320, 3),
		Branch7x7x3x1: sameConv(in, 192, 1), Branch7x7x3x2: sameConv(192, 192, 1, 7),
		Branch7x7x3x3: sameConv(192, 192, 7, 1), Branch7x7x3x4: stridedConv(192, 192, 3),
	})
}

// Forward joins the three branches.
func (m *InceptionD) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		return catChannels(nn.Chain(x, m.Branch3x3x1, m.Branch3x3x2),
			nn.Chain(x, m.Branch7x7x3x1, m.Branch7x7x3x2, m.Branch7x7x3x3, m.Branch7x7x3x4), maxPool32(x))
	})
}

// InceptionE is the block of Inception V3 at 8x8, whose 3x3 convolutions are two side by side.
type InceptionE struct {
	nn.Base
	Branch1x1      *BasicConv2d `torch:"branch1x1"`
	Branch3x3x1    *BasicConv2d `torch:"branch3x3_1"`
	Branch3x3x2a   *BasicConv2d `torch:"branch3x3_2a"`
	Branch3x3x2b   *BasicConv2d `torch:"branch3x3_2b"`
	Branch3x3Dbl1  *BasicConv2d `torch:"branch3x3dbl_1"`
	Branch3x3Dbl2  *BasicConv2d `torch:"branch3x3dbl_2"`
	Branch3x3Dbl3a *BasicConv2d `torch:"branch3x3dbl_3a"`
	Branch3x3Dbl3b *BasicConv2d `torch:"branch3x3dbl_3b"`
	BranchPool     *BasicConv2d
}

func newInceptionE(in int) *InceptionE {
	return nn.New(&InceptionE{
		Branch1x1:   sameConv(in, 320, 1),
		Branch3x3x1: sameConv(in, 384, 1), Branch3x3x2a: sameConv(384, 384, 1, 3),
		Branch3x3x2b:  sameConv(384, 384, 3, 1),
		Branch3x3Dbl1: sameConv(in, 448, 1), Branch3x3Dbl2: sameConv(448, 384, 3),
		Branch3x3Dbl3a: sameConv(384, 384, 1, 3), Branch3x3Dbl3b: sameConv(384, 384, 3, 1),
		BranchPool: sameConv(in, 192, 1),
	})
}

// Forward joins the branches.
func (m *InceptionE) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		one := m.Branch1x1.Forward(x)
		three := m.Branch3x3x1.Forward(x)
		three = catChannels(m.Branch3x3x2a.Forward(three), m.Branch3x3x2b.Forward(three))
		dbl := nn.Chain(x, m.Branch3x3Dbl1, m.Branch3x3Dbl2)
		dbl = catChannels(m.Branch3x3Dbl3a.Forward(dbl), m.Branch3x3Dbl3b.Forward(dbl))
		return catChannels(one, three, dbl, m.BranchPool.Forward(avgPool3(x)))
	})
}

// InceptionAux is the auxiliary classifier of Inception V3.
type InceptionAux struct {
	nn.Base
	Conv0, Conv1 *BasicConv2d
	FC           *nn.Linear
}

// Forward maps (N, 768, 17, 17) to logits (N, classes).
func (m *InceptionAux) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		x = F.AvgPool2d(x, []int{5}, F.AvgPool2dOptions{Stride: []int{3}})
		return m.FC.Forward(flatten(globalPool(nn.Chain(x, m.Conv0, m.Conv1))))
	})
}

// InceptionOutputs is what Inception V3 computes while training; AuxLogits is nil without the auxiliary classifier.
type InceptionOutputs struct{ Logits, AuxLogits *tensor.Tensor }

// Inception3 is Inception V3 for images of 299x299 (Szegedy et al., Rethinking the Inception Architecture for Computer
// Vision, 2015).
type Inception3 struct {
	nn.Base
	Conv2d1a   *BasicConv2d          `torch:"Conv2d_1a_3x3"`
	Conv2d2a   *BasicConv2d          `torch:"Conv2d_2a_3x3"`
	Conv2d2b   *BasicConv2d          `torch:"Conv2d_2b_3x3"`
	MaxPool1   *nn.MaxPool2d         `torch:"maxpool1"`
	Conv2d3b   *BasicConv2d          `torch:"Conv2d_3b_1x1"`
	Conv2d4a   *BasicConv2d          `torch:"Conv2d_4a_3x3"`
	MaxPool2   *nn.MaxPool2d         `torch:"maxpool2"`
	Mixed5b    *InceptionA           `torch:"Mixed_5b"`
	Mixed5c    *InceptionA           `torch:"Mixed_5c"`
	Mixed5d    *InceptionA           `torch:"Mixed_5d"`
	Mixed6a    *InceptionB           `torch:"Mixed_6a"`
	Mixed6b    *InceptionC           `torch:"Mixed_6b"`
	Mixed6c    *InceptionC           `torch:"Mixed_6c"`
	Mixed6d    *InceptionC           `torch:"Mixed_6d"`
	Mixed6e    *InceptionC           `torch:"Mixed_6e"`
	AuxLogits  *InceptionAux         `torch:"AuxLogits"` // nil without
	Mixed7a    *InceptionD           `torch:"Mixed_7a"`
	Mixed7b    *InceptionE           `torch:"Mixed_7b"`
	Mixed7c    *InceptionE           `torch:"Mixed_7c"`
	AvgPool    *nn.AdaptiveAvgPool2d `torch:"avgpool"`
	Dropout    *nn.Dropout
	FC         *nn.Linear
	transInput bool
}

// NewInceptionV3 makes torchvision's inception_v3.
func NewInceptionV3(opts ...Options) *Inception3 {
	o := optionsOf(opts, 1000)
	pool := func() *nn.MaxPool2d { return nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2}}) }
	m := &Inception3{
		Conv2d1a: stridedConv(3, 32, 3), Conv2d2a: basicConv(32, 32, nn.Size{3}, nn.Conv2dOptions{}),
		Conv2d2b: sameConv(32, 64, 3), MaxPool1: pool(),
		Conv2d3b: sameConv(64, 80, 1), Conv2d4a: basicConv(80, 192, nn.Size{3}, nn.Conv2dOptions{}), MaxPool2: pool(),
		Mixed5b: newInceptionA(192, 32), Mixed5c: newInceptionA(256, 64), Mixed5d: newInceptionA(288, 64),
		Mixed6a: newInceptionB(288), Mixed6b: newInceptionC(768, 128), Mixed6c: newInceptionC(768, 160),
		Mixed6d: newInceptionC(768, 160), Mixed6e: newInceptionC(768, 192),
		transInput: o.TransformInput,
	}
	if !o.NoAuxLogits {
		m.AuxLogits = nn.New(&InceptionAux{Conv0: sameConv(768, 128, 1),
			Conv1: basicConv(128, 768, nn.Size{5}, nn.Conv2dOptions{}), FC: nn.NewLinear(768, o.NumClasses)})
	}
	m.Mixed7a, m.Mixed7b, m.Mixed7c = newInceptionD(768), newInceptionE(1280), newInceptionE(2048)
	m.AvgPool, m.Dropout = nn.NewAdaptiveAvgPool2d(1), dropout(o.Dropout.Or(0.5))
	m.FC = nn.NewLinear(2048, o.NumClasses)
	nn.New(m)
	if !o.NoInitWeights {
		initialize(m, func(c *nn.Conv2d) { truncNormal(c.Weight, 0.1) }, func(l *nn.Linear) {
			std := 0.1
			if m.AuxLogits != nil && l == m.AuxLogits.FC {
				std = 0.001
			}
			truncNormal(l.Weight, std)
		}, false)
	}
	return m
}

// ForwardAux maps images (N, 3, 299, 299) to logits (N, classes), while training also those of the auxiliary
// classifier.
func (m *Inception3) ForwardAux(x *tensor.Tensor) (out InceptionOutputs) {
	if m.transInput {
		x = imageNetInput(x)
	}
	x = nn.Chain(x, m.Conv2d1a, m.Conv2d2a, m.Conv2d2b, m.MaxPool1, m.Conv2d3b, m.Conv2d4a, m.MaxPool2, m.Mixed5b,
		m.Mixed5c, m.Mixed5d, m.Mixed6a, m.Mixed6b, m.Mixed6c, m.Mixed6d, m.Mixed6e)
	if m.AuxLogits != nil && m.Training() {
		out.AuxLogits = m.AuxLogits.Forward(x)
	}
	x = nn.Chain(x, m.Mixed7a, m.Mixed7b, m.Mixed7c, m.AvgPool, m.Dropout)
	out.Logits = m.FC.Forward(flatten(x))
	return out
}

// Forward is the logits of ForwardAux.
func (m *Inception3) Forward(x *tensor.Tensor) *tensor.Tensor { return m.ForwardAux(x).Logits }
