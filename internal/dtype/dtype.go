// Package dtype defines the element types of tensors, their promotion rules and the conversion of contiguous runs from
// one to another.
package dtype

import "math"

// DType is the element type of a tensor. The zero value, Invalid, means "not given" in option structs.
type DType uint8

// The element types by category, in PyTorch's order of promotion within a category.
const (
	Invalid DType = iota
	QUInt8        // the quantized types, which take no part in promotion
	QInt8
	QInt32
	QUInt4x2
	QUInt2x4
	Int1 // from here to Bits16: the opaque types, which take no part in promotion either
	Int2
	Int3
	Int4
	Int5
	Int6
	Int7
	Uint1
	Uint2
	Uint3
	Uint4
	Uint5
	Uint6
	Uint7
	Bits1x8
	Bits2x4
	Bits4x2
	Bits8
	Bits16
	Bool
	Uint8
	Int8
	Int16
	Int32
	Int64
	Uint16
	Uint32
	Uint64
	Float4E2M1FNx2 // opaque, too: two numbers in a byte
	Float8E4M3FN
	Float8E5M2
	Float8E4M3FNUZ
	Float8E5M2FNUZ
	Float8E8M0FNU
	Float16
	BFloat16
	Float32
	Float64
	Complex32
	BComplex32
	Complex64
	Complex128
	numTypes
)

// All lists every element type but the quantized ones, whose elements mean something only with a scale, the opaque
// ones, and BComplex32, which PyTorch only has for storage.
var All = []DType{Bool, Uint8, Int8, Int16, Int32, Int64, Uint16, Uint32, Uint64, Float8E4M3FN, Float8E5M2,
	Float8E4M3FNUZ, Float8E5M2FNUZ, Float8E8M0FNU, Float16, BFloat16, Float32, Float64, Complex32, Complex64,
	Complex128}

const (
	unsigned uint64 = 1<<Uint16 | 1<<Uint32 | 1<<Uint64
	float8   uint64 = 1<<Float8E4M3FN | 1<<Float8E5M2 | 1<<Float8E4M3FNUZ | 1<<Float8E5M2FNUZ | 1<<Float8E8M0FNU
	opaque   uint64 = 1<<(Bits16+1) - 1<<Int1 | 1<<Float4E2M1FNx2
	storage         = unsigned | float8 | opaque | 1<<Complex32 | 1<<BComplex32
)

// IsWideUnsigned reports a wider unsigned integer than a byte: Uint16, Uint32, Uint64.
func (d DType) IsWideUnsigned() bool { return 1<<d&unsigned != 0 }

// IsFloat8 reports one of the 8-bit floating-point types.
func (d DType) IsFloat8() bool { return 1<<d&float8 != 0 }

// IsOpaque reports a type whose elements PyTorch only names and stores, without operators: integers of 1 to 7 bits,
// each in a byte, 8 or 16 bits that mean what a program makes of them, and pairs of 4-bit floats.
func (d DType) IsOpaque() bool { return 1<<d&opaque != 0 }

// IsStorage reports a type that elements are stored in and few kernels compute in: wider unsigned integers than a byte,
// 8-bit floats, complex numbers of 16-bit parts, and the opaque types.
func (d DType) IsStorage() bool { return 1<<d&storage != 0 }

