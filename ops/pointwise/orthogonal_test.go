package pointwise

import (
	"math"
	"testing"
)

// TestPolynomialsOfManyDegrees compares the recurrence that numbers of different degrees share with that of each.
func TestPolynomialsOfManyDegrees(t *testing.T) {
	legendre := &orthogonal{slope: 1, a: [2]float64{1, 2}, c: [2]float64{0, 1}, d: [2]float64{1, 1}}
	shifted := &orthogonal{slope: 2, start: -1, a: [2]float64{2}, c: [2]float64{1}, d: [2]float64{1}, shifted: true,
		formula: func(m, t float64) float64 { return math.Cos((m+0.5)*t) / math.Cos(t/2) }}
	degrees := []float64{3, 0, 1, 2.9, -1, 7, math.NaN(), 12, 1, 40, 600, 2, 5, 0, 511, 3, -0.5, 6}
	for name, o := range map[string]*orthogonal{"legendre": legendre, "shifted": shifted} {
		for _, n := range []int{1, 7, 100, planeRun, planeRun + 3} {
			x, m, got := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], m[i] = math.Cos(float64(i)), degrees[i*i%len(degrees)]
			}
			x[n/2] = math.Inf(1)
			o.each(got, x, m)
			for i, g := range got {
				want := o.at(x[i], m[i])
				if g != want && !(g != g && want != want) && !(math.Abs(g-want) <= 1e-12*(1+math.Abs(want))) {
					t.Errorf("%s: degree %v at %v, number %d of %d: %v, expected %v", name, m[i], x[i], i, n, g, want)
				}
			}
		}
	}
}
