package main

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/_asm/kernel"
)

// This file holds the error function of float64 lanes, its complement for both, and what hangs on them. Erf of float32
// stands in math.go.

// Erf64 is the error function: a polynomial near 0 and 1 - e^-g(|x|) from there on, where g fits -log(erfc).
func Erf64(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	a := b.Abs(x)
	s := b.Mul(x, x)
	p := b.PolySplit(s, b.Mul(s, s), 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042aeap-4,
		-0x1.b82ce31282518p-6, 0x1.565bcd0d0c59dp-8,
		-0x1.c02db3a7b1882p-11, 0x1.f9a318bc85b83p-14, -0x1.f4d0d95311420p-17, 0x1.b9cb484330adbp-20,
		-0x1.5e276be07fdadp-23, 0x1.e895760bda6f9p-27,
		-0x1.ea464a318f436p-31)
	small := b.FMA(p, x, x)
	// erf is 1 from 5.93 on; NaN is the second operand and goes through.
	t := b.MinX(b.C(6), a)
	g := b.PolySplit(t, b.Mul(t, t), -0x1.052242902b3f6p-26, 0x1.20dd787d720afp+0, 0x1.45f2da48d6a0cp-1,
		0x1.a4fa7c5a88dc0p-4, -0x1.39a5d7eaf82a3p-6,
		-0x1.73cbe2f121154p-13, 0x1.aeedbf9e5400fp-10, -0x1.119c3da14f894p-11, -0x1.81656d67128c1p-15,
		0x1.08304b0b2477cp-13, -0x1.30803b046720cp-14,
		0x1.ce97848130474p-16, -0x1.095af9679af1ep-17, 0x1.ddc9be705103cp-20, -0x1.54004459aa330p-22,
		0x1.7afb2a060e796p-25, -0x1.4359bd30b6462p-28,
		0x1.95ee81e1c09aap-32, -0x1.5e8d6c2dd0e79p-36, 0x1.6f67c3f836a13p-41, -0x1.58c4f1c5a9bf7p-47)
	n, m, r := expReduce64(b, b.Neg(g))
	large := b.Sub(b.C(1), b.Ldexp1p(expm1Poly64(b, r), n, m))
	return b.Sel(b.Cmp(kernel.LT, a, b.C(0.8125)), small, b.Or(large, b.Sign(x)))
}

// Erfc is 1 - erf(x). For a = |x| it is e^(-a²) times erfcx(a), and erfcx(a)*(1+2a) varies little: a polynomial in t =
// (a-k)/(a+k), which maps the half line to [-1, 1), fits it.
func Erfc(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	k := b.Pick(2, 4)
	a := b.MinX(b.C(b.Pick(10.5, 28)), b.Abs(x)) // the result is 0, or 2, from there on
	t := b.Div(b.Sub(a, b.C(k)), b.Add(a, b.C(k)))
	c := []float64{0x1.46e80ep+0, -0x1.7bf5fep-4, -0x1.54084ep-3, 0x1.4ffafap-3, -0x1.bc0a2ap-5, -0x1.078746p-7,
		0x1.1af486p-7, 0x1.4b9284p-10, -0x1.48490ap-10, -0x1.73cdc4p-12, 0x1.07619cp-15}
	if b.Wide() {
		c = []float64{0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a29cp-3, 0x1.f7f5df66fd720p-7, 0x1.16ecefcfa6042p-4,
			-0x1.9ddb23c3e8a5bp-4, 0x1.7fee004df6aa0p-4,
			-0x1.0fb06dfe58b81p-4, 0x1.3079edf9f9fafp-5, -0x1.096238807a9b2p-6, 0x1.49c6719193121p-8,
			-0x1.8d4a9fec8fb36p-11, -0x1.a1de83c0abee1p-13,
			0x1.3be0d2bb63100p-13, -0x1.9969d7b268511p-16, -0x1.78a86e1056701p-17, 0x1.7fae72ae1d3acp-18,
			0x1.443883a27ab2fp-22, -0x1.bfe1dac24a14cp-21,
			0x1.0bf685b5c5396p-24, 0x1.ec0e2817316c9p-24, -0x1.0b42047267a7cp-27, -0x1.cbffa84c62aebp-27,
			-0x1.d84b781a783a5p-30}
	}
	p := b.Div(b.PolySplit(t, b.Mul(t, t), c...), b.FMA(a, b.C(2), b.C(1)))
	// a² in two parts; e^(-h-l) is e^-h (1 - l).
	h := b.Mul(a, a)
	l := b.FMA(a, a, b.Neg(h))
	var n, m, e *kernel.Value
	if b.Wide() {
		var r *kernel.Value
		n, m, r = expReduce64(b, b.Neg(h))
		e = expm1Poly64(b, r)
	} else {
		var r *kernel.Value
		n, m, r = expReduce(b, b.Neg(h))
		s := b.Mul(r, r)
		e = b.FMA(s, expPoly(b, r, s), r)
	}
	p = b.FMA(p, e, p)
	y := b.Ldexp(b.FNMA(p, l, p), n, m)
	return b.Sel(b.Cmp(kernel.LT, x, b.C(0)), b.Sub(b.C(2), y), y)
}

// phi is the normal distribution function by way of erf, for float64: digits of its lower tail do not count.
func phi(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.FMA(Erf64(b, b.Mul(x, b.C(math.Sqrt2/2))), b.C(0.5), b.C(0.5))
}

// Ndtr is the normal distribution function with the digits of its lower tail.
func Ndtr(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	return b.Mul(Erfc(b, b.Mul(x, b.C(-math.Sqrt2/2))), b.C(0.5))
}
