package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds the power of two numbers, for lanes of both widths.

// powParts splits a = 2^e m with m in [sqrt(1/2), sqrt(2)), as the logarithms do.
func powParts(b *kernel.Builder, a *kernel.Value) (m, e *kernel.Value) {
	if b.Wide() {
		f, e := logParts64(b, a)
		return b.Add(f, b.C(1)), e // exact
	}
	small := b.Cmp(kernel.LT, a, b.C(0x1p-126))
	u := b.Sel(small, b.Mul(a, b.C(0x1p23)), a)
	bias := b.Sel(small, b.C(-23), b.C(0))
	i := b.ISub(b.Bits(u), b.CI(sqrtHalfBits))
	e = b.Add(b.I2F(b.Sra(i, 23)), bias)
	return b.Float(b.IAdd(b.IAnd(i, b.CI(0x7fffff)), b.CI(sqrtHalfBits))), e
}

// Pow is x^y = e^(y*log|x|) with the logarithm and the product carried in two
// numbers each, because an error in y*log|x| is multiplied by up to 104, or 745 in float64.
func Pow(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	m, e := powParts(b, a)
	// log m = 2 atanh(s), s = (m-1)/(m+1) in two parts; |s| < 0.1716.
	f := b.Sub(m, b.C(1)) // exact
	d := b.Add(m, b.C(1))
	dLo := b.Sub(m, b.Sub(d, b.C(1)))
	s := b.Div(f, d)
	rem := b.FNMA(s, d, f)
	rem = b.FNMA(s, dLo, rem)
	sLo := b.Div(rem, d)
	q := b.Mul(s, s)
	// 2 atanh(s) = 2s + s³(2/3 + 2/5 q + …); the leading 2/3 needs two parts.
	series := []float64{2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11}
	if b.Wide() {
		series = append(series, 2.0/13, 2.0/15, 2.0/17, 2.0/19, 2.0/21, 2.0/23, 2.0/25)
	}
	t := b.PolySplit(q, b.Mul(q, q), series...)
	c := b.FMA(q, t, b.C(b.Pick(-0x1.555556p-26, 0x1.5555555555555p-55)))
	// s³ in two parts, times 2/3.
	twoThirds := b.C(b.Pick(0x1.555556p-1, 0x1.5555555555555p-1))
	q2 := b.FMA(s, s, b.Neg(q))
	q2 = b.FMA(b.Add(s, s), sLo, q2) // s² = q + q2
	k := b.Mul(q, s)
	k2 := b.FMA(q, s, b.Neg(k))
	k2 = b.FMA(q2, s, b.FMA(q, sLo, k2)) // s³ = k + k2
	z := b.Mul(k, twoThirds)
	z2 := b.FMA(k, twoThirds, b.Neg(z))
	z2 = b.FMA(k2, twoThirds, b.FMA(k, c, z2))
	// Add up, largest first: e*ln2 (its high part is short, so that the product is exact), 2s, z.
	twoS := b.Add(s, s)
	ln2Short, ln2Rest := b.C(b.Pick(0x1.62e4p-1, 0x1.62e42fefa38p-1)),
		b.C(b.Pick(0x1.7f7d1cp-20, 0x1.ef35793c76730p-45))
	h := b.FMA(e, ln2Short, twoS)
	lo := b.Add(b.FMA(e, ln2Short, b.Neg(h)), twoS)
	h, l1 := twoSum(b, h, z)
	lo = b.Add(b.Add(lo, l1), b.FMA(e, ln2Rest, b.Add(b.Add(sLo, sLo), z2)))
	h, lo = fastTwoSum(b, h, lo)
	// The product with y, in two parts.
	p := b.Mul(y, h)
	p2 := b.FMA(y, h, b.Neg(p))
	p2 = b.FMA(y, lo, p2)
	// e^p * (1 + p2); p2 is dropped where p is clamped or not finite.
	most := b.Pick(105, 750)
	pc := b.MaxX(b.C(-most), b.MinX(b.C(most), p))
	p2 = b.Sel(b.Cmp(kernel.EQ, pc, p), p2, b.C(0))
	var n, tt, r *kernel.Value
	if b.Wide() {
		n, tt, r = expReduce64(b, pc)
	} else {
		n, tt, r = expReduce(b, pc)
	}
	r2 := b.Add(r, p2)
	lost := b.Add(b.Sub(r, r2), p2)
	var rest *kernel.Value
	sq := b.Mul(r2, r2)
	if b.Wide() {
		rest = expRest64(b, r2, sq)
	} else {
		rest = expPoly(b, r2, sq)
	}
	ex := b.FMA(sq, rest, lost)
	ex = b.Ldexp1p(b.Add(r2, ex), n, tt)
	return powSpecial(b, x, y, a, ex)
}

// twoSum is x + y and its rounding error, exactly; fastTwoSum needs |x| >= |y|.
func twoSum(b *kernel.Builder, x, y *kernel.Value) (s, err *kernel.Value) {
	s = b.Add(x, y)
	t := b.Sub(s, x)
	return s, b.Add(b.Sub(x, b.Sub(s, t)), b.Sub(y, t))
}
func fastTwoSum(b *kernel.Builder, x, y *kernel.Value) (s, err *kernel.Value) {
	s = b.Add(x, y)
	return s, b.Add(b.Sub(x, s), y)
}

// powSpecial puts in C's special cases, given a = |x| and r = a^y for finite
// positive a.
func powSpecial(b *kernel.Builder, x, y, a, r *kernel.Value) *kernel.Value {
	inf := b.C(math.Inf(1))
	zero, one := b.C(0), b.C(1)
	// |x| of 0 or Inf: 0, or Inf, by the sign of y.
	up := b.Sel(b.Cmp(kernel.GT, y, zero), inf, zero)   // Inf^y
	down := b.Sel(b.Cmp(kernel.LT, y, zero), inf, zero) // 0^y
	r = b.Sel(b.Cmp(kernel.EQ, a, inf), up, r)
	r = b.Sel(b.Cmp(kernel.EQ, a, zero), down, r)
	// y = ±Inf: by the side of 1 on which |x| lies; 1^±Inf is 1.
	ay := b.Abs(y)
	big := b.Sel(b.Cmp(kernel.GT, a, one), up, down)
	big = b.Sel(b.Cmp(kernel.EQ, a, one), one, big)
	r = b.Sel(b.Cmp(kernel.EQ, ay, inf), big, r)
	// Negative x: NaN unless y is an integer; odd integers keep the sign.
	whole := b.Cmp(kernel.EQ, b.Round(y, 3), y)
	half := b.Mul(y, b.C(0.5))
	odd := b.MAnd(whole, b.Cmp(kernel.NEQ, b.Round(half, 3), half))
	sign := b.Sel(odd, b.Sign(x), zero)
	neg := b.MAnd(b.Cmp(kernel.LT, x, zero), b.Cmp(kernel.GT, a, zero))
	bad := b.Sel(whole, r, b.C(math.NaN()))
	bad = b.Sel(b.Cmp(kernel.EQ, a, inf), r, bad) // (-Inf)^y is not NaN
	r = b.Sel(neg, bad, r)
	r = b.Or(r, sign)
	// NaN in either operand, but x^0 and 1^y are 1.
	r = b.Sel(b.Cmp(kernel.UNORD, x, x), x, r)
	r = b.Sel(b.Cmp(kernel.UNORD, y, y), y, r)
	r = b.Sel(b.Cmp(kernel.EQ, x, one), one, r)
	return b.Sel(b.Cmp(kernel.EQ, y, zero), one, r)
}
