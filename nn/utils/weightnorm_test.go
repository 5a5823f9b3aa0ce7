package utils_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/tensor"
)

func ExampleWeightNorm() {
	m := utils.WeightNorm(nn.NewLinear(20, 40))
	fmt.Println(m)
	fmt.Println(m.StateDict().Keys(), nn.Registered(m, "weight_g").Shape())
	// Output:
	// Linear(in_features=20, out_features=40, bias=True)
	// [bias weight_g weight_v] [40 1]
}

// The numbers are PyTorch's, from the same seed: the weight of the second call of forward in training mode.
func ExampleSpectralNorm() {
	torch.ManualSeed(0)
	m := utils.SpectralNorm(nn.NewLinear(3, 4))
	m.Forward(torch.Ones([]int{1, 3}))
	m.Forward(torch.Ones([]int{1, 3}))
	fmt.Println(m.Weight.Detach())
	fmt.Println(m.StateDict().Keys())
	// Output:
	// tensor([[-0.0060,  0.4275, -0.6559],
	//         [-0.5865, -0.3069,  0.2137],
	//         [-0.0158,  0.6318, -0.0707],
	//         [ 0.2109, -0.2408, -0.1566]])
	// [bias weight_orig weight_u weight_v]
}

func TestWeightNorm(t *testing.T) {
	torch.ManualSeed(0)
	for name, apply := range map[string]func(m *nn.Conv2d){
		"weight_norm":   func(m *nn.Conv2d) { utils.WeightNorm(m) },
		"whole":         func(m *nn.Conv2d) { utils.WeightNorm(m, utils.WeightNormOptions{Dim: tensor.Some(-1)}) },
		"spectral_norm": func(m *nn.Conv2d) { utils.SpectralNorm(m) },
	} {
		m := nn.NewConv2d(2, 3, 3)
		w := m.Weight.Detach().Clone()
		apply(m)
		if name != "spectral_norm" && !m.Weight.AllClose(w) {
			t.Errorf("%s: the weight has changed", name)
		}
		m.Forward(torch.Randn([]int{1, 2, 4, 4})).Sum().Backward()
		for n, p := range nn.NamedParameters(m) {
			if p.Grad() == nil {
				t.Errorf("%s: %s has no gradient", name, n)
			}
		}
		m.Eval()
		x := torch.Randn([]int{1, 2, 4, 4})
		want := m.Forward(x)
		if got := nn.DeepCopy(m).Forward(x); !got.Equal(want) {
			t.Errorf("%s: the copy gives something else", name)
		}
		m.Train()
		if name == "spectral_norm" {
			utils.RemoveSpectralNorm(m)
		} else {
			utils.RemoveWeightNorm(m)
		}
		if got := m.Forward(x); !got.AllClose(want, tensor.AllCloseOptions{Atol: tensor.Some(1e-6)}) {
			t.Errorf("%s: gives something else after removal", name)
		}
		if k := m.StateDict().Keys(); !slices.Equal(k, []string{"weight", "bias"}) || !m.Training() {
			t.Errorf("%s: keys %v after removal", name, k)
		}
	}
}

func TestWeightNormRefused(t *testing.T) {
	lin := func() *nn.Linear { return nn.NewLinear(2, 2) }
	for name, f := range map[string]func(){
		"twice":      func() { utils.WeightNorm(utils.WeightNorm(lin())) },
		"name":       func() { utils.WeightNorm(lin(), utils.WeightNormOptions{Name: "w"}) },
		"dim":        func() { utils.WeightNorm(lin(), utils.WeightNormOptions{Dim: tensor.Some(4)}) },
		"spectral":   func() { utils.SpectralNorm(lin(), utils.SpectralNormOptions{Dim: tensor.Some(2)}) },
		"iterations": func() { utils.SpectralNorm(lin(), utils.SpectralNormOptions{NPowerIterations: tensor.Some(-1)}) },
		"lazy":       func() { utils.WeightNorm(nn.NewLazyLinear(3)) },
		"remove":     func() { utils.RemoveWeightNorm(lin()) },
		"other":      func() { utils.RemoveSpectralNorm(utils.WeightNorm(lin())) },
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSkipInit(t *testing.T) {
	m := utils.SkipInit(func() *nn.Linear { return nn.NewLinear(3, 4) })
	if m.Weight.Device().Type != tensor.CPUDevice || !m.Weight.IsParameter() || m.Weight.Size(0) != 4 {
		t.Errorf("weight of %v on %v", m.Weight.Shape(), m.Weight.Device())
	}
}

func TestConvertWeightMemoryFormat(t *testing.T) {
	m := nn.NewSequential(nn.NewConv2d(2, 3, 3), nn.NewConv3d(2, 3, 3))
	c2, c3 := m.At(0).(*nn.Conv2d), m.At(1).(*nn.Conv3d)
	before := c2.Weight.Detach().Clone()
	utils.ConvertConv2dWeightMemoryFormat(m, tensor.ChannelsLast)
	if s := c2.Weight.Strides(); s[1] != 1 || !c2.Weight.Equal(before) || c3.Weight.Strides()[1] == 1 {
		t.Errorf("strides %v, %v", s, c3.Weight.Strides())
	}
	utils.ConvertConv3dWeightMemoryFormat(m, tensor.ChannelsLast3d)
	if s := c3.Weight.Strides(); s[1] != 1 {
		t.Errorf("strides %v", s)
	}
}

func TestGetTotalNorm(t *testing.T) {
	a, b := tensor.FromSlice([]float32{3, 0}), tensor.FromSlice([]float32{4})
	if got := utils.GetTotalNorm([]*torch.Tensor{a, b}).Item(); got != 5 {
		t.Errorf("norm %v, want 5", got)
	}
	p := torch.Ones([]int{2}).SetRequiresGrad(true)
	p.SetGrad(a)
	utils.ClipGradsWithNorm([]*torch.Tensor{p}, 1, torch.Full([]int{}, 6.0))
	if got := p.Grad().Select(0, 0).Item(); got < 0.4999 || got > 0.5 {
		t.Errorf("gradient %v, want 3/6", got)
	}
}
