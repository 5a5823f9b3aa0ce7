package pointwise

import (
	"math"
	"math/cmplx"
	"testing"
)

// TestComplexBlocks compares the kernels of blocks with the functions of one number, which also give the values beyond.
// Those of the tangents lose digits near the poles.
func TestComplexBlocks(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	parts := []float64{0, zero, 1e-300, 1e-9, 0.3, -0.3, 1, -1.5, math.Pi / 2, -math.Pi, 5, -19, 21.9, 22.5, 70, -650,
		699, 705, 720, -720, 1e5, 1e7, 1e300, inf, -inf, nan}
	var a []complex128
	for _, x := range parts {
		for _, y := range parts {
			a = append(a, complex(x, y))
		}
	}
	for i := range 2000 {
		a = append(a, complex(3*math.Sin(float64(i)), 4*math.Cos(1.7*float64(i))))
	}
	for _, c := range []struct {
		name string
		re   float64
		im   float64
		tol  float64
		f    func(complex128) complex128
		k    func(p *planesOf[float64])
	}{
		{"exp", 700, most, 3e-15, expC, expPlanes}, {"log", most, most, 3e-15, cmplx.Log, logPlanes},
		{"sin", most, 700, 3e-15, cmplx.Sin, sinPlanes}, {"cos", most, 700, 3e-15, cmplx.Cos, cosPlanes},
		{"tan", most, 22, 5e-12, tanC, tanPlanes}, {"sinh", 700, most, 3e-15, cmplx.Sinh, sinhPlanes},
		{"cosh", 700, most, 3e-15, cmplx.Cosh, coshPlanes}, {"tanh", 22, most, 5e-12, tanhC, tanhPlanes},
		{"sigmoid", 700, most, 1e-14, sigmoidC, sigmoidPlanes},
	} {
		k := new(unK).blocks(c.re, c.im, c.f, c.k).c128
		for _, n := range []int{len(a), 1, 255, 257, 0} {
			d := append([]complex128(nil), a[:n]...)
			k(d, d)
			for i, x := range a[:n] {
				want := c.f(x)
				if !nearPart(real(d[i]), real(want), c.tol*cmplx.Abs(want)) ||
					!nearPart(imag(d[i]), imag(want), c.tol*cmplx.Abs(want)) {
					t.Errorf("%s(%v) of %d: got %v, want %v", c.name, x, n, d[i], want)
				}
			}
		}
	}
}

// nearPart compares a part of a result.
func nearPart(got, want, tol float64) bool {
	if got == want {
		return want != 0 || math.Signbit(got) == math.Signbit(want)
	}
	return got != got && want != want || math.Abs(got-want) <= tol
}
