package vec

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// refExp and refLog are those of package math moved away from the ends of the range, where its assembly gives up too
// early.
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

// refHyperbolic is sinh or cosh; package math's overflow too early.
func refHyperbolic(x float64, f func(float64) float64) float64 {
	if math.Abs(x) < 30 || x != x {
		return f(x)
	}
	h := math.Exp(math.Abs(x) / 2)
	return math.Copysign(h/2*h, x)
}

// refPow is x to the power of half a whole number in 100 digits, because package math is off by several ulp.
func refPow(x, y float64) float64 {
	n := int(2 * y)
	if x <= 0 || math.IsInf(x, 0) || x != x {
		return math.Pow(x, y)
	}
	big1 := func(v float64) *big.Float { return new(big.Float).SetPrec(330).SetFloat64(v) }
	base, r := new(big.Float).Sqrt(big1(x)), big1(1)
	for range max(n, -n) {
		r.Mul(r, base)
	}
	if n < 0 {
		r.Quo(big1(1), r)
	}
	f, _ := r.Float64()
	return f
}

// TestAccuracyF64 compares the float64 functions with package math, which is itself within an ulp, on every path.
func TestAccuracyF64(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	x := append([]float64(nil), specials...)
	x = append(x, 709.78, 709.79, -708.4, -745.1, -745.2, 1e300, -1e300, 5e-324, math.MaxFloat64, -math.MaxFloat64,
		math.Sqrt2, math.Sqrt2/2, 19.07, 22)
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
		{"expm1", Expm1F64, math.Expm1, 3},
		{"log1p", Log1pF64, math.Log1p, 3},
		{"log2", Log2F64, func(x float64) float64 { return refLog(x) / math.Ln2 }, 4},
		{"log10", Log10F64, func(x float64) float64 { return refLog(x) / math.Ln10 }, 4},
		{"exp2", Exp2F64, math.Exp2, 2},
		{"erf", ErfF64, math.Erf, 2},
		{"erfc", ErfcF64, math.Erfc, 7},
		{"sin", SinF64, math.Sin, 2},
		{"cos", CosF64, math.Cos, 2},
		{"tan", TanF64, func(x float64) float64 { return math.Sin(x) / math.Cos(x) }, 4},
		{"asin", AsinF64, func(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }, 4},
		{"acos", AcosF64, func(x float64) float64 { return 2 * math.Atan2(math.Sqrt((1-x)/2), math.Sqrt((1+x)/2)) }, 4},
		{"atan", AtanF64, math.Atan, 3},
		{"sinh", SinhF64, func(x float64) float64 { return refHyperbolic(x, math.Sinh) }, 5},
		{"cosh", CoshF64, func(x float64) float64 { return math.Abs(refHyperbolic(x, math.Cosh)) }, 5},
		{"asinh", AsinhF64, math.Asinh, 5},
		{"acosh", AcoshF64, math.Acosh, 5},
		{"atanh", AtanhF64, math.Atanh, 5},
		{"x^2.5", func(d, a []float64) { PowScalarF64(d, a, 2.5) }, func(x float64) float64 { return refPow(x, 2.5) },
			2},
		{"x^-3", func(d, a []float64) { PowScalarF64(d, a, -3) }, func(x float64) float64 { return refPow(x, -3) }, 2},
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
