package vec

import (
	"math"
	"math/rand"
	"testing"
)

// refExp and refLog are those of package math moved away from the ends of the range, where its assembly gives up too early.
func refExp(x float64) float64 {
	if math.Abs(x) < 600 || math.Abs(x) > 1000 || x != x {
		return math.Exp(x)
	}
	n := math.Copysign(512, x)
	return math.Exp(x-n) * math.Exp(n)
}

func refLog(x float64) float64 {
	if x > 0 && x < 0x1p-1000 {
		return math.Log(x*0x1p512) - 512*math.Ln2
	}
	return math.Log(x)
}

// TestAccuracyF64 compares the float64 functions with package math, which is itself within an ulp, on every path.
func TestAccuracyF64(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	x := append([]float64(nil), specials...)
	x = append(x, 709.78, 709.79, -708.4, -745.1, -745.2, 1e300, -1e300, 5e-324, math.MaxFloat64, -math.MaxFloat64, math.Sqrt2, math.Sqrt2/2, 19.07, 22)
	for e := uint64(0); e < 2047; e++ { // every binade, both signs
		for range 20 {
			v := math.Float64frombits(e<<52 | r.Uint64()>>12)
			x = append(x, v, -v)
		}
	}
	for v := -750.0; v < 750; v += 0.0173 {
		x = append(x, v)
	}
	for v := -5.0; v < 5; v += 0.00071 {
		x = append(x, v)
	}
	for range 20000 { // around 1, where logarithms cancel
		x = append(x, 1+r.NormFloat64()*0.2)
	}
	for _, c := range []struct {
		name string
		f    func(dst, a []float64)
		ref  func(float64) float64
		tol  float64
	}{
		{"exp", ExpF64, refExp, 2},
		{"log", LogF64, refLog, 2},
		{"tanh", TanhF64, math.Tanh, 3},
		{"sigmoid", SigmoidF64, func(x float64) float64 { return 1 / (1 + refExp(-x)) }, 3},
		{"silu", SiLUF64, func(x float64) float64 { return x / (1 + refExp(-x)) }, 3},
	} {
		eachPath(t, func(t *testing.T) {
			got := make([]float64, len(x))
			c.f(got, x)
			worst := 0.0
			for i, v := range x {
				want := c.ref(v)
				if got[i] == want && math.Signbit(got[i]) == math.Signbit(want) || got[i] != got[i] && want != want {
					continue
				}
				_, e := math.Frexp(want)
				d := math.Abs(got[i]-want) / math.Ldexp(1, max(e-53, -1074))
				tol := c.tol
				if math.Abs(v) > 600 { // the product of refExp rounds twice more
					tol++
				}
				if !(d <= tol) || math.Signbit(got[i]) != math.Signbit(want) {
					t.Fatalf("%s(%g): got %g, want %g: %.2f ulp, allowed %g", c.name, v, got[i], want, d, c.tol)
				}
				worst = max(worst, d)
			}
			t.Logf("%s: %.0f ulp", c.name, worst)
		})
	}
}
