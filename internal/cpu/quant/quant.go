// Package quant holds the arithmetic of quantized numbers, on slices: rounding, choice of scale and zero point, and
// what stands between the int32 sums of a product of bytes and its result ("requantization").
//
// A quantized number is an integer q that stands for (q - zero) * scale. Everything rounds half to even, as the
// processor's conversions do, and computes in float32 in the order of the library that PyTorch uses, so that the
// integers are the same: fbgemm (https://github.com/pytorch/FBGEMM), QNNPACK and oneDNN. The scheme is that of Jacob et
// al. 2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference".
//
//	quant.go, fake.go    numbers to bytes and back, sums and products, choice of scale and zero point
//	weights.go           packing of weights
//	requantize.go        what a result is made of: the engines' rules
//	product.go           products and convolutions: segments, bands, tasks
//	kernel.go            arguments of the kernels; the portable ones
//	pool.go              maximum and mean
//	zz_*.s               assembly, written by ../_asm/quant
package quant

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

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

// Rounding says how numbers become quantized ones: by scale and zero point, within limits. The fields are the scalars
// of the kernels in package vec: one over the scale, the zero point, the limits, and what becomes of numbers whose
// quotient by the scale int32 does not hold. The processor's conversion makes the least or the largest integer of
// those, to which the zero point is added with 32 bits, which may wrap around.
type Rounding struct{ inv, zero, lo, hi, under, over float32 }

// RoundingOf is the Rounding to bytes of type T. With relu, numbers below 0 become 0.
func RoundingOf[T int8 | uint8](scale float32, zero int, relu bool) Rounding {
	lo, hi := Limits[T]()
	if relu {
		lo = max(lo, float64(zero))
	}
	limit := func(q int32) float32 { return float32(min(max(float64(q+int32(zero)), lo), hi)) }
	const top = 2147483520 // the largest float32 that int32 holds
	r := Rounding{inverse(scale), float32(zero), float32(lo), float32(hi), limit(math.MinInt32), limit(top)}
	if relu {
		r.under = limit(0)
	}
	return r
}

// Quantize sets dst to the quantized numbers nearest to src.
func Quantize[T Int](dst []T, src []float32, scale float32, zero int) {
	switch d := any(dst).(type) {
	case []uint8:
		r := RoundingOf[uint8](scale, zero, false)
		parts(len(d), func(i, j int) {
			vec.QuantizeU8(d[i:j], src[i:j], r.inv, r.zero, r.lo, r.hi, r.under, r.over)
		})
	case []int8:
		r := RoundingOf[int8](scale, zero, false)
		parts(len(d), func(i, j int) {
			vec.QuantizeI8(d[i:j], src[i:j], r.inv, r.zero, r.lo, r.hi, r.under, r.over)
		})
	default:
		for i, x := range src {
			dst[i] = One[T](x, scale, zero)
		}
	}
}

// QuantizeDiv is Quantize by ONNX's rule: numbers are divided by the scale, those beyond the limits become the
// limits, and NaN becomes the lower one, as in ONNX Runtime.
func QuantizeDiv[T int8 | uint8](dst []T, src []float32, scale float32, zero int) {
	low, high := Limits[T]()
	lo, hi, z := float32(low), float32(high), float32(zero)
	parts(len(dst), func(i, j int) {
		switch d := any(dst[i:j]).(type) {
		case []uint8:
			vec.QuantizeDivU8(d, src[i:j], scale, z, lo, hi)
		case []int8:
			vec.QuantizeDivI8(d, src[i:j], scale, z, lo, hi)
		}
	})
}

// QuantizeWithin is Quantize for one over the scale and narrower limits, which numbers become that no integer holds.
func QuantizeWithin[T int8 | uint8](dst []T, src []float32, inv float32, zero, least, most int) {
	lo, hi, z := float32(least), float32(most), float32(zero)
	parts(len(dst), func(i, j int) {
		switch d := any(dst[i:j]).(type) {
		case []uint8:
			vec.QuantizeU8(d, src[i:j], inv, z, lo, hi, lo, hi)
		case []int8:
			vec.QuantizeI8(d, src[i:j], inv, z, lo, hi, lo, hi)
		}
	})
}

