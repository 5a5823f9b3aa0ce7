package vec

import (
	"math"
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// references gives, for elementwise kernels without their type suffix, the
// result of element i from the inputs and scalars in the order of the
// parameters (without the destination), in float64.
var references = map[string]func(a []float64) float64{
	"Add":                    func(a []float64) float64 { return a[0] + a[1] },
	"Sub":                    func(a []float64) float64 { return a[0] - a[1] },
	"Mul":                    func(a []float64) float64 { return a[0] * a[1] },
	"Div":                    func(a []float64) float64 { return a[0] / a[1] },
	"Maximum":                func(a []float64) float64 { return math.Max(a[0], a[1]) },
	"Minimum":                func(a []float64) float64 { return math.Min(a[0], a[1]) },
	"AddScalar":              func(a []float64) float64 { return a[0] + a[1] },
	"SubScalar":              func(a []float64) float64 { return a[0] - a[1] },
	"RSubScalar":             func(a []float64) float64 { return a[1] - a[0] },
	"MulScalar":              func(a []float64) float64 { return a[0] * a[1] },
	"DivScalar":              func(a []float64) float64 { return a[0] / a[1] },
	"RDivScalar":             func(a []float64) float64 { return a[1] / a[0] },
	"MaximumScalar":          func(a []float64) float64 { return math.Max(a[0], a[1]) },
	"MinimumScalar":          func(a []float64) float64 { return math.Min(a[0], a[1]) },
	"Abs":                    func(a []float64) float64 { return math.Abs(a[0]) },
	"Neg":                    func(a []float64) float64 { return -a[0] },
	"Sqrt":                   func(a []float64) float64 { return math.Sqrt(a[0]) },
	"Rsqrt":                  func(a []float64) float64 { return 1 / math.Sqrt(a[0]) },
	"Reciprocal":             func(a []float64) float64 { return 1 / a[0] },
	"Square":                 func(a []float64) float64 { return a[0] * a[0] },
	"ReLU":                   func(a []float64) float64 { return math.Max(a[0], 0) },
	"Sign":                   func(a []float64) float64 { return b2f(a[0] > 0) - b2f(a[0] < 0) },
	"Floor":                  func(a []float64) float64 { return math.Floor(a[0]) },
	"Ceil":                   func(a []float64) float64 { return math.Ceil(a[0]) },
	"Trunc":                  func(a []float64) float64 { return math.Trunc(a[0]) },
	"Round":                  func(a []float64) float64 { return math.RoundToEven(a[0]) },
	"AddScaled":              func(a []float64) float64 { return math.FMA(a[1], a[2], a[0]) },
	"MulAdd":                 func(a []float64) float64 { return math.FMA(a[0], a[1], a[2]) },
	"Addcmul":                func(a []float64) float64 { return a[0] + a[3]*a[1]*a[2] },
	"Addcdiv":                func(a []float64) float64 { return a[0] + a[3]*a[1]/a[2] },
	"Lerp":                   func(a []float64) float64 { return a[0] + a[2]*(a[1]-a[0]) },
	"LogSoftmaxColumns":      func(a []float64) float64 { return (a[0] - a[1]) - a[2] },
	"SoftmaxBackwardColumns": func(a []float64) float64 { return a[1] * (a[0] - a[2]) },
	"ScaleShift":             func(a []float64) float64 { return math.FMA(a[0], a[1], a[2]) },
	"Combine":                func(a []float64) float64 { return a[2]*a[0] + a[3]*a[1] + a[4] },
	"Clamp":                  func(a []float64) float64 { return math.Min(math.Max(a[0], a[1]), a[2]) },
	"HuberError": func(a []float64) float64 {
		if z := math.Abs(a[0] - a[1]); z > a[2] {
			return a[4] * (z - a[2]/2)
		}
		return (a[0] - a[1]) * (a[0] - a[1]) * a[3]
	},
	"LogitBackward": func(a []float64) float64 {
		if a[1] < a[2] || a[1] > a[3] {
			return a[4]
		}
		return a[0] / (a[1] * (1 - a[1]))
	},
	"HuberErrorBackward": func(a []float64) float64 { return a[0] * a[4] * math.Min(a[3], math.Max(-a[3], a[1]-a[2])) },
	"Hardsigmoid":        func(a []float64) float64 { return math.Min(math.Max(a[0]+3, 0), 6) / 6 },
	"Hardswish":          func(a []float64) float64 { return a[0] * math.Min(math.Max(a[0]+3, 0), 6) / 6 },
	"HardsigmoidBackward": func(a []float64) float64 {
		if a[1] > -3 && a[1] < 3 {
			return a[0] / 6
		}
		return 0
	},
	"HardswishBackward": func(a []float64) float64 {
		switch {
		case a[1] <= -3:
			return 0
		case a[1] >= 3:
			return a[0]
		}
		return a[0] * (a[1]/3 + 0.5)
	},
	"ThresholdBackward": func(a []float64) float64 {
		if a[1] <= a[2] {
			return 0
		}
		return a[0]
	},
	"LeakyReLU": func(a []float64) float64 {
		if a[0] > 0 {
			return a[0]
		}
		return a[0] * a[1]
	},
	"LeakyReLUBackward": func(a []float64) float64 {
		if a[1] > 0 {
			return a[0]
		}
		return a[0] * a[2]
	},
	"TanhBackward":    func(a []float64) float64 { return a[0] * (1 - a[1]*a[1]) },
	"SigmoidBackward": func(a []float64) float64 { return a[0] * a[1] * (1 - a[1]) },
	"SoftmaxBackward": func(a []float64) float64 { return a[1] * (a[0] - a[2]) },
	"Fill":            func(a []float64) float64 { return a[0] },
	"Eq":              func(a []float64) float64 { return b2f(a[0] == a[1]) },
	"Ne":              func(a []float64) float64 { return b2f(a[0] != a[1]) },
	"Lt":              func(a []float64) float64 { return b2f(a[0] < a[1]) },
	"Le":              func(a []float64) float64 { return b2f(a[0] <= a[1]) },
	"Gt":              func(a []float64) float64 { return b2f(a[0] > a[1]) },
	"Ge":              func(a []float64) float64 { return b2f(a[0] >= a[1]) },
	"EqScalar":        func(a []float64) float64 { return b2f(a[0] == a[1]) },
	"NeScalar":        func(a []float64) float64 { return b2f(a[0] != a[1]) },
	"LtScalar":        func(a []float64) float64 { return b2f(a[0] < a[1]) },
	"LeScalar":        func(a []float64) float64 { return b2f(a[0] <= a[1]) },
	"GtScalar":        func(a []float64) float64 { return b2f(a[0] > a[1]) },
	"GeScalar":        func(a []float64) float64 { return b2f(a[0] >= a[1]) },
	"Where": func(a []float64) float64 {
		if a[0] != 0 {
			return a[1]
		}
		return a[2]
	},
	"MaskedFill": func(a []float64) float64 {
		if a[1] != 0 {
			return a[2]
		}
		return a[0]
	},
	"Dropout": func(a []float64) float64 {
		if a[1] != 0 {
			return a[0] * a[2]
		}
		return 0
	},
	"LogSoftmaxBackward":      func(a []float64) float64 { return a[0] - math.Exp(a[1])*a[2] },
	"Normalize":               func(a []float64) float64 { return (a[0] - a[1]) * a[2] },
	"NormalizeAffine":         func(a []float64) float64 { return (a[0]-a[3])*a[4]*a[1] + a[2] },
	"NormalizeBackward":       func(a []float64) float64 { return a[3] * (a[0] - a[4] - (a[1]-a[2])*a[5]) },
	"NormalizeAffineBackward": func(a []float64) float64 { return a[4] * (a[0]*a[1] - a[5] - (a[2]-a[3])*a[6]) },
	"CombineColumns":          func(a []float64) float64 { return a[2]*a[0] + a[3]*a[1] + a[4] },
	"logSoftmaxShift":         func(a []float64) float64 { return a[0] - a[1] - a[2] },
}

// TestReference compares the plain Go form of the elementwise kernels with
// float64; TestPathsAgree carries the result over to the other paths.
func TestReference(t *testing.T) {
	const n = 1000
	seen := map[string]bool{}
	for _, k := range kernelTable {
		f := reflect.ValueOf(k.generic)
		base := strings.TrimSuffix(strings.TrimSuffix(k.name, "F32"), "F64")
		ref, ok := references[base]
		if !ok {
			continue
		}
		seen[base] = true
		f32 := strings.HasSuffix(k.name, "F32")
		args, _ := callArgs(f.Type(), n, 0, 5, true)
		f.Call(args)
		tol := 1e-14
		if f32 {
			tol = 1e-6
		}
		for i := 0; i < n; i++ {
			var in []float64
			skip := false
			scale := 1.0 // the largest number in sight bounds the error of sums
			for _, a := range args[1:] {
				e := a
				if a.Kind() == reflect.Slice {
					e = a.Index(i)
				}
				v := 0.0
				if e.CanFloat() {
					v = e.Float()
				} else {
					v = float64(e.Uint())
				}
				in = append(in, v)
				// Subnormal quotients and large exponents magnify rounding
				// beyond the tolerance; TestAccuracy covers the functions.
				skip = skip || v != 0 && math.Abs(v) < 1e-30 || base == "LogSoftmaxBackward" && v > 10
				if !math.IsInf(v, 0) && v == v {
					scale = math.Max(scale, math.Abs(v))
				}
			}
			if scale > 1e6 {
				scale = scale * 10
			}
			e := args[0].Index(i)
			var got float64
			if e.CanFloat() {
				got = e.Float()
			} else {
				got = float64(e.Uint())
			}
			want := ref(in)
			if f32 {
				want = float64(float32(want))
			}
			if skip || got == want || got != got && want != want {
				continue
			}
			if scale > 1e30 && (math.IsInf(got, 0) || math.IsInf(want, 0) || got != got) {
				continue // overflow of an intermediate result
			}
			if e := math.Abs(got - want); !(e <= tol*math.Max(scale, math.Abs(want))) {
				t.Errorf("%s(%v): got %v, want %v", k.name, in, got, want)
				break
			}
		}
	}
	for name := range references {
		if !seen[name] {
			t.Errorf("no kernel is called %s", name)
		}
	}
}

func random32(n int, seed int64) []float32 {
	r := rand.New(rand.NewSource(seed))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func widen(a []float32) []float64 {
	d := make([]float64, len(a))
	F32ToF64s(d, a)
	return d
}

// TestReductions checks sums, dots and extrema against naive float64 loops
// over all short lengths and lengths around block boundaries.
func TestReductions(t *testing.T) {
	var lengths []int
	for n := 0; n <= 70; n++ {
		lengths = append(lengths, n)
	}
	lengths = append(lengths, redBlock-1, redBlock, redBlock+1, 3*redBlock+17, 40*redBlock)
	eachPath(t, func(t *testing.T) {
		for _, n := range lengths {
			a, b := random32(n+3, int64(n))[3:], random32(n+1, int64(n+1))[1:]
			a64, b64 := widen(a), widen(b)
			var sum, sq, abs, dot, s1 float64
			hi, lo := math.Inf(-1), math.Inf(1)
			hiAt, loAt := -1, -1
			for i, x := range a64 {
				sum += x
				sq += (x - 0.25) * (x - 0.25)
				abs += math.Abs(x)
				dot += x * b64[i]
				s1 += x * (b64[i] - 0.25)
				if x > hi {
					hi, hiAt = x, i
				}
				if x < lo {
					lo, loAt = x, i
				}
			}
			near := func(name string, got, want, eps float64) {
				t.Helper()
				if !(math.Abs(got-want) <= eps*(1+abs+sq)) {
					t.Errorf("%s n=%d: got %v, want %v", name, n, got, want)
				}
			}
			const e32, e64 = 2e-7, 1e-12 // the naive float64 sums are no better
			near("SumF32", float64(SumF32(a)), sum, e32)
			near("SumF64", SumF64(a64), sum, e64)
			near("SumF32As64", SumF32As64(a), sum, e64)
			near("SumSquaresF32", float64(SumSquaresF32(a, 0.25)), sq, e32)
			near("SumSquaresF64", SumSquaresF64(a64, 0.25), sq, e64)
			near("SumSquaresF32As64", SumSquaresF32As64(a, 0.25), sq, e64)
			near("SumAbsF32", float64(SumAbsF32(a)), abs, e32)
			near("SumAbsF64", SumAbsF64(a64), abs, e64)
			near("DotF32", float64(DotF32(a, b)), dot, e32)
			near("DotF64", DotF64(a64, b64), dot, e64)
			near("DotF32As64", DotF32As64(a, b), dot, e64)
			g0, g1 := GradSumsF32(a, nil, b, 0.25)
			near("GradSumsF32 0", float64(g0), sum, e32)
			near("GradSumsF32 1", float64(g1), s1, e32)
			one := make([]float32, n)
			FillF32(one, 1)
			w0, w1 := GradSumsF32(a, one, b, 0.25)
			if n > 0 && (w0 != g0 || w1 != g1) {
				t.Errorf("GradSumsF32 n=%d with ones as weights: got %v %v, want %v %v", n, w0, w1, g0, g1)
			}
			d0, d1 := GradSumsF64(a64, nil, b64, 0.25)
			near("GradSumsF64 0", d0, sum, e64)
			near("GradSumsF64 1", d1, s1, e64)
			if float64(MaxF32(a)) != hi || MaxF64(a64) != hi || float64(MinF32(a)) != lo || MinF64(a64) != lo {
				t.Errorf("extrema n=%d: got %v %v %v %v, want %v %v", n, MaxF32(a), MaxF64(a64), MinF32(a), MinF64(a64),
					hi, lo)
			}
			if ArgMaxF32(a) != hiAt || ArgMaxF64(a64) != hiAt || ArgMinF32(a) != loAt || ArgMinF64(a64) != loAt {
				t.Errorf("arg extrema n=%d: got %d %d %d %d, want %d %d", n, ArgMaxF32(a), ArgMaxF64(a64), ArgMinF32(a),
					ArgMinF64(a64), hiAt, loAt)
			}
			if n == 0 {
				continue
			}
			// One NaN anywhere decides.
			at := (n * 7) % n
			if n > 3 {
				at = n * 2 / 3
			}
			a[at], a64[at] = nan32, nan64
			if m := MaxF32(a); m == m || ArgMaxF32(a) != at || ArgMinF32(a) != at {
				t.Errorf("NaN at %d of %d: max %v, argmax %d, argmin %d", at, n, m, ArgMaxF32(a), ArgMinF32(a))
			}
			if m := MinF64(a64); m == m || ArgMinF64(a64) != at {
				t.Errorf("NaN at %d of %d: min %v, argmin %d", at, n, m, ArgMinF64(a64))
			}
		}
	})
}

// TestRows checks softmax and layer norm, forward and backward, against
// float64 formulas.
func TestRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 7, 10, 16, 33, 64, 1000, 1024, 5000} {
			x, g := random32(n, 3), random32(n, 4)
			for i := range x {
				x[i] = x[i]*3 + 40
			}
			m, sum := -1e9, 0.0
			for _, v := range x {
				m = math.Max(m, float64(v))
			}
			for _, v := range x {
				sum += math.Exp(float64(v) - m)
			}
			y, ly, d := make([]float32, n), make([]float32, n), make([]float32, n)
			SoftmaxF32(y, x)
			LogSoftmaxF32(ly, x)
			var dot, gs float64
			for i := range x {
				p := math.Exp(float64(x[i])-m) / sum
				if e := math.Abs(float64(y[i])-p) / p; e > 1e-6 {
					t.Fatalf("softmax n=%d at %d: got %v, want %v", n, i, y[i], p)
				}
				if e := math.Abs(float64(ly[i]) - math.Log(p)); e > 2e-6*(1+math.Abs(math.Log(p))) {
					t.Fatalf("log_softmax n=%d at %d: got %v, want %v", n, i, ly[i], math.Log(p))
				}
				dot += p * float64(g[i])
				gs += float64(g[i])
			}
			if got, want := float64(LogSumExpF32(x)), m+math.Log(sum); math.Abs(got-want) > 1e-5 {
				t.Errorf("logsumexp n=%d: got %v, want %v", n, got, want)
			}
			SoftmaxGradF32(d, g, y)
			for i := range x {
				want := float64(y[i]) * (float64(g[i]) - dot)
				if math.Abs(float64(d[i])-want) > 1e-6 {
					t.Fatalf("softmax gradient n=%d at %d: got %v, want %v", n, i, d[i], want)
				}
			}
			LogSoftmaxGradF32(d, g, ly)
			for i := range x {
				want := float64(g[i]) - math.Exp(float64(ly[i]))*gs
				if math.Abs(float64(d[i])-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("log_softmax gradient n=%d at %d: got %v, want %v", n, i, d[i], want)
				}
			}
			testLayerNorm(t, x, g, n)
		}
		// Rows that PyTorch turns into NaN, and a masked entry.
		d := make([]float32, 3)
		SoftmaxF32(d, []float32{-inf32, -inf32, -inf32})
		if d[0] == d[0] {
			t.Errorf("softmax of -Inf: got %v, want NaN", d)
		}
		SoftmaxF32(d, []float32{-inf32, 1, 1})
		if d[0] != 0 || d[1] != 0.5 {
			t.Errorf("softmax with one -Inf: got %v", d)
		}
		if got := LogSumExpF32([]float32{-inf32, -inf32}); got != -inf32 {
			t.Errorf("logsumexp of -Inf: got %v", got)
		}
	})
}

