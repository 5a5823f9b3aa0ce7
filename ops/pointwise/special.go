package pointwise

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// bernoulli2k are the Bernoulli numbers B2, B4, … over (2k)!, for the Euler-Maclaurin sum of the zeta function.
var bernoulli2k = [...]float64{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
	-691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000,
	43867.0 / 5109094217170944000, -174611.0 / 802857662698291200000}

// zetaTerms is the number of terms that zeta adds up one by one.
const zetaTerms = 12

// zetas sets d to Hurwitz's zeta function, the sum of (q + k)^-x over k >= 0: some terms one by one, the rest by
// Euler's formula. With single it counts in float32 as PyTorch does; near the poles that decides the result.
func zetas(d, x, q []float64, single bool) {
	planes(len(d), func(p *planesOf[float64], lo, hi int) {
		d, x, q := d[lo:hi], x[lo:hi], q[lo:hi]
		sum, a, power, minus := p.br, p.ar, p.t, p.ai
		clear(sum)
		copy(a, q)
		vec.NegF64(minus, x)
		vec.PowF64(power, a, minus)
		for range zetaTerms {
			vec.AddF64(sum, sum, power)
			if single {
				narrow := slice[float32](unsafe.Pointer(&p.u[0]), len(a))
				vec.F64ToF32s(narrow, a)
				vec.AddScalarF32(narrow, narrow, 1)
				vec.F32ToF64s(a, narrow)
			} else {
				vec.AddScalarF64(a, a, 1)
			}
			vec.PowF64(power, a, minus)
		}
		for i := range d {
			if x[i] > 1 && x[i] < 100 && q[i] > 0 && q[i] < 1e6 {
				d[i] = zetaRest(sum[i], x[i], a[i], power[i])
			} else {
				d[i] = zeta(x[i], q[i], single)
			}
		}
	})
}

// zeta is zetas for any single numbers.
func zeta(x, q float64, single bool) float64 {
	switch {
	case x == 1:
		return math.Inf(1)
	case x < 1 || q != q:
		return math.NaN()
	case q <= 0:
		if q == math.Floor(q) {
			return math.Inf(1)
		}
		if x != math.Floor(x) {
			return math.NaN()
		}
	case x != x:
		return x
	}
	s := 0.0
	a := q
	for i := 0; i < zetaTerms || a < zetaTerms; i++ {
		t := math.Pow(a, -x)
		s += t
		if math.Abs(t) < 1e-17*math.Abs(s) && a > 0 {
			return s
		}
		if single {
			a = float64(float32(a) + 1)
		} else {
			a++
		}
	}
	return zetaRest(s, x, a, math.Pow(a, -x))
}

// zetaRest adds to s the sum of the terms from p = a^-x on.
func zetaRest(s, x, a, p float64) float64 {
	s += p*a/(x-1) + 0.5*p
	p /= a
	f, square := x, 1/(a*a)
	for i, b := range bernoulli2k {
		t := b * f * p
		s += t
		if math.Abs(t) < 1e-17*math.Abs(s) {
			break
		}
		k := float64(2*i + 1)
		f *= (x + k) * (x + k + 1)
		p *= square
	}
	return s
}

// byWide is a kernel of float32 that computes in float64.
func byWide(f func(d, a, b []float64)) func(d, a, b []float32) {
	return func(d, a, b []float32) {
		planes(len(d), func(p *planesOf[float64], lo, hi int) {
			vec.F32ToF64s(p.ar, a[lo:hi])
			vec.F32ToF64s(p.br, b[lo:hi])
			f(p.t, p.ar, p.br)
			vec.F64ToF32s(d[lo:hi], p.t)
		})
	}
}

// inBlocks runs a kernel on blocks with a buffer of their size, which stays in the nearest cache.
func inBlocks[E float](d, a []E, k func(d, a, buf []E)) {
	run := runs.Get().(*run4K)
	defer runs.Put(run)
	buf := elements[E](run)
	for len(d) > 0 {
		n := min(len(d), len(buf))
		k(d[:n], a[:n], buf[:n])
		d, a = d[n:], a[n:]
	}
}

