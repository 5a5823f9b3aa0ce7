package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds functions that are written once for lanes of both widths. They call exp and log in the form for the
// lane's width.

// exp, expNeg, log and log1p choose the form for the lane.
func exp(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.Wide() {
		return Exp64(b, x)
	}
	return Exp(b, x)
}

func expNeg(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.Wide() {
		return Exp64(b, b.Neg(x))
	}
	return ExpNeg(b, x)
}

// expOrZero is e^x, or 0 where that is below the smallest normal number by and large: what lies there has few digits,
// and takes many times as long on some processors.
func expOrZero(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	lowest := b.C(b.Pick(-87, -708))
	return b.Sel(b.Cmp(kernel.LT, x, lowest), b.C(0), exp(b, b.MaxX(lowest, x)))
}

func log(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.Wide() {
		return Log64(b, x)
	}
	return Log(b, x)
}

func log1p(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if b.Wide() {
		return Log1p64(b, x)
	}
	return Log1p(b, x)
}

// sigmoid is 1 / (1 + e^-x).
func sigmoid(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Div(b.C(1), b.Add(expNeg(b, x), b.C(1)))
}

// expm1Part is (e^x - 1) / 2^k, without cancellation near 0. 2^(n-k), where n is x/ln2 rounded, must be a normal
// number.
func expm1Part(b *kernel.Builder, x *kernel.Value, k int) *kernel.Value {
	magic, bias, width := uint64(math.Float32bits(float32(b.RoundingConstant()))), 127, 23
	var t, r, p *kernel.Value
	if b.Wide() {
		magic, bias, width = math.Float64bits(b.RoundingConstant()), 1023, 52
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
func expm1(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	if !b.Wide() {
		return Expm1(b, x)
	}
	e := expm1Part(b, b.MaxX(b.C(-40), b.MinX(b.C(710), x)), 1)
	return b.Or(b.Add(e, e), b.Sign(x)) // also for -0
}

// Sinh is (E + E/(E+1)) / 2 with E = e^|x| - 1, computed from E/4.
func Sinh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	q := expm1Part(b, b.MinX(b.C(b.Pick(89.5, 710.48)), a), 2)
	y := b.Add(q, b.Div(q, b.FMA(q, b.C(4), b.C(1))))
	y = b.Sel(b.Cmp(kernel.LT, a, b.C(b.Pick(0x1p-13, 0x1p-28))), a, b.Add(y, y))
	return b.Or(y, b.Sign(x))
}

// Cosh is 2w + 1/(8w) with w = e^|x| / 4.
func Cosh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	w := b.Add(expm1Part(b, b.MinX(b.C(b.Pick(89.5, 710.48)), b.Abs(x)), 2), b.C(0.25))
	return b.Add(b.Add(w, w), b.Div(b.C(0.125), w))
}

// Asinh is log1p(a + a²/(1 + sqrt(a²+1))) with a = |x|, and log(2a) where squares would leave the range.
func Asinh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	big := b.Cmp(kernel.GT, a, b.C(b.Pick(0x1p30, 0x1p60)))
	s := b.Mul(a, a)
	z := b.Add(a, b.Div(s, b.Add(b.Sqrt(b.Add(s, b.C(1))), b.C(1))))
	y := log1p(b, b.Sel(big, a, z))
	y = b.Add(y, b.Sel(big, b.C(math.Ln2), b.C(0)))
	return b.Or(y, b.Sign(x))
}

// Acosh is log1p(t + sqrt(2t + t²)) with t = x-1, and log(2x) for large x; NaN below 1.
func Acosh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	big := b.Cmp(kernel.GT, x, b.C(b.Pick(0x1p30, 0x1p60)))
	t := b.Sub(x, b.C(1))
	z := b.Add(t, b.Sqrt(b.FMA(t, t, b.Add(t, t))))
	y := log1p(b, b.Sel(big, x, z))
	y = b.Add(y, b.Sel(big, b.C(math.Ln2), b.C(0)))
	return b.Sel(b.Cmp(kernel.LT, x, b.C(1)), b.C(math.NaN()), y)
}

// Atanh is log1p(2a / (1-a)) / 2 with a = |x|; NaN beyond 1, where the argument of the logarithm is below -1.
func Atanh(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	y := log1p(b, b.Div(b.Add(a, a), b.Sub(b.C(1), a)))
	return b.Or(b.Mul(y, b.C(0.5)), b.Sign(x))
}

// Logit is log(x / (1-x)).
func Logit(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return log(b, b.Div(x, b.Sub(b.C(1), x)))
}

// LogAddExp is log(e^x + e^y) = max + log(1 + e^-|x-y|), the infinity itself where both are the same one.
func LogAddExp(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	return logAdd(b, x, y, log1p(b, expNeg(b, b.Abs(b.Sub(x, y)))))
}

// LogAddExp2 is the same to base 2.
func LogAddExp2(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	d := b.Neg(b.Abs(b.Sub(x, y)))
	e := Exp2
	if b.Wide() {
		e = Exp264
	}
	return logAdd(b, x, y, b.Mul(log1p(b, e(b, d)), b.C(log2E)))
}

// Nextafter goes one up or down among the bits of x, which are those of a whole number and a sign.
func Nextafter(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	one, minus := b.Float(b.CI(1)), b.Float(b.ISub(b.CI(0), b.CI(1)))
	away := b.Sel(b.Cmp(kernel.GT, y, x), one, minus) // from 0, of positive numbers
	away = b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.Float(b.ISub(b.CI(0), b.Bits(away))), away)
	r := b.Float(b.IAdd(b.Bits(x), b.Bits(away)))
	r = b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.Or(one, b.Sign(y)), r)
	r = b.Sel(b.Cmp(kernel.EQ, x, y), y, r)
	sum := b.Add(x, y)
	return b.Sel(b.MOr(b.Cmp(kernel.UNORD, x, x), b.Cmp(kernel.UNORD, y, y)), sum, r)
}

// logAdd adds r to the larger one of x and y.
func logAdd(b *kernel.Builder, x, y, r *kernel.Value) *kernel.Value {
	r = b.Add(b.MaxN(x, y), r)
	inf := b.MAnd(b.Cmp(kernel.EQ, x, y), b.Cmp(kernel.EQ, b.Abs(x), b.C(math.Inf(1))))
	return b.Sel(inf, x, r)
}

// XLogY is x*log(y), 0 where x is 0 and NaN where y is.
func XLogY(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	r := b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), b.C(0), b.Mul(x, log(b, y)))
	return b.Sel(b.Cmp(kernel.UNORD, y, y), y, r)
}

// Hypot is sqrt(x² + y²) as the larger one times sqrt(1 + q²), q being the quotient, so that nothing overflows on the
// way.
func Hypot(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	ax, ay := b.Abs(x), b.Abs(y)
	m, n := b.MaxN(ax, ay), b.MinN(ax, ay)
	q := b.Div(n, m)
	r := b.Mul(m, b.Sqrt(b.FMA(q, q, b.C(1))))
	r = b.Sel(b.Cmp(kernel.EQ, m, b.C(0)), b.C(0), r)
	inf := b.MOr(b.Cmp(kernel.EQ, ax, b.C(math.Inf(1))), b.Cmp(kernel.EQ, ay, b.C(math.Inf(1))))
	return b.Sel(inf, b.C(math.Inf(1)), r)
}
