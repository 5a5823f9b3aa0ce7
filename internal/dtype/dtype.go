// Package dtype defines the element types of tensors, their promotion rules and the conversion of contiguous runs from
// one to another.
package dtype

import "math"

// DType is the element type of a tensor. The zero value, Invalid, means "not given" in option structs.
type DType uint8

// The element types, in PyTorch's order of promotion within a category.
const (
	Invalid DType = iota
	Bool
	Uint8
	Int8
	Int16
	Int32
	Int64
	Float16
	BFloat16
	Float32
	Float64
	Complex64
	Complex128
	numTypes
)

// All lists every element type.
var All = []DType{Bool, Uint8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64, Complex64, Complex128}

var info = [numTypes]struct {
	name, class, c string
	size           int
}{
	{"invalid", "Invalid", "invalid", 0}, {"bool", "Bool", "bool", 1}, {"uint8", "Byte", "unsigned char", 1},
	{"int8", "Char", "signed char", 1},
	{"int16", "Short", "short int", 2}, {"int32", "Int", "int", 4}, {"int64", "Long", "long int", 8},
	{"float16", "Half", "c10::Half", 2}, {"bfloat16", "BFloat16", "c10::BFloat16", 2}, {"float32", "Float", "float", 4},
	{"float64", "Double", "double", 8},
	{"complex64", "ComplexFloat", "c10::complex<float>", 8},
	{"complex128", "ComplexDouble", "c10::complex<double>", 16},
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
	for i := Bool; i < numTypes; i++ {
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
	case "cfloat":
		return Complex64
	case "cdouble":
		return Complex128
	}
	return Invalid
}

// IsFloat reports a real floating-point type.
func (d DType) IsFloat() bool { return d >= Float16 && d <= Float64 }

// IsComplex reports a complex type.
func (d DType) IsComplex() bool { return d >= Complex64 }

// IsInt reports an integer type (bool is not one).
func (d DType) IsInt() bool { return d >= Uint8 && d <= Int64 }

// IsIntOrBool reports an integer type or bool.
func (d DType) IsIntOrBool() bool { return d >= Bool && d <= Int64 }

// IsDifferentiable reports a type that can carry gradients.
func (d DType) IsDifferentiable() bool { return d >= Float16 }

// IsReduced reports a 16-bit floating-point type, which is computed in float32.
func (d DType) IsReduced() bool { return d == Float16 || d == BFloat16 }

// Real is the type of the parts of a complex type, or d itself.
func (d DType) Real() DType {
	switch d {
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// Complex is the complex type whose parts have type d (float16 and bfloat16 widen to complex64).
func (d DType) Complex() DType {
	switch d {
	case Float64, Complex128:
		return Complex128
	}
	return Complex64
}

// Compute is the type in which kernels work: float32 for the 16-bit types, otherwise d.
func (d DType) Compute() DType {
	if d.IsReduced() {
		return Float32
	}
	return d
}

// Promote is torch.promote_types.
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
