package kernel

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// This file is the language: types and arguments of kernels, the Builder that records a body, and the
// operations. A body is a straight line of vector operations on values in static single assignment form. The
// Body function runs once per back end, so that all back ends (plain Go, AVX2, AVX-512, NEON) execute the
// same operations in the same order and give the same bits.

// ISA is the back end for which a body is being recorded.
type ISA int

const (
	Generic ISA = iota
	AVX2
	AVX512
	NEON
)

func (i ISA) String() string { return [...]string{"Generic", "AVX2", "AVX512", "NEON"}[i] }

// Type is the type of a lane or of an element in memory.
type Type int

const (
	F32 Type = iota
	F64
	I32
	I64
	U8   // bytes holding 0 or 1, or small integers
	I8   // signed bytes
	F16  // IEEE half precision, in uint16
	BF16 // upper half of a float32, in uint16
	Mask // one truth value per lane
	I16
	U32
)

// Go names the type in Go source.
func (t Type) Go() string {
	return [...]string{"float32", "float64", "int32", "int64", "uint8", "int8", "uint16", "uint16", "bool", "int16",
		"uint32"}[t]
}

// Size is the size of one element in memory.
func (t Type) Size() int { return [...]int{4, 8, 4, 8, 1, 1, 2, 2, 0, 2, 4}[t] }

// Suffix is the suffix that names of kernels have for a floating type.
func (t Type) Suffix() string {
	return [...]string{F32: "F32", F64: "F64", F16: "F16", BF16: "BF16"}[t]
}

// ArgKind says what a kernel does with an argument.
type ArgKind int

const (
	ArgIn ArgKind = iota
	ArgOut
	ArgInOut
	ArgScalar
)

// Arg is one argument of a kernel.
type Arg struct {
	Name string
	T    Type
	Kind ArgKind
}

// perRow reports whether a scalar has a value for each row, in the form of the kernel that walks rows.
func (k *Kernel) perRow(a Arg) bool { return k.PerRow && a.Kind == ArgScalar }

// In, Out, InOut and Scalar declare arguments: a slice that is read, written, or both, and a number.
func In(name string, t Type) Arg     { return Arg{name, t, ArgIn} }
func Out(name string, t Type) Arg    { return Arg{name, t, ArgOut} }
func InOut(name string, t Type) Arg  { return Arg{name, t, ArgInOut} }
func Scalar(name string, t Type) Arg { return Arg{name, t, ArgScalar} }

// Acc is an accumulator of a reduction. Every lane starts at Init, the body updates it, and at the end the
// lanes are folded with Comb ("add", "mul", "max" or "min"): the upper half of the lanes onto the lower half,
// until one lane is left.
type Acc struct {
	Name string
	Comb string
	Init float64
}

// Accumulator declares an accumulator.
func Accumulator(name, comb string, init float64) Acc { return Acc{name, comb, init} }

// Kernel describes one kernel.
type Kernel struct {
	Name   string // exported: chunked wrapper; unexported: bare dispatch, the caller bounds n
	Doc    string
	Lane   Type // F32 or F64: the type in which the body computes
	Args   []Arg
	Accs   []Acc
	Lanes  int // lanes of an accumulator, the same number on every path, so that sums have the same bits
	Unroll int // vectors per iteration of the main loop; 0: chosen from the length of the body
	Copies int // vectors whose operations are interleaved; 0: chosen from the length of the body and the registers
	Body   func(b *Builder)
	// Rows adds a second form of the kernel, with Rows in its name, that runs the body on all
	// rows of several matrices. Each matrix has a distance of its own between its rows. The
	// Rows form of a reduction returns the results of the rows in slices.
	Rows bool
	// PerRow says that in the Rows form every scalar is a slice, too, with a number for each row.
	PerRow bool
	// Next makes the Rows form prefetch the rows of the next call, which follow the rows of this call in memory. It
	// is for a kernel that takes long enough for them to arrive, in a sequence of kernels over the same rows: the
	// first kernel of the next round, which is shorter, then finds the rows in the first-level cache.
	Next bool
	// Down adds a form of a reduction that goes down columns, see columns.go. Its value is Go code, a call that does
	// the same by walking along rows.
	Down string
	// Part adds a form, with Part in its name, for parts of arrays: the caller says whether the arrays are larger
	// than the caches.
	Part bool
	// Exact says that results need no rounding to 16-bit floats: a result is one of the operands, or 0.
	Exact bool
	// NoAVX2 leaves the AVX2 path to the generic code, where the instruction
	// set lacks what is needed.
	NoAVX2 bool
	// hasNarrow is set by a body that computes something in another way on AVX2 and NEON, so that last digits differ;
	// see Builder.HasTables.
	hasNarrow bool
}

