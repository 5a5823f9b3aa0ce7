package iter

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// Copy copies src to dst, which have the given shape; elements are converted. src may be broadcast. They do not overlap.
func Copy(shape []int, dst, src Operand) {
	total := 1
	for _, s := range shape {
		total *= s
	}
	if total == 0 {
		return
	}
	w := walkPool.Get().(*walk)
	dst.As, src.As = dst.Mem, src.Mem
	ops := [...]Operand{dst, src}
	w.init(shape, 1, ops[:])
	across := -1
	if size := w.size[0]; dst.Mem == src.Mem {
		w.kernel = func(p *Ptrs, n int) { copyBytes(p[0], p[1], n*size) }
		across = w.across()
	} else {
		convert := dtype.Convert(dst.Mem, src.Mem)
		w.kernel = func(p *Ptrs, n int) { convert(p[0], p[1], n) }
	}
	switch {
	case len(w.shape) == 1 && w.strides[0][0] == w.size[0] && w.strides[1][0] == 0:
		w.spread(total)
	case across >= 0:
		w.exchange(across)
	case len(w.shape) == 1 && w.plain():
		w.runPlain(total)
	default:
		w.runRows(total)
	}
	w.kernel, w.p = nil, Ptrs{}
	walkPool.Put(w)
}

// spread repeats one element over a contiguous run.
func (w *walk) spread(total int) {
	size := w.size[0]
	var one [2]uint64
	w.kernel(&Ptrs{unsafe.Pointer(&one), w.p[1]}, 1)
	p := w.p[0]
	par.For(total, 4*grain, func(lo, hi int) {
		d := unsafe.Slice((*byte)(unsafe.Add(p, lo*size)), (hi-lo)*size)
		if one == [2]uint64{} {
			clear(d)
			return
		}
		// A piece that stays in the nearest cache is copied again and again.
		first := d[:min(len(d), 4096)]
		copyBytes(unsafe.Pointer(&first[0]), unsafe.Pointer(&one), size)
		fill(unsafe.Pointer(&first[0]), len(first)/size, size)
		for k := len(first); k < len(d); k += copy(d[k:], first) {
		}
	})
}

// across finds the dimension that is contiguous in src when the innermost one, contiguous in dst, is not; -1 where there is none, or so
// little of either that a row is copied as fast.
func (w *walk) across() int {
	const least = 4
	k := len(w.shape) - 1
	if w.strides[0][k] != w.size[0] || w.strides[1][k] <= w.size[1] || w.shape[k] < least {
		return -1
	}
	for d := range k {
		if w.strides[1][d] == w.size[1] && w.shape[d] >= least && w.strides[0][d] > 0 {
			return d
		}
	}
	return -1
}

// Tiles of exchange: as much as stays in the second-level cache on both sides.
const (
	tileAcross = 64
	tileInner  = 512
)

// exchange copies where dst is contiguous along the last dimension and src along dimension a: each pair of them is a matrix to be
// transposed, tile by tile.
func (w *walk) exchange(a int) {
	k := len(w.shape) - 1
	na, nk := w.shape[a], w.shape[k]
	ta, tk := (na+tileAcross-1)/tileAcross, (nk+tileInner-1)/tileInner
	outer := 1
	for d := range k {
		if d != a {
			outer *= w.shape[d]
		}
	}
	// Tasks of one tile; small matrices make up a task together.
	tile := min(na, tileAcross) * min(nk, tileInner)
	par.For(outer*ta*tk, max(1, grain/tile), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			o, i, j := t/(ta*tk), t/tk%ta*tileAcross, t%tk*tileInner
			d, s := w.p[0], w.p[1]
			for x := k - 1; x >= 0; x-- {
				if x != a {
					q := o % w.shape[x]
					o /= w.shape[x]
					d, s = unsafe.Add(d, q*w.strides[0][x]), unsafe.Add(s, q*w.strides[1][x])
				}
			}
			d = unsafe.Add(d, i*w.strides[0][a]+j*w.size[0])
			s = unsafe.Add(s, i*w.size[1]+j*w.strides[1][k])
			transpose(d, w.strides[0][a], s, w.strides[1][k], min(tileInner, nk-j), min(tileAcross, na-i), w.size[0])
		}
	})
}

// transpose sets element (j, i) of d to element (i, j) of s for i < rows and j < cols. ldd and lds are the bytes between rows.
func transpose(d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols, size int) {
	switch size {
	case 1:
		transposeT[uint8](d, ldd, s, lds, rows, cols)
	case 2:
		transposeT[uint16](d, ldd, s, lds, rows, cols)
	case 4:
		if ldd%4 != 0 || lds%4 != 0 {
			transposeT[uint32](d, ldd, s, lds, rows, cols)
			return
		}
		ldd, lds = ldd/4, lds/4
		vec.TransposeF32(unsafe.Slice((*float32)(d), (cols-1)*ldd+rows), ldd, unsafe.Slice((*float32)(s), (rows-1)*lds+cols), lds, rows, cols)
	case 8:
		transposeT[uint64](d, ldd, s, lds, rows, cols)
	default:
		transposeT[c16](d, ldd, s, lds, rows, cols)
	}
}

// transposeT works in blocks whose lines of both sides stay in the first-level cache.
func transposeT[T any](d unsafe.Pointer, ldd int, s unsafe.Pointer, lds, rows, cols int) {
	const block = 16
	var zero T
	size := int(unsafe.Sizeof(zero))
	for i := 0; i < rows; i += block {
		n := min(block, rows-i)
		for j := range cols {
			gatherT[T](unsafe.Add(d, j*ldd+i*size), unsafe.Add(s, i*lds+j*size), lds, n)
		}
	}
}