var info = [numTypes]struct {
	name, class, c string
	size           int
}{
	{"invalid", "Invalid", "invalid", 0}, {"quint8", "QUInt8", "c10::quint8", 1}, {"qint8", "QInt8", "c10::qint8", 1},
	{"qint32", "QInt32", "c10::qint32", 4}, {"quint4x2", "QUInt4x2", "c10::quint4x2", 1},
	{"quint2x4", "QUInt2x4", "c10::quint2x4", 1},
	{"int1", "Int1", "c10::dummy_int1_7_t<1u>", 1}, {"int2", "Int2", "c10::dummy_int1_7_t<2u>", 1},
	{"int3", "Int3", "c10::dummy_int1_7_t<3u>", 1}, {"int4", "Int4", "c10::dummy_int1_7_t<4u>", 1},
	{"int5", "Int5", "c10::dummy_int1_7_t<5u>", 1}, {"int6", "Int6", "c10::dummy_int1_7_t<6u>", 1},
	{"int7", "Int7", "c10::dummy_int1_7_t<7u>", 1}, {"uint1", "UInt1", "c10::dummy_uint1_7_t<1u>", 1},
	{"uint2", "UInt2", "c10::dummy_uint1_7_t<2u>", 1}, {"uint3", "UInt3", "c10::dummy_uint1_7_t<3u>", 1},
	{"uint4", "UInt4", "c10::dummy_uint1_7_t<4u>", 1}, {"uint5", "UInt5", "c10::dummy_uint1_7_t<5u>", 1},
	{"uint6", "UInt6", "c10::dummy_uint1_7_t<6u>", 1}, {"uint7", "UInt7", "c10::dummy_uint1_7_t<7u>", 1},
	{"bits1x8", "Bits1x8", "c10::bits1x8", 1}, {"bits2x4", "Bits2x4", "c10::bits2x4", 1},
	{"bits4x2", "Bits4x2", "c10::bits4x2", 1}, {"bits8", "Bits8", "c10::bits8", 1},
	{"bits16", "Bits16", "c10::bits16", 2},
	{"bool", "Bool", "bool", 1}, {"uint8", "Byte", "unsigned char", 1},
	{"int8", "Char", "signed char", 1},
	{"int16", "Short", "short int", 2}, {"int32", "Int", "int", 4}, {"int64", "Long", "long int", 8},
	{"uint16", "UInt16", "uint16_t", 2}, {"uint32", "UInt32", "uint32_t", 4}, {"uint64", "UInt64", "uint64_t", 8},
	{"float4_e2m1fn_x2", "Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", 1},
	{"float8_e4m3fn", "Float8_e4m3fn", "c10::Float8_e4m3fn", 1}, {"float8_e5m2", "Float8_e5m2", "c10::Float8_e5m2", 1},
	{"float8_e4m3fnuz", "Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", 1},
	{"float8_e5m2fnuz", "Float8_e5m2fnuz", "c10::Float8_e5m2fnuz", 1},
	{"float8_e8m0fnu", "Float8_e8m0fnu", "c10::Float8_e8m0fnu", 1},
	{"float16", "Half", "c10::Half", 2}, {"bfloat16", "BFloat16", "c10::BFloat16", 2}, {"float32", "Float", "float", 4},
	{"float64", "Double", "double", 8},
	{"complex32", "ComplexHalf", "c10::complex<c10::Half>", 4},
	{"bcomplex32", "BComplex32", "c10::complex<c10::BFloat16>", 4},
	{"complex64", "ComplexFloat", "c10::complex<float>", 8},
	{"complex128", "ComplexDouble", "c10::complex<double>", 16},
}

// IsQuantized reports a type whose elements are integers that stand for numbers by a scale and a zero point.
func (d DType) IsQuantized() bool { return d >= QUInt8 && d <= QUInt2x4 }

// Bits is the number of bits of one element: eight for each of its bytes but for quint4x2 and quint2x4, which share
// bytes.
func (d DType) Bits() int {
	switch d {
	case QUInt4x2:
		return 4
	case QUInt2x4:
		return 2
	}
	return 8 * info[d].size
}

// Integer is the type of the integers that a quantized type holds (packed bytes for less than 8 bits), Invalid for
// other types.
func (d DType) Integer() DType {
	switch d {
	case QUInt8, QUInt4x2, QUInt2x4:
		return Uint8
	case QInt8:
		return Int8
	case QInt32:
		return Int32
	}
	return Invalid
}

// Valid reports one of the element types.
func (d DType) Valid() bool { return d > Invalid && d < numTypes }

// Size is the number of bytes of one element.
func (d DType) Size() int { return info[d].size }

// Name is PyTorch's name without the prefix: "float32".
func (d DType) Name() string { return info[d].name }

// ClassName is the name PyTorch uses in error texts and storage classes: "Float", "Long".
func (d DType) ClassName() string { return info[d].class }

// CName is the name of the type in C++, which some error texts give: "long int".
func (d DType) CName() string { return info[d].c }

// String prints as Python does: "torch.float32".
func (d DType) String() string { return "torch." + info[d].name }

// Parse finds a type by its name, with or without the "torch." prefix; Invalid when there is none.
func Parse(s string) DType {
	if len(s) > 6 && s[:6] == "torch." {
		s = s[6:]
	}
	for i := QUInt8; i < numTypes; i++ {
		if info[i].name == s {
			return i
		}
	}
	switch s {
	case "float":
		return Float32
	case "double":
		return Float64
	case "half":
		return Float16
	case "long":
		return Int64
	case "int":
		return Int32
	case "short":
		return Int16
	case "bit":
		return Uint1
	case "chalf":
		return Complex32
	case "cfloat":
		return Complex64
	case "cdouble":
		return Complex128
	}
	return Invalid
}

// IsFloat reports a real floating-point type.
func (d DType) IsFloat() bool { return d >= Float4E2M1FNx2 && d <= Float64 }

// IsComplex reports a complex type.
func (d DType) IsComplex() bool { return d >= Complex32 }