func testLayerNorm(t *testing.T, x, g []float32, n int) {
	const eps = 1e-5
	w, c := random32(n, 5), random32(n, 6)
	var mean, variance float64
	for _, v := range x {
		mean += float64(v) / float64(n)
	}
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(n)
	}
	rstd := 1 / math.Sqrt(variance+eps)
	if n == 1 {
		return // the variance is rounding noise
	}
	d, dw, db := make([]float32, n), make([]float32, n), make([]float32, n)
	m32, r32 := LayerNormF32(d, x, w, c, eps)
	var s0, s1 float64
	for i := range x {
		h := (float64(x[i]) - mean) * rstd
		if want := h*float64(w[i]) + float64(c[i]); math.Abs(float64(d[i])-want) > 2e-5 {
			t.Fatalf("layer norm n=%d at %d: got %v, want %v", n, i, d[i], want)
		}
		s0 += float64(g[i]) * float64(w[i])
		s1 += float64(g[i]) * float64(w[i]) * h
	}
	LayerNormGradF32(d, g, w, x, m32, r32)
	NormalizeParamsBackwardF32(dw, db, g, x, m32, r32)
	for i := range x {
		h := (float64(x[i]) - mean) * rstd
		want := rstd * (float64(g[i])*float64(w[i]) - s0/float64(n) - h*s1/float64(n))
		if math.Abs(float64(d[i])-want) > 3e-5*(1+rstd) {
			t.Fatalf("layer norm gradient n=%d at %d: got %v, want %v", n, i, d[i], want)
		}
		if want := float64(g[i]) * h; math.Abs(float64(dw[i])-want) > 3e-5 || db[i] != g[i] {
			t.Fatalf("layer norm parameters n=%d at %d: got %v %v, want %v %v", n, i, dw[i], db[i], want, g[i])
		}
	}
}