// partSize is the number of elements that are worth a task.
const partSize = 1 << 15

// parts calls f for parts of n elements, in parallel.
func parts(n int, f func(i, j int)) { par.For(n, partSize, f) }

// Requantize sets dst to the quantized numbers nearest to those that src stands for.
func Requantize[T int8 | uint8](dst, src []T, scale float32, zero int, r Rounding) {
	z := float32(zero)
	parts(len(dst), func(i, j int) {
		switch d := any(dst[i:j]).(type) {
		case []uint8:
			vec.RequantizeU8(d, any(src[i:j]).([]uint8), z, scale, r.inv, r.zero, r.lo, r.hi, r.under, r.over)
		case []int8:
			vec.RequantizeI8(d, any(src[i:j]).([]int8), z, scale, r.inv, r.zero, r.lo, r.hi, r.under, r.over)
		}
	})
}

// Operand is an operand of Add and Mul: quantized numbers with their scale and zero point.
type Operand[T int8 | uint8] struct {
	Data  []T
	Scale float32
	Zero  int
}

// Add sets dst to the quantized numbers nearest to the sums of those that a and b stand for.
func Add[T int8 | uint8](dst []T, a, b Operand[T], r Rounding) {
	binary(dst, a, b, r, vec.AddQuantizedU8, vec.AddQuantizedI8)
}

// Mul is Add for products.
func Mul[T int8 | uint8](dst []T, a, b Operand[T], r Rounding) {
	binary(dst, a, b, r, vec.MulQuantizedU8, vec.MulQuantizedI8)
}

func binary[T int8 | uint8](dst []T, a, b Operand[T], r Rounding,
	u8 func(dst, a, b []uint8, za, sa, zb, sb, inv, zero, lo, hi, under, over float32),
	i8 func(dst, a, b []int8, za, sa, zb, sb, inv, zero, lo, hi, under, over float32)) {
	za, zb := float32(a.Zero), float32(b.Zero)
	parts(len(dst), func(i, j int) {
		x, y := a.Data[i:j], b.Data[i:j]
		switch d := any(dst[i:j]).(type) {
		case []uint8:
			u8(d, any(x).([]uint8), any(y).([]uint8), za, a.Scale, zb, b.Scale, r.inv, r.zero, r.lo, r.hi, r.under,
				r.over)
		case []int8:
			i8(d, any(x).([]int8), any(y).([]int8), za, a.Scale, zb, b.Scale, r.inv, r.zero, r.lo, r.hi, r.under,
				r.over)
		}
	})
}

// Range is the least and the largest of some numbers; NaN where one of them is; zeros for none.
func Range(x []float32) (lo, hi float32) {
	if len(x) == 0 {
		return 0, 0
	}
	if len(x) <= partSize {
		return vec.MinF32(x), vec.MaxF32(x)
	}
	n := (len(x) + partSize - 1) / partSize
	list := make([]float32, 2*n)
	par.For(n, 1, func(from, to int) {
		for i := from; i < to; i++ {
			part := x[i*partSize : min((i+1)*partSize, len(x))]
			list[i], list[n+i] = vec.MinF32(part), vec.MaxF32(part)
		}
	})
	return vec.MinF32(list[:n]), vec.MaxF32(list[n:])
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
	z := float32(zero)
	switch s := any(src).(type) {
	case []uint8:
		parts(len(dst), func(i, j int) { vec.DequantizeU8(dst[i:j], s[i:j], z, scale) })
	case []int8:
		parts(len(dst), func(i, j int) { vec.DequantizeI8(dst[i:j], s[i:j], z, scale) })
	default:
		for i, q := range src {
			dst[i] = scale * float32(int64(q)-int64(zero))
		}
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
	return params(least, most, qmin, qmax, symmetric, reduceRange, false)
}

// SingleParams is Params with a scale that is rounded to float32 before the zero point is chosen, as PyTorch's first
// quantized operators have it.
func SingleParams(least, most float32, qmin, qmax int) (scale float64, zero int) {
	return params(least, most, qmin, qmax, false, false, true)
}

func params(least, most float32, qmin, qmax int, symmetric, reduceRange, single bool) (scale float64, zero int) {
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
	if single {
		scale = float64(float32(scale))
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
