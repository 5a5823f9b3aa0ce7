package iter

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// A stacked walk takes several rows at once, as one run. Operands that are broadcast along rows or across rows are
// written out into a buffer that stays in the first-level cache; operands with gaps are gathered into the buffer or
// scattered from it; all other operands must lie without gaps. So a kernel needs no special form for a column, a row or
// a number, and short rows cost no more than long ones.
//
//	x (3×4)       + column (3×1)    written out     one run of 12
//	x0 x1 x2  x3    c0              c0 c0 c0 c0     x0+c0 x1+c0 x2+c0 x3+c0 x4+c1 …
//	x4 x5 x6  x7    c1              c1 c1 c1 c1
//	x8 x9 x10 x11   c2              c2 c2 c2 c2

// shallow is the size in bytes of the longest rows that are stacked when all operands are contiguous along
// the row; longer rows are handed to the kernel one by one.
const shallow = 1 << 10

// tiny is the size in bytes, of all operands together, up to which rows are stacked when they must be
// gathered first: a call costs as much as copying so many bytes.
const tiny = 3 << 7

// stack is the number of rows of a stacked walk, 0 if there cannot or should not be one.
func (w *walk) stack() int {
	k := len(w.shape) - 1
	if k < 1 || w.number != 0 {
		return 0
	}
	inner, room := w.shape[k], w.block()
	if inner > room {
		return 0
	}
	across := w.plain()
	gapped := shallow // bytes that may still be gathered for a row
	if across {
		gapped = tiny
	}
	again := k > 1 // the broadcast operands are broadcast along a third dimension, too
	for i := 0; i < w.n; i++ {
		in, down, size := w.strides[i][k], w.strides[i][k-1], w.size[i]
		switch {
		case in == size && down == inner*size:
		case i < w.nout:
			if gapped -= inner * size; gapped < 0 || in != size {
				return 0
			}
		case in == 0 || in == size && down == 0:
			for _, st := range w.strides[i][:k-1] {
				again = again && st == 0
			}
		case in < size || in > near*size:
			return 0
		case down != inner*in:
			if gapped -= inner * size; gapped < 0 {
				return 0
			}
		}
		if across && inner*size > shallow {
			return 0
		}
	}
	rows := w.shape[k-1]
	if again && inner*rows <= 2*room { // then the broadcast operands are written out once
		return rows
	}
	return min(room/inner, rows)
}

// near is how many elements apart the elements of a row may lie that are gathered: most of each cache line is
// then used.
const near = 4

// runStacked walks with up to m rows at once.
func (w *walk) runStacked(total, m int) {
	k := len(w.shape) - 1
	inner, rows := w.shape[k], w.shape[k-1]
	per := (rows + m - 1) / m
	body := func(lo, hi int) {
		b := lend(m * inner)
		defer b.free()
		var p Ptrs
		for t := lo; t < hi; t++ {
			from := t % per * m
			w.at(&p, t/per*rows+from, k)
			w.runStack(b, &p, min(m, rows-from), m)
		}
	}
	tasks := total / (inner * rows) * per
	if total <= grain {
		body(0, tasks)
		return
	}
	par.For(tasks, max(1, grain/(m*inner)), body)
}

// runStack runs the kernel on n rows; the buffer has room for most rows.
func (w *walk) runStack(b *buffers, p *Ptrs, n, most int) {
	k := len(w.shape) - 1
	inner, q := w.shape[k], &b.q
	for i := 0; i < w.n; i++ {
		size, as, load := w.size[i], w.asSize[i], w.load[i]
		in, down := w.strides[i][k], w.strides[i][k-1]
		whole := in == size && down == inner*size
		if whole && load == nil {
			q[i] = p[i]
			continue
		}
		c := b.get(&b.conv, i, as)
		q[i] = c
		switch {
		case i < w.nout:
		case whole:
			load(c, p[i], n*inner)
		case in != 0 && (down != 0 || in != size):
			d := c
			if load != nil {
				d = b.get(&b.raw, i, size)
			}
			switch {
			case down == inner*in:
				gather(d, p[i], in, n*inner, size)
			case in == size:
				plane(d, inner*size, size, p[i], down, size, n, inner, size)
			default:
				for r := range n {
					gather(unsafe.Add(d, r*inner*size), unsafe.Add(p[i], r*down), in, inner, size)
				}
			}
			if load != nil {
				load(c, d, n*inner)
			}
		case b.last[i] == p[i]: // the buffer still holds this operand
		case in == 0 && down == 0:
			b.take(i, c, p[i], 1, load, as)
			Fill(c, c, most*inner, as)
		case in == 0:
			src, lds := p[i], down
			if load != nil {
				col := b.get(&b.raw, i, max(size, as)+size)
				gather(col, src, down, n, size)
				src, lds = unsafe.Add(col, (n*size+15)&^15), as
				load(src, col, n)
			}
			spread(c, src, lds, n, inner, as)
		default:
			b.take(i, c, p[i], inner, load, as)
			row := unsafe.Slice((*byte)(c), most*inner*as)
			for have := inner * as; have < len(row); have *= 2 {
				copy(row[have:], row[:have])
			}
		}
		b.last[i] = p[i]
	}
	w.kernel(q, n*inner)
	for i := 0; i < w.nout; i++ {
		if q[i] == p[i] {
			continue
		}
		down, size, store := w.strides[i][k-1], w.size[i], w.store[i]
		if down == inner*size {
			store(p[i], q[i], n*inner)
			continue
		}
		d := q[i]
		if store != nil {
			d = b.get(&b.raw, i, size)
			store(d, q[i], n*inner)
		}
		plane(p[i], down, size, d, inner*size, size, n, inner, size)
	}
}

// take brings n elements at src to c, converted to the kernel's type.
func (b *buffers) take(i int, c, src unsafe.Pointer, n int, load func(d, s unsafe.Pointer, n int), as int) {
	if load != nil {
		load(c, src, n)
	} else {
		copyBytes(c, src, n*as)
	}
}

// spread writes each of n elements of size bytes, which lie lds bytes apart, inner times. It may write up to
// seven bytes more; a buffer has room for them.
func spread(d, s unsafe.Pointer, lds, n, inner, size int) {
	row := inner * size
	if vec.SpreadRows(d, s, lds, n, row, size) {
		return
	}
	for i := range n {
		d, s := unsafe.Add(d, i*row), unsafe.Add(s, i*lds)
		if row >= 128 || size > 8 {
			e := elementAt(s, size)
			e.repeat(d, inner, size)
			continue
		}
		w := word(s, size)
		for at := 0; at < row; at += 8 {
			*(*uint64)(unsafe.Add(d, at)) = w
		}
	}
}