// TestOptimizers checks one step of each optimizer against float64.
func TestOptimizers(t *testing.T) {
	const n = 77
	p, m, v, g := random32(n, 1), random32(n, 2), random32(n, 3), random32(n, 4)
	AbsF32(v, v)
	near := func(name string, i int, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("%s at %d: got %v, want %v", name, i, got, want)
		}
	}
	p2, m2, v2 := append([]float32(nil), p...), append([]float32(nil), m...), append([]float32(nil), v...)
	AdamF32(p2, m2, v2, g, 0.99, 0.01, 0.1, 0.999, 0.001, 0.002, 0.5, 1e-8)
	for i := range p {
		P := float64(p[i]) * 0.99
		G := float64(g[i]) + 0.01*P
		M := float64(m[i]) + 0.1*(G-float64(m[i]))
		V := 0.999*float64(v[i]) + 0.001*G*G
		near("Adam m", i, m2[i], M)
		near("Adam v", i, v2[i], V)
		near("Adam p", i, p2[i], P-0.002*M/(math.Sqrt(V)/0.5+1e-8))
	}
	p5, m5, v5 := append([]float32(nil), p...), append([]float32(nil), m...), append([]float32(nil), v...)
	vmax := make([]float32, n)
	FillF32(vmax, 0.5)
	AdamAMSGradF32(p5, m5, v5, vmax, g, 0.99, 0.01, 0.1, 0.999, 0.001, 0.002, 0.5, 1e-8)
	for i := range p {
		V := math.Max(0.5, float64(v2[i]))
		if m5[i] != m2[i] || v5[i] != v2[i] || float64(vmax[i]) != V {
			t.Fatalf("AMSGrad state at %d: got %v %v %v, want %v %v %v", i, m5[i], v5[i], vmax[i], m2[i], v2[i], V)
		}
		near("AMSGrad p", i, p5[i], float64(p[i])*0.99-0.002*float64(m2[i])/(math.Sqrt(V)/0.5+1e-8))
	}
	sq, cen := append([]float32(nil), p...), append([]float32(nil), p...)
	AccumulateSquaresF32(sq, m, g)
	AccumulateCenteredF32(cen, v, m, g)
	for i := range p {
		d := float64(m[i]) - float64(g[i])
		near("AccumulateSquares", i, sq[i], float64(p[i])+d*d)
		near("AccumulateCentered", i, cen[i], float64(p[i])+d*float64(v[i]))
	}
	copy(p2, p)
	SGDF32(p2, g, 0.1, 0.01)
	p3, b3 := append([]float32(nil), p...), append([]float32(nil), m...)
	SGDMomentumF32(p3, b3, g, 0.1, 0.01, 0.9, 0.8)
	p4, b4 := append([]float32(nil), p...), append([]float32(nil), m...)
	SGDNesterovF32(p4, b4, g, 0.1, 0.01, 0.9, 1)
	for i := range p {
		d := float64(g[i]) + 0.01*float64(p[i])
		near("SGD", i, p2[i], float64(p[i])-0.1*d)
		u := 0.9*float64(m[i]) + 0.8*d
		near("SGD buffer", i, b3[i], u)
		near("SGD momentum", i, p3[i], float64(p[i])-0.1*u)
		u = 0.9*float64(m[i]) + d
		near("SGD nesterov", i, p4[i], float64(p[i])-0.1*(d+0.9*u))
	}
}

