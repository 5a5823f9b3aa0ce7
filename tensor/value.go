package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

// Value is a boxed argument or result of an operator.
type Value struct {
	K Kind
	N int64 // int, bool, dtype, format; the bits of a float
	T *Tensor
	X any // []int (ints and bools), []*Tensor, string, complex128, []float64, Device, *rng.Generator …
}

// Float is the number in a float value.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.N)) }

// Ints is the list in an int or bool list value, nil for others.
func (v Value) Ints() []int {
	l, _ := v.X.([]int)
	return l
}

// Constructors of boxed arguments.
func TensorValue(t *Tensor) Value {
	if t == nil {
		return Value{}
	}
	return Value{K: KTensor, T: t}
}
func TensorsValue(t []*Tensor) Value   { return Value{K: KTensors, X: t} }
func IntValue(n int) Value             { return Value{K: KInt, N: int64(n)} }
func FloatValue(f float64) Value       { return Value{K: KFloat, N: int64(math.Float64bits(f))} }
func ComplexValue(c complex128) Value  { return Value{K: KComplex, X: c} }
func StrValue(s string) Value          { return Value{K: KStr, X: s} }
func IntsValue(l []int) Value          { return Value{K: KInts, X: l} }
func FloatsValue(l []float64) Value    { return Value{K: KFloats, X: l} }
func StrsValue(l []string) Value       { return Value{K: KStrs, X: l} }
func DeviceValue(d Device) Value       { return Value{K: KDevice, X: d} }
func FormatValue(f MemoryFormat) Value { return Value{K: KFormat, N: int64(f)} }
func AnyValue(x any) Value             { return Value{K: KAny, X: x} }
func GeneratorValue(g any) Value       { return Value{K: KGenerator, X: g} }
func OptIntsValue(l []int) Value {
	if l == nil {
		return Value{}
	}
	return IntsValue(l)
}
func OptStrValue(s string) Value {
	if s == "" {
		return Value{}
	}
	return StrValue(s)
}
func BoolValue(b bool) Value {
	v := Value{K: KBool}
	if b {
		v.N = 1
	}
	return v
}
func BoolsValue(l []bool) Value {
	n := make([]int, len(l))
	for i, b := range l {
		if b {
			n[i] = 1
		}
	}
	return Value{K: KBools, X: n}
}
func DTypeValue(d DType) Value {
	if d == 0 {
		return Value{}
	}
	return Value{K: KDType, N: int64(d)}
}

// Scalar is a Go number (any int, uint, float or complex type) or bool where an operator takes Python's Number.
type Scalar any

// ScalarValue boxes a number; nil gives None.
func ScalarValue(s Scalar) Value {
	switch x := s.(type) {
	case nil:
		return Value{}
	case int:
		return IntValue(x)
	case float64:
		return FloatValue(x)
	case float32:
		return FloatValue(float64(x))
	case bool:
		return BoolValue(x)
	case complex128:
		return ComplexValue(x)
	case complex64:
		return ComplexValue(complex128(x))
	case int64:
		return IntValue(int(x))
	case int32:
		return IntValue(int(x))
	case int16:
		return IntValue(int(x))
	case int8:
		return IntValue(int(x))
	case uint8:
		return IntValue(int(x))
	case uint16:
		return IntValue(int(x))
	case uint32:
		return IntValue(int(x))
	case uint:
		return IntValue(int(x))
	case uint64:
		return IntValue(int(x))
	case Num:
		return x.Value()
	}
	Fail(ErrType, "want a number or bool, got %T", s)
	return Value{}
}

// Num is a number with its Python type: K is KBool, KInt, KFloat or KComplex.
type Num struct {
	K Kind
	I int64
	F float64
	C complex128
}

// Value boxes the number.
func (n Num) Value() Value {
	switch n.K {
	case KBool:
		return Value{K: KBool, N: n.I}
	case KInt:
		return Value{K: KInt, N: n.I}
	case KFloat:
		return FloatValue(n.F)
	}
	return ComplexValue(n.C)
}

// Num reads a boxed number.
func (v Value) Num() Num {
	switch v.K {
	case KBool, KInt:
		return Num{v.K, v.N, float64(v.N), complex(float64(v.N), 0)}
	case KFloat:
		f, i := v.Float(), int64(0)
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			i = int64(f)
		}
		return Num{KFloat, i, f, complex(f, 0)}
	case KComplex:
		c := v.X.(complex128)
		return Num{KComplex, int64(real(c)), real(c), c}
	}
	Fail(ErrType, "want a number, got %s", v)
	return Num{}
}

// IsInt reports an int or bool.
func (n Num) IsInt() bool { return n.K == KInt || n.K == KBool }

