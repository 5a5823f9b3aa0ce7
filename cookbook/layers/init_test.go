package layers

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	nninit "github.com/gotorch-dev/torch/nn/init"
)

func seeded(shape ...int) *torch.Tensor {
	torch.ManualSeed(0)
	return torch.Empty(shape)
}

func within(t *testing.T, x *torch.Tensor, bound float64) {
	t.Helper()
	if m := x.Abs().Max().Item(); m > bound || m < 0.5*bound {
		t.Errorf("largest element %v, bound %v", m, bound)
	}
}

// Xavier: the variance of inputs and gradients stays the same in a network without bends.
func TestXavier(t *testing.T) {
	if in, out := nninit.FanInAndFanOut(torch.Empty([]int{5, 3})); in != 3 || out != 5 {
		t.Error(in, out)
	}
	w := nninit.XavierUniform(seeded(5, 3))
	near(t, w.Index(0), -0.0065, 0.4646, -0.7128)
	within(t, w, 0.8660)
	gain := nninit.XavierOptions{Gain: torch.Some(nninit.CalculateGain("relu"))}
	near(t, nninit.XavierUniform(seeded(5, 3), gain).Index(0), -0.0092, 0.6570, -1.0080)
	near(t, nninit.XavierNormal(seeded(5, 3)).Index(0), 0.7705, -0.1467, -1.0894)
	near(t, nninit.XavierNormal(seeded(400, 600)).Std(), 0.0448)
	fails(t, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
		func() { nninit.XavierNormal(seeded(3)) })
}

// Kaiming: the same for rectifiers, which drop half.
func TestKaiming(t *testing.T) {
	w := nninit.KaimingUniform(seeded(5, 3))
	near(t, w.Index(0), -0.0106, 0.7586, -1.1640)
	within(t, w, 1.4142)
	near(t, nninit.KaimingUniform(seeded(5, 3), nninit.KaimingOptions{A: math.Sqrt(5)}).Abs().Max(), 0.5516)
	near(t, nninit.KaimingUniform(seeded(5, 3), nninit.KaimingOptions{Mode: nninit.FanOut}).Abs().Max(), 1.0465)
	near(t, nninit.KaimingNormal(seeded(5, 3)).Index(0), 1.2582, -0.2396, -1.7790)
	near(t, nninit.KaimingNormal(seeded(400, 600)).Std(), 0.0578)
	fails(t, "Unsupported nonlinearity leak_relu",
		func() { nninit.KaimingUniform(seeded(5, 3), nninit.KaimingOptions{Nonlinearity: "leak_relu"}) })
}

// What the following activation asks for.
func TestGains(t *testing.T) {
	g := nninit.CalculateGain
	near(t, torch.TensorOf(g("relu"), g("leaky_relu"), g("leaky_relu", 0.2), g("tanh"), g("sigmoid"), g("selu")),
		1.4142, 1.41414, 1.38675, 1.6667, 1, 0.75)
	if in, out := nninit.FanInAndFanOut(torch.Empty([]int{8, 4, 3, 3})); in != 36 || out != 72 {
		t.Error(in, out)
	}
}

// Ten layers show why: small weights shrink the signal, large ones saturate tanh, and rectifiers need the larger
// variance.
func TestTenLayers(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(w *torch.Tensor) *torch.Tensor
		act  func(x *torch.Tensor) *torch.Tensor
		want float64
	}{
		{"tanh, 0.01", func(w *torch.Tensor) *torch.Tensor { return nninit.Normal(w, 0, 0.01) },
			(*torch.Tensor).TanhInPlace, 1.05e-8},
		{"tanh, 1", func(w *torch.Tensor) *torch.Tensor { return nninit.Normal(w, 0, 1) }, (*torch.Tensor).TanhInPlace,
			0.974},
		{"tanh, Xavier", func(w *torch.Tensor) *torch.Tensor { return nninit.XavierNormal(w) },
			(*torch.Tensor).TanhInPlace, 0.224},
		{"relu, Xavier", func(w *torch.Tensor) *torch.Tensor { return nninit.XavierNormal(w) },
			(*torch.Tensor).ReLUInPlace, 0.0206},
		{"relu, Kaiming", func(w *torch.Tensor) *torch.Tensor {
			return nninit.KaimingNormal(w, nninit.KaimingOptions{Nonlinearity: "relu"})
		}, (*torch.Tensor).ReLUInPlace, 0.659},
	} {
		torch.ManualSeed(0)
		x := torch.Randn([]int{512, 256})
		for range 10 {
			x = c.act(x.MatMul(c.fill(torch.Empty([]int{256, 256})).T()))
		}
		if std := x.Std().Item(); math.Abs(std-c.want) > 0.01*c.want {
			t.Errorf("%s: std %v, want %v", c.name, std, c.want)
		}
	}
}

// Sigmoid's slope dies away from 0.
func TestSigmoidSlope(t *testing.T) {
	x := torch.TensorOf[float32](0, 5, 10).SetRequiresGrad(true)
	x.Sigmoid().Sum().Backward()
	near(t, x.Grad().MulScalar(1000), 250, 6.648, 0.0454)
}

// Apply with a type switch initialises a whole network, layer by layer.
func TestApplyInit(t *testing.T) {
	conv, bn, up := nn.NewConv2d(1, 2, 2), nn.NewBatchNorm2d(2), nn.NewConvTranspose2d(2, 1, 1)
	torch.ManualSeed(0)
	nn.Apply(nn.NewSequential(conv, bn, up), func(m nn.Module) {
		switch m := m.(type) {
		case *nn.Conv2d:
			nninit.Normal(m.Weight, 0, 0.02)
		case *nn.ConvTranspose2d:
			nninit.Normal(m.Weight, 0, 0.02)
		case *nn.BatchNorm2d:
			nninit.Normal(m.Weight, 1, 0.02)
			nninit.Zeros(m.Bias)
		}
	})
	near(t, conv.Weight, 0.0308, -0.0059, -0.0436, 0.0114, -0.0217, -0.0280, 0.0081, 0.0168)
	near(t, bn.Weight, 0.9856, 0.9919)
	near(t, up.Weight, -0.0119, 0.0036)
}

// Or by the parameters' names.
func TestInitByName(t *testing.T) {
	m := nn.NewLinear(2, 2)
	torch.ManualSeed(0)
	for name, p := range nn.NamedParameters(m) {
		if strings.Contains(name, "weight") {
			nninit.Normal(p, 0, 0.01)
		}
	}
	near(t, m.Weight, 0.0154, -0.0029, -0.0218, 0.0057)
}