// trigamma takes the sine of a product rounded to E, which near the poles decides the result. Only arguments below 1/2
// want the sine: those above are cut to it, since sines of large numbers take long.
func trigamma[E float](least, scale func(d, a []E, s E), sin func(d, a []E), widen func(d []float64, a []E),
	narrow func(d []E, a []float64)) func(d, a []E) {
	return func(d, a []E) {
		inBlocks(d, a, func(d, a, s []E) {
			least(s, a, 0.5)
			scale(s, s, math.Pi)
			sin(s, s)
			planes(len(d), func(p *planesOf[float64], lo, hi int) {
				widen(p.ar, a[lo:hi])
				widen(p.ai, s[lo:hi])
				vec.TrigammaF64(p.ar, p.ar, p.ai)
				narrow(d[lo:hi], p.ar)
			})
		})
	}
}

// polygamma gives the kernels of the nth derivative of digamma.
func polygamma(n int) *unK {
	switch n {
	case 0:
		return fast2("polygamma", nil, vec.DigammaF64, nil)
	case 1:
		return fast2("polygamma", trigamma(vec.MinimumScalarF32, vec.MulScalarF32, vec.SinF32, vec.F32ToF64s,
			vec.F64ToF32s),
			trigamma(vec.MinimumScalarF64, vec.MulScalarF64, vec.SinF64, copyK[float64], copyK[float64]), nil)
	}
	f := math.Gamma(float64(n) + 1)
	if n%2 == 0 {
		f = -f
	}
	derivative := func(d, a, order []float64, single bool) {
		vec.FillF64(order, float64(n)+1)
		zetas(d, order, a, single)
		vec.MulScalarF64(d, d, f)
	}
	return &unK{name: "polygamma", f32: func(d, a []float32) {
		planes(len(d), func(p *planesOf[float64], lo, hi int) {
			vec.F32ToF64s(p.ar, a[lo:hi])
			derivative(p.t, p.ar, p.ai, true)
			vec.F64ToF32s(d[lo:hi], p.t)
		})
	}, f64: func(d, a []float64) {
		planes(len(d), func(p *planesOf[float64], lo, hi int) { derivative(d[lo:hi], a[lo:hi], p.ai, false) })
	}}
}

func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	y, _ := math.Lgamma(x)
	return y
}

// limit is clamp, except that of crossed bounds the lower one counts for what lies below it, and the upper one for the
// rest.
func limit[E float](d, a []E, lo, hi E, clamp func(d, a []E, lo, hi E)) {
	if lo <= hi {
		clamp(d, a, lo, hi)
		return
	}
	for i, x := range a[:len(d)] {
		d[i] = hi
		if x < lo || x != x {
			d[i] = max(x, lo)
		}
	}
}

// entr is -x log(x), 0 at 0 and minus infinity below.
func entr[E float](d, a []E, xlogy func(d, a, b []E), from func(d, a []E, s E), below func(d []uint8, a []E, s E),
	fill func(d, a []E, m []uint8, s E)) {
	inBlocks(d, a, func(d, a, buf []E) {
		var negative [len(run4K{}) * 2]uint8
		m := negative[:len(d)]
		below(m, a, 0)
		xlogy(buf, a, a)
		from(buf, buf, 0) // 0 - 0 is not -0
		fill(d, buf, m, E(math.Inf(-1)))
	})
}

