package main

import "math"

// This file holds functions that are written once for lanes of both widths, on top of the two forms of exp and log.

func (b *B) wide() bool { return b.lane() == F64 }

// pick is the number for lanes of float32 or of float64.
func (b *B) pick(narrow, wide float64) float64 {
	if b.wide() {
		return wide
	}
	return narrow
}

// exp, expNeg, log and log1p choose the form for the lane.
func (b *B) exp(x *Value) *Value {
	if b.wide() {
		return Exp64(b, x)
	}
	return Exp(b, x)
}

func (b *B) expNeg(x *Value) *Value {
	if b.wide() {
		return Exp64(b, b.Neg(x))
	}
	return ExpNeg(b, x)
}

// expOrZero is e^x, or 0 where that is below the smallest normal number by and large: what lies there has few digits, and takes many
// times as long on some processors.
func (b *B) expOrZero(x *Value) *Value {
	lowest := b.C(b.pick(-87, -708))
	return b.Sel(b.Cmp(LT, x, lowest), b.C(0), b.exp(b.MaxX(lowest, x)))
}

func (b *B) log(x *Value) *Value {
	if b.wide() {
		return Log64(b, x)
	}
	return Log(b, x)
}

func (b *B) log1p(x *Value) *Value {
	if b.wide() {
		return Log1p64(b, x)
	}
	return Log1p(b, x)
}

// sigmoid is 1 / (1 + e^-x).
func (b *B) sigmoid(x *Value) *Value { return b.Div(b.C(1), b.Add(b.expNeg(x), b.C(1))) }

// expm1Part is (e^x - 1) / 2^k, without cancellation near 0. 2^(n-k), where n is x/ln2 rounded, must be a normal number.
func expm1Part(b *B, x *Value, k int) *Value {
	magic, bias, width := uint64(math.Float32bits(float32(b.scaleMagic()))), 127, 23
	var t, r, p *Value
	if b.wide() {
		magic, bias, width = math.Float64bits(b.scaleMagic()), 1023, 52
		_, t, r = expReduce64(b, x)
		p = expm1Poly64(b, r)
	} else {
		_, t, r = expReduce(b, x)
		s := b.Mul(r, r)
		p = b.FMA(s, expPoly(b, r, s), r)
	}
	i := b.ISub(b.Bits(t), b.CI(magic))
	h := b.Float(b.Shl(b.IAdd(i, b.CI(uint64(bias-k))), width))
	return b.FMA(h, p, b.Sub(h, b.C(math.Ldexp(1, -k))))
}

// expm1 is e^x - 1. It takes half of it first, because n reaches the end of the exponents.
func (b *B) expm1(x *Value) *Value {
	if !b.wide() {
		return Expm1(b, x)
	}
	e := expm1Part(b, b.MaxX(b.C(-40), b.MinX(b.C(710), x)), 1)
	return b.Or(b.Add(e, e), b.Sign(x)) // also for -0
}

// Sinh is (E + E/(E+1)) / 2 with E = e^|x| - 1, computed from E/4.
func Sinh(b *B, x *Value) *Value {
	a := b.Abs(x)
	q := expm1Part(b, b.MinX(b.C(b.pick(89.5, 710.48)), a), 2)
	y := b.Add(q, b.Div(q, b.FMA(q, b.C(4), b.C(1))))
	y = b.Sel(b.Cmp(LT, a, b.C(b.pick(0x1p-13, 0x1p-28))), a, b.Add(y, y))
	return b.Or(y, b.Sign(x))
}

// Cosh is 2w + 1/(8w) with w = e^|x| / 4.
func Cosh(b *B, x *Value) *Value {
	w := b.Add(expm1Part(b, b.MinX(b.C(b.pick(89.5, 710.48)), b.Abs(x)), 2), b.C(0.25))
	return b.Add(b.Add(w, w), b.Div(b.C(0.125), w))
}

// Asinh is log1p(a + a²/(1 + sqrt(a²+1))) with a = |x|, and log(2a) where squares would leave the range.
func Asinh(b *B, x *Value) *Value {
	a := b.Abs(x)
	big := b.Cmp(GT, a, b.C(b.pick(0x1p30, 0x1p60)))
	s := b.Mul(a, a)
	z := b.Add(a, b.Div(s, b.Add(b.Sqrt(b.Add(s, b.C(1))), b.C(1))))
	y := b.log1p(b.Sel(big, a, z))
	y = b.Add(y, b.Sel(big, b.C(math.Ln2), b.C(0)))
	return b.Or(y, b.Sign(x))
}

