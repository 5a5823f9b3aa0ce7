package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds the transcendental functions of float32 lanes. Each is a
// range reduction plus a minimax polynomial (coefficients fitted with Lawson
// iteration for relative error, then rounded to float32). Nothing branches:
// special values are put in by selects at the end.

const (
	ln2Hi = 0x1.62e43p-1 // ln 2 rounded to 24 bits
	ln2Lo = -0x1.05c61p-29
	log2E = 1.4426950408889634
)

// expReduce splits x = n*ln2 + r with integral n and |r| <= ln2/2. t is n
// plus scaleMagic. |x| must be below 2^21.
func expReduce(b *kernel.Builder, x *kernel.Value) (n, t, r *kernel.Value) {
	t = b.FMA(x, b.C(log2E), b.C(b.RoundingConstant()))
	n = b.Sub(t, b.C(b.RoundingConstant()))
	r = b.FNMA(n, b.C(ln2Hi), x)
	r = b.FNMA(n, b.C(ln2Lo), r)
	return n, t, r
}

// expPoly is (exp(r) - 1 - r) / r² on |r| <= ln2/2, s being r².
func expPoly(b *kernel.Builder, r, s *kernel.Value) *kernel.Value {
	return b.PolySplit(r, s, 0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.123a0cp-7, 0x1.6a23fp-10)
}

// Exp is e^x.
func Exp(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.HasTables() {
		return expTable(b, x, 1)
	}
	x = expClamp(b, x)
	n, t, r := expReduce(b, x)
	s := b.Mul(r, r)
	return b.Ldexp1p(b.FMA(s, expPoly(b, r, s), r), n, t)
}

// ExpNeg is e^-x.
func ExpNeg(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.HasTables() {
		return expTable(b, x, -1)
	}
	return Exp(b, b.Neg(x))
}

// expClamp bounds x to where e^x and e^-x are 0 or +Inf. NaN goes through: it is the second operand.
func expClamp(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.MaxX(b.C(-104), b.MinX(b.C(104), x))
}

// expTable is e^(sign*x). With sign*x = n*ln2 + r, where n is a multiple of 1/16 and |r| <= ln2/32, it is 2^n, for
// which there is a table, times e^r, for which a polynomial of degree 3 does.
func expTable(b *kernel.Builder, x *kernel.Value, sign float64) *kernel.Value {
	if b.ISA != kernel.AVX512 {
		x = expClamp(b, x)
	}
	add, sub := b.FMA, b.FNMA
	if sign < 0 { // r is -r then
		add, sub = sub, add
	}
	t := b.FMA(x, b.C(sign*log2E), b.C(b.RootRoundingConstant()))
	n := b.Sub(t, b.C(b.RootRoundingConstant()))
	r := sub(n, b.C(ln2Lo), sub(n, b.C(ln2Hi), x))
	if b.ISA == kernel.AVX512 {
		// The scale by 2^n, which may be anything here, gives 0, +Inf and NaN by itself as long as what it scales is a
		// positive number.
		r = b.Bound(r, b.C(0.022))
	}
	p := add(b.Mul(r, r), add(r, b.C(0x1.55559ep-3), b.C(0x1.00021ep-1)), r) // e^r - 1, or 1 - e^r
	return b.ScaleRoot(n, t, func(root *kernel.Value) *kernel.Value { return add(root, p, root) })
}

// Expm1 is e^x - 1 without cancellation near 0.
func Expm1(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	y := b.MaxX(b.C(-20), b.MinX(b.C(88.8), x))
	_, t, r := expReduce(b, y)
	s := b.Mul(r, r)
	p := b.FMA(s, expPoly(b, r, s), r) // e^r - 1
	// h = 2^(n-1): half the scale, because n reaches 128. The result is
	// 2 * (h*p + (h - 1/2)).
	i := b.ISub(b.Bits(t), b.CI(uint64(math.Float32bits(float32(b.RoundingConstant())))))
	h := b.Float(b.Shl(b.IAdd(i, b.CI(126)), 23))
	e := b.FMA(h, p, b.Sub(h, b.C(0.5)))
	e = b.Add(e, e)
	// The sign is that of x, also for -0.
	return b.Or(e, b.Sign(x))
}

// logParts gives log(1+f) + e*ln2 for f in [-1/4, 1/2].
func logParts(b *kernel.Builder, f, e *kernel.Value) *kernel.Value {
	s := b.Mul(f, f)
	p := b.PolySplit(f, s, 0x1.5555a4p-2, -0x1.00004ap-2, 0x1.9969ap-3, -0x1.54eda2p-3,
		0x1.288072p-3, -0x1.0d982ap-3, 0x1.acf0f6p-4, -0x1.71ddc8p-5)
	y := b.FMA(f, p, b.C(-0.5))
	y = b.FMA(s, y, b.Mul(e, b.C(ln2Lo)))
	return b.FMA(e, b.C(ln2Hi), b.Add(f, y))
}

