package vec

import (
	"math/bits"
	"unsafe"
)

// ReverseRows copies rows of n elements of size bytes (1, 2, 4, 8 or 16), the elements of a row in reverse order. ldd
// and lds are the bytes between rows. dst and src do not overlap.
func ReverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n, size int) {
	n *= size
	if n < 8 || !hasBytes() {
		for r := range rows {
			reverseRow(unsafe.Add(dst, r*ldd), unsafe.Add(src, r*lds), n, size)
		}
		return
	}
	// The bytes of a call are few enough for pre-emption: some rows, or a piece of one.
	mask := &reverseMasks[bits.TrailingZeros(uint(size))]
	for r, step := 0, max(1, reverseBytes/n); r < rows; r += step {
		// Pointers are not stepped beyond the last row: the garbage collector may look at them during the calls.
		d, s, left := unsafe.Add(dst, r*ldd), unsafe.Add(src, r*lds), n
		for ; left > 2*reverseBytes; left -= reverseBytes {
			reverseRows(d, 0, unsafe.Add(s, left-reverseBytes), 0, 1, reverseBytes, mask)
			d = unsafe.Add(d, reverseBytes)
			preemptible(0)
		}
		reverseRows(d, ldd, s, lds, min(step, rows-r), left, mask)
		preemptible(0)
	}
}

// reverseBytes is the bytes of a call, a multiple of every element's.
const reverseBytes = 1 << 15

// reverseMasks give, for elements of 1, 2, 4, 8 and 16 bytes, the byte of sixteen that stands at each place when they
// are turned round.
var reverseMasks = func() (m [5][16]uint8) {
	for k := range m {
		for i := range m[k] {
			size := 1 << k
			m[k][i] = uint8(16 - size - i&^(size-1) + i&(size-1))
		}
	}
	return m
}()

// reverseRow is one row of n bytes in plain Go.
func reverseRow(dst, src unsafe.Pointer, n, size int) {
	switch size {
	case 1:
		reverseOf[uint8](dst, src, n)
	case 2:
		reverseOf[uint16](dst, src, n/2)
	case 4:
		reverseOf[uint32](dst, src, n/4)
	case 8:
		reverseOf[uint64](dst, src, n/8)
	default:
		reverseOf[[2]uint64](dst, src, n/16)
	}
}

func reverseOf[T any](dst, src unsafe.Pointer, n int) {
	d, s := unsafe.Slice((*T)(dst), n), unsafe.Slice((*T)(src), n)
	for i := range d {
		d[i] = s[n-1-i]
	}
}
