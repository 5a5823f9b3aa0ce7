package vec

import (
	"fmt"
	"math"
	"testing"
)

// The weights of attention at special scores: nothing is subnormal, NaN stays, and the sum is that of what was stored.
func TestExpOrZero(t *testing.T) {
	inf := math.Inf(1)
	cases := []struct{ x, m, want float64 }{
		{0, 0, 1}, {1, 3, math.Exp(-2)}, {-80, 0, math.Exp(-80)}, {-86.9, 0, math.Exp(-86.9)}, {-inf, 0, 0},
		{-1e30, 5, 0},
		{-800, 0, 0}, {inf, 0, inf}, {math.NaN(), 0, math.NaN()}, {1, math.NaN(), math.NaN()}, {-inf, -inf, math.NaN()},
	}
	eachPath(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 16, 33, 70, 5000} {
			for _, c := range cases {
				t.Run(fmt.Sprintf("%d of %v-%v", n, c.x, c.m), func(t *testing.T) {
					a, d := make([]float32, n), make([]float32, n)
					a64, d64 := make([]float64, n), make([]float64, n)
					for i := range a {
						a[i], a64[i] = float32(c.x), c.x
					}
					sum, sum64 := ExpOrZeroSumF32(d, a, float32(c.m)), ExpOrZeroSumF64(d64, a64, c.m)
					ExpOrZeroF32(a, a, float32(c.m))
					ExpOrZeroF64(a64, a64, c.m)
					for i := range a {
						for _, got := range []float64{float64(d[i]), float64(a[i])} {
							if !nearly(got, c.want, 1e-5) {
								t.Fatalf("float32, element %d: got %v, expected %v", i, got, c.want)
							}
						}
						for _, got := range []float64{d64[i], a64[i]} {
							if !nearly(got, c.want, 1e-14) {
								t.Fatalf("float64, element %d: got %v, expected %v", i, got, c.want)
							}
						}
					}
					if !nearly(float64(sum), c.want*float64(n), 1e-5) || !nearly(sum64, c.want*float64(n), 1e-13) {
						t.Fatalf("sums: got %v and %v, expected %v", sum, sum64, c.want*float64(n))
					}
				})
			}
		}
	})
}

// nearly reports that got is want within a relative tolerance; NaN, infinities and zero must be met.
func nearly(got, want, tol float64) bool {
	switch {
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsInf(want, 0) || want == 0:
		return got == want
	}
	return math.Abs(got-want) <= tol*math.Abs(want)
}
