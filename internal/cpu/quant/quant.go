// Package quant holds the arithmetic of quantized numbers, on slices: rounding, choice of scale and zero point, and
// what stands between the int32 sums of a product of bytes and its result ("requantization").
//
// A quantized number is an integer q that stands for (q - zero) * scale. Everything rounds half to even, as the
// processor's conversions do, and computes in float32 in the order of the library that PyTorch uses, so that the
// integers are the same: fbgemm (https://github.com/pytorch/FBGEMM), QNNPACK and oneDNN. The scheme is that of Jacob et
// al. 2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference".
package quant

import "math"

// Int is an element type of quantized tensors.
type Int interface{ int8 | uint8 | int32 }

// Limits are the least and the largest number of a type.
func Limits[T Int]() (lo, hi float64) {
	var z T
	switch any(z).(type) {
	case int8:
		return -128, 127
	case uint8:
		return 0, 255
	}
	return math.MinInt32, math.MaxInt32
}

// Round rounds half to even.
func Round(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// inverse is 1/scale in float32.
func inverse(scale float32) float32 { return 1 / scale }

// clip limits a number that is whole or infinite; NaN gives the lower limit.
func clip(x, lo, hi float64) float64 {
	if !(x > lo) {
		return lo
	}
	return min(x, hi)
}

// One is the quantized number nearest to x.
func One[T Int](x, scale float32, zero int) T {
	lo, hi := Limits[T]()
	return T(clip(float64(float32(zero)+Round(x*inverse(scale))), lo, hi))
}

// Quantize sets dst to the quantized numbers nearest to src. Numbers beyond the range of int32 give what the
// processor's conversion to int32 makes of them: the zero point is added with 32 bits, which may wrap around.
func Quantize[T Int](dst []T, src []float32, scale float32, zero int) {
	lo, hi := Limits[T]()
	inv := inverse(scale)
	if hi > 255 {
		for i, x := range src {
			dst[i] = One[T](x, scale, zero)
		}
		return
	}
	least, most, z := int32(lo), int32(hi), int32(zero)
	const top = 2147483520 // the largest float32 that int32 holds
	for i, x := range src {
		y := x * inv
		q := int32(math.MinInt32)
		switch {
		case !(y < top):
			q = top
		case y >= -1<<31:
			q = int32(math.RoundToEven(float64(y)))
		}
		dst[i] = T(min(max(q+z, least), most))
	}
}

// QuantizeFloatZero is Quantize with a zero point that is no integer, for numbers of up to 8 bits whose limit is hi.
func QuantizeFloatZero(dst []uint8, src []float32, scale, zero float32, hi float64) {
	inv := float32(1)
	if scale != 0 {
		inv = inverse(scale)
	}
	for i, x := range src {
		dst[i] = uint8(clip(math.RoundToEven(float64(x*inv+zero)), 0, hi))
	}
}

// Dequantize sets dst to the numbers that src stands for.
func Dequantize[T Int](dst []float32, src []T, scale float32, zero int) {
	for i, q := range src {
		dst[i] = scale * float32(int64(q)-int64(zero))
	}
}

// DequantizeFloatZero is Dequantize with a zero point that is no integer.
func DequantizeFloatZero[T Int](dst []float32, src []T, scale, zero float32) {
	for i, q := range src {
		dst[i] = (float32(q) - zero) * scale
	}
}

// Params chooses scale and zero point for numbers from least to most, which are widened to hold 0, for integers from
// qmin to qmax: fbgemm's ChooseQuantizationParams. With symmetric, the middle of the range stands for 0; with
// reduceRange one bit less is used.
func Params(least, most float32, qmin, qmax int, symmetric, reduceRange bool) (scale float64, zero int) {
	if reduceRange {
		qmin, qmax = qmin/2, qmax/2
	}
	lo, hi := least, most
	around := lo < 0 && hi > 0 && symmetric
	if around {
		half := float64((qmax - qmin) / 2)
		top := max(math.Abs(float64(lo)/(half+1)), math.Abs(float64(hi)/half))
		lo, hi = float32(-top*(half+1)), float32(top*half)
	}
	lo, hi = min(lo, 0), max(hi, 0)
	scale = (float64(hi) - float64(lo)) / float64(qmax-qmin)
	if float32(scale) == 0 || math.IsInf(float64(1/float32(scale)), 0) {
		scale = 0.1
	}
	const least32 = float32(6.1e-5) // a smaller scale has no inverse of full precision
	if scale < float64(least32) {
		was := float32(scale)
		scale = float64(least32)
		switch {
		case lo == 0:
			hi = least32 * float32(qmax-qmin)
		case hi == 0:
			lo = -least32 * float32(qmax-qmin)
		default:
			lo *= least32 / was
			hi *= least32 / was
		}
	}
	fromMin := float64(qmin) - float64(lo)/scale
	fromMax := float64(qmax) - float64(hi)/scale
	errMin := math.Abs(float64(qmin)) - math.Abs(float64(lo)/scale)
	errMax := math.Abs(float64(qmax)) - math.Abs(float64(hi)/scale)
	z := fromMax
	if errMin < errMax {
		z = fromMin
	}
	if around {
		z = float64(qmin+qmax) / 2
	}
	zero = qmax
	switch {
	case z < float64(qmin):
		zero = qmin
	case z <= float64(qmax):
		zero = int(math.RoundToEven(z))
	}
	return scale, zero
}
