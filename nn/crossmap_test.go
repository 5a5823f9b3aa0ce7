package nn_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Results and gradients by PyTorch, of windows of all parities.
func TestCrossMapLRN2d(t *testing.T) {
	for _, c := range []struct {
		size    int
		y, grad []float64
	}{
		{5, []float64{0.21332256, 0.40990007, 0.57987106, 0.71583414, 0.82076830, 0.89691627, 1.07401454, 1.28086174},
			[]float64{0.72073770, -1.39928401, 1.91259420, -0.70295143, 1.12310493, -1.61143386, 0.34880191,
				0.80387384}},
		{4, []float64{0.21767338, 0.42284662, 0.60384738, 0.75825703, 0.88314354, 0.98004091, 1.05230045, 1.29796672},
			[]float64{0.73868841, -1.45509100, 1.98604977, -0.76608640, 1.14084864, -1.54675519, 0.23481825,
				1.01265275}},
		{3, []float64{0.21648356, 0.41668788, 0.58649266, 0.72469527, 0.82980918, 0.90562379, 0.95738286, 1.19780529},
			[]float64{0.71530652, -1.35544240, 1.87105358, -0.62399942, 0.79640484, -1.31944740, 0.45513198,
				0.92720735}},
		{2, []float64{0.21985404, 0.42829755, 0.62244964, 0.79568434, 0.94522774, 1.07048714, 1.17253244, 1.25348997},
			[]float64{0.72304159, -1.37349510, 1.95421541, -0.84722197, 1.07088184, -1.54729438, 1.06252360,
				0.18405475}},
	} {
		m := nn.NewCrossMapLRN2d(c.size, nn.LocalResponseNormOptions{Alpha: tensor.Some(0.3), K: tensor.Some(1.5)})
		x := torch.FromSlice([]float32{0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4}, 1, 8, 1, 1).SetRequiresGrad(true)
		y := m.Forward(x)
		y.Mul(torch.FromSlice([]float32{1, -2, 3, -1, 2, -3, 1, 2}, 1, 8, 1, 1)).Sum().Backward()
		for what, p := range map[string]struct {
			got  *torch.Tensor
			want []float64
		}{"result": {y.Detach(), c.y}, "gradient": {x.Grad(), c.grad}} {
			for i, v := range torch.Data[float32](p.got) {
				if math.Abs(float64(v)-p.want[i]) > 2e-6 {
					t.Errorf("size %d: %s %d is %v, PyTorch has %v", c.size, what, i, v, p.want[i])
				}
			}
		}
	}
	m := nn.NewCrossMapLRN2d(2)
	if got, want := m.ExtraRepr(), "2, alpha=0.0001, beta=0.75, k=1"; got != want {
		t.Errorf("prints %s, want %s", got, want)
	}
	if torch.Try(func() { m.Forward(torch.Ones([]int{3, 2, 2})) }) == nil {
		t.Error("an input of three dimensions is taken")
	}
}

// The text of Unflatten tells a torch.Size from a tuple.
func TestUnflattenText(t *testing.T) {
	for want, m := range map[string]nn.Module{
		"Unflatten(dim=1, unflattened_size=(2, 3))":              nn.NewUnflatten(1, []int{2, 3}),
		"Unflatten(dim=1, unflattened_size=(2, -1))":             nn.NewUnflatten(1, nn.Size{2, -1}),
		"Unflatten(dim=-2, unflattened_size=torch.Size([2, 2]))": nn.NewUnflatten(-2, torch.Size{2, 2}),
	} {
		if got := nn.Repr(m); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