// xlog1py is a log(1 + b), 0 where a is 0; NaN where b is.
func xlog1py[E float](d, a, b []E, log1p func(d, a []E), mul func(d, a, b []E), eq func(d []uint8, a []E, s E),
	ne func(d []uint8, a, b []E), fill func(d, a []E, m []uint8, s E), where func(d []E, m []uint8, a, b []E)) {
	inBlocks(d, a, func(d, a, buf []E) {
		var mask [len(run4K{}) * 2]uint8
		m, y := mask[:len(d)], b[:len(d)]
		b = b[len(d):]
		log1p(buf, y)
		mul(buf, a, buf)
		eq(m, a, 0)
		fill(buf, buf, m, 0)
		ne(m, y, y)
		where(d, m, y, buf)
	})
}

// igamma makes the regularised incomplete gamma functions, the lower and the upper one, to a precision: a series below
// the mean, a continued fraction above.
func igamma(upper bool, eps float64) func(d, a, x []float64) {
	return func(d, a, x []float64) {
		planes(len(d), func(p *planesOf[float64], lo, hi int) {
			d, a, x := d[lo:hi], a[lo:hi], x[lo:hi]
			factor := p.t // x^a e^-x / gamma(a)
			vec.LogF64(factor, x)
			vec.MulF64(factor, factor, a)
			vec.SubF64(factor, factor, x)
			vec.LgammaF64(p.ar, a)
			vec.SubF64(factor, factor, p.ar)
			vec.ExpF64(factor, factor)
			for i, f := range factor {
				if x[i] < 0x1p-1022 { // whose logarithm the kernel does not take
					f = math.Exp(a[i]*math.Log(x[i]) - x[i] - lgamma(a[i]))
				}
				v, isUpper := gammaPart(a[i], x[i], f, eps)
				if isUpper != upper {
					v = 1 - v
				}
				d[i] = v
			}
		})
	}
}

func gammaPair(name string, upper bool) *biK {
	return &biK{name: name, f32: byWide(igamma(upper, 1e-12)), f64: igamma(upper, 1e-16)}
}

// igammaInfer refuses integers, which PyTorch does not convert here.
func igammaInfer(c *Ctx) {
	if dt := c.PromoteArgs(0, 1); dt.IsIntOrBool() {
		c.Fail(tensor.ErrNotImpl, "\"%s_cpu\" not implemented for '%s'", c.Op().Sch.Name, dt.ClassName())
	}
	floatInfer(c)
}

// gammaPart is one of the incomplete gamma functions, and tells which.
func gammaPart(a, x, factor, eps float64) (v float64, upper bool) {
	switch {
	case x < 0 || a < 0 || a == 0 && !(x > 0):
		return math.NaN(), false
	case a == 0:
		return 1, false
	case x == 0 || math.IsInf(a, 1) && !math.IsInf(x, 1):
		return 0, false
	case math.IsInf(a, 1):
		return math.NaN(), false
	case math.IsInf(x, 1):
		return 1, false
	case a != a || x != x:
		return math.NaN(), false
	case x <= a+1:
		return gammaSeries(a, x, eps) * factor, false
	case factor == 0:
		return 0, true
	}
	return gammaFraction(a, x, eps) * factor, true
}

func gammaSeries(a, x, eps float64) float64 {
	t := 1 / a
	s := t
	for k := 1.0; k < 1e5; k++ {
		t *= x / (a + k)
		s += t
		if t < eps*s {
			break
		}
	}
	return s
}

// gammaFraction is a continued fraction, of which it computes numerators p and denominators q.
func gammaFraction(a, x, eps float64) float64 {
	const large = 1 << 52
	b := x + 1 - a
	p0, q0, p1, q1 := 0.0, 1.0, 1.0, b
	v := 1 / b
	for k := 1.0; k < 1e5; k++ {
		n := k * (a - k)
		b += 2
		p0, p1 = p1, b*p1+n*p0
		q0, q1 = q1, b*q1+n*q0
		if q1 == 0 {
			continue
		}
		last := v
		if v = p1 / q1; math.Abs(v-last) <= 2*eps*math.Abs(v) {
			break
		}
		if math.Abs(q1) > large {
			scale := 1 / q1
			p0, q0, p1, q1 = p0*scale, q0*scale, p1*scale, 1
		}
	}
	return v
}

