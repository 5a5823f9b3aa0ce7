package vec

import "encoding/binary"

// This file holds kernels on bytes. What the assembly leaves over goes eight at a time in a word: the carries between
// bytes are masked out (Warren, Hacker's Delight, section 2-18).

const (
	low  uint64 = 0x7f7f7f7f7f7f7f7f // all bits of a byte but the highest
	ones uint64 = 0x0101010101010101
)

// nonzero is 1 in each byte that is not 0.
func nonzero(x uint64) uint64 { return ((x&low + low) | x) >> 7 & ones }

// word and setWord read and write bytes in any order, as long as it is the same.
func word(b []uint8) uint64       { return binary.LittleEndian.Uint64(b) }
func setWord(b []uint8, x uint64) { binary.LittleEndian.PutUint64(b, x) }

// rest puts the last, fewer than eight bytes of two slices into words.
func rest(a, b []uint8) (x, y uint64) {
	for i := range a {
		x |= uint64(a[i]) << (8 * i)
		y |= uint64(b[i]) << (8 * i)
	}
	return x, y
}

// setRest writes as many bytes of a word as there are.
func setRest(dst []uint8, x uint64) {
	for i := range dst {
		dst[i] = uint8(x >> (8 * i))
	}
}

// byteLanes runs the assembly of an operation and returns what it left over.
func byteLanes(op int, dst, a, b []uint8) (d, x, y []uint8) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := lanes(op, dst, a, b)
	return dst[n:], a[n:], b[n:]
}

// AndU8 sets dst[i] = a[i] & b[i]; on masks of 0 and 1 it is logical and.
func AndU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneAnd, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, x&y)
	}
	x, y := rest(a, b)
	setRest(dst, x&y)
}

// OrU8 sets dst[i] = a[i] | b[i].
func OrU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneOr, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, x|y)
	}
	x, y := rest(a, b)
	setRest(dst, x|y)
}

// XorU8 sets dst[i] = a[i] ^ b[i].
func XorU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneXor, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, x^y)
	}
	x, y := rest(a, b)
	setRest(dst, x^y)
}

// AddU8 sets dst[i] = a[i] + b[i], modulo 256.
func AddU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneAdd, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, (x&low+y&low)^(x^y)&^low)
	}
	x, y := rest(a, b)
	setRest(dst, (x&low+y&low)^(x^y)&^low)
}

// SubU8 sets dst[i] = a[i] - b[i], modulo 256.
func SubU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneSub, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, ((x|^low)-y&low)^(x^^y)&^low)
	}
	x, y := rest(a, b)
	setRest(dst, ((x|^low)-y&low)^(x^^y)&^low)
}

// EqU8 sets dst[i] = 1 where a[i] is b[i], else 0.
func EqU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneEq, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, ^nonzero(x^y)&ones)
	}
	x, y := rest(a, b)
	setRest(dst, ^nonzero(x^y)&ones)
}

// NeU8 sets dst[i] = 0 where a[i] is b[i], else 1.
func NeU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneNe, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, nonzero(x^y))
	}
	x, y := rest(a, b)
	setRest(dst, nonzero(x^y))
}

// LogicalAndU8 sets dst[i] = 1 where neither a[i] nor b[i] is 0, else 0.
func LogicalAndU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneLogicalAnd, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, nonzero(x)&nonzero(y))
	}
	x, y := rest(a, b)
	setRest(dst, nonzero(x)&nonzero(y))
}

// LogicalOrU8 sets dst[i] = 0 where both a[i] and b[i] are 0, else 1.
func LogicalOrU8(dst, a, b []uint8) {
	dst, a, b = byteLanes(laneLogicalOr, dst, a, b)
	for ; len(dst) >= 8 && len(a) >= 8 && len(b) >= 8; dst, a, b = dst[8:], a[8:], b[8:] {
		x, y := word(a), word(b)
		setWord(dst, nonzero(x|y))
	}
	x, y := rest(a, b)
	setRest(dst, nonzero(x|y))
}