// TestNoPenalty checks that without an L2 penalty infinite parameters do not reach the state of an optimizer.
func TestNoPenalty(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 77} {
			g := random32(n, 4)
			for name, step := range map[string]func(p, buf []float32){
				"SGD":      func(p, _ []float32) { SGDF32(p, g, 0.1, 0) },
				"momentum": func(p, buf []float32) { SGDMomentumF32(p, buf, g, 0.1, 0, 0.9, 1) },
				"Nesterov": func(p, buf []float32) { SGDNesterovF32(p, buf, g, 0.1, 0, 0.9, 1) },
				"Adagrad":  func(p, buf []float32) { AdagradF32(p, buf, g, 0.1, 0, 1e-8) },
				"Adam": func(p, buf []float32) {
					AdamF32(p, buf, make([]float32, n), g, 1, 0, 0.1, 0.999, 0.001, 0.002, 0.5, 1e-8)
				},
				"AMSGrad": func(p, buf []float32) {
					v, most := make([]float32, n), make([]float32, n)
					AdamAMSGradF32(p, buf, v, most, g, 1, 0, 0.1, 0.999, 0.001, 0.002, 0.5, 1e-8)
				},
			} {
				inf, finite := make([]float32, n), make([]float32, n)
				FillF32(inf, float32(math.Inf(1)))
				b1, b2 := make([]float32, n), make([]float32, n)
				step(inf, b1)
				step(finite, b2)
				for i := range inf {
					if !math.IsInf(float64(inf[i]), 1) || b1[i] != b2[i] {
						t.Fatalf("%s, %d of %d: parameter %v, state %v, want +Inf and %v", name, i, n, inf[i], b1[i], b2[i])
					}
				}
			}
		}
	})
}

