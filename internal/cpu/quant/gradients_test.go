package quant

import (
	"math"
	"testing"
)

// TestFakeGradientBlocks compares the gradients by vectors with those of a run that is too short for them.
func TestFakeGradientBlocks(t *testing.T) {
	f := &Fake{Scale: 0.25, Zero: 3, Min: -8, Max: 7}
	for _, n := range []int{16, 511, 1030} {
		g, x := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], g[i] = float32(3*math.Sin(float64(i))), float32(math.Cos(float64(3*i)))
		}
		x[3], x[5] = float32(math.Inf(1)), float32(math.Inf(-1))
		got, want := make([]float32, n), make([]float32, n)
		scale, zero := FakeGradients(f, got, g, x, 0.5)
		var wantScale, wantZero float64
		for i := range x {
			s, z := FakeGradients(f, want[i:i+1], g[i:i+1], x[i:i+1], 0.5)
			wantScale, wantZero = wantScale+s, wantZero+z
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%d numbers: gradient of number %d is %v, expected %v", n, i, got[i], want[i])
			}
		}
		if math.Abs(scale-wantScale) > 1e-5*(1+math.Abs(wantScale)) || math.Abs(zero-wantZero) > 1e-5*(1+math.Abs(wantZero)) {
			t.Errorf("%d numbers: gradients of scale and zero point %v, %v, expected %v, %v", n, scale, zero, wantScale,
				wantZero)
		}
	}
}
