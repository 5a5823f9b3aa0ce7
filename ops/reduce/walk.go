package reduce

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// run reduces the marked dimensions of t. put gets the accumulators when they are done, some at a time: those of the
// outputs from at on, row-major, which it may change. It is called by several threads. Where dst is set, it has room
// for all accumulators, and those that are put may lie there.
func run[E, A any](t *T, red []bool, k *kern[E, A], dst []A, put func(at int, acc []A)) {
	if t.IsContiguous() { // the whole of a small tensor: nothing to plan
		all := true
		for _, r := range red {
			all = all && r
		}
		if all && t.Numel() <= rowBlock {
			acc := k.init
			if t.Numel() > 0 {
				acc = k.row(acc, op.Raw[E](t))
			}
			put(0, []A{acc})
			return
		}
	}
	w := walk{folding: k, about: k.about(), dst: unsafe.Pointer(unsafe.SliceData(dst)),
		put: func(at int, acc unsafe.Pointer, n int) { put(at, unsafe.Slice((*A)(acc), n)) }}
	w.run(t, red)
}

// walk is a reduction of a tensor that the functions below plan: they go over memory and hand pieces to the kern.
type walk struct {
	folding
	about
	base unsafe.Pointer // of the elements
	dst  unsafe.Pointer // where set, room for all accumulators
	put  func(at int, acc unsafe.Pointer, n int)
}

// at is the address of element i.
func (w *walk) at(i int) unsafe.Pointer { return unsafe.Add(w.base, i*w.elem) }

// nth is the address of the accumulator that lies i behind another.
func (w *walk) nth(acc unsafe.Pointer, i int) unsafe.Pointer { return unsafe.Add(acc, i*w.acc) }

// room makes n accumulators.
func (w *walk) room(n int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(make([]float64, (n*w.acc+7)/8)))
}

func (w *walk) run(t *T, red []bool) {
	kept, over := make([]axis, 0, 4), make([]axis, 0, 4)
	outN := 1
	for d, n := range t.Shape() {
		if red[d] {
			over = append(over, axis{n, t.Strides()[d]})
		} else {
			kept = append(kept, axis{n, t.Strides()[d]})
			outN *= n
		}
	}
	if t.Numel() == 0 {
		acc := w.room(outN)
		w.start(acc, outN)
		w.put(0, acc, outN)
		return
	}
	// the order within the reduced dimensions is free: follow memory
	slices.SortStableFunc(over, func(a, b axis) int { return b.stride - a.stride })
	over, kept = mergeAxes(over), mergeAxes(kept)
	nk, nr := len(kept), len(over)
	w.base = tensor.Ptr(t)
	switch {
	case nr == 0 && nk == 0:
		acc := w.room(1)
		w.start(acc, 1)
		w.take(formEach, acc, 1, w.base, 1, 0)
		w.put(0, acc, 1)
	case nr > 0 && over[nr-1].stride == 1:
		w.alongRows(outN, kept, over)
	case nk > 0 && kept[nk-1].stride == 1 && !shortRuns(kept, over, w.elem):
		w.downColumns(outN, kept, over)
	default:
		c := tensor.New(t.Shape(), t.DType())
		tensor.CopyRaw(c, t)
		w.run(c, red)
	}
}

// shortRuns reports runs for different accumulators that are so short, with gaps between all of them, that each would
// cost more than to bring them together.
func shortRuns(kept, over []axis, size int) bool {
	last := len(kept) - 1
	if last < 0 || kept[last].stride != 1 || kept[last].n*size > runMost || count(kept[:last]) < matsLeast {
		return false
	}
	gap := true
	for _, axes := range [][]axis{kept[:last], over} {
		for _, a := range axes {
			gap = gap && a.stride > kept[last].n
		}
	}
	return gap
}

