package vec

import "unsafe"

// streamFrom is the size in bytes of a block from which on zeros are written by non-temporal stores: a
// program that clears so much does not find it in the caches again, and a normal store would read the memory
// only to overwrite it.
const streamFrom = 8 << 20

// Zero clears dst, a piece of a block of size bytes that is cleared piece by piece. The zeros in a large
// block become visible to other threads with the next locked instruction, or with [ZeroDone], which the
// caller must call when its pieces are done.
func Zero(dst []float32, size int) {
	n := len(dst) * 4
	if size < streamFrom || n < 256 {
		FillF32(dst, 0)
		return
	}
	p := unsafe.Pointer(&dst[0])
	// whole lines in the middle
	head := int(-uintptr(p)&63) / 4
	clear(dst[:head])
	lines := (n/4 - head) / 16
	clear(dst[head+lines*16:])
	const piece = 4096 // lines of a call
	for at := unsafe.Add(p, head*4); lines > 0; lines -= piece {
		k := min(lines, piece)
		zeroStream(at, k)
		at = unsafe.Add(at, k*64)
		yield(k, lines)
	}
}

// CopyPiece copies src to dst, a piece of a block of size bytes that is written piece by piece, in the manner of
// [Zero]. They do not overlap.
func CopyPiece(dst, src []float32, size int) {
	n := len(dst) * 4
	if size < streamFrom || n == 0 || n > 64*4096 || uintptr(unsafe.Pointer(&dst[0]))&63 != 0 {
		copy(dst, src)
		return
	}
	lines := n / 64
	if src = src[:len(dst)]; lines > 0 {
		copyStream(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), lines)
	}
	copy(dst[lines*16:], src[lines*16:])
}

// ZeroDone orders what [Zero] and [CopyPiece] have stored before all later stores.
func ZeroDone() { zeroFence() }
