package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
)

// packPanel copies rows (up to width) of a matrix into a panel in which one step of k is width adjacent
// elements:
//
//	dst[kk*width+r] = src[r*rs + kk*cs]   (strides in bytes)
//
//	source, rows contiguous along k      panel
//	r0: a0 a1 a2 a3 …                    a0 b0 c0 d0 | a1 b1 c1 d1 | a2 …
//	r1: b0 b1 b2 b3 …
//	r2: c0 c1 c2 c3 …                    └── width ─┘
//	r3: d0 d1 d2 d3 …
//
// The columns of B are "rows" here, too. avail says how many rows exist in memory: reading a few rows more
// than needed lets whole vectors be moved. The places of rows that do not exist keep whatever they held.
func packPanel[T element](pt path, dst unsafe.Pointer, width int, src unsafe.Pointer, rs, cs, rows, avail, k int) {
	var z T
	es := int(unsafe.Sizeof(z))
	if rs == es {
		// Rows are adjacent already.
		if l := 2 * lanes[T](pt); l > 0 && copyFast[T](pt, dst, src, width*es, cs, min(rows, l), k, 8*cs) {
			if rows > l {
				packPanel[T](pt, unsafe.Add(dst, l*es), width, unsafe.Add(src, l*es), rs, cs, rows-l, avail-l, k)
			}
			return
		}
		for kk := range k {
			d := unsafe.Slice((*T)(unsafe.Add(dst, kk*width*es)), rows)
			s := unsafe.Slice((*T)(unsafe.Add(src, kk*cs)), rows)
			copy(d, s)
		}
		return
	}
	r := 0
	l := lanes[T](pt)
	if l > rows && pt == pathAVX512 { // shorter vectors may do
		pt, l = pathAVX2, lanes[T](pathAVX2)
	}
	if q := 16 / es; l > 0 && cs == es && k >= q {
		for ; r < rows; r += l {
			if r+l > min(avail, width) {
				if rows < l {
					break
				}
				r = rows - l // the last vector repeats some rows
			}
			d, s := unsafe.Add(dst, r*es), unsafe.Add(src, r*rs)
			forTransposeBlocks(k, q, func(k0, n int) {
				transposeFast[T](pt, unsafe.Add(d, k0*width*es), unsafe.Add(s, k0*es), width*es, rs, n)
			})
		}
	}
	if r < rows {
		copyStrided[T](operand{unsafe.Add(dst, r*es), es, width * es}, operand{unsafe.Add(src, r*rs), rs, cs}, rows-r,
			k)
	}
}

// forTransposeBlocks cuts k steps into calls of a transposing kernel, which takes a multiple of q steps: f is
// called with the first step k0 and the number n of steps. Calls are short whatever k is. The last q steps
// are moved again where k is no multiple of q.
func forTransposeBlocks(k, q int, f func(k0, n int)) {
	const piece = 1 << 12
	whole := k &^ (q - 1)
	for k0 := 0; k0 < whole; k0 += piece {
		f(k0, min(piece, whole-k0))
	}
	if whole < k {
		f(k-q, q)
	}
}

// packColumns packs a strip of B, of which cols columns exist. The narrow tiles of AVX2 multiply whole
// vectors: the lanes beyond the last column get another column, or zeros. What lay there might be subnormal
// numbers, which are slow to multiply.
func packColumns[T element](pt path, dst unsafe.Pointer, width int, b operand, cols, avail, k int) {
	l := lanes[T](pathAVX2)
	if pt != pathAVX2 || cols%l == 0 {
		packPanel[T](pt, dst, width, b.p, b.cs, b.rs, cols, avail, k)
		return
	}
	var z T
	es := int(unsafe.Sizeof(z))
	rest := cols % l
	if q := 16 / es; b.rs == es && b.cs != es && k >= q {
		if cols > rest {
			packPanel[T](pt, dst, width, b.p, b.cs, b.rs, cols-rest, avail, k)
		}
		d, s := unsafe.Add(dst, (cols-rest)*es), unsafe.Add(b.p, (cols-rest)*b.cs)
		forTransposeBlocks(k, q, func(k0, n int) {
			transposeFew[T](unsafe.Add(d, k0*width*es), unsafe.Add(s, k0*es), width*es, b.cs, rest, n)
		})
		return
	}
	packPanel[T](pt, dst, width, b.p, b.cs, b.rs, cols, avail, k)
	for kk := range k {
		clear(unsafe.Slice(at[T](dst, (kk*width+cols)*es), l-rest))
	}
}

// packStrips packs cols columns of B into strips of width columns, which lie strip bytes apart. In a strip
// one step of k is width adjacent elements. avail says how many columns exist in memory.
func packStrips[T element](pt path, dst unsafe.Pointer, width, strip int, b operand, cols, avail, k int) {
	var z T
	es := int(unsafe.Sizeof(z))
	f := 0
	// Row by row of B where a kernel can do it: memory is then read in its order.
	if b.cs == es && cols > 2*width && width == 2*lanes[T](pt) {
		full := cols / width
		ahead := 1024
		if full*width*es < 4*ahead {
			ahead = 4 * b.rs // rows are short: fetch the rows after the next
		}
		for kk := range k {
			if !copyFast[T](pt, unsafe.Add(dst, kk*width*es), unsafe.Add(b.p, kk*b.rs), strip, width*es, width, full,
				ahead) {
				break
			}
			f = full
		}
	}
	for ; f*width < cols; f++ {
		j := f * width
		packColumns[T](pt, unsafe.Add(dst, f*strip), width, operand{unsafe.Add(b.p, j*b.cs), b.rs, b.cs},
			min(width, cols-j), avail-j, k)
	}
}

// rowStride is the distance, in elements, between the rows of k elements that packRows writes. It is an odd
// number of cache lines, or of pairs of lines, which spreads the rows over the sets of the cache.
func rowStride(k int) int { return roundUp(k, 16) | 16 }

// packRows copies rows of A to rows that are contiguous along k, stride bytes apart. avail says how many
// steps of k exist in memory.
func packRows[T element](pt path, dst unsafe.Pointer, stride int, a operand, rows, k, avail int) {
	var z T
	es := int(unsafe.Sizeof(z))
	if a.cs != es {
		packPanel[T](pt, dst, stride/es, a.p, a.cs, a.rs, k, avail, rows)
		return
	}
	for r := range rows {
		copy(unsafe.Slice(at[T](dst, r*stride), k), unsafe.Slice(at[T](a.p, r*a.rs), k))
	}
}

// copyStrided copies a matrix of any strides.
func copyStrided[T element](dst, src operand, rows, cols int) {
	for i := range rows {
		d, s := i*dst.rs, i*src.rs
		for range cols {
			*at[T](dst.p, d) = *at[T](src.p, s)
			d += dst.cs
			s += src.cs
		}
	}
}

// buffer is scratch memory aligned to a cache line. It comes from the free lists that tensors use as well:
// memory that was freed last is still in the cache.
type buffer struct {
	p unsafe.Pointer
	n int
}

// getBuffer returns at least n bytes of unspecified content.
func getBuffer(n int) buffer {
	n = max(n, mem.Large)
	return buffer{mem.Alloc(n), n}
}

func (b buffer) put() { mem.Free(b.p, b.n) }