// TestConversions checks the integer and float conversions, rounding and
// saturation included.
func TestConversions(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		var u8 []uint8
		var i8 []int8
		for i := 0; i < 256; i++ {
			u8, i8 = append(u8, uint8(i)), append(i8, int8(i))
		}
		f := make([]float32, 256)
		U8ToF32s(f, u8)
		back := make([]uint8, 256)
		F32ToU8s(back, f)
		for i := range u8 {
			if f[i] != float32(u8[i]) || back[i] != u8[i] {
				t.Fatalf("uint8 %d: got %v and back %d", u8[i], f[i], back[i])
			}
		}
		I8ToF32s(f, i8)
		back8 := make([]int8, 256)
		F32ToI8s(back8, f)
		for i := range i8 {
			if f[i] != float32(i8[i]) || back8[i] != i8[i] {
				t.Fatalf("int8 %d: got %v and back %d", i8[i], f[i], back8[i])
			}
		}
		in := []float32{1.9, -1.9, 2147483520, -2147483648, 3e9, -3e9, nan32, inf32, -0.5, 16777217}
		want := []int32{1, -1, 2147483520, math.MinInt32, math.MinInt32, math.MinInt32, math.MinInt32, math.MinInt32, 0,
			16777216}
		got := make([]int32, len(in))
		F32ToI32s(got, in)
		for i := range in {
			if got[i] != want[i] {
				t.Errorf("F32ToI32s(%v): got %d, want %d", in[i], got[i], want[i])
			}
		}
		in64 := []float64{1.9, -1.9, 1 << 53, -1 << 63, 0x1p63, -0x1.0000000000001p63, nan64, inf64, -inf64, -0.5,
			0x1.fffffffffffffp62}
		want64 := []int64{1, -1, 1 << 53, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64,
			math.MinInt64, 0, math.MaxInt64 - 1023}
		got64 := make([]int64, len(in64))
		F64ToI64s(got64, in64)
		for i := range in64 {
			if got64[i] != want64[i] {
				t.Errorf("F64ToI64s(%v): got %d, want %d", in64[i], got64[i], want64[i])
			}
		}
		in = []float32{2.9, -2.9, 0x1.fffffep62, -0x1p63, 0x1p63, nan32, inf32, -inf32, 1 << 40}
		want64 = []int64{2, -2, 0x7fffff8000000000, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64,
			math.MinInt64, 1 << 40}
		F32ToI64s(got64[:len(in)], in)
		for i := range in {
			if got64[i] != want64[i] {
				t.Errorf("F32ToI64s(%v): got %d, want %d", in[i], got64[i], want64[i])
			}
		}
		d := make([]float32, 3)
		I32ToF32s(d, []int32{16777217, -5, math.MaxInt32})
		if d[0] != 16777216 || d[1] != -5 || d[2] != 2147483648 {
			t.Errorf("I32ToF32s: got %v", d)
		}
		F64ToF32s(d, []float64{0.1, 1e300, 1 + 0x1p-24})
		if d[0] != 0.1 || d[1] != inf32 || d[2] != 1 {
			t.Errorf("F64ToF32s: got %v", d)
		}
		acc := []float64{1, 2, 3}
		AccumulateF32ToF64(acc, []float32{0.5, 0.25, -1})
		if acc[0] != 1.5 || acc[1] != 2.25 || acc[2] != 2 {
			t.Errorf("AccumulateF32ToF64: got %v", acc)
		}
		// Trigonometric functions far out, and an element among large ones.
		x := []float32{1e10, 1, nan32, inf32, -7e4, 3}
		s, one := make([]float32, len(x)), make([]float32, 1)
		SinF32(s, x)
		SinF32(one, x[1:2])
		if one[0] != s[1] || s[2] == s[2] || s[3] == s[3] || s[0] != float32(math.Sin(float64(x[0]))) {
			t.Errorf("SinF32(%v): got %v, alone %v", x, s, one)
		}
	})
}

