package vec

import (
	"math"
	"testing"
)

// TestLosses compares the sums and their gradients with float64.
func TestLosses(t *testing.T) {
	const limit = 0.7
	sign := func(x float64) float64 { return b2f(x > 0) - b2f(x < 0) }
	clampLog := func(x float64) float64 { return math.Max(-100, math.Log(x)) }
	entropySum := func(a, b []float32) float64 {
		s, ok := CrossEntropyF32(a, b)
		if !ok {
			t.Error("probabilities are refused")
		}
		return s
	}
	eachPath(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 16, 31, 33, 70, 4096, 9001} {
			x, y := random32(n, 1), random32(n, 2)
			p, q := make([]float32, n), make([]float32, n)
			SigmoidF32(p, x)
			SigmoidF32(q, y)
			for i := 0; i+4 < n; i += 50 { // the ends of the interval
				p[i], p[i+1], q[i+2], q[i+3] = 0, 1, 0, 1
			}
			lp := make([]float32, n)
			LogF32(lp, q)
			for _, c := range []struct {
				name       string
				a, b       []float32
				sum        func(a, b []float32) float64
				loss, grad func(a, b float64) float64
				kernel     func(dst, a, b []float32, s float32)
			}{
				{"squared", x, y, SquaredErrorF32, func(a, b float64) float64 { return (a - b) * (a - b) },
					func(a, b float64) float64 { return a - b },
					func(d, a, b []float32, s float32) { HuberGradF32(d, a, b, s, float32(math.Inf(1))) }},
				{"absolute", x, y, AbsErrorF32, func(a, b float64) float64 { return math.Abs(a - b) },
					func(a, b float64) float64 { return sign(a - b) }, AbsErrorGradF32},
				{"huber", x, y, func(a, b []float32) float64 { return HuberF32(a, b, limit, 0.5, limit) },
					func(a, b float64) float64 {
						if z := math.Abs(a - b); z > limit {
							return limit * (z - limit/2)
						}
						return (a - b) * (a - b) / 2
					}, func(a, b float64) float64 { return math.Max(-limit, math.Min(limit, a-b)) },
					func(d, a, b []float32, s float32) { HuberGradF32(d, a, b, s, limit) }},
				{"cross entropy", p, q, entropySum,
					func(a, b float64) float64 { return -b*clampLog(a) - (1-b)*clampLog(1-a) },
					func(a, b float64) float64 { return (a - b) / math.Max(a*(1-a), 1e-12) }, CrossEntropyGradF32},
				{"logits", x, q, LogitEntropyF32, func(a,
					b float64) float64 {
					return (1-b)*a + math.Log1p(math.Exp(-a))
				},
					func(a, b float64) float64 { return 1/(1+math.Exp(-a)) - b }, LogitEntropyGradF32},
				{"divergence", x, q, DivergenceF32, func(a, b float64) float64 {
					if b == 0 {
						return 0
					}
					return b * (math.Log(b) - a)
				}, nil, nil},
				{"log divergence", x, lp, LogDivergenceF32, func(a, b float64) float64 {
					if math.IsInf(b, -1) {
						return math.NaN()
					}
					return math.Exp(b) * (b - a)
				}, func(a, b float64) float64 { return math.Exp(b) }, LogDivergenceGradF32},
			} {
				want, scale := 0.0, 1.0
				for i := range c.a {
					l := c.loss(float64(c.a[i]), float64(c.b[i]))
					want += l
					scale += math.Abs(l)
				}
				if got := c.sum(c.a, c.b); !(math.Abs(got-want) <= 3e-7*scale) && !(got != got && want != want) {
					t.Errorf("%s of %d: got %v, want %v", c.name, n, got, want)
				}
				if c.grad == nil {
					continue
				}
				d := make([]float32, n)
				c.kernel(d, c.a, c.b, 0.25)
				for i := range d {
					w := 0.25 * c.grad(float64(c.a[i]), float64(c.b[i]))
					if e := math.Abs(float64(d[i]) - w); !(e <= 4e-7*(1+math.Abs(w))) {
						t.Fatalf("gradient of %s at %v and %v: got %v, want %v", c.name, c.a[i], c.b[i], d[i], w)
					}
				}
			}
		}
		for _, bad := range []float32{-0.001, 1.001} {
			if _, ok := CrossEntropyF32([]float32{0.5, bad}, []float32{0, 1}); ok {
				t.Errorf("%v passes as a probability", bad)
			}
		}
	})
}