// threeQuarterBits is 3/4: taking it off the bits of x leaves the exponent for which the mantissa lies in [3/4, 3/2).
const threeQuarterBits = 0x3f400000

// sqrtHalfBits is sqrt(1/2): taking it off the bits of x leaves the exponent
// for which the mantissa lies in [sqrt(1/2), sqrt(2)).
const sqrtHalfBits = 0x3f3504f3

// Log is the natural logarithm; NaN below 0, -Inf at 0.
func Log(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.ISA == kernel.AVX512 {
		m := b.Mantissa(x)
		exponent := b.Exponent
		y := logParts(b, b.Sub(m, b.C(1)), b.Sub(exponent(x), exponent(m)))
		return logSpecial(b, x, x, b.C(0), y)
	}
	// Subnormals are scaled up by 2^23.
	small := b.Cmp(kernel.LT, x, b.C(0x1p-126))
	u := b.Sel(small, b.Mul(x, b.C(0x1p23)), x)
	bias := b.Sel(small, b.C(-23), b.C(0))
	i := b.ISub(b.Bits(u), b.CI(threeQuarterBits))
	e := b.Add(b.I2F(b.Sra(i, 23)), bias)
	m := b.Float(b.IAdd(b.IAnd(i, b.CI(0x7fffff)), b.CI(threeQuarterBits)))
	y := logParts(b, b.Sub(m, b.C(1)), e)
	return logSpecial(b, x, x, b.C(0), y)
}

// logSpecial puts in the values of a logarithm with its pole where x equals
// pole: -Inf there, NaN below, x itself for +Inf and NaN.
func logSpecial(b *kernel.Builder, x, inf, pole, y *kernel.Value) *kernel.Value {
	if b.ISA == kernel.AVX512 && pole == b.C(0) && x == inf {
		return b.Fixup(y, x, 0x03530422) // NaN: itself; 0: -Inf; negative: NaN; +Inf: itself; else y
	}
	y = b.Sel(b.Cmp(kernel.LT, x, b.C(math.Inf(1))), y, inf) // +Inf and NaN
	y = b.Sel(b.Cmp(kernel.EQ, x, pole), b.C(math.Inf(-1)), y)
	return b.Sel(b.Cmp(kernel.LT, x, pole), b.C(math.NaN()), y)
}

// Log1p is log(1+x) without cancellation near 0; NaN below -1.
func Log1p(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	u := b.Add(x, b.C(1))
	i := b.ISub(b.Bits(u), b.CI(threeQuarterBits))
	k := b.Sra(i, 23)
	e := b.I2F(k)
	// s = 2^(2-k) stays normal up to k = 128. With it
	// f = (1+x)*2^-k - 1 = (x/4)*s + (s/4 - 1), where only the last sum rounds.
	s := b.Float(b.Shl(b.ISub(b.CI(129), k), 23))
	f := b.FMA(b.Mul(x, b.C(0.25)), s, b.FMA(s, b.C(0.25), b.C(-1)))
	y := logParts(b, f, e)
	// log1p(x) = x for tiny x, subnormals and -0 among them.
	y = b.Sel(b.Cmp(kernel.LT, b.Abs(x), b.C(0x1p-25)), x, y)
	return logSpecial(b, x, x, b.C(-1), y)
}

// Tanh is the hyperbolic tangent.
func Tanh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.HasTables() {
		d, y := tanhPieces.of(b, x)
		if b.ISA == kernel.AVX512 {
			return b.Mul(y, b.Bound(x, b.C(15*tanhPieces.width))) // y is NaN where x is
		}
		return b.Or(b.Mul(y, d), b.Sign(x))
	}
	// N/(N+1) with N = (e^2|x| - 1)/2 keeps its digits near 0.
	d := b.MinX(b.C(10), b.Abs(x)) // tanh is 1 from 9.02 on
	// 2|x| = n*ln2 + 2r. The rounding constant holds the bias of an exponent of half of 2^n, too, so that a shift makes
	// the exponent of half of 2^n from the bits of the sum. What ln2Lo takes off other arguments makes no difference
	// here.
	const magic = kernel.RoundingConstant32 + 126
	t := b.FMA(d, b.C(2*log2E), b.C(magic))
	n := b.Sub(t, b.C(magic))
	r := b.FNMA(n, b.C(ln2Hi/2), d)
	// h = e^2r - 1 = 2(r + r²q): the polynomial of expPoly, its coefficients scaled by powers of 2.
	s := b.Mul(r, r)
	q := b.PolySplit(r, s, 4*0x1.fffffcp-2, 8*0x1.555492p-3, 16*0x1.5558f2p-5, 32*0x1.123a0cp-7, 64*0x1.6a23fp-10)
	h := b.FMA(s, q, b.Add(r, r))
	p := b.Float(b.Shl(b.Bits(t), 23))
	h = b.FMA(p, h, b.Sub(p, b.C(0.5)))
	return b.Or(b.Div(h, b.Add(h, b.C(1))), b.Sign(x))
}

