package pointwise

import (
	"math"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// This file computes functions of complex numbers by the kernels of real ones: blocks are split into their real and
// imaginary parts, which stay in the nearest cache, and put together again.

// planesOf are the runs of one block.
type planesOf[E float] struct{ ar, ai, br, bi, t, u []E }

const planeRun = 256

// planePool lends the memory of runs.
var planePool = sync.Pool{New: func() any { return new([6 * planeRun]float64) }}

// realK are the kernels of one type of real numbers.
type realK[E float] struct {
	add, sub, mul, div, hypot, atan2, maximum func(d, a, b []E)
	abs, neg, sin, cos                        func(d, a []E)
	eqNumber                                  func(d []uint8, a []E, s E)
	maskedFill                                func(d, a []E, m []uint8, s E)
	sumAbs                                    func(a []E) E
}

var (
	real32 = realK[float32]{vec.AddF32, vec.SubF32, vec.MulF32, vec.DivF32, vec.HypotF32, vec.Atan2F32, vec.MaximumF32,
		vec.AbsF32, vec.NegF32, vec.SinF32, vec.CosF32, vec.EqScalarF32, vec.MaskedFillF32, vec.SumAbsF32}
	real64 = realK[float64]{vec.AddF64, vec.SubF64, vec.MulF64, vec.DivF64, vec.HypotF64, vec.Atan2F64, vec.MaximumF64,
		vec.AbsF64, vec.NegF64, vec.SinF64, vec.CosF64, vec.EqScalarF64, vec.MaskedFillF64, vec.SumAbsF64}
)

// planes calls f with the runs of each block of n elements: lo to hi of them.
func planes[E float](n int, f func(p *planesOf[E], lo, hi int)) {
	mem := planePool.Get().(*[6 * planeRun]float64)
	defer planePool.Put(mem)
	const run = planeRun
	all := slice[E](unsafe.Pointer(mem), 6*run)
	var p planesOf[E]
	for lo := 0; lo < n; lo += run {
		m := min(run, n-lo)
		p = planesOf[E]{all[:m], all[run:][:m], all[2*run:][:m], all[3*run:][:m], all[4*run:][:m], all[5*run:][:m]}
		f(&p, lo, lo+m)
	}
}

// pairs sees complex numbers lo to hi as real ones.
func pairs[E float, C complex64 | complex128](s []C, lo, hi int) []E {
	return slice[E](unsafe.Pointer(&s[lo]), 2*(hi-lo))
}

// planes1 makes a kernel from f, which leaves its result in ar and ai.
func planes1[E float, C complex64 | complex128](k *realK[E], f func(k *realK[E], p *planesOf[E])) func(d, a []C) {
	return func(d, a []C) {
		planes(len(d), func(p *planesOf[E], lo, hi int) {
			vec.Deinterleave(p.ar, p.ai, pairs[E](a, lo, hi))
			f(k, p)
			vec.Interleave(pairs[E](d, lo, hi), p.ar, p.ai)
		})
	}
}

// mend computes results that are not finite again one by one.
func (p *planesOf[E]) mend(k *realK[E], f func(i int) complex128) {
	sum := k.sumAbs(p.ar) + k.sumAbs(p.ai)
	if sum-sum == 0 {
		return
	}
	for i := range p.ar {
		if re, im := p.ar[i], p.ai[i]; re-re != 0 || im-im != 0 {
			z := f(i)
			p.ar[i], p.ai[i] = E(real(z)), E(imag(z))
		}
	}
}

// divK makes the kernel of quotients.
func divK[E float, C complex64 | complex128](k *realK[E]) func(d, a, b []C) {
	return func(d, a, b []C) {
		planes(len(d), func(p *planesOf[E], lo, hi int) {
			vec.Deinterleave(p.ar, p.ai, pairs[E](a, lo, hi))
			vec.Deinterleave(p.br, p.bi, pairs[E](b, lo, hi))
			divPlanes(k, p)
			p.mend(k, func(i int) complex128 { return divC(complex128(a[lo+i]), complex128(b[lo+i])) })
			vec.Interleave(pairs[E](d, lo, hi), p.ar, p.ai)
		})
	}
}

// reciprocalK makes the kernel of reciprocals.
func reciprocalK[E float, C complex64 | complex128](k *realK[E], parts func(re, im, a, b []E)) func(d, a []C) {
	return func(d, a []C) {
		planes(len(d), func(p *planesOf[E], lo, hi int) {
			vec.Deinterleave(p.ar, p.ai, pairs[E](a, lo, hi))
			parts(p.ar, p.ai, p.ar, p.ai)
			p.mend(k, func(i int) complex128 { return divC(1, complex128(a[lo+i])) })
			vec.Interleave(pairs[E](d, lo, hi), p.ar, p.ai)
		})
	}
}

// planesReal makes a kernel of a real function of the real and the imaginary part.
func planesReal[E float, C complex64 | complex128](f func(d, re, im []E)) func(d []E, a []C) {
	return func(d []E, a []C) {
		planes(len(d), func(p *planesOf[E], lo, hi int) {
			vec.Deinterleave(p.ar, p.ai, pairs[E](a, lo, hi))
			f(d[lo:hi], p.ar, p.ai)
		})
	}
}

// divPlanes divides: both are scaled by the larger part of the divisor, so that its square does not overflow.
func divPlanes[E float](k *realK[E], p *planesOf[E]) {
	k.abs(p.t, p.br)
	k.abs(p.u, p.bi)
	k.maximum(p.t, p.t, p.u)
	for _, s := range [][]E{p.br, p.bi, p.ar, p.ai} {
		k.div(s, s, p.t)
	}
	k.mul(p.t, p.br, p.br)
	k.mul(p.u, p.bi, p.bi)
	k.add(p.t, p.t, p.u)   // the square of the divisor
	k.mul(p.u, p.ai, p.bi) // y d
	k.mul(p.ai, p.ai, p.br)
	k.mul(p.bi, p.ar, p.bi) // x d
	k.mul(p.ar, p.ar, p.br)
	k.add(p.ar, p.ar, p.u)
	k.sub(p.ai, p.ai, p.bi)
	k.div(p.ar, p.ar, p.t)
	k.div(p.ai, p.ai, p.t)
}

// most is the limit of parts that have only to be finite.
const most = math.MaxFloat64

// blocks gives k a kernel of complex numbers from block, which leaves its result in ar and ai. Those with parts beyond
// re and im, few if any, are computed one by one by f.
func (k *unK) blocks(re, im float64, f func(complex128) complex128, block func(p *planesOf[float64])) *unK {
	k.c128 = func(d, a []complex128) {
		planes(len(d), func(p *planesOf[float64], lo, hi int) {
			vec.Deinterleave(p.ar, p.ai, pairs[float64](a, lo, hi))
			var at []int
			var rest []complex128
			vec.AbsF64(p.t, p.ar)
			vec.AbsF64(p.u, p.ai)
			if !(vec.MaxF64(p.t) <= re && vec.MaxF64(p.u) <= im) { // or a NaN
				for i, x := range a[lo:hi] {
					if !(p.t[i] <= re && p.u[i] <= im) {
						at, rest = append(at, lo+i), append(rest, f(x))
					}
				}
			}
			block(p)
			vec.Interleave(pairs[float64](d, lo, hi), p.ar, p.ai)
			for i, j := range at {
				d[j] = rest[i]
			}
		})
	}
	return k
}

// products sets the parts to f(x) g(y) and h(x) k(y), x and y being those of the operand.
func products(p *planesOf[float64], f, g, h, k func(d, a []float64)) {
	f(p.t, p.ar)
	g(p.u, p.ai)
	h(p.br, p.ar)
	k(p.bi, p.ai)
	vec.MulF64(p.ar, p.t, p.u)
	vec.MulF64(p.ai, p.br, p.bi)
}

func expPlanes(p *planesOf[float64]) {
	products(p, vec.ExpF64, vec.CosF64, vec.ExpF64, vec.SinF64)
}

func sinPlanes(p *planesOf[float64]) {
	products(p, vec.SinF64, vec.CoshF64, vec.CosF64, vec.SinhF64)
}

func cosPlanes(p *planesOf[float64]) {
	products(p, vec.CosF64, vec.CoshF64, vec.SinF64, vec.SinhF64)
	vec.NegF64(p.ai, p.ai)
}

func sinhPlanes(p *planesOf[float64]) {
	products(p, vec.SinhF64, vec.CosF64, vec.CoshF64, vec.SinF64)
}

func coshPlanes(p *planesOf[float64]) {
	products(p, vec.CoshF64, vec.CosF64, vec.SinhF64, vec.SinF64)
}

func logPlanes(p *planesOf[float64]) {
	vec.HypotF64(p.t, p.ar, p.ai)
	vec.Atan2F64(p.ai, p.ai, p.ar)
	vec.LogF64(p.ar, p.t)
}

// sigmoidPlanes is 1 / (1 + exp(-z)).
func sigmoidPlanes(p *planesOf[float64]) {
	vec.NegF64(p.ar, p.ar)
	vec.NegF64(p.ai, p.ai)
	expPlanes(p)
	vec.AddScalarF64(p.ar, p.ar, 1)
	vec.ReciprocalPartsF64(p.ar, p.ai, p.ar, p.ai)
	vec.AddScalarF64(p.ai, p.ai, 0) // no -0
}

func tanhPlanes(p *planesOf[float64]) { tanhOf(p, p.ar, p.ai) }

// tanPlanes is the same with real and imaginary part exchanged, before and after.
func tanPlanes(p *planesOf[float64]) { tanhOf(p, p.ai, p.ar) }

// tanhOf is Kahan's form, which has no cancellation: with t = tan(y), b = 1 + t² and s = sinh(x) it is (b s cosh(x) + i
// t) / (1 + b s²).
func tanhOf(p *planesOf[float64], x, y []float64) {
	t, b, s, c := p.t, p.u, p.br, p.bi
	vec.TanF64(t, y)
	vec.SinhF64(s, x)
	vec.CoshF64(c, x)
	vec.MulF64(b, t, t)
	vec.AddScalarF64(b, b, 1)
	vec.MulF64(b, b, s)
	vec.MulF64(x, b, c)
	vec.MulF64(b, b, s)
	vec.AddScalarF64(b, b, 1)
	vec.DivF64(x, x, b)
	vec.DivF64(y, t, b)
}

// sgnPlanes divides by the magnitude; that of 0 is 0.
func sgnPlanes[E float](k *realK[E], p *planesOf[E]) {
	var zero [planeRun]uint8
	m := zero[:len(p.ar)]
	k.hypot(p.t, p.ar, p.ai)
	k.eqNumber(m, p.t, 0)
	for _, s := range [][]E{p.ar, p.ai} {
		k.div(s, s, p.t)
		k.maskedFill(s, s, m, 0)
	}
}

// polarPlanes makes complex numbers of magnitudes and angles.
func polarPlanes[E float, C complex64 | complex128](k *realK[E]) func(d []C, r, angle []E) {
	return func(d []C, r, angle []E) {
		planes(len(d), func(p *planesOf[E], lo, hi int) {
			k.cos(p.ar, angle[lo:hi])
			k.sin(p.ai, angle[lo:hi])
			k.mul(p.ar, r[lo:hi], p.ar)
			k.mul(p.ai, r[lo:hi], p.ai)
			vec.Interleave(pairs[E](d, lo, hi), p.ar, p.ai)
		})
	}
}

// join puts complex numbers together.
func join[E float, C complex64 | complex128](d []C, re, im []E) {
	if len(d) > 0 {
		vec.Interleave(pairs[E](d, 0, len(d)), re, im)
	}
}

// byReal makes a kernel with a real number as second operand: it is k, which is slower, unless the products and
// quotients of the parts by themselves are the same, because nothing is infinite.
func byReal[E float, C complex64 | complex128](k func(d, a, b []C), sumAbs func(a []E) E,
	parts func(d, a []E, s E)) func(d, a []C, s E) {
	return func(d, a []C, s E) {
		const run = 1024
		for lo := 0; lo < len(d); lo += run {
			hi := min(lo+run, len(d))
			x := pairs[E](a, lo, hi)
			if sum := sumAbs(x); sum-sum == 0 && s-s == 0 && s != 0 {
				parts(pairs[E](d, lo, hi), x, s)
				continue
			}
			b := make([]C, hi-lo)
			for i := range b {
				b[i] = C(complex(float64(s), 0))
			}
			k(d[lo:hi], a[lo:hi], b)
		}
	}
}
