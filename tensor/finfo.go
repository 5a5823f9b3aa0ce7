package tensor

import (
	"math"
	"strconv"
)

// FloatInfo describes a floating-point dtype; https://docs.pytorch.org/docs/stable/type_info.html.
type FloatInfo struct {
	Bits           int
	Eps            float64 // the distance from 1 to the next number
	Max, Min       float64 // the largest and the smallest number
	SmallestNormal float64 // the smallest positive number of full precision
	Tiny           float64 // the same
	Resolution     float64 // 10 to the minus number of decimal digits that are exact
	DType          DType
}

// sixDigits prints as C's %g does.
func sixDigits(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// String prints as Python's torch.finfo does.
func (i FloatInfo) String() string {
	n := sixDigits
	return "finfo(resolution=" + n(i.Resolution) + ", min=" + n(i.Min) + ", max=" + n(i.Max) + ", eps=" + n(i.Eps) +
		", smallest_normal=" + n(i.SmallestNormal) + ", tiny=" + n(i.Tiny) + ", dtype=" + i.DType.Name() + ")"
}

// String prints as Python's torch.iinfo does, which gives six digits of large numbers.
func (i IntInfo) String() string {
	n := sixDigits
	return "iinfo(min=" + n(float64(i.Min)) + ", max=" + n(float64(i.Max)) + ", dtype=" + i.DType.Name() + ")"
}

// FInfo describes a floating-point dtype, or the parts of a complex one. It panics for integers.
func FInfo(dt DType) FloatInfo {
	if !dt.IsDifferentiable() {
		Fail(ErrDType, "torch.finfo() requires a floating point input type, got %s. Use IInfo for integers.", dt)
	}
	var i FloatInfo
	if f, ok := float8Infos[dt]; ok {
		f.Bits, f.Min, f.Tiny, f.Resolution, f.DType = 8, -f.Max, f.SmallestNormal, 1, dt
		if dt == Float8E8M0FNU { // it has no sign
			f.Min = f.SmallestNormal
		}
		return f
	}
	switch real := dt.Real(); real {
	case Float16:
		i = FloatInfo{Bits: 16, Eps: 0x1p-10, Max: 65504, SmallestNormal: 0x1p-14, Resolution: 1e-3, DType: real}
	case BFloat16:
		i = FloatInfo{Bits: 16, Eps: 0x1p-7, Max: 0x1.fep127, SmallestNormal: 0x1p-126, Resolution: 1e-2, DType: real}
	case Float32:
		i = FloatInfo{Bits: 32, Eps: 0x1p-23, Max: math.MaxFloat32, SmallestNormal: 0x1p-126, Resolution: 1e-6,
			DType: real}
	default:
		i = FloatInfo{Bits: 64, Eps: 0x1p-52, Max: math.MaxFloat64, SmallestNormal: 0x1p-1022, Resolution: 1e-15,
			DType: real}
	}
	i.Min, i.Tiny = -i.Max, i.SmallestNormal
	return i
}

// float8Infos has what differs between the 8-bit types.
var float8Infos = map[DType]FloatInfo{
	Float8E4M3FN:   {Eps: 0x1p-3, Max: 448, SmallestNormal: 0x1p-6},
	Float8E5M2:     {Eps: 0x1p-2, Max: 57344, SmallestNormal: 0x1p-14},
	Float8E4M3FNUZ: {Eps: 0x1p-3, Max: 240, SmallestNormal: 0x1p-7},
	Float8E5M2FNUZ: {Eps: 0x1p-2, Max: 57344, SmallestNormal: 0x1p-15},
	Float8E8M0FNU:  {Eps: 1, Max: 0x1p127, SmallestNormal: 0x1p-127},
}

// IntInfo describes an integer dtype; https://docs.pytorch.org/docs/stable/type_info.html.
type IntInfo struct {
	Bits  int
	Max   uint64
	Min   int
	DType DType
}

// IInfo describes an integer dtype. It panics for bool and for floating-point dtypes.
func IInfo(dt DType) IntInfo {
	if dt == Bool || dt.IsDifferentiable() || dt.Size() == 0 {
		Fail(ErrDType, "torch.iinfo() requires an integer input type, got %s. Use FInfo for floating-point types.", dt)
	}
	bits := 8 * dt.Size()
	if dt == Uint8 || dt.IsWideUnsigned() {
		return IntInfo{Bits: bits, Max: math.MaxUint64 >> (64 - bits), DType: dt}
	}
	return IntInfo{Bits: bits, Max: 1<<(bits-1) - 1, Min: -1 << (bits - 1), DType: dt}
}