// DType is the type that a Python number of this kind has as a tensor: bool, int64, the default float type or its
// complex type.
func (n Num) DType() DType {
	switch n.K {
	case KBool:
		return Bool
	case KInt:
		return Int64
	case KFloat:
		return DefaultDType()
	}
	return DefaultComplexDType()
}

// Tensor makes a 0-d tensor that counts as a number in type promotion.
func (n Num) Tensor() *Tensor {
	dt := n.DType()
	if n.K == KFloat {
		dt = Float64
	} else if n.K == KComplex {
		dt = Complex128
	}
	t := New(nil, dt)
	switch dt {
	case Bool:
		*(*uint8)(Ptr(t)) = uint8(n.I)
	case Int64:
		*(*int64)(Ptr(t)) = n.I
	case Float64:
		*(*float64)(Ptr(t)) = n.F
	default:
		*(*complex128)(Ptr(t)) = n.C
	}
	t.flags |= flagWrapped
	return t
}

// String describes the value for error texts.
func (v Value) String() string {
	switch v.K {
	case KNone:
		return "None"
	case KTensor:
		return describe(v.T)
	case KTensors:
		var b strings.Builder
		l, _ := v.X.([]*Tensor)
		for i, t := range l {
			if i > 0 {
				b.WriteString(", ")
			}
			if i == 4 {
				b.WriteString("…")
				break
			}
			b.WriteString(describe(t))
		}
		return "[" + b.String() + "]"
	case KInt:
		return strconv.FormatInt(v.N, 10)
	case KBool:
		return strconv.FormatBool(v.N != 0)
	case KFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case KInts, KBools:
		return ShapeString(v.Ints())
	case KDType:
		return DType(v.N).String()
	case KFormat:
		return [...]string{"None", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d"}[v.N]
	}
	return fmt.Sprint(v.X)
}

func describe(t *Tensor) string {
	if t == nil {
		return "None"
	}
	what := ""
	if t.flags&flagSparse != 0 {
		what = "sparse "
	}
	names := ""
	if t.flags&flagNamed != 0 {
		names = " names=" + tupleOfNames(t.ag.names)
	}
	return fmt.Sprintf("%s%s%s %s%s", what, t.dt.Name(), ShapeString(t.shape), t.dev, names)
}

// Num reads the only element of a tensor as a number.
func (t *Tensor) Num() Num {
	t.mustHaveMemory("Tensor.Num")
	if t.batched() != nil {
		refuseBatchRead("calling .item() on a Tensor")
	}
	if t.numel != 1 {
		Fail(ErrShape, "a Tensor with %d elements cannot be converted to Scalar", t.numel)
	}
	if t.flags&lazyBits != 0 {
		return t.resolved().Num()
	}
	if t.flags&flagQuantized != 0 {
		return t.dequantized().Num()
	}
	if t.dev.Type != CPUDevice {
		if t.dev.Type == MetaDevice {
			Fail(ErrDevice, "Tensor.item() cannot be called on meta tensors")
		}
		return HostCopy(t).Num()
	}
	if witnesses.Load() != 0 {
		t.st.looked()
	}
	if t.dt.IsOpaque() {
		Fail(ErrNotImpl, "\"_local_scalar_dense_cpu\" not implemented for '%s'", t.dt.ClassName())
	}
	p := Ptr(t)
	switch t.dt {
	case Bool:
		return Value{K: KBool, N: int64(*(*uint8)(p))}.Num()
	case Uint8:
		return IntValue(int(*(*uint8)(p))).Num()
	case Int8:
		return IntValue(int(*(*int8)(p))).Num()
	case Int16:
		return IntValue(int(*(*int16)(p))).Num()
	case Int32:
		return IntValue(int(*(*int32)(p))).Num()
	case Int64:
		return Value{K: KInt, N: *(*int64)(p)}.Num()
	case Uint16:
		return IntValue(int(*(*uint16)(p))).Num()
	case Uint32:
		return IntValue(int(*(*uint32)(p))).Num()
	case Uint64: // beyond int64 the integer wraps around, the floats are right
		u := *(*uint64)(p)
		return Num{KInt, int64(u), float64(u), complex(float64(u), 0)}
	case Complex32, BComplex32:
		var c complex64
		convertRun(Complex64, t.dt, unsafe.Pointer(&c), p, 1)
		return ComplexValue(complex128(c)).Num()
	case Float64:
		return FloatValue(*(*float64)(p)).Num()
	case Float32:
		return FloatValue(float64(*(*float32)(p))).Num()
	case Complex64:
		return ComplexValue(complex128(*(*complex64)(p))).Num()
	case Complex128:
		return ComplexValue(*(*complex128)(p)).Num()
	}
	var f float32
	convertRun(Float32, t.dt, unsafe.Pointer(&f), p, 1)
	return FloatValue(float64(f)).Num()
}