// HasNarrow reports whether the body computes something in another way on AVX2 and NEON. It is known once the
// body has been recorded.
func (k *Kernel) HasNarrow() bool { return k.hasNarrow }

type opcode int

const (
	opLoad opcode = iota
	opStore
	opScalar
	opConst
	opAccIn
	opAccOut
	opAdd
	opSub
	opMul
	opDiv
	opMin // a < b ? a : b, as MINPS: b when either is NaN
	opMax // a > b ? a : b, as MAXPS: b when either is NaN
	opFMA // a*b + c, rounded once
	opFNMA
	opSqrt
	opAnd
	opOr
	opXor
	opCmp
	opMAnd
	opMOr
	opSel // mask ? a : b
	opIAdd
	opISub
	opIAnd
	opShl
	opSra
	opSrl
	opCast     // same bits, another type
	opI2F      // integer -> float; of int64 on AVX-512, on AVX2 to float32
	opF2I      // float to integer, towards zero
	opScale    // AVX-512 only: a * 2^b
	opBound    // AVX-512 only: a where |a| <= |b|, else b with the sign of a; b for NaN
	opMantissa // AVX-512 only: the a*2^k in [3/4,3/2)
	opExponent // AVX-512 only: the exponent of a, a float
	opFixup    // AVX-512 only: by the class of b, a itself, b or a special value; imm is the table of VFIXUPIMM
	opOrAnd    // AVX-512 only: a | b&c
	opRound    // to an integer; imm as in ROUNDPS: 0 even, 1 down, 2 up, 3 towards zero
	opTable    // a table, which like a constant is the same for all vectors (float32 lanes; see B.lookup)
	opLookup   // the entry of table b that the low four bits of a choose
)

// Value is one operation and its result.
type Value struct {
	op   opcode
	t    Type
	a    []*Value
	imm  int    // predicate, shift count
	arg  int    // argument or accumulator index
	bits uint64 // constant
	tab  *Table // of opTable
	id   int
	last int // index of the operation that uses the value last
	reg  int // assigned register

	inAcc bool // computed straight into its accumulator
}

// Builder records the operations of a body. Its methods return the values of operations; most of them are one
// instruction.
type Builder struct {
	kernel *Kernel
	ISA    ISA
	vals   []*Value
	consts map[constKey]*Value
}

type constKey struct {
	t    Type
	bits uint64
}

// Lane is the type of a lane.
func (b *Builder) Lane() Type { return b.kernel.Lane }

// Wide reports whether lanes are float64.
func (b *Builder) Wide() bool { return b.Lane() == F64 }

// Pick returns the number for the lane type: narrow for float32, wide for float64.
func (b *Builder) Pick(narrow, wide float64) float64 {
	if b.Wide() {
		return wide
	}
	return narrow
}

// IntLane is the integer type as wide as a lane.
func (b *Builder) IntLane() Type {
	if b.kernel.Lane == F64 {
		return I64
	}
	return I32
}

func (b *Builder) push(v *Value) *Value {
	v.id = len(b.vals)
	b.vals = append(b.vals, v)
	return v
}

func (b *Builder) argIndex(name string) int {
	for i, a := range b.kernel.Args {
		if a.Name == name {
			return i
		}
	}
	panic(b.kernel.Name + ": no argument " + name)
}

// Load reads an argument, widened to the lane type. Integers are read as integer lanes.
func (b *Builder) Load(name string) *Value {
	i := b.argIndex(name)
	a := b.kernel.Args[i]
	if a.Kind == ArgScalar {
		return b.constant(&Value{op: opScalar, t: b.Lane(), arg: i}, constKey{Type(-1), uint64(i)})
	}
	t := b.Lane()
	switch a.T {
	case U8, I8, I16, I32, U32, I64:
		t = b.IntLane()
	}
	return b.push(&Value{op: opLoad, t: t, arg: i})
}

