package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds the transcendental functions of float64 lanes, built as those of math.go: a range reduction, a
// polynomial with coefficients fitted at Chebyshev points in 50 digits, selects for the special values.

const (
	ln2Hi64 = 0x1.62e42fefa39efp-1 // ln 2 rounded to 53 bits; a fused step takes multiples of it off exactly
	ln2Lo64 = 0x1.abc9e3b39803fp-56
)

// expReduce64 splits x = n*ln2 + r as expReduce does.
func expReduce64(b *kernel.Builder, x *kernel.Value) (n, t, r *kernel.Value) {
	t = b.FMA(x, b.C(log2E), b.C(b.RoundingConstant()))
	n = b.Sub(t, b.C(b.RoundingConstant()))
	r = b.FNMA(n, b.C(ln2Hi64), x)
	r = b.FNMA(n, b.C(ln2Lo64), r)
	return n, t, r
}

// expm1Poly64 is exp(r) - 1 on |r| <= ln2/2.
func expm1Poly64(b *kernel.Builder, r *kernel.Value) *kernel.Value {
	s := b.Mul(r, r)
	return b.FMA(s, expRest64(b, r, s), r)
}

// expRest64 is (exp(r) - 1 - r) / r² on |r| <= ln2/2; s is r².
func expRest64(b *kernel.Builder, r, s *kernel.Value) *kernel.Value {
	return b.PolySplit(r, s, 0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d37p-5, 0x1.11111111109a6p-7,
		0x1.6c16c1789d1d7p-10, 0x1.a01a01a7cebcdp-13, 0x1.a019b8ca26fcfp-16, 0x1.71de0d85293b8p-19,
		0x1.2891d4ffbb0f9p-22, 0x1.af390ba7e6f47p-26)
}

// Exp64 is e^x.
func Exp64(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	// Beyond the clamp the result is 0 or +Inf anyway; NaN is the second operand and goes through.
	x = b.MaxX(b.C(-746), b.MinX(b.C(710), x))
	n, t, r := expReduce64(b, x)
	return b.Ldexp1p(expm1Poly64(b, r), n, t)
}

// Tanh64 is the hyperbolic tangent: with m = 1 - e^-2|x| it is m / (2 - m), and m has no cancellation left in it near
// 0, because there n is 0 and m the polynomial itself.
func Tanh64(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.MinX(b.C(20), b.Abs(x)) // the result is 1 from 19.1 on; NaN goes through
	_, t, r := expReduce64(b, b.Mul(a, b.C(-2)))
	p := expm1Poly64(b, r)
	h := b.Float(b.Shl(b.IAdd(b.ISub(b.Bits(t), b.CI(math.Float64bits(b.RoundingConstant()))), b.CI(1023)), 52)) // 2^n
	// e^-2|x| - 1
	e := b.FMA(h, p, b.Sub(h, b.C(1)))
	// -tanh|x|
	y := b.Div(e, b.Add(e, b.C(2)))
	return b.Or(b.Abs(y), b.Sign(x))
}

// sqrtHalfBits64 is sqrt(1/2), as sqrtHalfBits.
const sqrtHalfBits64 = 0x3fe6a09e667f3bcd

// logParts64 gives m - 1 and e of x = 2^e m with m in [sqrt(1/2), sqrt(2)).
func logParts64(b *kernel.Builder, x *kernel.Value) (f, e *kernel.Value) {
	// Subnormals are scaled up by 2^52.
	small := b.Cmp(kernel.LT, x, b.C(0x1p-1022))
	u := b.Sel(small, b.Mul(x, b.C(0x1p52)), x)
	// i holds the exponent, biased by 1023, of u over sqrt(1/2), and below it the mantissa less that of sqrt(1/2).
	// There is no conversion of 64-bit integers on AVX2: the exponent becomes the low bits of a number near 2^52.
	i := b.IAdd(b.Bits(u), b.CI(1023<<52-sqrtHalfBits64))
	e = b.Float(b.Or(b.Srl(i, 52), b.CI(math.Float64bits(0x1p52))))
	e = b.Sub(e, b.Sel(small, b.C(0x1p52+1023+52), b.C(0x1p52+1023)))
	m := b.Float(b.IAdd(b.IAnd(i, b.CI(1<<52-1)), b.CI(sqrtHalfBits64)))
	return b.Sub(m, b.C(1)), e
}

