package vec

import (
	"bytes"
	"math"
	"math/big"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ulps is the distance of got from want in units of the last place of the
// float32 nearest to want.
func ulps(got float32, want float64) float64 {
	w := float32(want)
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case got == w:
		return 0
	case math.IsInf(float64(w), 0) || math.IsInf(float64(got), 0):
		// Just below the overflow limit either answer is half an ulp away.
		if math.Abs(math.Abs(want)-math.MaxFloat32) < 1e32 {
			return 0.5
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(float64(w))
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// inputs is a dense sample of float32: every exponent, uniform and normal
// ranges, and the special values.
func inputs() []float32 {
	r := rand.New(rand.NewSource(1))
	var x []float32
	for _, s := range specials {
		x = append(x, float32(s))
	}
	for e := uint32(0); e < 255; e++ { // every binade, both signs
		for i := 0; i < 60; i++ {
			b := e<<23 | r.Uint32()&0x7fffff
			x = append(x, math.Float32frombits(b), -math.Float32frombits(b))
		}
	}
	for v := -110.0; v < 110; v += 0.00731 {
		x = append(x, float32(v))
	}
	for v := -5.0; v < 5; v += 0.00071 {
		x = append(x, float32(v))
	}
	for i := 0; i < 20000; i++ { // around 1, where logarithms cancel
		x = append(x, float32(1+r.NormFloat64()*0.2))
	}
	return x
}

func gelu64(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) } // NaN at -Inf, as PyTorch's

func geluTanh64(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func sigmoid64(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// powOf is base^x as a function of x.
func powOf(base float32) func(dst, a []float32) {
	return func(dst, a []float32) {
		b := make([]float32, len(a))
		FillF32(b, base)
		PowF32(dst, b, a)
	}
}

// TestAccuracy compares the functions of one argument with float64. An error
// passes if it is within tol ulp or below abs.
func TestAccuracy(t *testing.T) {
	type fn = func(dst, a []float32)
	x := inputs()
	for _, c := range []struct {
		name string
		f    fn
		ref  func(float64) float64
		tol  float64
		abs  float64
	}{
		{"exp", ExpF32, math.Exp, 1, 0},
		{"expm1", Expm1F32, math.Expm1, 2, 0},
		{"log", LogF32, math.Log, 1, 0},
		{"log1p", Log1pF32, math.Log1p, 2, 0},
		{"exp2", Exp2F32, math.Exp2, 1, 0},
		{"log sigmoid", LogSigmoidF32, func(x float64) float64 {
			return math.Min(x, 0) -
				math.Log1p(math.Exp(-math.Abs(x)))
		}, 3, 3e-39},
		{"mish", MishF32, func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }, 5, 3e-37},
		{"x^2.5", func(d, a []float32) { PowScalarF32(d, a, 2.5) }, func(x float64) float64 { return math.Pow(x, 2.5) },
			2, 0},
		{"x^-3", func(d, a []float32) { PowScalarF32(d, a, -3) }, func(x float64) float64 { return math.Pow(x, -3) }, 2,
			0},
		{"1.0007^x", powOf(1.0007), func(x float64) float64 { return math.Pow(float64(float32(1.0007)), x) }, 2, 0},
		{"-7^x", powOf(-7), func(x float64) float64 { return math.Pow(-7, x) }, 2, 0},
		{"0.3^x", powOf(0.3), func(x float64) float64 { return math.Pow(float64(float32(0.3)), x) }, 2, 0},
		{"inf^x", powOf(inf32), func(x float64) float64 { return math.Pow(inf64, x) }, 0, 0},
		{"-inf^x", powOf(-inf32), func(x float64) float64 { return math.Pow(-inf64, x) }, 0, 0},
		{"0^x", powOf(0), func(x float64) float64 { return math.Pow(0, x) }, 0, 0},
		{"x^inf", func(d, a []float32) { PowScalarF32(d, a, inf32) },
			func(x float64) float64 { return math.Pow(x, inf64) }, 0, 0},
		{"x^-inf", func(d, a []float32) { PowScalarF32(d, a, -inf32) },
			func(x float64) float64 { return math.Pow(x, -inf64) }, 0, 0},
		{"x^0", func(d, a []float32) { PowScalarF32(d, a, 0) }, func(x float64) float64 { return 1 }, 0, 0},
		{"x^nan", func(d, a []float32) { PowScalarF32(d, a, nan32) },
			func(x float64) float64 { return math.Pow(x, nan64) }, 0, 0},
		{"log2", Log2F32, math.Log2, 3, 0},
		{"log10", Log10F32, math.Log10, 3, 0},
		{"tanh", TanhF32, math.Tanh, 2, 0},
		{"erf", ErfF32, math.Erf, 2, 0},
		// e^-x overflows below -88.7, where the true value is subnormal.
		{"sigmoid", SigmoidF32, sigmoid64, 2.5, 3e-39},
		{"sin", SinF32, math.Sin, 2, 0},
		{"cos", CosF32, math.Cos, 2, 0},
		{"gelu", GELUF32, gelu64, 3, 5e-8},
		{"gelu tanh", GELUTanhF32, geluTanh64, 3, 1e-6},
		{"silu", SiLUF32, func(x float64) float64 { return x * sigmoid64(x) }, 3, 3e-37},
		{"softplus", func(d, a []float32) { SoftplusF32(d, a, 1, 20) }, func(x float64) float64 {
			if x > 20 {
				return x
			}
			return math.Log1p(math.Exp(x))
		}, 3, 0},
		{"elu", func(d, a []float32) { ELUF32(d, a, 1.5, 1, 1) }, func(x float64) float64 {
			if x > 0 {
				return x
			}
			return 1.5 * math.Expm1(x)
		}, 3, 2e-45},
		{"tan", TanF32, math.Tan, 4, 0},
		{"asin", AsinF32, math.Asin, 3, 0},
		{"acos", AcosF32, math.Acos, 3, 0},
		{"atan", AtanF32, math.Atan, 3, 0},
		{"sinh", SinhF32, math.Sinh, 4, 0},
		{"cosh", CoshF32, math.Cosh, 4, 0},
		{"asinh", AsinhF32, math.Asinh, 4, 0},
		{"acosh", AcoshF32, math.Acosh, 4, 0},
		{"atanh", AtanhF32, math.Atanh, 4, 0},
		{"erfc", ErfcF32, math.Erfc, 4, 0},
		{"ndtr", NdtrF32, func(x float64) float64 { return math.Erfc(float64(float32(x)*-(math.Sqrt2/2))) / 2 }, 4, 0},
		{"frac", FracF32, func(x float64) float64 { return x - math.Trunc(x) }, 0, 0},
		{"sqrt", SqrtF32, math.Sqrt, 0.5, 0},
		{"rsqrt", RsqrtF32, func(x float64) float64 { return 1 / math.Sqrt(x) }, 1.5, 0},
		{"reciprocal", ReciprocalF32, func(x float64) float64 { return 1 / x }, 0.5, 0},
		{"square", SquareF32, func(x float64) float64 { return x * x }, 0.5, 0},
		{"abs", AbsF32, math.Abs, 0, 0},
		{"floor", FloorF32, math.Floor, 0, 0},
		{"ceil", CeilF32, math.Ceil, 0, 0},
		{"trunc", TruncF32, math.Trunc, 0, 0},
		{"round", RoundF32, math.RoundToEven, 0, 0},
		{"relu", ReLUF32, func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return x
		}, 0, 0},
	} {
		eachPath(t, func(t *testing.T) {
			got := make([]float32, len(x))
			c.f(got, x)
			worst, at := 0.0, float32(0)
			for i, v := range x {
				want := c.ref(float64(v))
				if e := ulps(got[i], want); e > worst && !(math.Abs(float64(got[i])-want) <= c.abs) {
					worst, at = e, v
				}
			}
			if worst > c.tol {
				d := []float32{0}
				c.f(d, []float32{at})
				t.Errorf("%s(%g): got %g, want %g: %.2f ulp, allowed %.2f", c.name, at, d[0], c.ref(float64(at)), worst,
					c.tol)
			} else {
				t.Logf("%s: %.2f ulp at %g", c.name, worst, at)
			}
		})
	}
}

// TestBackward compares the derivative kernels with central differences of
// the float64 functions.
func TestBackward(t *testing.T) {
	type fn = func(dst, grad, x []float32)
	for _, c := range []struct {
		name string
		f    fn
		ref  func(float64) float64
	}{
		{"gelu", GELUBackwardF32, gelu64},
		{"gelu tanh", GELUTanhBackwardF32, geluTanh64},
		{"mish", MishBackwardF32, func(x float64) float64 { return x * math.Tanh(math.Log1p(math.Exp(x))) }},
		{"log sigmoid", LogSigmoidBackwardF32, func(x float64) float64 { return -math.Log1p(math.Exp(-x)) }},
		{"elu", func(d, g, x []float32) { ELUBackwardF32(d, g, x, 1.5, 2, 0.5) }, func(x float64) float64 {
			if x > 0 {
				return 2 * x
			}
			return 3 * math.Expm1(0.5*x)
		}},
		{"silu", SiLUBackwardF32, func(x float64) float64 { return x * sigmoid64(x) }},
		{"softplus", func(d, g, x []float32) { SoftplusBackwardF32(d, g, x, 1, 20) },
			func(x float64) float64 { return math.Log1p(math.Exp(x)) }},
		{"tanh", func(d, g, x []float32) {
			y := make([]float32, len(x))
			TanhF32(y, x)
			TanhBackwardF32(d, g, y)
		}, math.Tanh},
		{"sigmoid", func(d, g, x []float32) {
			y := make([]float32, len(x))
			SigmoidF32(y, x)
			SigmoidBackwardF32(d, g, y)
		}, sigmoid64},
	} {
		var x, g []float32
		for v := -12.0; v < 12; v += 0.0137 {
			x, g = append(x, float32(v)), append(g, float32(1.5-v/20))
		}
		d := make([]float32, len(x))
		c.f(d, g, x)
		for i := range x {
			v, h := float64(x[i]), 1e-5
			want := float64(g[i]) * (c.ref(v+h) - c.ref(v-h)) / (2 * h)
			if math.Abs(float64(d[i])-want) > 2e-6 {
				t.Errorf("%s at %g: got %g, want %g", c.name, v, d[i], want)
				break
			}
		}
	}
}

// TestFMA32 checks the software fused multiply-add against float64's on
// values where double rounding would show.
func TestFMA32(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	exact := func(a, b, c float32) float32 {
		// In a wider format: math.FMA on doubled exponents does not help, but
		// rounding to odd at 53 bits does, written independently with big
		// integers of the scaled mantissas.
		return bigFMA(a, b, c)
	}
	for i := 0; i < 200000; i++ {
		a := float32(r.Intn(1<<12)) * 0x1p-6
		b := float32(r.Intn(1<<12)) * 0x1p-7
		c := math.Float32frombits(r.Uint32()&0x9fffffff | 0x20000000)
		switch i % 4 {
		case 1: // the middle between two values, nudged by the product
			c = math.Float32frombits(0x4b800000 + r.Uint32()&0xff)
			a, b = 1+float32(r.Intn(3))*0x1p-23, 1-float32(r.Intn(3))*0x1p-24
		case 2: // subnormal results
			a, b = float32(r.NormFloat64())*0x1p-70, float32(r.NormFloat64())*0x1p-70
			c = float32(r.NormFloat64() * 0x1p-140)
		case 3:
			a, b, c = float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64())
		}
		if got, want := fma32(a, b, c), exact(a, b, c); got != want {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
	for _, v := range []float32{inf32, -inf32} {
		if got := fma32(v, 2, 3); got != v {
			t.Errorf("fma32(%g, 2, 3) = %g", v, got)
		}
		if got := fma32(v, 1, -v); got == got {
			t.Errorf("fma32(%g, 1, %g) = %g, want NaN", v, -v, got)
		}
	}
}

// bigFMA is a*b + c with arbitrary precision, rounded once.
func bigFMA(a, b, c float32) float32 {
	p := new(big.Float).SetPrec(2000).SetFloat64(float64(a) * float64(b))
	p.Add(p, big.NewFloat(float64(c)))
	f, _ := p.Float32()
	return f
}

// TestHalf checks every half-precision value both ways, and the rounding of
// values between them.
func TestHalf(t *testing.T) {
	for h := 0; h < 1<<16; h++ {
		f := F16ToF32(uint16(h))
		exp, frac := h>>10&31, h&0x3ff
		want := math.Ldexp(float64(frac|0x400), exp-25)
		if exp == 0 {
			want = math.Ldexp(float64(frac), -24)
		}
		if h&0x8000 != 0 {
			want = -want
		}
		switch {
		case exp == 31 && frac != 0:
			if f == f || F32ToF16(f)&0x7c00 != 0x7c00 || F32ToF16(f)&0x3ff == 0 {
				t.Fatalf("%#x: NaN lost", h)
			}
			continue
		case exp == 31:
			want = math.Inf(1 - 2*(h>>15))
		}
		if float64(f) != want || F32ToF16(f) != uint16(h) {
			t.Fatalf("%#x: got %g and back %#x, want %g", h, f, F32ToF16(f), want)
		}
		if h&0x7fff < 0x7bff { // the middle goes to the even neighbour
			next := F16ToF32(uint16(h + 1))
			mid := (f + next) / 2
			even := uint16(h + h&1)
			if got := F32ToF16(mid); got != even {
				t.Fatalf("middle above %#x: got %#x, want %#x", h, got, even)
			}
			if got := F32ToF16(math.Nextafter32(mid, next)); got != uint16(h+1) {
				t.Fatalf("just beyond the middle above %#x: got %#x", h, got)
			}
		}
	}
	for _, c := range []struct {
		f float32
		h uint16
	}{{65519.99, 0x7bff}, {65520, 0x7c00}, {1e10, 0x7c00}, {inf32, 0x7c00}, {-inf32, 0xfc00}, {0x1p-25, 0},
		{0x1.000002p-25, 1}} {
		if got := F32ToF16(c.f); got != c.h {
			t.Errorf("F32ToF16(%g) = %#x, want %#x", c.f, got, c.h)
		}
	}
	for _, c := range []struct {
		f float32
		h uint16
	}{{1, 0x3f80}, {math.Float32frombits(0x3f808000), 0x3f80}, {math.Float32frombits(0x3f818000), 0x3f82},
		{math.MaxFloat32, 0x7f80}, {nan32, 0x7fc0}, {-2, 0xc000}} {
		if got := F32ToBF16(c.f); got != c.h {
			t.Errorf("F32ToBF16(%g) = %#x, want %#x", c.f, got, c.h)
		}
		d := []uint16{0}
		if F32ToBF16s(d, []float32{c.f}); d[0] != c.h {
			t.Errorf("F32ToBF16s(%g) = %#x, want %#x", c.f, d[0], c.h)
		}
	}
}

// TestPow checks random pairs over the whole range of results.
func TestPow(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	const n = 200000
	x, y, d := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(r.Uint32() & 0x7fffffff)
		if i%2 == 0 {
			x[i] = float32(math.Exp(r.NormFloat64()))
		}
		// y log x uniform between underflow and overflow.
		y[i] = float32((r.Float64()*195 - 105) / math.Log(float64(x[i])))
		if i%5 == 0 {
			y[i] = float32(r.Intn(21) - 10)
			x[i] *= float32(1 - 2*r.Intn(2))
		}
	}
	PowF32(d, x, y)
	worst := 0.0
	for i := range x {
		e := ulps(d[i], math.Pow(float64(x[i]), float64(y[i])))
		worst = max(worst, e)
		if e > 2 {
			t.Fatalf("%g^%g: got %g, want %g: %.2f ulp", x[i], y[i], d[i], math.Pow(float64(x[i]), float64(y[i])), e)
		}
	}
	t.Logf("worst: %.2f ulp", worst)
}

// TestGeneratedFilesAreCurrent runs the generator again and compares.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	dir := t.TempDir()
	if out, err := exec.Command("go", "-C", "_asm", "run", ".", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 5 {
		t.Fatalf("generator wrote %d files (%v)", len(files), err)
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate (%v)", f.Name(), err)
		}
	}
}