// LoadMask reads a byte argument as a truth value per lane.
func (b *Builder) LoadMask(name string) *Value {
	return b.push(&Value{op: opLoad, t: Mask, arg: b.argIndex(name)})
}

// Store writes an argument, rounded to its type.
func (b *Builder) Store(name string, v *Value) {
	i := b.argIndex(name)
	if b.kernel.Args[i].T == BF16 {
		if b.kernel.Exact {
			v = b.Srl(b.Bits(v), 16)
		} else {
			v = roundBF16(b, v)
		}
	}
	b.push(&Value{op: opStore, t: v.t, a: []*Value{v}, arg: i})
}

// AccIn is the value of accumulator i before this element; AccOut sets its new value.
func (b *Builder) AccIn(i int) *Value { return b.push(&Value{op: opAccIn, t: b.Lane(), arg: i}) }
func (b *Builder) AccOut(i int, v *Value) {
	b.push(&Value{op: opAccOut, t: b.Lane(), a: []*Value{v}, arg: i})
}

func (b *Builder) constant(v *Value, key constKey) *Value {
	if c, ok := b.consts[key]; ok {
		return c
	}
	v.id = -1 - len(b.consts)
	b.consts[key] = v
	return v
}

// C is a floating-point constant, rounded to the lane type.
func (b *Builder) C(x float64) *Value {
	bits := math.Float64bits(x)
	if b.Lane() == F32 {
		bits = uint64(math.Float32bits(float32(x)))
	}
	return b.constant(&Value{op: opConst, t: b.Lane(), bits: bits}, constKey{b.Lane(), bits})
}

// CI is an integer constant.
func (b *Builder) CI(x uint64) *Value {
	return b.constant(&Value{op: opConst, t: b.IntLane(), bits: x}, constKey{b.IntLane(), x})
}

func (b *Builder) bin(op opcode, x, y *Value) *Value {
	return b.push(&Value{op: op, t: x.t, a: []*Value{x, y}})
}

// Add, Sub, Mul and Div are the arithmetic operations on floating lanes.
func (b *Builder) Add(x, y *Value) *Value { return b.bin(opAdd, x, y) }
func (b *Builder) Sub(x, y *Value) *Value { return b.bin(opSub, x, y) }
func (b *Builder) Mul(x, y *Value) *Value { return b.bin(opMul, x, y) }
func (b *Builder) Div(x, y *Value) *Value { return b.bin(opDiv, x, y) }

// Round rounds to an integer: mode 0 to even, 1 down, 2 up, 3 towards zero.
func (b *Builder) Round(x *Value, mode int) *Value {
	return b.push(&Value{op: opRound, t: x.t, a: []*Value{x}, imm: mode})
}

// MinX and MaxX give the second operand when either is NaN, as the x86
// instructions do.
func (b *Builder) MinX(x, y *Value) *Value { return b.bin(opMin, x, y) }
func (b *Builder) MaxX(x, y *Value) *Value { return b.bin(opMax, x, y) }

// MinN and MaxN give NaN when either operand is NaN, and the first operand
// when both are equal (zeros of either sign), as PyTorch does.
func (b *Builder) MinN(x, y *Value) *Value { return b.Sel(b.Cmp(UNORD, y, y), y, b.MinX(y, x)) }
func (b *Builder) MaxN(x, y *Value) *Value { return b.Sel(b.Cmp(UNORD, y, y), y, b.MaxX(y, x)) }

// FMA is x*y + z and FNMA is z - x*y, both rounded once.
func (b *Builder) FMA(x, y, z *Value) *Value {
	return b.push(&Value{op: opFMA, t: x.t, a: []*Value{x, y, z}})
}
func (b *Builder) FNMA(x, y, z *Value) *Value {
	return b.push(&Value{op: opFNMA, t: x.t, a: []*Value{x, y, z}})
}

// Bound is x where |x| <= c, else c with the sign of x; c, which is positive, for NaN. AVX-512 only.
func (b *Builder) Bound(x, c *Value) *Value { return b.bin(opBound, x, c) }

// Fixup is y, x or a special value, chosen by the class of x (VFIXUPIMM): four bits of the table for each
// class. AVX-512 only.
func (b *Builder) Fixup(y, x *Value, table int) *Value {
	return b.push(&Value{op: opFixup, t: y.t, a: []*Value{y, x, b.CI(uint64(table))}})
}