// logRest64 is f - log(1+f) for f in [sqrt(1/2)-1, sqrt(2)-1], less low: log(1+f) = 2s + s*z*P(z) with s = f/(2+f) and
// z = s². Written around f, which is exact, the rest is small.
func logRest64(b *kernel.Builder, f, low *kernel.Value) *kernel.Value {
	s := b.Div(f, b.Add(f, b.C(2)))
	z := b.Mul(s, s)
	p := b.PolySplit(z, b.Mul(z, z), 0x1.5555555555555p-1, 0x1.9999999999a39p-2, 0x1.2492492476a1ap-2,
		0x1.c71c7201a55d7p-3,
		0x1.745cf8e4bba1bp-3, 0x1.3b1c3c1c81c8fp-3, 0x1.0fbde0f4ad17bp-3, 0x1.0c0aff044a97p-3)
	h := b.Mul(b.Mul(f, f), b.C(0.5))
	if low == nil {
		return b.Sub(h, b.Mul(s, b.FMA(z, p, h)))
	}
	return b.Sub(h, b.FMA(s, b.FMA(z, p, h), low))
}

// Log64 is the natural logarithm; NaN below 0, -Inf at 0.
func Log64(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	f, e := logParts64(b, x)
	y := b.FMA(e, b.C(ln2Hi64), b.Sub(f, logRest64(b, f, b.Mul(e, b.C(ln2Lo64)))))
	return logSpecial(b, x, x, b.C(0), y)
}

// logBase64 is the logarithm to another base: hi and lo are the logarithm of 2 and scale that of e. A power of 2 has no
// f, so that to base 2 its result is exact.
func logBase64(b *kernel.Builder, x *kernel.Value, hi, lo, scale float64) *kernel.Value {
	f, e := logParts64(b, x)
	y := b.Mul(b.Sub(f, logRest64(b, f, nil)), b.C(scale))
	if lo != 0 {
		y = b.FMA(e, b.C(lo), y)
	}
	return logSpecial(b, x, x, b.C(0), b.FMA(e, b.C(hi), y))
}

// Log1p64 is log(1+x), as Log1p.
func Log1p64(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	i := b.IAdd(b.Bits(b.Add(x, b.C(1))), b.CI(1023<<52-sqrtHalfBits64))
	k := b.Srl(i, 52) // the exponent plus 1023
	e := b.Sub(b.Float(b.Or(k, b.CI(math.Float64bits(0x1p52)))), b.C(0x1p52+1023))
	s := b.Float(b.Shl(b.ISub(b.CI(2048), k), 52)) // 2^(2-exponent)
	f := b.FMA(b.Mul(x, b.C(0.25)), s, b.FMA(s, b.C(0.25), b.C(-1)))
	y := b.FMA(e, b.C(ln2Hi64), b.Sub(f, logRest64(b, f, b.Mul(e, b.C(ln2Lo64)))))
	y = b.Sel(b.Cmp(kernel.LT, b.Abs(x), b.C(0x1p-54)), x, y)
	return logSpecial(b, x, x, b.C(-1), y)
}

// Exp264 is 2^x, as Exp2.
func Exp264(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	x = b.MaxX(b.C(-1100), b.MinX(b.C(1100), x))
	t := b.Add(x, b.C(b.RoundingConstant()))
	n := b.Sub(t, b.C(b.RoundingConstant()))
	f := b.Sub(x, n) // exact
	r := b.Mul(f, b.C(ln2Hi64))
	lo := b.FMA(f, b.C(ln2Lo64), b.FMA(f, b.C(ln2Hi64), b.Neg(r)))
	s := b.Mul(r, r)
	return b.Ldexp1p(b.Add(r, b.FMA(s, expRest64(b, r, s), lo)), n, t)
}