// TestTranspose checks shapes around the block sizes, with padding left alone.
func TestTranspose(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testTranspose(t, TransposeF32)
		testTranspose(t, Transpose64)
	})
}

func testTranspose[E float32 | uint64](t *testing.T, f func(dst []E, ldd int, src []E, lds, rows, cols int)) {
	for _, rows := range []int{0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 50, 300} {
		for _, cols := range []int{0, 1, 2, 3, 4, 5, 8, 13, 16, 17, 32, 40, 1028, 1045} {
			lds, ldd := cols+3, rows+2
			src, dst := make([]E, rows*lds+5), make([]E, cols*ldd+5)
			for i := range src {
				src[i] = E(i + 1)
			}
			f(dst, ldd, src, lds, rows, cols)
			for j := 0; j*ldd < len(dst); j++ {
				for i := 0; i < ldd && j*ldd+i < len(dst); i++ {
					var want E
					if i < rows && j < cols {
						want = src[i*lds+j]
					}
					if dst[j*ldd+i] != want {
						t.Fatalf("%dx%d: at %d,%d got %v, want %v", rows, cols, i, j, dst[j*ldd+i], want)
					}
				}
			}
		}
	}
}

// TestSignedZeros checks the choice between equal zeros and NaN, which the
// references compare as equal.
func TestSignedZeros(t *testing.T) {
	neg := float32(math.Copysign(0, -1))
	eachPath(t, func(t *testing.T) {
		a, b := []float32{0, neg, nan32, 1, 2}, []float32{neg, 0, 1, nan32, 3}
		hi, lo := make([]float32, 5), make([]float32, 5)
		MaximumF32(hi, a, b)
		MinimumF32(lo, a, b)
		for i := 0; i < 2; i++ {
			if math.Signbit(float64(hi[i])) != math.Signbit(float64(a[i])) ||
				math.Signbit(float64(lo[i])) != math.Signbit(float64(a[i])) {
				t.Errorf("of %v and %v: maximum %v, minimum %v, want the first", a[i], b[i], hi[i], lo[i])
			}
		}
		if hi[2] == hi[2] || hi[3] == hi[3] || lo[2] == lo[2] || lo[3] == lo[3] || hi[4] != 3 || lo[4] != 2 {
			t.Errorf("maximum %v, minimum %v", hi, lo)
		}
		ReLUF32(hi[:3], []float32{neg, nan32, -1})
		if !math.Signbit(float64(hi[0])) || hi[1] == hi[1] || hi[2] != 0 {
			t.Errorf("relu of -0, NaN, -1: got %v", hi[:3])
		}
	})
}