// Mantissa is the number x*2^k in [3/4, 3/2), Exponent the exponent of x as a float. AVX-512 only.
func (b *Builder) Mantissa(x *Value) *Value {
	return b.push(&Value{op: opMantissa, t: x.t, a: []*Value{x}})
}
func (b *Builder) Exponent(x *Value) *Value {
	return b.push(&Value{op: opExponent, t: x.t, a: []*Value{x}})
}

// Sqrt is the square root.
func (b *Builder) Sqrt(x *Value) *Value { return b.push(&Value{op: opSqrt, t: x.t, a: []*Value{x}}) }

// And, Or and Xor are bitwise, on lanes of any type.
func (b *Builder) And(x, y *Value) *Value { return b.bin(opAnd, x, y) }
func (b *Builder) Or(x, y *Value) *Value {
	if b.ISA == AVX512 && y.op == opAnd && y.a[1].op == opConst {
		return b.push(&Value{op: opOrAnd, t: x.t, a: []*Value{x, y.a[0], y.a[1]}})
	}
	return b.bin(opOr, x, y)
}
func (b *Builder) Xor(x, y *Value) *Value { return b.bin(opXor, x, y) }

func (b *Builder) signBit() uint64 {
	if b.Lane() == F64 {
		return 1 << 63
	}
	return 1 << 31
}

// Sign keeps the sign bit alone, Abs clears it, Neg flips it.
func (b *Builder) Sign(x *Value) *Value { return b.And(x, b.CI(b.signBit())) }
func (b *Builder) Abs(x *Value) *Value  { return b.And(x, b.CI(b.signBit()-1)) }
func (b *Builder) Neg(x *Value) *Value  { return b.Xor(x, b.CI(b.signBit())) }

// Comparison predicates, numbered as the x86 immediates that raise no
// exception on quiet NaN.
const (
	EQ    = 0x00
	LT    = 0x11
	LE    = 0x12
	UNORD = 0x03
	NEQ   = 0x04
	GE    = 0x1d
	GT    = 0x1e
)

// Cmp compares; every predicate but NEQ and UNORD is false on NaN.
func (b *Builder) Cmp(pred int, x, y *Value) *Value {
	return b.push(&Value{op: opCmp, t: Mask, a: []*Value{x, y}, imm: pred})
}

// MAnd and MOr combine truth values.
func (b *Builder) MAnd(x, y *Value) *Value { return b.bin(opMAnd, x, y) }
func (b *Builder) MOr(x, y *Value) *Value  { return b.bin(opMOr, x, y) }

// Sel is m ? x : y.
func (b *Builder) Sel(m, x, y *Value) *Value {
	return b.push(&Value{op: opSel, t: x.t, a: []*Value{m, x, y}})
}

// IAdd, ISub and IAnd work on integer lanes; Shl, Sra and Srl shift them by n bits: to the left, to the right
// with the sign, to the right with zeros.
func (b *Builder) IAdd(x, y *Value) *Value { return b.bin(opIAdd, x, y) }
func (b *Builder) ISub(x, y *Value) *Value { return b.bin(opISub, x, y) }
func (b *Builder) IAnd(x, y *Value) *Value { return b.bin(opIAnd, x, y) }
func (b *Builder) shift(op opcode, x *Value, n int) *Value {
	return b.push(&Value{op: op, t: x.t, a: []*Value{x}, imm: n})
}
func (b *Builder) Shl(x *Value, n int) *Value { return b.shift(opShl, x, n) }
func (b *Builder) Sra(x *Value, n int) *Value { return b.shift(opSra, x, n) }
func (b *Builder) Srl(x *Value, n int) *Value { return b.shift(opSrl, x, n) }

// Bits and Float reinterpret a lane: the same bits as an integer and as a float.
func (b *Builder) Bits(x *Value) *Value {
	return b.push(&Value{op: opCast, t: b.IntLane(), a: []*Value{x}})
}
func (b *Builder) Float(x *Value) *Value {
	return b.push(&Value{op: opCast, t: b.Lane(), a: []*Value{x}})
}