// besselRuns puts |x|, its sine and its cosine in the runs of each block, and the Bessel function of the first kind in p.t.
func besselRuns(d, a []float64, j func(d, x, sin, cos []float64), f func(p *planesOf[float64], d, a []float64)) {
	planes(len(d), func(p *planesOf[float64], lo, hi int) {
		vec.AbsF64(p.ar, a[lo:hi])
		far := false // up to 8 the sine and the cosine do not count
		for _, x := range p.ar {
			far = far || !(x <= 8)
		}
		if far {
			vec.SinF64(p.br, p.ar)
			vec.CosF64(p.bi, p.ar)
		}
		j(p.t, p.ar, p.br, p.bi)
		f(p, d[lo:hi], a[lo:hi])
	})
}

// besselJ is the function of the first kind; that of order 1 is odd.
func besselJ(j func(d, x, sin, cos []float64), odd bool) func(d, a []float64) {
	return func(d, a []float64) {
		besselRuns(d, a, j, func(p *planesOf[float64], d, a []float64) {
			if odd {
				for i, x := range a {
					p.t[i] = math.Float64frombits(math.Float64bits(p.t[i]) ^ math.Float64bits(x)&(1<<63))
				}
			}
			copy(d, p.t)
		})
	}
}

// besselY is the function of the second kind.
func besselY(j func(d, x, sin, cos []float64), y func(d, x, sin, cos, j []float64)) func(d, a []float64) {
	return func(d, a []float64) {
		besselRuns(d, a, j, func(p *planesOf[float64], d, a []float64) { y(d, a, p.br, p.bi, p.t) })
	}
}

// sphericalJ0 is sin(x)/x, by its series near 0.
func sphericalJ0(d, a []float64) {
	planes(len(d), func(p *planesOf[float64], lo, hi int) {
		sin, d := p.t, d[lo:hi]
		vec.SinF64(sin, a[lo:hi])
		for i, x := range a[lo:hi] {
			switch z := x * x; {
			case z < 0.25:
				d[i] = 1 - z*(1.0/6)*(1-z*(1.0/20)*(1-z*(1.0/42)*(1-z*(1.0/72)*(1-z*(1.0/110)*(1-z*(1.0/156))))))
			case math.IsInf(x, 0):
				d[i] = 0
			default:
				d[i] = sin[i] / x
			}
		}
	})
}

