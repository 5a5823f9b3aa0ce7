package vec

import "unsafe"

// This file holds the kernels of integers and bools of every size. Each runs the assembly for its operation and element
// type as far as there is one, and a plain loop on the rest, which is all of it on other machines.

// Integer is any of the integer types of tensors.
type Integer interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~int64
}

// Operations and element types of the assembly.
const (
	laneAdd = iota
	laneSub
	laneMul
	laneAnd
	laneOr
	laneXor
	laneLogicalAnd
	laneLogicalOr
	laneLogicalXor
	laneEq
	laneNe
	laneLt
	laneLe
	laneMax
	laneMin
	laneShl
	laneShr
	laneBetween
	laneAbs
)

const (
	laneU8 = iota
	laneI8
	laneI16
	laneI32
	laneI64
	laneKinds
)

// laneKind is the index of an element type.
func laneKind[E Integer]() int {
	switch unsafe.Sizeof(E(0)) {
	case 2:
		return laneI16
	case 4:
		return laneI32
	case 8:
		return laneI64
	}
	if E(0)-1 > 0 {
		return laneU8
	}
	return laneI8
}

// lanesAt runs the assembly of an operation, if there is one, and returns the number of elements done. The second
// operand begins at b and goes on by step bytes for each element; flags are added to the number of elements of each
// call.
func lanesAt[D, E Integer](op int, dst []D, a []E, b unsafe.Pointer, step, flags int) int {
	size := int(unsafe.Sizeof(E(0)))
	f, unit, how := laneFunc(op, laneKind[E](), size)
	n := len(dst)
	if how&laneAny == 0 {
		n -= n % unit
	}
	if f == nil || n < unit {
		return 0
	}
	if how&lanePast != 0 {
		flags |= nonTemporalFlag(dst)
	}
	for i := 0; i < n; {
		cnt := n - i
		if cnt >= 4*chunk/size+unit { // what is left after this call is enough for another one
			cnt = 4 * chunk / size
		}
		f(unsafe.Pointer(&dst[i]), unsafe.Pointer(&a[i]), unsafe.Add(b, i*step), cnt|flags)
		i += cnt
		yield(i, n)
	}
	return n
}

// What the assembly of laneFunc knows.
const (
	lanePast = 1 << iota // nonTemporalBit
	laneAny              // any number of elements from a unit on, not only multiples of it
)

// numberBit of the number of elements says that the second operand is one element; see laneNumbers.
const numberBit = 1 << 61

// lanes is lanesAt for two operands.
func lanes[D, E Integer](op int, dst []D, a, b []E) int {
	return lanesAt(op, dst, a, unsafe.Pointer(unsafe.SliceData(b)), int(unsafe.Sizeof(E(0))), 0)
}

// lanesOf is lanesAt for operations on one operand and bounds.
func lanesOf[E Integer](op int, dst, a []E, bounds *[2]E) int {
	return lanesAt(op, dst, a, unsafe.Pointer(bounds), 0, 0)
}

// AddInt sets dst[i] = a[i] + b[i] in the element type.
func AddInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneAdd, dst, a, b); i < len(dst); i++ {
		dst[i] = a[i] + b[i]
	}
}

// SubInt sets dst[i] = a[i] - b[i] in the element type.
func SubInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneSub, dst, a, b); i < len(dst); i++ {
		dst[i] = a[i] - b[i]
	}
}

// MulInt sets dst[i] = a[i] * b[i] in the element type.
func MulInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneMul, dst, a, b); i < len(dst); i++ {
		dst[i] = a[i] * b[i]
	}
}

// MaxInt sets dst[i] = max(a[i], b[i]).
func MaxInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneMax, dst, a, b); i < len(dst); i++ {
		dst[i] = max(a[i], b[i])
	}
}

// MinInt sets dst[i] = min(a[i], b[i]).
func MinInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneMin, dst, a, b); i < len(dst); i++ {
		dst[i] = min(a[i], b[i])
	}
}

// ClampInt sets dst[i] = min(max(a[i], lo), hi).
func ClampInt[E Integer](dst, a []E, lo, hi E) {
	a = a[:len(dst)]
	for i := lanesOf(laneBetween, dst, a, &[2]E{lo, hi}); i < len(dst); i++ {
		dst[i] = min(max(a[i], lo), hi)
	}
}

// AbsInt sets dst[i] = |a[i]|; the smallest number stays.
func AbsInt[E Integer](dst, a []E) {
	a = a[:len(dst)]
	if E(0)-1 > 0 {
		copy(dst, a)
		return
	}
	for i := lanesOf(laneAbs, dst, a, nil); i < len(dst); i++ {
		dst[i] = max(a[i], -a[i])
	}
}

// ShlInt sets dst[i] = a[i] << b[i], 0 where b[i] is negative or too large.
func ShlInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneShl, dst, a, b); i < len(dst); i++ {
		dst[i] = shl(a[i], b[i])
	}
}

func shl[E Integer](x, n E) E {
	if n < 0 {
		return 0
	}
	return x << n
}

// ShrInt sets dst[i] = a[i] >> b[i], keeping the sign, which alone is left where b[i] is negative or too large.
func ShrInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneShr, dst, a, b); i < len(dst); i++ {
		dst[i] = shr(a[i], b[i])
	}
}