// I2F converts an int32 lane to float32.
func (b *Builder) I2F(x *Value) *Value { return b.push(&Value{op: opI2F, t: F32, a: []*Value{x}}) }

// F2I converts a floating lane to an integer of the same width, towards zero. NaN and values that do not fit
// give the smallest integer. Not for float64 on AVX2.
func (b *Builder) F2I(x *Value) *Value {
	t := I32
	if b.Lane() == F64 {
		t = I64
	}
	return b.push(&Value{op: opF2I, t: t, a: []*Value{x}})
}

// L2F converts an int64 lane to float64, exactly below 2^51: added to the bits
// of the rounding constant, the integer becomes the low bits of its mantissa.
func (b *Builder) L2F(x *Value) *Value {
	return b.Sub(b.Float(b.IAdd(x, b.CI(math.Float64bits(RoundingConstant64)))), b.C(RoundingConstant64))
}

// Q2F converts an int64 lane to float64, rounded to even. Where the machine has no instruction for that, each
// half of the integer becomes the low bits of the mantissa of a known number, and the sum of both is rounded
// once.
func (b *Builder) Q2F(x *Value) *Value {
	if b.ISA == Generic || b.ISA == AVX512 {
		return b.push(&Value{op: opI2F, t: F64, a: []*Value{x}})
	}
	high, low := b.halves(x)
	return b.Add(high, b.fraction(low))
}

// Q2S converts an int64 lane to float32, rounded once. On NEON it goes by way of float64, whose sum must then
// be exact: from 2^52 on, the last eleven bits are replaced by a single bit that says whether any of them is
// set (rounding to odd).
func (b *Builder) Q2S(x *Value) *Value {
	if b.ISA != NEON {
		return b.push(&Value{op: opI2F, t: F32, a: []*Value{x}})
	}
	const rest = 0x7ff
	high, low := b.halves(x)
	some := b.IAnd(b.Or(low, b.IAdd(b.IAnd(low, b.CI(rest)), b.CI(rest))), b.CI(^uint64(rest)))
	return b.Add(high, b.Sel(b.Cmp(GE, b.Abs(high), b.C(0x1p52)), b.fraction(some), b.fraction(low)))
}

// halves returns the upper half of an int64 lane as the multiple of 2^32 that it stands for, and the lower
// half.
func (b *Builder) halves(x *Value) (high, low *Value) {
	const sum = 0x1p84 + 0x1p63 // the sign bit, turned around, adds 2^63
	h := b.Xor(b.Srl(x, 32), b.CI(math.Float64bits(0x1p84)|1<<31))
	return b.Sub(b.Float(h), b.C(sum)), b.IAnd(x, b.CI(1<<32-1))
}

// fraction converts an integer of up to 52 bits to float64.
func (b *Builder) fraction(x *Value) *Value {
	return b.Sub(b.Float(b.Or(x, b.CI(math.Float64bits(0x1p52)))), b.C(0x1p52))
}

// F2L converts a float64 lane whose integral value lies below 2^51: the low 32
// bits of the result are those of the integer.
func (b *Builder) F2L(x *Value) *Value { return b.Bits(b.Add(x, b.C(RoundingConstant64))) }

// RoundingConstant is the number that, added to a float, leaves the nearest integer n in the low bits of the
// sum, for Ldexp and Ldexp1p. On AVX2 and NEON it also adds the biases of two exponents; AVX-512 scales by an
// instruction and needs none.
func (b *Builder) RoundingConstant() float64 {
	if b.ISA == AVX512 {
		return b.Pick(RoundingConstant32, RoundingConstant64)
	}
	return b.Pick(RoundingConstant32+2*127, RoundingConstant64+2*1023)
}

// Ldexp1p is (1+m) * 2^n for |m| < 1/2 and an integral |n| <= 160 (1100 in float64); t is n plus
// RoundingConstant.
func (b *Builder) Ldexp1p(m, n, t *Value) *Value {
	if b.ISA == AVX512 {
		return b.push(&Value{op: opScale, t: m.t, a: []*Value{b.Add(m, b.C(1)), n}})
	}
	s1, s2 := b.scales(t)
	return b.Mul(b.FMA(m, s1, s1), s2)
}

