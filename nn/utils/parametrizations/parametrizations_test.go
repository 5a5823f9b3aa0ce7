package parametrizations_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/parametrizations"
	"github.com/gotorch-dev/torch/nn/utils/parametrize"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

func ExampleWeightNorm() {
	m := parametrizations.WeightNorm(nn.NewLinear(20, 40))
	fmt.Println(m)
	for name, p := range nn.NamedParameters(m) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// ParametrizedLinear(
	//   in_features=20, out_features=40, bias=True
	//   (parametrizations): ModuleDict(
	//     (weight): ParametrizationList(
	//       (0): _WeightNorm()
	//     )
	//   )
	// )
	// bias [40]
	// parametrizations.weight.original0 [40 1]
	// parametrizations.weight.original1 [40 20]
}

// The numbers are PyTorch's: torch.manual_seed(0); spectral_norm(nn.Linear(3, 4)).
func ExampleSpectralNorm() {
	torch.ManualSeed(0)
	m := parametrizations.SpectralNorm(nn.NewLinear(3, 4))
	fmt.Println(m.Weight.Detach())
	fmt.Println(m.StateDict().Keys())
	// Output:
	// tensor([[-0.0058,  0.4186, -0.6422],
	//         [-0.5742, -0.3005,  0.2092],
	//         [-0.0155,  0.6186, -0.0692],
	//         [ 0.2065, -0.2358, -0.1534]])
	// [bias parametrizations.weight.original parametrizations.weight.0._u parametrizations.weight.0._v]
}

// TestTrains takes steps and compares with the same network whose weight is computed by hand.
func TestTrains(t *testing.T) {
	torch.ManualSeed(1)
	for _, l := range []nn.Layer{nn.NewLinear(3, 4), nn.NewConv1d(3, 4, 1)} {
		weight := *nn.TensorField(l, "weight")
		g := torch.NormExceptDim(weight.Detach()).SetRequiresGrad(true)
		v := weight.Detach().Clone().SetRequiresGrad(true)
		bias := (*nn.TensorField(l, "bias")).Detach().Clone().SetRequiresGrad(true)
		parametrizations.WeightNorm(l)
		x := torch.Randn([]int{3, 3})
		a := optim.NewSGD(nn.Parameters(l), 0.1)
		b := optim.NewSGD([]*torch.Tensor{bias, g, v}, 0.1)
		for range 3 {
			a.ZeroGrad()
			b.ZeroGrad()
			w := v.Mul(g.Div(torch.NormExceptDim(v)))
			want := w.Flatten(tensor.FlattenOptions{StartDim: 1}).MatMul(x).Add(bias.Unsqueeze(1))
			var got *torch.Tensor
			if lin, ok := l.(*nn.Linear); ok {
				got = lin.Forward(x.Transpose(0, 1)).Transpose(0, 1)
			} else {
				got = l.Forward(x)
			}
			if !got.AllClose(want, tensor.AllCloseOptions{Atol: tensor.Some(1e-6)}) {
				t.Fatalf("%v gives %v, want %v", nn.ClassName(l), got, want)
			}
			got.Square().Sum().Backward()
			want.Square().Sum().Backward()
			a.Step()
			b.Step()
		}
	}
}

// TestInside parametrizes a weight of an LSTM and one inside of an attention layer, which uses it itself.
func TestInside(t *testing.T) {
	torch.ManualSeed(2)
	lstm := nn.NewLSTM(3, 4)
	x := torch.Randn([]int{5, 2, 3})
	want, _, _ := lstm.Forward(x)
	parametrizations.WeightNorm(lstm, parametrizations.WeightNormOptions{Name: "weight_hh_l0"})
	if got, _, _ := lstm.Forward(x); !got.AllClose(want) {
		t.Error("the LSTM gives something else")
	}
	if n := len(nn.Parameters(lstm)); n != 5 {
		t.Errorf("%d parameters, want 5", n)
	}
	out, _, _ := lstm.Forward(x)
	out.Sum().Backward()
	for name, p := range nn.NamedParameters(lstm) {
		if p.Grad() == nil {
			t.Errorf("%s has no gradient", name)
		}
	}
	mha := nn.NewMultiheadAttention(4, 2)
	parametrizations.WeightNorm(mha.OutProj)
	p := nn.Parameters(mha.OutProj)[1] // the lengths
	y := torch.Randn([]int{3, 1, 4})
	a, _ := mha.Forward(y, y, y)
	tensor.NoGrad(func() { p.MulScalarInPlace(2) })
	b, _ := mha.Forward(y, y, y)
	if bias := mha.OutProj.Bias; !b.Sub(bias).AllClose(a.Sub(bias).MulScalar(2),
		tensor.AllCloseOptions{Atol: tensor.Some(1e-6)}) {
		t.Error("the attention does not follow its output's weight")
	}
}