// Erf is the error function.
func Erf(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	s := b.Mul(x, x)
	p := b.Poly(s, 0x1.06eba8p-3, -0x1.812742p-2, 0x1.ce2e0ap-4, -0x1.b80e92p-6,
		0x1.54c804p-8, -0x1.aa3f9ap-11, 0x1.5cd5e2p-14)
	small := b.FMA(p, x, x)
	// Large: 1 - e^-g(|x|), where g fits -log(erfc); erf is 1 from 3.92 on.
	t := b.MinX(b.C(4), a)
	g := b.Poly(t, -0x1.6e56b6p-13, 0x1.2127e4p0, 0x1.44460cp-1, 0x1.bb83e6p-4,
		-0x1.9b8e7ep-6, 0x1.115accp-8, -0x1.c79110p-12, 0x1.61ea64p-16)
	n, m, r := expReduce(b, b.Neg(g))
	rr := b.Mul(r, r)
	large := b.Sub(b.C(1), b.Ldexp1p(b.FMA(rr, expPoly(b, r, rr), r), n, m))
	large = b.Or(large, b.Sign(x))
	return b.Sel(b.Cmp(kernel.LT, a, b.C(0.921875)), small, large)
}

// GELU is x * Phi(x), which is max(x, 0) - |x| * Phi(-|x|). As that product it has the sign of x, also where it is 0,
// and is NaN at -Inf, for which the product of min(x, 0) and 0 stands.
func GELU(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.Wide() {
		return b.Mul(x, phi(b, x))
	}
	d, q := normalTail(b, x)
	above := b.FMA(b.MinX(b.C(0), x), b.C(0), b.MaxX(b.C(0), x))
	return b.Or(b.FNMA(d, q, above), b.Sign(x))
}

// normalTail is d, which is |x| as far as the result is not next to nothing, and Phi(-d), the normal distribution
// function. For NaN both are NaN, or d is.
func normalTail(b *kernel.Builder, x *kernel.Value) (d, y *kernel.Value) {
	if b.HasTables() {
		return normalPieces.of(b, x)
	}
	// The logarithm to base 2 is a polynomial, fitted to the error of d*Phi(-d).
	d = b.MinX(b.C(12.25), b.Abs(x))
	g := b.PolySplit(d, b.Mul(d, d), -1, -0x1.26aecep+0, -0x1.d63cbcp-2, -0x1.adb0e2p-5, 0x1.c7f34ap-8, -0x1.90ce84p-19,
		-0x1.262104p-12, 0x1.43022cp-14, -0x1.70e0c8p-17, 0x1.c053e8p-21, -0x1.b8917ep-26)
	return d, normalExp2(b, g)
}

// geluTail is the derivative of GELU at -|x|.
func geluTail(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.HasTables() {
		_, y := geluPieces.of(b, x)
		return y
	}
	// The density without its constant, e^(-d²/2), times a polynomial.
	d := b.MinX(b.C(13), b.Abs(x))
	s := b.Mul(d, d)
	p := b.PolySplit(d, s, 0.5, -0x1.988424p-1, 0x1.fff1d6p-3, -0x1.0ffa02p-3, 0x1.fb1eb4p-5, -0x1.a0d738p-6,
		0x1.266db2p-7,
		-0x1.539fe6p-9, 0x1.2bf66cp-11, -0x1.79b762p-14, 0x1.36bb54p-17, -0x1.23cb9cp-21, 0x1.ce102ap-27)
	return b.Mul(p, normalExp2(b, b.Mul(s, b.C(-log2E/2))))
}

// normalExp2 is 2^x in float32 lanes for x in [-125, 126], where it and the scale of 2^n are normal numbers.
func normalExp2(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	t := b.Add(x, b.C(kernel.RoundingConstant32))
	r := b.Sub(x, b.Sub(t, b.C(kernel.RoundingConstant32)))
	p := b.PolySplit(r, b.Mul(r, r), 1, 0x1.62e42ap-1, 0x1.ebf9bcp-3, 0x1.c6b754p-5, 0x1.3ceaap-7, 0x1.5bba4ap-10)
	return b.Float(b.IAdd(b.Bits(p), b.Shl(b.Bits(t), 23)))
}