// Acosh is log1p(t + sqrt(2t + t²)) with t = x-1, and log(2x) for large x; NaN below 1.
func Acosh(b *B, x *Value) *Value {
	big := b.Cmp(GT, x, b.C(b.pick(0x1p30, 0x1p60)))
	t := b.Sub(x, b.C(1))
	z := b.Add(t, b.Sqrt(b.FMA(t, t, b.Add(t, t))))
	y := b.log1p(b.Sel(big, x, z))
	y = b.Add(y, b.Sel(big, b.C(math.Ln2), b.C(0)))
	return b.Sel(b.Cmp(LT, x, b.C(1)), b.C(math.NaN()), y)
}

// Atanh is log1p(2a / (1-a)) / 2 with a = |x|; NaN beyond 1, where the argument of the logarithm is below -1.
func Atanh(b *B, x *Value) *Value {
	a := b.Abs(x)
	y := b.log1p(b.Div(b.Add(a, a), b.Sub(b.C(1), a)))
	return b.Or(b.Mul(y, b.C(0.5)), b.Sign(x))
}

// Logit is log(x / (1-x)).
func Logit(b *B, x *Value) *Value { return b.log(b.Div(x, b.Sub(b.C(1), x))) }

// LogAddExp is log(e^x + e^y) = max + log(1 + e^-|x-y|), the infinity itself where both are the same one.
func LogAddExp(b *B, x, y *Value) *Value {
	return logAdd(b, x, y, b.log1p(b.expNeg(b.Abs(b.Sub(x, y)))))
}

// LogAddExp2 is the same to base 2.
func LogAddExp2(b *B, x, y *Value) *Value {
	d := b.Neg(b.Abs(b.Sub(x, y)))
	e := Exp2
	if b.wide() {
		e = Exp264
	}
	return logAdd(b, x, y, b.Mul(b.log1p(e(b, d)), b.C(log2E)))
}

// Nextafter goes one up or down among the bits of x, which are those of a whole number and a sign.
func Nextafter(b *B, x, y *Value) *Value {
	one, minus := b.Float(b.CI(1)), b.Float(b.ISub(b.CI(0), b.CI(1)))
	away := b.Sel(b.Cmp(GT, y, x), one, minus) // from 0, of positive numbers
	away = b.Sel(b.Cmp(LT, x, b.C(0)), b.Float(b.ISub(b.CI(0), b.Bits(away))), away)
	r := b.Float(b.IAdd(b.Bits(x), b.Bits(away)))
	r = b.Sel(b.Cmp(EQ, x, b.C(0)), b.Or(one, b.Sign(y)), r)
	r = b.Sel(b.Cmp(EQ, x, y), y, r)
	sum := b.Add(x, y)
	return b.Sel(b.MOr(b.Cmp(UNORD, x, x), b.Cmp(UNORD, y, y)), sum, r)
}

// logAdd adds r to the larger one of x and y.
func logAdd(b *B, x, y, r *Value) *Value {
	r = b.Add(b.MaxN(x, y), r)
	inf := b.MAnd(b.Cmp(EQ, x, y), b.Cmp(EQ, b.Abs(x), b.C(math.Inf(1))))
	return b.Sel(inf, x, r)
}

// XLogY is x*log(y), 0 where x is 0 and NaN where y is.
func XLogY(b *B, x, y *Value) *Value {
	r := b.Sel(b.Cmp(EQ, x, b.C(0)), b.C(0), b.Mul(x, b.log(y)))
	return b.Sel(b.Cmp(UNORD, y, y), y, r)
}

// Hypot is sqrt(x² + y²) as the larger one times sqrt(1 + q²), q being the quotient, so that nothing overflows on the way.
func Hypot(b *B, x, y *Value) *Value {
	ax, ay := b.Abs(x), b.Abs(y)
	m, n := b.MaxN(ax, ay), b.MinN(ax, ay)
	q := b.Div(n, m)
	r := b.Mul(m, b.Sqrt(b.FMA(q, q, b.C(1))))
	r = b.Sel(b.Cmp(EQ, m, b.C(0)), b.C(0), r)
	inf := b.MOr(b.Cmp(EQ, ax, b.C(math.Inf(1))), b.Cmp(EQ, ay, b.C(math.Inf(1))))
	return b.Sel(inf, b.C(math.Inf(1)), r)
}