func TestRemove(t *testing.T) {
	torch.ManualSeed(3)
	for _, leave := range []bool{true, false} {
		m := parametrizations.SpectralNorm(nn.NewLinear(3, 3))
		original := parametrize.List(m, "weight").Originals()[0]
		before := original.Detach().Clone()
		m.Eval()
		nn.Refresh(m)
		computed := m.Weight.Detach().Clone()
		parametrize.RemoveParametrizations(m, "weight", parametrize.RemoveOptions{NoLeaveParametrized: !leave})
		want := before
		if leave {
			want = computed
		}
		if m.Weight != original || !m.Weight.IsParameter() || !m.Weight.Equal(want) {
			t.Errorf("leave %v: the weight is not the parameter that it was, with the right values", leave)
		}
		if s := m.String(); s != "Linear(in_features=3, out_features=3, bias=True)" {
			t.Errorf("prints as %s", s)
		}
		if n := len(m.StateDict().Keys()); n != 2 {
			t.Errorf("%d entries in the state dict", n)
		}
	}
	m := parametrizations.WeightNorm(nn.NewLinear(2, 2))
	w := m.Weight.Detach().Clone()
	parametrize.RemoveParametrizations(m, "weight")
	if !m.Weight.IsParameter() || !m.Weight.RequiresGrad() || !m.Weight.Equal(w) {
		t.Error("the weight is not a parameter again")
	}
}

func TestOldStateDict(t *testing.T) {
	m := nn.NewSequential(parametrizations.WeightNorm(nn.NewLinear(2, 3)))
	sd := &tensor.StateDict{}
	sd.Set("0.bias", torch.Zeros([]int{3}))
	sd.Set("0.weight_g", torch.Full([]int{3, 1}, 5))
	sd.Set("0.weight_v", tensor.FromSlice([]float32{3, 4, 3, 4, 3, 4}, 3, 2))
	if err := m.LoadStateDict(sd); err != nil {
		t.Fatal(err)
	}
	if got := m.At(0).(*nn.Linear).Weight.Sum().Item(); math.Abs(got-21) > 1e-5 || sd.Has("0.bias") == false ||
		sd.Len() != 3 {
		t.Errorf("weights sum to %v, want 21", got)
	}
}

// symmetric makes a matrix symmetric.
type symmetric struct{ nn.Base }

func (*symmetric) Forward(x *torch.Tensor) *torch.Tensor {
	return x.Triu().Add(x.Triu(tensor.TriuOptions{Diagonal: 1}).Transpose(0, 1))
}

func (*symmetric) RightInverse(x *torch.Tensor) *torch.Tensor { return x.Triu() }

// double doubles.
type double struct{ nn.Base }

func (*double) Forward(x *torch.Tensor) *torch.Tensor      { return x.MulScalar(2) }
func (*double) RightInverse(x *torch.Tensor) *torch.Tensor { return x.DivScalar(2) }

func TestChain(t *testing.T) {
	m := nn.NewLinear(3, 3)
	parametrize.RegisterParametrization(m, "weight", nn.New(&symmetric{}))
	parametrize.RegisterParametrization(m, "weight", nn.New(&double{}))
	if !m.Weight.Equal(m.Weight.Transpose(0, 1)) {
		t.Error("the weight is not symmetric")
	}
	parametrize.Set(m, "weight", torch.Ones([]int{3, 3}))
	if !m.Weight.Equal(torch.Ones([]int{3, 3})) {
		t.Errorf("the weight is %v after it was set to ones", m.Weight)
	}
	if o := parametrize.List(m, "weight").Originals()[0]; o.Sum().Item() != 3 {
		t.Errorf("the original is %v", o)
	}
	// a copy computes its own weight from its own original
	c := nn.DeepCopy(m)
	tensor.NoGrad(func() { nn.Parameters(c)[1].ZeroInPlace() })
	x := torch.Ones([]int{1, 3})
	if a, b := m.Forward(x), c.Forward(x); a.Equal(b) || !b.Equal(c.Bias.Unsqueeze(0)) {
		t.Error("the copy is not independent")
	}
	parametrize.Cached(m, func() {
		w := m.Weight
		m.Forward(x)
		if m.Weight != w {
			t.Error("the weight was computed again")
		}
	})
	w := m.Weight
	if m.Forward(x); m.Weight == w {
		t.Error("the weight was not computed again")
	}
	if got := parametrize.TypeBeforeParametrizations(m); got != "Linear" {
		t.Errorf("type %s", got)
	}
}

// wider has another shape.
type wider struct{ nn.Base }

func (*wider) Forward(x *torch.Tensor) *torch.Tensor { return x.Unsqueeze(0) }

func TestRefused(t *testing.T) {
	lin := func() *nn.Linear { return nn.NewLinear(2, 2) }
	for name, f := range map[string]func(){
		"name":     func() { parametrizations.WeightNorm(lin(), parametrizations.WeightNormOptions{Name: "w"}) },
		"spectral": func() { parametrizations.SpectralNorm(lin(), parametrizations.SpectralNormOptions{Name: "w"}) },
		"dimension": func() {
			parametrizations.SpectralNorm(lin(), parametrizations.SpectralNormOptions{Dim: tensor.Some(2)})
		},
		"iterations": func() {
			parametrizations.SpectralNorm(lin(), parametrizations.SpectralNormOptions{NPowerIterations: tensor.Some(0)})
		},
		"norm dim": func() {
			parametrizations.WeightNorm(lin(),
				parametrizations.WeightNormOptions{Dim: tensor.Some(7)})
		},
		"shape":   func() { parametrize.RegisterParametrization(lin(), "weight", nn.New(&wider{})) },
		"not one": func() { parametrize.RegisterParametrization(lin(), "weight", nn.NewMSELoss()) },
		"remove":  func() { parametrize.RemoveParametrizations(lin(), "weight") },
		"leave": func() {
			parametrize.RemoveParametrizations(parametrizations.WeightNorm(lin()), "weight",
				parametrize.RemoveOptions{NoLeaveParametrized: true})
		},
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
