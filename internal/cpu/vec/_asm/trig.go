package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds the trigonometric functions and their inverses, for lanes of both widths.

// trig reduces x to r in [-pi/4, pi/4] and gives the sine and the cosine of r and, in the low bits of q, the quadrant.
// It is good for |x| <= 65536 in float32 and 2^20 in float64; the callers of the kernels see to larger arguments.
func trig(b *kernel.Builder, x *kernel.Value) (sin, cos, q *kernel.Value) {
	magic := b.Pick(kernel.RoundingConstant32, kernel.RoundingConstant64)
	t := b.FMA(x, b.C(2/math.Pi), b.C(magic))
	n := b.Sub(t, b.C(magic))
	// pi/2 in three parts; the fused steps lose nothing of the first.
	parts := []float64{0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50}
	sp := []float64{-0x1.555556p-3, 0x1.111108p-7, -0x1.a00f7ap-13, 0x1.6cd0aap-19}
	cp := []float64{0x1.555556p-5, -0x1.6c16b8p-10, 0x1.a010dap-16, -0x1.241da4p-22}
	if b.Wide() {
		parts = []float64{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}
		sp = []float64{-0x1.5555555555555p-3, 0x1.111111111110bp-7, -0x1.a01a01a018a5bp-13, 0x1.71de3a532e35dp-19,
			-0x1.ae64528966e70p-26, 0x1.61208914a789ep-33, -0x1.aaa06da81eea8p-41}
		cp = []float64{0x1.5555555555555p-5, -0x1.6c16c16c16c10p-10, 0x1.a01a01a018d7dp-16, -0x1.27e4fb75f6126p-22,
			0x1.1eed8c9b3a2f2p-29, -0x1.93932e8de7704p-37, 0x1.aac13e29266c2p-45}
	}
	r := x
	for _, p := range parts {
		r = b.FNMA(n, b.C(p), r)
	}
	s := b.Mul(r, r)
	sin = b.FMA(b.Mul(b.Poly(s, sp...), s), r, r)
	cos = b.FMA(b.FMA(b.Poly(s, cp...), s, b.C(-0.5)), s, b.C(1))
	return sin, cos, b.Bits(t)
}

// bit is bit i of q as a mask and signFrom the same bit as a sign.
func bit(b *kernel.Builder, q *kernel.Value, i uint64) *kernel.Value {
	return b.Cmp(kernel.NEQ, b.Float(b.Shl(b.IAnd(q, b.CI(1<<i)), int(b.Pick(23, 52)))), b.C(0))
}

func signFrom(b *kernel.Builder, q *kernel.Value, i int) *kernel.Value {
	return b.Float(b.Shl(b.IAnd(q, b.CI(1<<i)), int(b.Pick(31, 63))-i))
}

// sinCos is sin(x) (quadrant 0) or cos(x) (quadrant 1).
func sinCos(b *kernel.Builder, x *kernel.Value, quadrant uint64) *kernel.Value {
	sin, cos, q := trig(b, x)
	if quadrant != 0 {
		q = b.IAdd(q, b.CI(quadrant))
	}
	y := b.Xor(b.Sel(bit(b, q, 0), cos, sin), signFrom(b, q, 1))
	if quadrant != 0 {
		return y
	}
	return keepZero(b, x, y)
}

// tangent is sin/cos, or -cos/sin in odd quadrants.
func tangent(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	sin, cos, q := trig(b, x)
	odd := bit(b, q, 0)
	return keepZero(b, x, b.Xor(b.Div(b.Sel(odd, cos, sin), b.Sel(odd, sin, cos)), signFrom(b, q, 0)))
}

// keepZero is y, and x where it is 0: the reduction loses the sign of -0.
func keepZero(b *kernel.Builder, x, y *kernel.Value) *kernel.Value {
	return b.Sel(b.Cmp(kernel.EQ, x, b.C(0)), x, y)
}

// halfPi is k*pi/2, k being a power of 2, and what the nearest number leaves of it.
func halfPi(b *kernel.Builder, k float64) (hi, lo *kernel.Value) {
	return b.C(k * b.Pick(0x1.921fb6p0, math.Pi/2)), b.C(k * b.Pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54))
}

