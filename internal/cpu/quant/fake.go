package quant

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Float is a type that fake quantization computes in.
type Float interface{ float32 | float64 }

// Fake is fake quantization: numbers rounded to those that integers from Min to Max stand for. A zero point that is no
// whole number is added before rounding.
type Fake struct {
	Scale    float32
	Zero     float64
	Min, Max int
}

// integers gives the integer of a number before it is limited.
type integers struct {
	inv, scale, zero float64
	whole, narrow    bool
}

func integersOf[E Float](f *Fake) integers {
	var e E
	_, narrow := any(e).(float32)
	return integers{inv: float64(1 / f.Scale), scale: float64(f.Scale), zero: f.Zero,
		whole: f.Zero == math.Trunc(f.Zero), narrow: narrow}
}

func (n *integers) of(x float64) float64 {
	y := x * n.inv
	if n.narrow {
		y = float64(float32(x) * float32(n.inv))
	}
	switch {
	case n.whole:
		return n.zero + math.RoundToEven(y)
	case n.narrow:
		return math.RoundToEven(float64(float32(y) + float32(n.zero)))
	}
	return math.RoundToEven(y + n.zero)
}

// FakeQuantize sets dst to src rounded, and mask, unless it is nil, to where src was inside the limits.
func FakeQuantize[E Float](f *Fake, dst, src []E, mask []bool) {
	n := integersOf[E](f)
	if d, ok := any(dst).([]float32); ok && len(dst) >= 16 && n.whole && f.small() {
		f.blocks(d, any(src).([]float32), mask)
		return
	}
	lo, hi := float64(f.Min), float64(f.Max)
	for i, x := range src {
		q := n.of(float64(x))
		if mask != nil {
			mask[i] = q >= lo && q <= hi
		}
		q = min(max(q, lo), hi)
		if !(q >= lo) { // NaN
			q = lo
		}
		dst[i] = E(q-n.zero) * E(n.scale)
	}
}

// small reports that float32 holds the limits, the zero point and their differences exactly.
func (f *Fake) small() bool {
	const exact = 1 << 22
	return max(math.Abs(float64(f.Min)), math.Abs(float64(f.Max)), math.Abs(f.Zero)) < exact
}

// blocks is FakeQuantize by vectors, a few numbers at a time, for a small zero point without a fraction.
func (f *Fake) blocks(dst, src []float32, mask []bool) {
	const block = 512
	var low, whole [block]float32
	n := min(block, len(src))
	lo, hi, zero := float32(f.Min), float32(f.Max), float32(f.Zero)
	vec.FillF32(low[:n], lo)
	for ; len(src) > 0; src, dst = src[n:], dst[n:] {
		n = min(n, len(src))
		q, d := whole[:n], dst[:n]
		vec.MulScalarF32(q, src[:n], 1/f.Scale)
		vec.RoundF32(q, q)
		vec.AddScalarF32(q, q, zero)
		vec.FMaxF32(d, q, low[:n]) // the limit for NaN
		vec.MinimumScalarF32(d, d, hi)
		if mask != nil {
			vec.EqF32(unsafe.Slice((*uint8)(unsafe.Pointer(&mask[0])), n), d, q)
			mask = mask[n:]
		}
		vec.SubScalarF32(d, d, zero)
		vec.MulScalarF32(d, d, f.Scale)
	}
}

// FakeGradients gives, for the gradient g of the result, those of src (dst), of the scale and of the zero point, where
// both are trained: Esser et al. 2019, "Learned Step Size Quantization", and Jain et al. 2019, "Trained Quantization
// Thresholds". The last two are multiplied by factor.
func FakeGradients[E Float](f *Fake, dst, g, src []E, factor float64) (scale, zero float64) {
	lo, hi := float64(f.Min), float64(f.Max)
	n, inv := integersOf[E](f), E(1/f.Scale)
	if d, ok := any(dst).([]float32); ok && len(dst) >= 16 && n.whole && f.small() {
		return f.gradientBlocks(d, any(g).([]float32), any(src).([]float32), factor)
	}
	for i, x := range src {
		q := n.of(float64(x))
		switch {
		case q < lo:
			dst[i] = 0
			zero += float64(g[i] * -E(f.Scale) * E(factor))
			scale += float64(g[i] * E(lo-f.Zero) * E(factor))
		case q > hi:
			dst[i] = 0
			zero += float64(g[i] * -E(f.Scale) * E(factor))
			scale += float64(g[i] * E(hi-f.Zero) * E(factor))
		default:
			dst[i] = g[i]
			scale += float64(g[i] * (E(q-f.Zero)*E(f.Scale) - x) * inv * E(factor))
		}
	}
	return scale, zero
}

// gradientBlocks is FakeGradients by vectors, a few numbers at a time, for a small zero point without a fraction.
func (f *Fake) gradientBlocks(dst, g, src []float32, factor float64) (scale, zero float64) {
	const block = 512
	var whole, by [block]float32
	var low, high [block]uint8 // 1 for integers that are outside the limits
	lo, hi, shift := float32(f.Min), float32(f.Max), float32(f.Zero)
	for len(src) > 0 {
		n := min(block, len(src))
		x, q, t, d, out := src[:n], whole[:n], by[:n], dst[:n], low[:n]
		vec.MulScalarF32(q, x, 1/f.Scale)
		vec.RoundF32(q, q)
		vec.AddScalarF32(q, q, shift)
		vec.LtScalarF32(out, q, lo)
		vec.GtScalarF32(high[:n], q, hi)
		vec.OrU8(out, out, high[:n])
		vec.ClampF32(q, q, lo, hi)
		vec.SubScalarF32(q, q, shift)
		// inside the limits: how far rounding moves a number, in units of the scale
		vec.MulScalarF32(t, q, f.Scale)
		vec.SubF32(t, t, x)
		vec.MulScalarF32(t, t, 1/f.Scale)
		vec.MaskedFillF32(t, t, out, 0)
		vec.MaskedFillF32(d, g[:n], out, 0)
		scale += vec.DotF32As64(d, t)
		// outside of them: the limit
		for i, o := range out {
			out[i] = 1 - o
		}
		vec.MaskedFillF32(t, g[:n], out, 0)
		scale += vec.DotF32As64(t, q)
		zero += vec.SumF32As64(t)
		dst, g, src = dst[n:], g[n:], src[n:]
	}
	return scale * factor, -float64(f.Scale) * zero * factor
}
