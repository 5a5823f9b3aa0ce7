package vec

import "unsafe"

// This file holds the kernels of integers and bools of every size. Each runs the assembly for its operation and element type as far
// as there is one, and a plain loop on the rest, which is all of it on other machines.

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

// lanes runs the assembly of an operation, if there is one, and returns the number of elements done.
func lanes[D, E Integer](op int, dst []D, a, b []E) int {
	size := int(unsafe.Sizeof(E(0)))
	f, unit, past := laneFunc(op, laneKind[E](), size)
	if f == nil {
		return 0
	}
	how := 0
	if past {
		how = around(dst)
	}
	n := len(dst) - len(dst)%unit
	for i := 0; i < n; {
		cnt := min(n-i, 4*chunk/size)
		f(unsafe.Pointer(&dst[i]), unsafe.Pointer(&a[i]), unsafe.Pointer(&b[i]), cnt|how)
		i += cnt
		yield(i, n)
	}
	return n
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

// lanesOf is lanes for operations on one operand and bounds.
func lanesOf[E Integer](op int, dst, a []E, bounds *[2]E) int {
	size := int(unsafe.Sizeof(E(0)))
	f, unit, past := laneFunc(op, laneKind[E](), size)
	if f == nil {
		return 0
	}
	how := 0
	if past {
		how = around(dst)
	}
	n := len(dst) - len(dst)%unit
	for i := 0; i < n; {
		cnt := min(n-i, 4*chunk/size)
		f(unsafe.Pointer(&dst[i]), unsafe.Pointer(&a[i]), unsafe.Pointer(bounds), cnt|how)
		i += cnt
		yield(i, n)
	}
	return n
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
		var x E // dst may be a
		if b[i] >= 0 {
			x = a[i] << b[i]
		}
		dst[i] = x
	}
}

// ShrInt sets dst[i] = a[i] >> b[i], keeping the sign, which alone is left where b[i] is negative or too large.
func ShrInt[E Integer](dst, a, b []E) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := lanes(laneShr, dst, a, b); i < len(dst); i++ {
		n := b[i]
		if n < 0 {
			n = 63
		}
		dst[i] = a[i] >> n
	}
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
