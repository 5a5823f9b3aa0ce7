package pointwise_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
	"github.com/gotorch-dev/torch/tensor"
)

// TestCornerGradients compares gradients at places where the plain formula would give NaN, or lose a rounding, with
// PyTorch's.
func TestCornerGradients(t *testing.T) {
	inf := math.Inf(1)
	type pair = [2]float64
	for _, c := range []struct {
		name string
		f    func(a, b *torch.Tensor, o ...tensor.OutOptions) *torch.Tensor
		at   pair
		up   float64 // the gradient of the result
		want pair
	}{
		{"atan2", (*torch.Tensor).Atan2, pair{0, 0}, 2, pair{0, 0}},
		{"atan2 of squares that vanish", (*torch.Tensor).Atan2, pair{1e-200, 1e-200}, 2, pair{0, 0}},
		{"atan2", (*torch.Tensor).Atan2, pair{0, -1}, 2, pair{-2, 0}},
		{"xlogy", (*torch.Tensor).Xlogy, pair{-1e200, 1e-200}, 0, pair{0, 0}},
		{"xlogy", (*torch.Tensor).Xlogy, pair{0, 0}, 1, pair{0, math.NaN()}},
		{"xlog1py", special.Xlog1py, pair{3, -4}, 0, pair{0, 0}},
		{"addcdiv", func(a, b *torch.Tensor, o ...tensor.OutOptions) *torch.Tensor {
			return b.Addcdiv(tensor.FromSlice([]float64{1e300}), a, tensor.AddcdivOptions{Value: 1e-300})
		}, pair{1e-100, 0}, 1, pair{-1e200, 1}},
		{"i1", func(a, b *torch.Tensor, o ...tensor.OutOptions) *torch.Tensor { return special.I1(a).Add(b) },
			pair{5e-324, 0}, 1, pair{0.5, 1}},
		{"xlog1py", special.Xlog1py, pair{3, -1}, 1, pair{-inf, inf}},
	} {
		a, b := tensor.FromSlice(c.at[:1]).SetRequiresGrad(true), tensor.FromSlice(c.at[1:]).SetRequiresGrad(true)
		g := torch.Grad([]*torch.Tensor{c.f(a, b)}, []*torch.Tensor{a, b},
			torch.GradOptions{GradOutputs: []*torch.Tensor{tensor.FromSlice([]float64{c.up})}})
		for i := range g {
			if got := g[i].Num().F; got != c.want[i] && !(math.IsNaN(got) && math.IsNaN(c.want[i])) {
				t.Errorf("%s at %v: gradient %d is %g, want %g", c.name, c.at, i, got, c.want[i])
			}
		}
	}
}

// TestHardtanhGradient has limits that a 16-bit type rounds, and changes the result before the backward pass, which
// reads self.
func TestHardtanhGradient(t *testing.T) {
	for _, dt := range []torch.DType{torch.Float32, torch.BFloat16, torch.Float16} {
		for _, inPlace := range []bool{false, true} {
			x := torch.FromSlice([]float64{-5, -0.3, 0.1, 0.5, 0.75, 5}).To(dt).SetRequiresGrad(true)
			var y *torch.Tensor
			if inPlace {
				y = x.MulScalar(1).HardTanhInPlace(tensor.HardTanhInPlaceOptions{MinVal: -0.4, MaxVal: 0.7})
			} else {
				y = x.HardTanh(tensor.HardTanhOptions{MinVal: -0.4, MaxVal: 0.7})
				y.MulScalarInPlace(3)
			}
			y.Sum().Backward()
			for i, g := range tensor.Data[float64](x.Grad().Double()) {
				want := 0.0
				if i >= 1 && i <= 3 {
					want = map[bool]float64{false: 3, true: 1}[inPlace]
				}
				if g != want {
					t.Errorf("%v, in place %v: gradient %d is %g, want %g", dt, inPlace, i, g, want)
				}
			}
		}
	}
}

// The Airy function is not 0 up to the number from which PyTorch gives 0, that number included.
func TestAiryLimit(t *testing.T) {
	const limit = 103.892
	y := special.AiryAi(torch.TensorOf(limit, math.Nextafter(limit, 200), 103.89))
	v := torch.Data[float64](y)
	if !(v[0] > 2.2e-308 && v[0] < 2.3e-308) || v[1] != 0 || !(v[2] > v[0]) {
		t.Errorf("got %v", v)
	}
}