// IsInt reports an integer type (bool is not one).
func (d DType) IsInt() bool { return d >= Uint8 && d <= Uint64 }

// IsIntOrBool reports an integer type or bool.
func (d DType) IsIntOrBool() bool { return d >= Bool && d <= Uint64 }

// IsDifferentiable reports a type that can carry gradients.
func (d DType) IsDifferentiable() bool { return d >= Float8E4M3FN }

// IsReduced reports a 16-bit floating-point type, which is computed in float32.
func (d DType) IsReduced() bool { return d == Float16 || d == BFloat16 }

// Real is the type of the parts of a complex type, or d itself.
func (d DType) Real() DType {
	switch d {
	case Complex32:
		return Float16
	case BComplex32:
		return BFloat16
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// Complex is the complex type whose parts have type d (complex64 for those that are of no complex number).
func (d DType) Complex() DType {
	switch d {
	case Float16, Complex32:
		return Complex32
	case BFloat16, BComplex32:
		return BComplex32
	case Float64, Complex128:
		return Complex128
	}
	return Complex64
}

// Compute is the type in which kernels work: the next one that holds all numbers of d where d is stored only (int64 for
// uint64, which it wraps around), float32 for the 16-bit types, otherwise d.
func (d DType) Compute() DType {
	switch d {
	case Uint16:
		return Int32
	case Uint32, Uint64:
		return Int64
	case Float16, BFloat16, Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ, Float8E8M0FNU:
		return Float32
	case Complex32, BComplex32:
		return Complex64
	}
	return d
}

// Promote is torch.promote_types, Invalid where PyTorch refuses: there is no type for two of which one is an 8-bit
// float, an opaque type or an unsigned integer of more than a byte, but floats win over those integers.
func Promote(a, b DType) DType {
	if a == b || b == Invalid {
		return a
	}
	if a == Invalid {
		return b
	}
	if a > b {
		a, b = b, a
	}
	switch {
	case (1<<a|1<<b)&(float8|opaque) != 0:
		return Invalid
	case b.IsWideUnsigned() || a.IsWideUnsigned() && !b.IsFloat():
		return Invalid
	case b == BComplex32 && a == Float64:
		return Complex128
	case b == BComplex32 && (a == Float16 || a == Float32 || a == Complex32):
		return Complex64
	case b == Complex32 && (a == BFloat16 || a == Float32):
		return Complex64
	case b == Complex32 && a == Float64:
		return Complex128
	case a == Uint8 && b.IsInt():
		if b == Int8 {
			return Int16
		}
		return b
	case a == Float16 && b == BFloat16:
		return Float32
	case a == Float64 && b == Complex64:
		return Complex128
	}
	return b
}

// CanCast is torch.can_cast: whether a value of type from may be written to a result of type to.
func CanCast(from, to DType) bool {
	if from.IsComplex() && !to.IsComplex() {
		return false
	}
	if from.IsFloat() && to.IsIntOrBool() {
		return false
	}
	if to == Bool && from != Bool {
		return false
	}
	return true
}

// Float16 and BFloat16 hold the bits of a 16-bit floating-point number.
type (
	Float16Bits  uint16
	BFloat16Bits uint16
)

// F32 widens exactly.
func (h Float16Bits) F32() float32 {
	s := uint32(h&0x8000) << 16
	e := uint32(h>>10) & 31
	m := uint32(h) & 0x3ff
	switch {
	case e == 31:
		return math.Float32frombits(s | 0x7f800000 | m<<13)
	case e == 0:
		f := float32(m) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | s)
	}
	return math.Float32frombits(s | (e+112)<<23 | m<<13)
}

// F32 widens exactly.
func (b BFloat16Bits) F32() float32 { return math.Float32frombits(uint32(b) << 16) }

// ToFloat16 rounds to nearest even.
func ToFloat16(f float32) Float16Bits {
	b := math.Float32bits(f)
	s := uint16(b>>16) & 0x8000
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return Float16Bits(s | 0x7e00)
	case b >= 0x477ff000: // rounds to 65536 or more
		return Float16Bits(s | 0x7c00)
	case b < 0x38800000: // subnormal: let the hardware round by adding 0.5's exponent
		d := math.Float32bits(math.Float32frombits(b)+0.5) - 0x3f000000
		return Float16Bits(s | uint16(d))
	}
	b += 0xfff + (b>>13)&1
	return Float16Bits(s | uint16((b-0x38000000)>>13))
}

// ToBFloat16 rounds to nearest even.
func ToBFloat16(f float32) BFloat16Bits {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return 0x7fc0
	}
	return BFloat16Bits((b + 0x7fff + (b>>16)&1) >> 16)
}