// atanPart is atan(z) on [-1, 1].
func atanPart(b *kernel.Builder, z *kernel.Value) *kernel.Value {
	c := []float64{-0x1.55553ep-2, 0x1.9991fcp-3, -0x1.24219cp-3, 0x1.c098d6p-4, -0x1.583116p-4, 0x1.dabddap-5,
		-0x1.feb95ap-6, 0x1.658c9ep-7, -0x1.d6020cp-10}
	if b.Wide() {
		c = []float64{-0x1.5555555555525p-2, 0x1.99999999954e1p-3, -0x1.249249237d04dp-3, 0x1.c71c717f5d527p-4,
			-0x1.745d11a7962e5p-4, 0x1.3b1366524ad8ap-4,
			-0x1.110e4f0dd2040p-4, 0x1.e1bb8f3b1dec0p-5, -0x1.ae5e11b42cbbfp-5, 0x1.82d99f03d3d83p-5,
			-0x1.59a0f015038d1p-5, 0x1.2c285f1f5015fp-5,
			-0x1.e9e7b34ff0e7dp-6, 0x1.6826e9396413cp-6, -0x1.c767ad7e9af54p-7, 0x1.d781aa45d02acp-8,
			-0x1.7a01ab6066774p-9, 0x1.b3ad439eca905p-11,
			-0x1.3ef4447c5903bp-13, 0x1.bb8571fbb7cebp-17}
	}
	s := b.Mul(z, z)
	return b.FMA(b.Mul(z, s), b.PolySplit(s, b.Mul(s, s), c...), z)
}

// Atan is atanPart, beyond 1 as pi/2 - atan(1/x).
func Atan(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	big := b.Cmp(kernel.GT, a, b.C(1))
	p := atanPart(b, b.Sel(big, b.Div(b.C(-1), a), a))
	hi, lo := halfPi(b, 1)
	return b.Or(b.Sel(big, b.Add(hi, b.Add(p, lo)), p), b.Sign(x))
}

// Atan2 is the angle of the point (x, y).
func Atan2(b *kernel.Builder, y, x *kernel.Value) *kernel.Value {
	ax, ay := b.Abs(x), b.Abs(y)
	num, den := b.MinX(ax, ay), b.MaxX(ax, ay)
	q := b.Div(num, den)
	q = b.Sel(b.Cmp(kernel.EQ, num, den), b.C(1), q)    // infinite both
	q = b.Sel(b.Cmp(kernel.EQ, den, b.C(0)), b.C(0), q) // zero both
	p := atanPart(b, q)
	hi, lo := halfPi(b, 1)
	p = b.Sel(b.Cmp(kernel.GT, ay, ax), b.Sub(hi, b.Sub(p, lo)), p)
	// The other half has x < 0, or x = -0.
	left := b.Cmp(kernel.LT, b.Or(b.Sign(x), b.C(1)), b.C(0))
	hi, lo = halfPi(b, 2)
	p = b.Sel(left, b.Sub(hi, b.Sub(p, lo)), p)
	p = b.Or(p, b.Sign(y))
	p = b.Sel(b.Cmp(kernel.UNORD, x, x), x, p)
	return b.Sel(b.Cmp(kernel.UNORD, y, y), y, p)
}

// asinPart is asin(|x|) below 1/2 and half of acos(|x|) from there on, where big is true; NaN beyond 1.
func asinPart(b *kernel.Builder, x *kernel.Value) (p, big *kernel.Value) {
	c := []float64{0x1.5555c8p-3, 0x1.3301ecp-4, 0x1.747d84p-5, 0x1.8c2fecp-6, 0x1.5966aap-5}
	if b.Wide() {
		c = []float64{0x1.555555555538ep-3, 0x1.333333336ea10p-4, 0x1.6db6db426cef3p-5, 0x1.f1c72c3b3e023p-6,
			0x1.6e89f435c0aa4p-6, 0x1.1c6bdfeff48c2p-6,
			0x1.c6fe0cc85a237p-7, 0x1.8ec01bdb09a0bp-7, 0x1.abefa6efe11fap-8, 0x1.3fda070c8f944p-6,
			-0x1.09a2f55141678p-6, 0x1.055aef078c9c1p-5}
	}
	a := b.Abs(x)
	big = b.Cmp(kernel.GE, a, b.C(0.5))
	s := b.Sel(big, b.FNMA(a, b.C(0.5), b.C(0.5)), b.Mul(a, a))
	r := b.Sel(big, b.Sqrt(s), a)
	return b.FMA(b.Mul(r, s), b.PolySplit(s, b.Mul(s, s), c...), r), big
}

// Asin is the inverse sine.
func Asin(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	p, big := asinPart(b, x)
	hi, lo := halfPi(b, 1)
	return b.Or(b.Sel(big, b.Sub(hi, b.Sub(b.Add(p, p), lo)), p), b.Sign(x))
}

// Acos is the inverse cosine.
func Acos(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	p, big := asinPart(b, x)
	hi, lo := halfPi(b, 1)
	twice := b.Add(p, p)
	mid := b.Sub(hi, b.Sub(b.Or(p, b.Sign(x)), lo))
	hi, lo = halfPi(b, 2)
	neg := b.Sub(hi, b.Sub(twice, lo))
	return b.Sel(big, b.Sel(b.Cmp(kernel.LT, x, b.C(0)), neg, twice), mid)
}