// TestShortInput checks that a short argument panics before anything is written.
func TestShortInput(t *testing.T) {
	dst := []float32{5, 5, 5}
	defer func() {
		if recover() == nil || dst[0] != 5 {
			t.Errorf("a short input must panic and leave the destination alone: %v", dst)
		}
	}()
	AddF32(dst, make([]float32, 3), make([]float32, 2))
}

// TestBytes checks the functions on masks and the generic conversion.
func TestBytes(t *testing.T) {
	a, b, d := []uint8{0, 1, 0, 1}, []uint8{0, 0, 1, 1}, make([]uint8, 4)
	for _, c := range []struct {
		name string
		f    func()
		want [4]uint8
	}{
		{"and", func() { AndU8(d, a, b) }, [4]uint8{0, 0, 0, 1}},
		{"or", func() { OrU8(d, a, b) }, [4]uint8{0, 1, 1, 1}},
		{"xor", func() { XorU8(d, a, b) }, [4]uint8{0, 1, 1, 0}},
		{"not", func() { LogicalNotU8(d, a) }, [4]uint8{1, 0, 1, 0}},
	} {
		if c.f(); [4]uint8(d) != c.want {
			t.Errorf("%s: got %v, want %v", c.name, d, c.want)
		}
	}
	if n := CountNonzeroU8([]uint8{0, 3, 0, 255}); n != 2 {
		t.Errorf("CountNonzeroU8: got %d, want 2", n)
	}
	f := make([]float32, 2)
	if Convert(f, []int64{-3, 1 << 40}); f[0] != -3 || f[1] != 1<<40 {
		t.Errorf("Convert to float32: got %v", f)
	}
	i := make([]int64, 2)
	if Convert(i, []float32{-3.7, 2.9}); i[0] != -3 || i[1] != 2 {
		t.Errorf("Convert to int64: got %v", i)
	}
}