// Ldexp is p * 2^n for p near one, n and t as for Ldexp1p.
func (b *Builder) Ldexp(p, n, t *Value) *Value {
	if b.ISA == AVX512 {
		return b.push(&Value{op: opScale, t: p.t, a: []*Value{p, n}})
	}
	s1, s2 := b.scales(t)
	return b.Mul(b.Mul(p, s1), s2)
}

// roots holds 2^(j/16).
var roots = NewTable("roots", func(j int) float64 { return math.Exp2(float64(j) / 16) })

// RootRoundingConstant is RoundingConstant for multiples of 1/16 (float32 lanes only).
func (b *Builder) RootRoundingConstant() float64 {
	return (RoundingConstant32 + (b.RoundingConstant()-RoundingConstant32)*16) / 16
}

// ScaleRoot is f(2^(j/16)) * 2^k, where n = k + j/16, t is n plus RootRoundingConstant, and k has the range
// of the n of Ldexp.
func (b *Builder) ScaleRoot(n, t *Value, f func(root *Value) *Value) *Value {
	p := f(b.Lookup(b.Bits(t), roots))
	if b.ISA == AVX512 {
		return b.push(&Value{op: opScale, t: p.t, a: []*Value{p, n}}) // which takes the n below
	}
	h := b.Srl(b.Bits(t), 5)
	s1, s2 := b.Float(b.Shl(h, 23)), b.Float(b.Shl(b.ISub(b.Srl(b.Bits(t), 4), h), 23))
	return b.Mul(b.Mul(p, s1), s2)
}

// scales returns 2^n as a product of two factors, neither of which leaves the normal range. A number that is
// multiplied by one factor and then by the other is rounded once, also when the result is subnormal.
func (b *Builder) scales(t *Value) (s1, s2 *Value) {
	width := int(b.Pick(23, 52))
	h := b.Srl(b.Bits(t), 1) // the shift that makes exponents leaves only the low bits
	return b.Float(b.Shl(h, width)), b.Float(b.Shl(b.ISub(b.Bits(t), h), width))
}

// roundMagic rounds to an integer (to even on ties) when it is added: the sum
// of it and any |x| < 2^22 has no fraction bits left.
const RoundingConstant32 = 0x1.8p23

// roundMagic64 leaves no fraction bits in its sum with any |x| < 2^51.
const RoundingConstant64 = 0x1.8p52

// Poly evaluates c[0] + c[1]x + c[2]x² … with Horner's rule, one fused
// multiply-add per step.
func (b *Builder) Poly(x *Value, c ...float64) *Value {
	r := b.C(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		r = b.FMA(r, x, b.C(c[i]))
	}
	return r
}

// PolySplit evaluates the polynomial of Poly by Horner's rule in s = x², for the even and the odd
// coefficients separately (Estrin's first step). The chain of dependent operations is half as long, and that
// chain bounds a kernel of few vectors in flight.
func (b *Builder) PolySplit(x, s *Value, c ...float64) *Value {
	half := func(from int) *Value {
		var h []float64
		for i := from; i < len(c); i += 2 {
			h = append(h, c[i])
		}
		return b.Poly(s, h...)
	}
	return b.FMA(half(1), x, half(0))
}

// roundBF16 rounds to bfloat16, ties to even, in the low half of an integer lane. Every NaN becomes 0x7fc0.
func roundBF16(b *Builder, x *Value) *Value {
	// Adding 0x7fff plus the last bit that stays carries exactly when the
	// dropped half is above one half, or at it with an odd last bit.
	y := x
	if b.ISA == AVX512 {
		y = b.Fixup(b.Float(b.CI(0x7fc00000)), x, 0x11111100) // NaN: that one; else x
	}
	i := b.Bits(y)
	odd := b.IAnd(b.Srl(i, 16), b.CI(1))
	r := b.Srl(b.IAdd(b.IAdd(i, b.CI(0x7fff)), odd), 16)
	if b.ISA == AVX512 {
		return r
	}
	return b.Bits(b.Sel(b.Cmp(UNORD, x, x), b.Float(b.CI(0x7fc0)), b.Float(r)))
}

// Table is a table of 16 numbers for Lookup.
type Table struct {
	Name   string
	Values [16]float32
}

// Tables lists all tables, in the order in which they were made.
var Tables []*Table