// alongRows handles runs of memory that are reduced to one accumulator.
func (w *walk) alongRows(outN int, kept, over []axis) {
	last := len(over) - 1
	n := over[last].n
	outer := over[:last]
	rows := count(outer)
	gapped := rows > 1 && n*w.elem <= gapMost
	line, step := 1, 0 // accumulators whose runs lie at equal distances
	if l := len(kept) - 1; l >= 0 {
		line, step = kept[l].n, kept[l].stride
	}
	if rows*n <= rowBlock || outN >= 64 && rows*n <= 8*rowBlock {
		how, turn := formEach, false // how a run of n for each accumulator, stride apart, is taken up
		switch {
		case n <= fewMost && w.few:
			how = formFew
		case line >= turnLeast && n*w.elem <= op.Pick(w.elem < 4, turnNarrow, turnWide):
			turn = true
		case n <= rowShort && line > 1 && w.rows:
			how = formRows
		}
		// Runs that lie apart are best taken many at a time.
		par.Sweep(outN, max(1, op.Pick(rows > 1, 4, 1)*grain/(rows*n)), outN*rows*n*w.elem, func(lo, hi int) {
			acc := w.room(min(hi-lo, rowGroup))
			for o := lo; o < hi; {
				m := min(hi-o, rowGroup, line-o%line)
				w.start(acc, m)
				p := offset(kept, o)
				if outN == 1 && gapped {
					w.gathered(acc, p, 0, rows, n, outer)
					w.put(o, acc, 1)
					o++
					continue
				}
				for r := range rows {
					if s := w.at(p + offset(outer, r)); turn {
						w.turned(acc, m, s, n, step)
					} else {
						w.take(how, acc, m, s, n, step)
					}
				}
				w.put(o, acc, m)
				o += m
			}
		})
		return
	}
	// few long reductions: blocks of rows, or of one row, reduced apart and merged in order
	perRow := (n + rowBlock - 1) / rowBlock
	rowsPer := 1
	if perRow == 1 {
		rowsPer = max(1, rowBlock/n)
	}
	blocks := (rows + rowsPer - 1) / rowsPer * perRow
	part := w.room(outN * blocks)
	par.Sweep(outN*blocks, 1, outN*rows*n*w.elem, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p := offset(kept, i/blocks)
			b := i % blocks
			acc := w.nth(part, i)
			w.start(acc, 1)
			from := b % perRow * rowBlock
			m := min(rowBlock, n-from)
			if r, end := b/perRow*rowsPer, min(rows, (b/perRow+1)*rowsPer); gapped {
				w.gathered(acc, p, r, end, n, outer)
			} else {
				for ; r < end; r++ {
					w.take(formEach, acc, 1, w.at(p+offset(outer, r)+from), m, 0)
				}
			}
		}
	})
	for o := range outN {
		acc := w.nth(part, o*blocks)
		for b := 1; b < blocks; b++ {
			w.join(formEach, acc, w.nth(part, o*blocks+b), 1)
		}
		copy(unsafe.Slice((*byte)(w.nth(part, o)), w.acc), unsafe.Slice((*byte)(acc), w.acc))
	}
	w.put(0, part, outN)
}

// gathered takes up rows r to end of n elements, which lie apart: they are brought together first, as many at a time as
// the cache holds, where a call for each would cost more than its work.
func (w *walk) gathered(acc unsafe.Pointer, p, r, end, n int, outer []axis) {
	room := turnBuffers.Get().(*[turnBytes]uint8)
	inner := outer[len(outer)-1]
	for r < end {
		m := min(end-r, inner.n-r%inner.n, turnBytes/w.elem/n)
		s := w.at(p + offset(outer, r))
		if !vec.MoveRows(unsafe.Pointer(room), n*w.elem, s, inner.stride*w.elem, m, n*w.elem) {
			for i := range m {
				copy(room[i*n*w.elem:], unsafe.Slice((*uint8)(unsafe.Add(s, i*inner.stride*w.elem)), n*w.elem))
			}
		}
		w.take(formEach, acc, 1, unsafe.Pointer(room), m*n, 0)
		r += m
	}
	turnBuffers.Put(room)
}

// turnBuffers hold short rows that are turned to columns.
var turnBuffers = sync.Pool{New: func() any { return new([turnBytes]uint8) }}

// turned takes up a run of n for each of m accumulators, stride apart, where runs are so short that a call for each, or
// joining its lanes at the end, would cost more than its work: some of them at a time are transposed in the cache,
// where a step takes up an element of all.
func (w *walk) turned(acc unsafe.Pointer, m int, s unsafe.Pointer, n, stride int) {
	buf := turnBuffers.Get().(*[turnBytes]uint8)
	per := max(16, turnBytes/(n*w.elem)&^15)
	for at := 0; at < m; at += per {
		c := min(per, m-at)
		iter.Transpose(unsafe.Pointer(buf), c*w.elem, unsafe.Add(s, at*stride*w.elem), stride*w.elem, c, n, w.elem)
		w.columns(w.nth(acc, at), c, unsafe.Pointer(buf), n, c)
	}
	turnBuffers.Put(buf)
}

// columns takes up rows of n elements, one for each accumulator, that lie stride apart.
func (w *walk) columns(acc unsafe.Pointer, n int, s unsafe.Pointer, rows, stride int) {
	if n <= colNarrow && stride == n {
		// Narrow rows without gaps between them: g of them make a wide one, whose accumulators are merged at the end.
		g := 1
		if !w.joins {
			if rows >= 4*(colWide/n) {
				g = colWide / n
			}
		} else {
			for 2*g*n <= colWide && rows >= 2*g*wideLeast {
				g *= 2
			}
		}
		if g > 1 && g*n*w.acc <= turnBytes {
			buf := turnBuffers.Get().(*[turnBytes]uint8)
			wide, m := unsafe.Pointer(buf), g*n
			w.start(wide, m)
			w.down(wide, m, s, rows/g, m)
			for ; m%(2*n) == 0; m /= 2 {
				w.merge(wide, w.nth(wide, m/2), m/2)
			}
			for ; m > 0; m -= n {
				w.merge(acc, wide, n)
				wide = w.nth(wide, n)
			}
			turnBuffers.Put(buf)
			s, rows = unsafe.Add(s, rows/g*g*n*w.elem), rows%g
		}
	}
	w.down(acc, n, s, rows, stride)
}

