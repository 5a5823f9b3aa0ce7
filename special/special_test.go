package special_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/special"
)

var inf, nan = math.Inf(1), math.NaN()

// The values are those of PyTorch 2.15, but for the Airy function's digits, which are from the NIST Digital Library of
// Mathematical Functions, table 9.9.
func TestEdges(t *testing.T) {
	type pair = func(a, b *torch.Tensor, opts ...torch.OutOptions) *torch.Tensor
	for _, c := range []struct {
		name string
		f    pair
		a, b float64
		want float64
	}{
		{"zeta at its pole", special.Zeta, 1, 3, inf},
		{"zeta below 1", special.Zeta, 0.5, 3, nan},
		{"zeta from a negative integer", special.Zeta, 2, -1, inf},
		{"zeta of NaN from a negative integer", special.Zeta, nan, -2, inf},
		{"zeta of NaN", special.Zeta, nan, 2, nan},
		{"polynomial of degree 0 of NaN", special.ChebyshevPolynomialT, nan, 0, 1},
		{"polynomial of degree -1 of NaN", special.HermitePolynomialH, nan, -1, 0},
		{"polynomial of degree 1 of NaN", special.LegendrePolynomialP, nan, 1, nan},
		{"polynomial of degree NaN", special.LaguerrePolynomialL, 0.5, nan, 0},
		{"polynomial of infinite degree", special.ChebyshevPolynomialU, 0.5, inf, 0},
		{"degree -0.5 is 0", special.ChebyshevPolynomialV, 0.5, -0.5, 1},
		{"Chebyshev polynomial of a large degree", special.ChebyshevPolynomialT, 0.5, 100000, -0.5},
		{"another one", special.ChebyshevPolynomialT, 0, 1000000, 1},
		{"a degree too large to count to", special.LegendrePolynomialP, 0.5, 1 << 60, nan},
		{"x log y of 0 and infinity", special.Xlogy, 0, inf, 0},
	} {
		got := c.f(torch.TensorOf(c.a), torch.TensorOf(c.b)).Item()
		if !(math.Abs(got-c.want) < 1e-9) && !(math.IsNaN(got) && math.IsNaN(c.want)) && got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ x, want float64 }{
		{0, 0.355028053887817}, {math.Copysign(0, -1), 0.355028053887817}, {-2.338107410459767, 0},
		{-4.087949444130970, 0}, {-11.008524303733262, 0}, {-1.018792971647471, 0.535656656015700},
		{-4.820099211178736, 0.380406468628153}, {104, 0}, {inf, nan}, {-inf, nan}, {nan, nan},
	} {
		got := special.AiryAi(torch.TensorOf(c.x)).Item()
		if !(math.Abs(got-c.want) < 1e-14) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("Ai(%v) = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestIntegersAndRefusals(t *testing.T) {
	if got := special.AiryAi(torch.TensorOf(int64(0))).DType(); got != torch.Float32 {
		t.Errorf("airy_ai of int64 is %s, want float32", got)
	}
	for name, f := range map[string]func(){
		"gammainc of integers": func() { special.Gammainc(torch.TensorOf(int64(1)), torch.TensorOf(int64(1))) },
		"round of integers":    func() { special.Round(torch.TensorOf(int64(1))) },
		"negative polygamma":   func() { special.Polygamma(-1, torch.TensorOf(1.0)) },
	} {
		if torch.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
