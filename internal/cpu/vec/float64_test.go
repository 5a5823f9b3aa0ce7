package vec

import (
	"math"
	"testing"
)

// TestFloat64Twins checks that the float64 forms say the same as the float32
// kernels, which have their own references.
func TestFloat64Twins(t *testing.T) {
	x, g := random32(200, 1), random32(200, 2)
	ScaleShiftF32(x, x, 3, 0.5)
	near := func(name string, got []float32, want []float64, tol float64) {
		t.Helper()
		for i := range got {
			w := want[i]
			if math.Abs(float64(got[i])-w) > tol*(1+math.Abs(w)) && !(got[i] != got[i] && w != w) {
				t.Fatalf("%s at %d: float32 gives %v, float64 %v", name, i, got[i], w)
			}
		}
	}
	x64, g64 := widen(x), widen(g)
	d, d64 := make([]float32, len(x)), make([]float64, len(x))
	for _, c := range []struct {
		name string
		f    func(dst, a []float32)
		f64  func(dst, a []float64)
	}{
		{"Exp", ExpF32, ExpF64}, {"Exp2", Exp2F32, Exp2F64}, {"Expm1", Expm1F32, Expm1F64}, {"Log", LogF32, LogF64},
		{"Log1p", Log1pF32, Log1pF64}, {"Log2", Log2F32, Log2F64}, {"Log10", Log10F32, Log10F64},
		{"Tanh", TanhF32, TanhF64},
		{"Sigmoid", SigmoidF32, SigmoidF64}, {"Erf", ErfF32, ErfF64}, {"Sin", SinF32, SinF64}, {"Cos", CosF32, CosF64},
		{"GELU", GELUF32, GELUF64}, {"GELUTanh", GELUTanhF32, GELUTanhF64}, {"SiLU", SiLUF32, SiLUF64},
		{"LogSigmoid", LogSigmoidF32, LogSigmoidF64}, {"Mish", MishF32, MishF64}, {"Softmax", SoftmaxF32, SoftmaxF64},
		{"LogSoftmax", LogSoftmaxF32, LogSoftmaxF64},
		{"PowScalar", func(d, a []float32) { PowScalarF32(d, a, 1.5) },
			func(d, a []float64) { PowScalarF64(d, a, 1.5) }},
		{"Softplus", func(d, a []float32) { SoftplusF32(d, a, 2, 9) },
			func(d, a []float64) { SoftplusF64(d, a, 2, 9) }},
		{"ELU", func(d, a []float32) { ELUF32(d, a, 1.5, 2, 0.5) }, func(d, a []float64) { ELUF64(d, a, 1.5, 2, 0.5) }},
		{"LayerNorm", func(d, a []float32) { LayerNormF32(d, a, nil, nil, 1e-5) },
			func(d, a []float64) { LayerNormF64(d, a, nil, nil, 1e-5) }},
		{"LayerNorm with weights", func(d, a []float32) { LayerNormF32(d, a, g, nil, 1e-5) },
			func(d, a []float64) { LayerNormF64(d, a, g64, nil, 1e-5) }},
		{"LayerNorm with both", func(d, a []float32) { LayerNormF32(d, a, g, x, 1e-5) },
			func(d, a []float64) { LayerNormF64(d, a, g64, x64, 1e-5) }},
	} {
		c.f(d, x)
		c.f64(d64, x64)
		near(c.name, d, d64, 2e-6)
	}
	PowF32(d, x, g)
	PowF64(d64, x64, g64)
	near("Pow", d, d64, 2e-6)
	for _, c := range []struct {
		name string
		f    func(dst, grad, x []float32)
		f64  func(dst, grad, x []float64)
	}{
		{"GELU", GELUBackwardF32, GELUBackwardF64}, {"GELUTanh", GELUTanhBackwardF32, GELUTanhBackwardF64},
		{"SiLU", SiLUBackwardF32, SiLUBackwardF64}, {"LogSigmoid", LogSigmoidBackwardF32, LogSigmoidBackwardF64},
		{"Mish", MishBackwardF32, MishBackwardF64},
		{"Softmax", SoftmaxGradF32, SoftmaxGradF64}, {"LogSoftmax", LogSoftmaxGradF32, LogSoftmaxGradF64},
		{"Softplus", func(d, g, x []float32) { SoftplusBackwardF32(d, g, x, 2, 9) },
			func(d, g, x []float64) { SoftplusBackwardF64(d, g, x, 2, 9) }},
		{"ELU", func(d, g, x []float32) { ELUBackwardF32(d, g, x, 1.5, 2, 0.5) },
			func(d, g, x []float64) { ELUBackwardF64(d, g, x, 1.5, 2, 0.5) }},
		{"LayerNorm", func(d, g, x []float32) { LayerNormGradF32(d, g, nil, x, 0.5, 0.3) },
			func(d, g, x []float64) { LayerNormGradF64(d, g, nil, x, 0.5, 0.3) }},
		{"LayerNorm with weights", func(d, g, y []float32) { LayerNormGradF32(d, g, x, y, 0.5, 0.3) },
			func(d, g, y []float64) { LayerNormGradF64(d, g, x64, y, 0.5, 0.3) }},
	} {
		// Small exponents, so that the softmax results do not overflow.
		y, y64 := g, g64
		c.f(d, x, y)
		c.f64(d64, x64, y64)
		near(c.name+" backward", d, d64, 2e-5)
	}
	if a, b := LogSumExpF32(x), LogSumExpF64(x64); math.Abs(float64(a)-b) > 1e-5 {
		t.Errorf("LogSumExp: float32 gives %v, float64 %v", a, b)
	}
}