// merge joins n accumulators of later elements to those of earlier ones.
func (w *walk) merge(acc, next unsafe.Pointer, n int) {
	w.join(op.Pick(w.joins, formJoins, formEach), acc, next, n)
}

// columnsAt takes up rows r to end of n elements, which begin at p.
func (w *walk) columnsAt(acc unsafe.Pointer, n, p, r, end int, over []axis) {
	last := len(over) - 1
	if last < 0 { // dimensions of size 1: a row
		w.columns(acc, n, w.at(p), 1, 0)
		return
	}
	for l, st := over[last].n, over[last].stride; r < end; { // as far as the last of the reduced dimensions goes
		m := min(end-r, l-r%l)
		w.columns(acc, n, w.at(p+offset(over, r)), m, st)
		r += m
	}
}

// downColumns handles runs of memory whose elements belong to different accumulators.
func (w *walk) downColumns(outN int, kept, over []axis) {
	last := len(kept) - 1
	cols := kept[last].n
	outer := kept[:last]
	mats := count(outer)
	rows := count(over)
	if n := rows * cols; mats >= matsLeast && n <= op.Pick(cols <= matsNarrow, matsTall, matsMost) &&
		n*w.elem <= turnBytes/16 && len(over) == 1 && over[0].stride == cols {
		w.matrices(outer, mats, rows, cols)
		return
	}
	tiles := (cols + colTile - 1) / colTile
	units := mats * tiles
	bytes := mats * rows * cols * w.elem
	blocks, size := 1, max(colRows, grain/cols)
	if units < 64 && rows >= 2*size {
		blocks = (rows + size - 1) / size
	}
	if blocks == 1 {
		per := rows * min(cols, colTile)
		par.Sweep(units, max(1, grain/per), bytes, func(lo, hi int) {
			room := min((hi-lo)*cols, colTile)
			var buf unsafe.Pointer
			if w.dst == nil {
				buf = w.room(room)
			}
			first, n := buf, 0 // of the outputs before the next
			for u := lo; u < hi; u++ {
				m, from := u/tiles, u%tiles*colTile
				c := min(colTile, cols-from)
				if n+c > room {
					w.put(m*cols+from-n, first, n)
					n = 0
				}
				if n == 0 && w.dst != nil {
					first = w.nth(w.dst, m*cols+from)
				}
				acc := w.nth(first, n)
				w.start(acc, c)
				w.columnsAt(acc, c, offset(outer, m)+from, 0, rows, over)
				n += c
			}
			w.put((hi-1)/tiles*cols+min(cols, ((hi-1)%tiles+1)*colTile)-n, first, n)
		})
		return
	}
	// few columns under many rows: blocks of rows, merged in order
	need := blocks * outN * w.acc
	part := mem.Alloc(need)
	defer mem.Free(part, need)
	per := size * min(cols, colTile)
	par.Sweep(units*blocks, max(1, grain/per), bytes, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b, u := i/units, i%units
			m, from := u/tiles, u%tiles*colTile
			c := min(colTile, cols-from)
			acc := w.nth(part, b*outN+m*cols+from)
			w.start(acc, c)
			w.columnsAt(acc, c, offset(outer, m)+from, b*size, min(rows, (b+1)*size), over)
		}
	})
	for b := 1; b < blocks; b++ {
		w.merge(part, w.nth(part, b*outN), outN)
	}
	w.put(0, part, outN)
}

// matrices is downColumns for small matrices: as many of them as the cache holds are turned at a time, so that a call
// goes over a column of all.
func (w *walk) matrices(outer []axis, mats, rows, cols int) {
	n := rows * cols
	last := outer[len(outer)-1]
	per := min(turnBytes/(n*w.elem), colTile) // at least 16
	par.Sweep(mats, max(matsLeast, grain/n), mats*n*w.elem, func(lo, hi int) {
		buf := turnBuffers.Get().(*[turnBytes]uint8)
		s := unsafe.Pointer(buf)
		most := min(per, hi-lo) * cols
		acc, res := w.room(most), w.dst
		if w.dst == nil {
			res = w.room(most)
		}
		for m := lo; m < hi; {
			c := min(per, hi-m, last.n-m%last.n)
			iter.Transpose(s, c*w.elem, w.at(offset(outer, m)), last.stride*w.elem, c, n, w.elem)
			for x := range cols {
				a := w.nth(acc, x*c)
				w.start(a, c)
				w.down(a, c, unsafe.Add(s, x*c*w.elem), rows, cols*c)
			}
			done := res
			if w.dst != nil {
				done = w.nth(res, m*cols)
			}
			iter.Transpose(done, cols*w.acc, acc, c*w.acc, cols, c, w.acc)
			w.put(m*cols, done, c*cols)
			m += c
		}
		turnBuffers.Put(buf)
	})
}