// GELUGrad is the derivative of GELU: Phi(x) + x*phi(x), which at x and -x adds up to 1.
func GELUGrad(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if !b.Wide() {
		y := geluTail(b, x)
		return b.Sel(b.Cmp(kernel.LT, x, b.C(0)), y, b.Sub(b.C(1), y))
	}
	cdf := phi(b, x)
	pdf := exp(b, b.Mul(b.Mul(x, x), b.C(-0.5)))
	return b.FMA(b.Mul(x, b.C(1/math.Sqrt(2*math.Pi))), pdf, cdf)
}

const (
	geluBeta  = 0.7978845608028654 // sqrt(2/pi)
	geluKappa = 0.044715
)

// GELUTanh is 0.5x(1 + tanh(u)) = x / (1 + e^-2u) with u = sqrt(2/pi)(x + 0.044715x³).
func GELUTanh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Div(x, b.Add(exp(b, geluTanhArg(b, x)), b.C(1)))
}

// geluTanhArg is -2u.
func geluTanhArg(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Mul(x, b.FMA(b.Mul(x, x), b.C(-2*geluBeta*geluKappa), b.C(-2*geluBeta)))
}

// GELUTanhGrad is the derivative of GELUTanh: s + x*s(1-s)*2u' with s = 1 / (1+e) and e = e^-2u. In place of 1-s it
// takes e*s, which keeps its digits; the bound of the exponent keeps e finite.
func GELUTanhGrad(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	e := exp(b, b.MinX(b.C(b.Pick(80, 700)), geluTanhArg(b, x)))
	s := b.Div(b.C(1), b.Add(e, b.C(1)))
	du := b.FMA(b.Mul(x, x), b.C(6*geluBeta*geluKappa), b.C(2*geluBeta))
	return b.FMA(x, b.Mul(b.Mul(b.Mul(e, s), s), du), s)
}

// SiLU is x * sigmoid(x).
func SiLU(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Div(x, b.Add(expNeg(b, x), b.C(1)))
}

// SiLUGrad is s(1 + x(1-s)) with s = sigmoid(x).
func SiLUGrad(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	s := sigmoid(b, x)
	return b.Mul(s, b.FMA(x, b.Sub(b.C(1), s), b.C(1)))
}

// Softplus is log(1 + e^(beta*x)) / beta, and x where beta*x > threshold.
func Softplus(b *kernel.Builder, x, beta, threshold *kernel.Value) *kernel.Value {
	z := b.Mul(x, beta)
	y := b.Div(log1p(b, exp(b, z)), beta)
	return b.Sel(b.Cmp(kernel.GT, z, threshold), x, y)
}

// Exp2 is 2^x.
func Exp2(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	x = b.MaxX(b.C(-152), b.MinX(b.C(152), x))
	if b.HasTables() {
		t := b.Add(x, b.C(b.RootRoundingConstant()))
		n := b.Sub(t, b.C(b.RootRoundingConstant()))
		f := b.Sub(x, n)                                                // exact
		p := b.Mul(f, b.Poly(f, math.Ln2, 0x1.ebfff6p-3, 0x1.c6acfp-5)) // 2^f - 1
		return b.ScaleRoot(n, t, func(root *kernel.Value) *kernel.Value { return b.FMA(root, p, root) })
	}
	t := b.Add(x, b.C(b.RoundingConstant()))
	n := b.Sub(t, b.C(b.RoundingConstant()))
	f := b.Sub(x, n) // exact
	// f*ln2 in two parts keeps the last digits.
	r := b.Mul(f, b.C(ln2Hi))
	lo := b.Sub(b.FMA(f, b.C(ln2Hi), b.Neg(r)), b.Mul(f, b.C(-ln2Lo)))
	s := b.Mul(r, r)
	p := b.FMA(s, expPoly(b, r, s), lo)
	return b.Ldexp1p(b.Add(r, p), n, t)
}

// LogSigmoid is log(sigmoid(x)) = min(x, 0) - log(1 + e^-|x|).
func LogSigmoid(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	e := expNeg(b, b.Abs(x))
	return b.Sub(b.MinX(b.C(0), x), log1p(b, e))
}

// Mish is x*tanh(softplus(x)). With e = e^x the factor is
// e(e+2) / (e(e+2) + 2), which is 1 from x = 20 on.
func Mish(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	e := exp(b, b.MinX(b.C(20), x))
	w := b.Mul(e, b.Add(e, b.C(2)))
	return b.Mul(x, b.Div(w, b.Add(w, b.C(2))))
}

// MishGrad is t + x*(1-t²)*sigmoid(x) with t = tanh(softplus(x)).
func MishGrad(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	e := exp(b, b.MinX(b.C(20), x))
	w := b.Mul(e, b.Add(e, b.C(2)))
	t := b.Div(w, b.Add(w, b.C(2)))
	return b.FMA(b.Mul(x, b.FNMA(t, t, b.C(1))), sigmoid(b, x), t)
}
