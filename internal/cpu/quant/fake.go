package quant

import "math"

// Float is a type that fake quantization computes in.
type Float interface{ float32 | float64 }

// Fake is fake quantization: numbers rounded to those that integers from Min to Max stand for. A zero point that is no
// whole number is added before rounding.
type Fake struct {
	Scale    float32
	Zero     float64
	Min, Max int
}

// integer is the integer of x before it is limited.
func (f *Fake) integer(x float64, narrow bool) float64 {
	inv := 1 / f.Scale
	round := math.RoundToEven
	y := x * float64(inv)
	if narrow {
		y = float64(float32(x) * inv)
	}
	if z := f.Zero; z != math.Trunc(z) {
		if narrow {
			return round(float64(float32(y) + float32(z)))
		}
		return round(y + z)
	}
	return f.Zero + round(y)
}

// FakeQuantize sets dst to src rounded, and mask to where src was inside the limits.
func FakeQuantize[E Float](f *Fake, dst, src []E, mask []bool) {
	lo, hi := float64(f.Min), float64(f.Max)
	var z E
	_, narrow := any(z).(float32)
	for i, x := range src {
		q := f.integer(float64(x), narrow)
		mask[i] = q >= lo && q <= hi
		q = min(max(q, lo), hi)
		if !(q >= lo) { // NaN
			q = lo
		}
		dst[i] = E(q-f.Zero) * E(f.Scale)
	}
}

// FakeGradients gives, for the gradient g of the result, those of src (dst), of the scale and of the zero point, where
// both are trained: Esser et al. 2019, "Learned Step Size Quantization", and Jain et al. 2019, "Trained Quantization
// Thresholds". The last two are multiplied by factor.
func FakeGradients[E Float](f *Fake, dst, g, src []E, factor float64) (scale, zero float64) {
	lo, hi := float64(f.Min), float64(f.Max)
	var e E
	_, narrow := any(e).(float32)
	inv := E(1 / f.Scale)
	for i, x := range src {
		q := f.integer(float64(x), narrow)
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