// NewTable is a table of the values f(0) to f(15), rounded to float32.
func NewTable(name string, f func(j int) float64) *Table {
	t := &Table{Name: name}
	for j := range t.Values {
		t.Values[j] = float32(f(j))
	}
	Tables = append(Tables, t)
	return t
}

// declaration declares the table in assembly.
func (t *Table) declaration() string {
	var w strings.Builder
	for i := 0; i < len(t.Values); i += 2 {
		fmt.Fprintf(&w, "DATA %s<>+%d(SB)/8, $0x%08x%08x\n", t.Name, 4*i, math.Float32bits(t.Values[i+1]),
			math.Float32bits(t.Values[i]))
	}
	fmt.Fprintf(&w, "GLOBL %s<>(SB), RODATA|NOPTR, $64\n", t.Name)
	return w.String()
}

// Lookup is the entry of a table that the low four bits of an integer lane choose; only in bodies for which
// HasTables is true.
func (b *Builder) Lookup(i *Value, t *Table) *Value {
	c := b.constant(&Value{op: opTable, t: F32, tab: t}, constKey{Type(-2), uint64(slices.Index(Tables, t))})
	return b.push(&Value{op: opLookup, t: F32, a: []*Value{i, c}})
}

// HasTables reports whether the body may look numbers up: on AVX-512, where a lookup is one instruction, and
// in plain Go. AVX2 and NEON compute the numbers instead, so that last digits may differ: a vector of AVX2
// holds half a table, and its permutation may take 4 cycles; NEON would read the table each time.
func (b *Builder) HasTables() bool {
	b.kernel.hasNarrow = true
	return b.ISA == Generic || b.ISA == AVX512
}

// record runs the body of k for a back end and drops the values that nothing uses.
func record(k *Kernel, isa ISA) *Builder {
	b := &Builder{kernel: k, ISA: isa, consts: map[constKey]*Value{}}
	k.Body(b)
	used := map[*Value]bool{}
	for i := len(b.vals) - 1; i >= 0; i-- {
		v := b.vals[i]
		if v.op == opStore || v.op == opAccOut {
			used[v] = true
		}
		if used[v] {
			for _, a := range v.a {
				used[a] = true
			}
		}
	}
	var live []*Value
	for _, v := range b.vals {
		if used[v] {
			v.id = len(live)
			live = append(live, v)
		}
	}
	b.vals = live
	return b
}

// clone is a copy of the recorded operations. Constants are shared: they have one register for all copies.
func (b *Builder) clone() *Builder {
	c := &Builder{kernel: b.kernel, ISA: b.ISA, consts: b.consts}
	at := map[*Value]*Value{}
	for _, v := range b.vals {
		n := *v
		n.a = nil
		for _, a := range v.a {
			if d := at[a]; d != nil {
				a = d
			}
			n.a = append(n.a, a)
		}
		at[v] = &n
		c.vals = append(c.vals, &n)
	}
	return c
}

// fewestRegisters is a copy of the recorded operations of a body with a single store, in an order that needs
// few registers: of the operands of each operation, the one whose computation needs most registers comes
// first (Sethi and Ullman 1970). It returns nil for other bodies.
func fewestRegisters(b *Builder) *Builder {
	c := b.clone()
	need := map[*Value]int{}
	order := func(v *Value) []*Value { // the operands, as said
		var a []*Value
		for _, o := range v.a {
			if !isConst(o) {
				a = append(a, o)
			}
		}
		sort.SliceStable(a, func(i, j int) bool { return need[a[i]] > need[a[j]] })
		return a
	}
	stores := 0
	for _, v := range c.vals { // in the recorded order operands come first
		need[v] = 1
		for i, o := range order(v) {
			need[v] = max(need[v], need[o]+i)
		}
		if v.op == opStore {
			stores++
		}
	}
	if stores != 1 {
		return nil // a store must not come before a load
	}
	done := map[*Value]bool{}
	c.vals = nil
	var visit func(v *Value)
	visit = func(v *Value) {
		if done[v] {
			return
		}
		done[v] = true
		for _, o := range order(v) {
			visit(o)
		}
		v.id = len(c.vals)
		c.vals = append(c.vals, v)
	}
	for v := range need {
		if v.op == opStore {
			visit(v)
		}
	}
	return c
}

// Check panics with a message unless ok holds: a mistake in a kernel ends the generator.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}