func init() {
	floatUnary("lgamma(Tensor self) -> Tensor", "is the logarithm of the absolute value of the gamma function.",
		fast2("lgamma", nil, vec.LgammaF64, nil),
		tensor.Def{Aliases: []string{"special_gammaln"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(c.T(0).Digamma()) })})
	polygammaOp := tensor.Slot("aten::polygamma")
	floatUnary("digamma(Tensor self) -> Tensor", "is the derivative of the logarithm of the gamma function.",
		fast2("digamma", nil, vec.DigammaF64, nil),
		tensor.Def{Aliases: []string{"special_digamma", "special_psi"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(call(polygammaOp, tensor.IntValue(1), tv(c.T(0)))) })})
	tensor.Register(tensor.Def{
		Schema: "polygamma(int n, Tensor self) -> Tensor", Doc: "is the nth derivative of digamma.", Out: true,
		Elementwise: true, Aliases: []string{"special_polygamma"},
		Infer: func(c *Ctx) {
			if c.Int(0) < 0 {
				c.Fail(tensor.ErrValue, "polygamma(n, x) does not support negative n.")
			}
			c.Alloc(0, c.Shape(1), floatType(c.ArgDType(1)))
		},
		CPU: func(c *Ctx) {
			polygamma(c.Int(0)).run(c, c.Out(0), c.T(1), c.Out(0).DType())
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return g.Mul(call(polygammaOp, tensor.IntValue(c.Int(0)+1), tv(c.T(1)))) }),
	})
	tensor.Register(tensor.Def{
		Schema: "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", Doc: "is polygamma written to the tensor itself.",
		Go: "PolygammaInPlace",
		Body: func(c *Ctx) {
			x := c.T(0)
			// the rule wants what was there before
			c.Return(x.CopyInPlace(call(polygammaOp, c.Value(1), tv(x.Clone()))))
		},
	})
	opArange := tensor.Slot("aten::arange.start_step")
	tensor.Register(tensor.Def{
		Schema: "mvlgamma(Tensor self, int p) -> Tensor",
		Doc: "is the logarithm of the multivariate gamma function of dimension p, which wants elements above " +
			"(p-1)/2.",
		Aliases: []string{"special_multigammaln"}, InPlace: true, Out: true,
		Body: func(c *Ctx) {
			x, p := c.T(0), c.Int(1)
			dt := x.DType()
			if dt == tensor.Bool || dt.IsComplex() {
				c.Fail(tensor.ErrDType, "mvlgamma is not implemented for %s", dt.ClassName())
			}
			if p < 1 {
				c.Fail(tensor.ErrValue, "p has to be greater than or equal to 1")
			}
			if p > 1<<20 {
				c.Fail(tensor.ErrValue, "p is %d, at most %d is supported", p, 1<<20)
			}
			if !dt.IsFloat() {
				dt = tensor.DefaultDType()
			}
			halves := call(opArange, tensor.FloatValue(-float64(p-1)/2), tensor.FloatValue(0.5), tensor.FloatValue(0.5),
				tensor.DTypeValue(dt), tensor.Value{}, tensor.DeviceValue(x.Device()))
			// The dtype is named, since PyTorch's autocast does not see this sum.
			sum := x.Unsqueeze(-1).Add(halves).Lgamma().SumDim([]int{-1}, tensor.SumDimOptions{DType: dt})
			c.Return(sum.AddScalar(float64(p) * float64(p-1) / 4 * math.Log(math.Pi)))
		},
	})
	opI0, opI1, opI0e, opI1e := tensor.Slot("aten::i0"), tensor.Slot("aten::special_i1"),
		tensor.Slot("aten::special_i0e"), tensor.Slot("aten::special_i1e")
	// i1(x)/x and its like at 0
	half := func(x, y *T) *T {
		tiny := x.Abs().LeScalar(1e-20) // 0/0 would spoil the gradient, and denormal numbers have no half
		return call(opWhere, tv(tiny), tensor.FloatValue(0.5), tv(y.Div(x.MaskedFillScalar(tiny, 1))))
	}
	floatUnary("i0(Tensor self) -> Tensor", "is the modified Bessel function of the first kind and order 0.",
		fast2("i0", nil, vec.I0F64, nil),
		tensor.Def{Aliases: []string{"special_i0"}, Save: "self",
			VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(call(opI1, tv(c.T(0)))) })})
	floatOnly("special_i0e(Tensor self) -> Tensor", "is exp(-|self|) i0(self).", fast2("i0e", nil, vec.I0eF64, nil),
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			return g.Mul(call(opI1e, tv(x)).Sub(x.Sgn().Mul(c.Out(0))))
		})})
	floatOnly("special_i1(Tensor self) -> Tensor", "is the modified Bessel function of the first kind and order 1.",
		fast2("i1", nil, vec.I1F64, nil),
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			return g.Mul(call(opI0, tv(x)).Sub(half(x, c.Out(0))))
		})})
	floatOnly("special_i1e(Tensor self) -> Tensor", "is exp(-|self|) i1(self).", fast2("i1e", nil, vec.I1eF64, nil),
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x, y := c.T(0), c.Out(0)
			return g.Mul(call(opI0e, tv(x)).Sub(x.Sgn().Mul(y)).Sub(half(x, y)))
		})})
	floatOnly("special_erfcx(Tensor self) -> Tensor", "is exp(self²) erfc(self).",
		fast2("erfcx", nil, vec.ErfcxF64, nil),
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			return g.Mul(c.T(0).MulScalar(2).Mul(c.Out(0)).SubScalar(twoSqrtPi))
		})})
	floatOnly("special_ndtr(Tensor self) -> Tensor",
		"is the distribution function of the standard normal distribution.",
		fast2("ndtr", vec.NdtrF32, vec.NdtrF64, nil).halves(vec.Unary16{ndtr16(0), ndtr16(1)}),
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			return g.Mul(x.Mul(x).MulScalar(-0.5).Exp().MulScalar(1 / math.Sqrt(2*math.Pi)))
		})})
	floatOnly("special_log_ndtr(Tensor self) -> Tensor",
		"is the logarithm of the standard normal distribution's function.", fast2("log_ndtr", nil, vec.LogNdtrF64, nil),
		tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			return g.MulScalar(1 / math.Sqrt(2*math.Pi)).Mul(c.Out(0).Add(x.Mul(x).DivScalar(2)).Neg().Exp())
		})})
	floatOnly("special_ndtri(Tensor self) -> Tensor", "is the inverse of the standard normal distribution's function.",
		fast2("ndtri", nil, vec.NdtriF64, nil),
		tensor.Def{Save: "result", VJP: rule(func(c *Ctx, g *T) *T {
			y := c.Out(0)
			return g.Mul(y.Mul(y).MulScalar(0.5).Exp().MulScalar(math.Sqrt(2 * math.Pi)))
		})})
	floatOnly("special_entr(Tensor self) -> Tensor", "is -self log(self), 0 at 0 and minus infinity below.",
		fast2("entr",
			func(d, a []float32) { entr(d, a, vec.XLogYF32, vec.RSubScalarF32, vec.LtScalarF32, vec.MaskedFillF32) },
			func(d, a []float64) { entr(d, a, vec.XLogYF64, vec.RSubScalarF64, vec.LtScalarF64, vec.MaskedFillF64) }, nil),
		tensor.Def{Save: "self", VJP: rule(func(c *Ctx, g *T) *T { return g.Mul(c.T(0).Log().AddScalar(1).Neg()) })})
	const none = "PyTorch gives none either"
	ops := map[string]*tensor.Op{}
	for _, n := range []string{"bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0",
		"modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1"} {
		ops[n] = tensor.Slot("aten::special_" + n)
	}
	// order0 is the derivative of order 0, sign * f1; order1 that of order 1, s0 * f0 - f1 / x.
	order0 := func(f1 string, sign float64) tensor.Def {
		return self(func(g, x *T) *T { return g.Mul(call(ops[f1], tv(x)).MulScalar(sign)) })
	}
	order1 := func(f0 string, sign float64) tensor.Def {
		return tensor.Def{Save: "self result", VJP: rule(func(c *Ctx, g *T) *T {
			x := c.T(0)
			var q *T
			if f0 == "bessel_j0" || f0 == "modified_bessel_i0" {
				q = half(x, c.Out(0))
			} else {
				q = c.Out(0).Div(x)
			}
			return g.Mul(call(ops[f0], tv(x)).MulScalar(sign).Sub(q))
		})}
	}
	floatOnly("special_bessel_j0(Tensor self) -> Tensor", "is the Bessel function of the first kind and order 0.",
		fast2("bessel_j0", nil, besselJ(vec.J0F64, false), nil), order0("bessel_j1", -1))
	floatOnly("special_bessel_j1(Tensor self) -> Tensor", "is the Bessel function of the first kind and order 1.",
		fast2("bessel_j1", nil, besselJ(vec.J1F64, true), nil), order1("bessel_j0", 1))
	floatOnly("special_bessel_y0(Tensor self) -> Tensor", "is the Bessel function of the second kind and order 0.",
		fast2("bessel_y0", nil, besselY(vec.J0F64, vec.Y0F64), nil), order0("bessel_y1", -1))
	floatOnly("special_bessel_y1(Tensor self) -> Tensor", "is the Bessel function of the second kind and order 1.",
		fast2("bessel_y1", nil, besselY(vec.J1F64, vec.Y1F64), nil), order1("bessel_y0", 1))
	floatOnly("special_modified_bessel_i0(Tensor self) -> Tensor",
		"is the modified Bessel function of the first kind and order 0.",
		fast2("modified_bessel_i0", nil, vec.I0F64, nil), order0("modified_bessel_i1", 1))
	floatOnly("special_modified_bessel_i1(Tensor self) -> Tensor",
		"is the modified Bessel function of the first kind and order 1.",
		fast2("modified_bessel_i1", nil, vec.I1F64, nil), order1("modified_bessel_i0", 1))
	floatOnly("special_modified_bessel_k0(Tensor self) -> Tensor",
		"is the modified Bessel function of the second kind and order 0.",
		fast2("modified_bessel_k0", nil, vec.K0F64, nil), order0("modified_bessel_k1", -1))
	floatOnly("special_modified_bessel_k1(Tensor self) -> Tensor",
		"is the modified Bessel function of the second kind and order 1.",
		fast2("modified_bessel_k1", nil, vec.K1F64, nil), order1("modified_bessel_k0", -1))
	floatOnly("special_scaled_modified_bessel_k0(Tensor x) -> Tensor", "is exp(x) k0(x).",
		fast2("scaled_modified_bessel_k0", nil, vec.K0eF64, nil), tensor.Def{NoGrad: none})
	floatOnly("special_scaled_modified_bessel_k1(Tensor x) -> Tensor", "is exp(x) k1(x).",
		fast2("scaled_modified_bessel_k1", nil, vec.K1eF64, nil), tensor.Def{NoGrad: none})
	floatOnly("special_spherical_bessel_j0(Tensor x) -> Tensor", "is sin(x) / x.",
		fast2("spherical_bessel_j0", nil, sphericalJ0, nil), tensor.Def{NoGrad: none})

	// logit
	logitBackward := tensor.Slot("aten::logit_backward")
	tensor.Register(tensor.Def{
		Schema:  "logit(Tensor self, float? eps=None) -> Tensor",
		Doc:     "is log(self / (1 - self)); self is limited to [eps, 1 - eps] first when eps is given.",
		Aliases: []string{"special_logit"}, InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), floatType(c.ArgDType(0))) },
		CPU: func(c *Ctx) {
			x, out := c.T(0), c.Out(0)
			dt := out.DType()
			f32, f64 := vec.LogitF32, vec.LogitF64
			if c.Has(1) {
				e := c.Float(1)
				within := func(d, a []float32) { limit(d, a, float32(e), float32(1-e), vec.ClampF32) }
				if dt.IsReduced() {
					run1(out, x, tensor.Float32, tensor.Float32, within)
					x = out
				}
				f32 = func(d, a []float32) { within(d, a); vec.LogitF32(d, d) }
				f64 = func(d, a []float64) { limit(d, a, e, 1-e, vec.ClampF64); vec.LogitF64(d, d) }
			}
			fast2("logit", f32, f64, nil).halves(vec.Unary16{logit16(0), logit16(1)}).run(c, out, x, dt)
		},
		Save: "self",
		VJP:  rule(func(c *Ctx, g *T) *T { return call(logitBackward, tv(g), tv(c.T(0)), c.Value(1)) }),
	})
	tensor.Register(tensor.Def{
		Schema: "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor",
		Doc:    "is the gradient of logit.", Go: "-", Out: true, FormNames: ".out=.grad_input(grad_input)",
		Elementwise: true,
		Infer:       binaryInfer,
		CPU: func(c *Ctx) {
			lo, hi, beyond := 0.0, 1.0, math.NaN() // where the function is not defined
			if c.Has(2) {
				lo, beyond = c.Float(2), 0
				hi = 1 - lo
			}
			k := biK{name: "logit", f32: func(d, g,
				x []float32) {
				vec.LogitBackwardF32(d, g, x, float32(lo), float32(hi), float32(beyond))
			},
				f64: func(d, g, x []float64) { vec.LogitBackwardF64(d, g, x, lo, hi, beyond) }}
			k.run(c, 0, 1)
		},
		Save: "grad_output self",
		VJP: func(c *Ctx, g *T) []*T {
			r, x := make([]*T, 2), c.T(1)
			d := call(logitBackward, tv(g), tv(x), c.Value(2))
			r[0] = d
			if c.Needs(1) {
				r[1] = d.Mul(c.T(0)).Mul(x.MulScalar(2).SubScalar(1)).Div(x.Mul(x.RsubScalar(1)))
			}
			return r
		},
	})

	// two arguments
	igammaGrad := func(sign float64) func(c *Ctx, g *T) []*T {
		return func(c *Ctx, g *T) []*T {
			a, x := c.T(0), c.T(1)
			if c.Needs(0) {
				c.Fail(tensor.ErrAutograd, "the derivative for '%s: input' is not implemented.", c.Op().Sch.Name)
			}
			return []*T{nil, g.MulScalar(sign).Mul(a.SubScalar(1).Mul(x.Log()).Sub(x).Sub(a.Lgamma()).Exp())}
		}
	}
	binary("igamma(Tensor self, Tensor other) -> Tensor", "is the regularised lower incomplete gamma function.",
		gammaPair("igamma", false), igammaInfer,
		tensor.Def{Aliases: []string{"special_gammainc"}, Save: "self other", VJP: igammaGrad(1)})
	binary("igammac(Tensor self, Tensor other) -> Tensor", "is the regularised upper incomplete gamma function.",
		gammaPair("igammac", true), igammaInfer,
		tensor.Def{Aliases: []string{"special_gammaincc"}, Save: "self other", VJP: igammaGrad(-1)})
	zetaOp := tensor.Slot("aten::special_zeta")
	binaryOut("special_zeta(Tensor self, Tensor other) -> Tensor",
		"is Hurwitz's zeta function of self, starting at other.",
		&biK{name: "zeta", f32: byWide(func(d, a, b []float64) { zetas(d, a, b, false) }),
			f64: func(d, a, b []float64) { zetas(d, a, b, false) }}, floatInfer,
		tensor.Def{Save: "self other", VJP: func(c *Ctx, g *T) []*T {
			if c.Needs(0) {
				c.Fail(tensor.ErrAutograd, "the derivative for 'special_zeta: self' is not implemented.")
			}
			s := c.T(0)
			return []*T{nil, g.Mul(s.Neg()).Mul(call(zetaOp, tv(s.AddScalar(1)), tv(c.T(1))))}
		}})
	numberForm("special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", "special_zeta", false)
	numberForm("special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", "special_zeta", false)
}

// ndtr16 is the normal distribution's function in 16-bit floats (half.Index i), to which each step is rounded.
func ndtr16(i int) func(d, a []uint16) {
	return func(d, a []uint16) {
		vec.MulScalar16[i](d, a, 1/math.Sqrt2)
		vec.Erf16[i](d, d)
		vec.AddScalar16[i](d, d, 1)
		vec.MulScalar16[i](d, d, 0.5)
	}
}

// logit16 is log(x / (1-x)) in 16-bit floats (half.Index i), to which each step is rounded.
func logit16(i int) func(d, a []uint16) {
	return func(d, a []uint16) {
		var buf [1024]uint16
		for len(d) > 0 {
			n := min(len(d), len(buf))
			b := buf[:n]
			vec.RSubScalar16[i](b, a[:n], 1)
			vec.Div16[i](d[:n], a[:n], b)
			vec.Log16[i](d[:n], d[:n])
			d, a = d[n:], a[n:]
		}
	}
}