func shr[E Integer](x, n E) E {
	if n < 0 {
		n = 63
	}
	return x >> n
}

// EqInt sets dst[i] = 1 where a[i] == b[i], else 0.
func EqInt[E Integer](dst []uint8, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneEq, dst, a, b); i < len(dst); i++ {
		dst[i] = b2u8(a[i] == b[i])
	}
}

// NeInt sets dst[i] = 1 where a[i] != b[i], else 0.
func NeInt[E Integer](dst []uint8, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneNe, dst, a, b); i < len(dst); i++ {
		dst[i] = b2u8(a[i] != b[i])
	}
}

// LtInt sets dst[i] = 1 where a[i] < b[i], else 0.
func LtInt[E Integer](dst []uint8, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneLt, dst, a, b); i < len(dst); i++ {
		dst[i] = b2u8(a[i] < b[i])
	}
}

// LeInt sets dst[i] = 1 where a[i] <= b[i], else 0.
func LeInt[E Integer](dst []uint8, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneLe, dst, a, b); i < len(dst); i++ {
		dst[i] = b2u8(a[i] <= b[i])
	}
}

// GtInt sets dst[i] = 1 where a[i] > b[i], else 0.
func GtInt[E Integer](dst []uint8, a, b []E) { LtInt(dst, b[:len(dst)], a) }

// GeInt sets dst[i] = 1 where a[i] >= b[i], else 0.
func GeInt[E Integer](dst []uint8, a, b []E) { LeInt(dst, b[:len(dst)], a) }

// LogicalXorU8 sets dst[i] = 1 where one of a[i] and b[i] is 0 and the other not, else 0.
func LogicalXorU8(dst, a, b []uint8) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneLogicalXor, dst, a, b); i < len(dst); i++ {
		dst[i] = b2u8(a[i] != 0) ^ b2u8(b[i] != 0)
	}
}

// IntNumber is an operation of integers on a run and a number, which may be the operand on the right, the left one, or
// either.
type IntNumber struct {
	op          int
	Right, Left bool
}

// The operations that there are. A number to the left of a comparison is one to the right of the opposite one.
var (
	AddNumber = &IntNumber{laneAdd, true, true}
	SubNumber = &IntNumber{laneSub, true, false}
	MulNumber = &IntNumber{laneMul, true, true}
	MaxNumber = &IntNumber{laneMax, true, true}
	MinNumber = &IntNumber{laneMin, true, true}
	AndNumber = &IntNumber{laneAnd, true, true}
	OrNumber  = &IntNumber{laneOr, true, true}
	XorNumber = &IntNumber{laneXor, true, true}
	ShlNumber = &IntNumber{laneShl, true, false}
	ShrNumber = &IntNumber{laneShr, true, false}
	EqNumber  = &IntNumber{laneEq, true, true}
	NeNumber  = &IntNumber{laneNe, true, true}
	LtNumber  = &IntNumber{laneLt, true, false}
	LeNumber  = &IntNumber{laneLe, true, false}
	GtNumber  = &IntNumber{laneLt, false, true}
	GeNumber  = &IntNumber{laneLe, false, true}
)

// IntByNumber returns the kernel of an operation on a run and a number, nil where a run of equal numbers in its place
// costs no more. The number may be an element of dst.
func IntByNumber[D, E Integer](k *IntNumber) func(dst []D, a []E, s *E) {
	if k == nil || !laneNumbers() {
		return nil
	}
	return func(dst []D, a []E, s *E) {
		a = a[:len(dst)]
		if at := uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(unsafe.SliceData(dst))); at < uintptr(len(dst))*unsafe.Sizeof(D(0)) {
			first := *s // for all calls
			s = &first
		}
		if lanesAt(k.op, dst, a, unsafe.Pointer(s), 0, numberBit) > 0 {
			return
		}
		for i, x := range a {
			dst[i] = D(laneOne(k.op, x, *s))
		}
	}
}

// laneOne is an operation on two numbers.
func laneOne[E Integer](op int, x, y E) E {
	switch op {
	case laneAdd:
		return x + y
	case laneSub:
		return x - y
	case laneMul:
		return x * y
	case laneMax:
		return max(x, y)
	case laneMin:
		return min(x, y)
	case laneAnd:
		return x & y
	case laneOr:
		return x | y
	case laneXor:
		return x ^ y
	case laneShl:
		return shl(x, y)
	case laneShr:
		return shr(x, y)
	case laneEq:
		return E(b2u8(x == y))
	case laneNe:
		return E(b2u8(x != y))
	case laneLt:
		return E(b2u8(x < y))
	default:
		return E(b2u8(x <= y))
	}
}

// zeros is a run that stands for an operand of zeros and stays in the nearest cache.
var zeros [512]int64

// NonzeroInt sets dst[i] = 1 where a[i] is not 0, else 0.
func NonzeroInt[E Integer](dst []uint8, a []E) {
	a = a[:len(dst)]
	run := int(unsafe.Sizeof(zeros) / unsafe.Sizeof(E(0)))
	zero := unsafe.Slice((*E)(unsafe.Pointer(&zeros)), run)
	for i := 0; i < len(dst); i += run {
		n := min(run, len(dst)-i)
		NeInt(dst[i:i+n], a[i:], zero)
	}
}
