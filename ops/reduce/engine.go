package reduce

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Sizes of the blocks that work is cut into. They depend on nothing but the shape, so that a result has the same bits
// on any number of threads.
const (
	grain    = 32 * 1024 // elements of a parallel task
	rowBlock = 32 * 1024 // elements of a long row that are reduced as one
	rowGroup = 256       // short rows that are reduced in one call
	rowShort = 4096      // rows of up to so many elements count as short
	colTile  = 1024      // columns that are accumulated side by side
	colRows  = 256       // rows of a column block, more where they are short

	colNarrow = 32  // so many columns count as few: several rows of them are joined to a wide row
	colWide   = 512 // columns of a joined row, at most
	wideLeast = 16  // fewer joined rows than these are not worth it

	fewMost = 4 // rows of up to so many elements go to the kernel's form few

	turnWide   = 128      // rows of up to so many bytes are transposed to columns
	turnNarrow = 24       // the same for elements of one or two bytes, whose transposition is slower
	turnLeast  = 16       // fewer rows than these are not worth transposing
	turnBytes  = 16 << 10 // bytes that are transposed, or gathered, at a time: a part of the first-level cache

	matsMost   = 40  // matrices of up to so many elements are transposed, so that the columns of many lie side by side
	matsTall   = 160 // the same for matrices of few columns
	matsNarrow = 8   // so many columns count as few
	matsLeast  = 32  // fewer matrices than these are not worth transposing

	// contiguous runs of up to so many bytes that go to several accumulators are gathered in a buffer first
	runMost = 32
	gapMost = 256 // the same for runs that go to one accumulator, where there are several
)

// cast is t in another dtype, t itself when it has it. Not recorded.
func cast(t *T, dt tensor.DType) *T {
	if t.DType() == dt {
		return t
	}
	return tensor.DenseAs(t, dt)
}

// kern reduces elements of type E to an accumulator of type A.
type kern[E, A any] struct {
	init A
	row  func(acc A, s []E) A // takes up a contiguous run
	// where set: a run of n for each of at most rowGroup accumulators, stride apart
	rows func(acc []A, s []E, n, stride int)
	few  func(acc []A, s []E, n, stride int) // the same for runs of at most fewMost
	col  func(acc []A, s []E)                // takes up one element per accumulator
	// where set, stands for col: rows that lie stride apart, for at most colTile accumulators
	block func(acc []A, s []E, rows, stride int)
	merge func(into, next A) A      // joins two accumulators, the second of later elements
	joins func(dst, into, next []A) // where set, merge of many at a time
}

type axis struct{ n, stride int }

// mergeAxes drops axes of size 1 and joins neighbours that memory walks as one.
func mergeAxes(in []axis) []axis {
	out := in[:0]
	for _, a := range in {
		if a.n == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].stride == a.n*a.stride {
			out[k] = axis{out[k].n * a.n, a.stride}
			continue
		}
		out = append(out, a)
	}
	return out
}

func count(ax []axis) int {
	n := 1
	for _, a := range ax {
		n *= a.n
	}
	return n
}

// offset is the memory position of the i-th element of the axes, row-major.
func offset(ax []axis, i int) int {
	p := 0
	for d := len(ax) - 1; d > 0 && i > 0; d-- {
		q := i / ax[d].n
		p += (i - q*ax[d].n) * ax[d].stride
		i = q
	}
	if i > 0 { // the outermost axis needs no division, which would cost more than a short row
		p += i * ax[0].stride
	}
	return p
}

// rowsOf makes a kernel's rows from a function that reduces rows, and what takes a result up.
func rowsOf[E, R, A any](f func(dst []R, a []E, rows, cols, lda int), join func(acc A, r R) A) func(acc []A, s []E, n,
	stride int) {
	pool := sync.Pool{New: func() any { return new([rowGroup]R) }}
	return func(acc []A, s []E, n, stride int) {
		buf := pool.Get().(*[rowGroup]R)
		f(buf[:], s, len(acc), n, stride)
		for i, r := range buf[:len(acc)] {
			acc[i] = join(acc[i], r)
		}
		pool.Put(buf)
	}
}

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
		put(0, k.start(make([]A, outN)))
		return
	}
	// the order within the reduced dimensions is free: follow memory
	slices.SortStableFunc(over, func(a, b axis) int { return b.stride - a.stride })
	over, kept = mergeAxes(over), mergeAxes(kept)
	nk, nr := len(kept), len(over)
	base := (*E)(tensor.Ptr(t))
	at := func(p, n int) []E {
		return unsafe.Slice((*E)(unsafe.Add(unsafe.Pointer(base), p*int(unsafe.Sizeof(*base)))), n)
	}
	switch {
	case nr == 0 && nk == 0:
		put(0, []A{k.row(k.init, at(0, 1))})
	case nr > 0 && over[nr-1].stride == 1:
		reduceRows(outN, kept, over, k, at, put)
	case nk > 0 && kept[nk-1].stride == 1 && !shortRuns(kept, over, int(unsafe.Sizeof(*base))):
		reduceColumns(outN, kept, over, k, at, dst, put)
	default:
		c := tensor.New(t.Shape(), t.DType())
		tensor.CopyRaw(c, t)
		run(c, red, k, dst, put)
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

// start sets accumulators to what they begin with.
func (k *kern[E, A]) start(acc []A) []A {
	if len(acc) == 0 {
		return acc
	}
	acc[0] = k.init
	for n := 1; n < len(acc); n *= 2 {
		copy(acc[n:], acc[:n])
	}
	return acc
}

// reduceRows handles runs of memory that are reduced to one accumulator.
func reduceRows[E, A any](outN int, kept, over []axis, k *kern[E, A], at func(p, n int) []E,
	put func(at int, acc []A)) {
	last := len(over) - 1
	n := over[last].n
	outer := over[:last]
	rows := count(outer)
	size := int(unsafe.Sizeof(*new(E)))
	gapped := rows > 1 && n*size <= gapMost
	line, step := 1, 0 // accumulators whose runs lie at equal distances
	if l := len(kept) - 1; l >= 0 {
		line, step = kept[l].n, kept[l].stride
	}
	if rows*n <= rowBlock || outN >= 64 && rows*n <= 8*rowBlock {
		take := k.each // takes up a run of n for each accumulator, stride apart
		switch {
		case n <= fewMost && k.few != nil:
			take = k.few
		case line >= turnLeast && n*size <= op.Pick(size < 4, turnNarrow, turnWide):
			take = k.turned
		case n <= rowShort && line > 1 && k.rows != nil:
			take = k.rows
		}
		// Runs that lie apart are best taken many at a time.
		par.Sweep(outN, max(1, op.Pick(rows > 1, 4, 1)*grain/(rows*n)), outN*rows*n*size, func(lo, hi int) {
			buf := make([]A, min(hi-lo, rowGroup))
			for o := lo; o < hi; {
				acc := k.start(buf[:min(hi-o, rowGroup, line-o%line)])
				p := offset(kept, o)
				if outN == 1 && gapped {
					acc[0] = k.gathered(acc[0], p, 0, rows, n, outer, at)
					put(o, acc)
					o++
					continue
				}
				for r := range rows {
					take(acc, at(p+offset(outer, r), (len(acc)-1)*step+n), n, step)
				}
				put(o, acc)
				o += len(acc)
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
	part := make([]A, outN*blocks)
	par.Sweep(len(part), 1, outN*rows*n*size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p := offset(kept, i/blocks)
			b := i % blocks
			acc := k.init
			from := b % perRow * rowBlock
			m := min(rowBlock, n-from)
			if r, end := b/perRow*rowsPer, min(rows, (b/perRow+1)*rowsPer); gapped {
				acc = k.gathered(acc, p, r, end, n, outer, at)
			} else {
				for ; r < end; r++ {
					acc = k.row(acc, at(p+offset(outer, r)+from, m))
				}
			}
			part[i] = acc
		}
	})
	for o := range outN {
		acc := part[o*blocks]
		for _, next := range part[o*blocks+1 : (o+1)*blocks] {
			acc = k.merge(acc, next)
		}
		part[o] = acc
	}
	put(0, part[:outN])
}

// gathered takes up rows r to end of n elements, which lie apart: they are brought together first, as many at a time as
// the cache holds, where a call for each would cost more than its work.
func (k *kern[E, A]) gathered(acc A, p, r, end, n int, outer []axis, at func(p, n int) []E) A {
	size := int(unsafe.Sizeof(*new(E)))
	room := turnBuffers.Get().(*[turnBytes]uint8)
	buf := unsafe.Slice((*E)(unsafe.Pointer(room)), turnBytes/size)
	inner := outer[len(outer)-1]
	for r < end {
		m := min(end-r, inner.n-r%inner.n, len(buf)/n)
		s := at(p+offset(outer, r), (m-1)*inner.stride+n)
		if !vec.MoveRows(unsafe.Pointer(room), n*size, unsafe.Pointer(&s[0]), inner.stride*size, m, n*size) {
			for i := range m {
				copy(buf[i*n:][:n], s[i*inner.stride:])
			}
		}
		acc = k.row(acc, buf[:m*n])
		r += m
	}
	turnBuffers.Put(room)
	return acc
}

// each takes up a run of n for each accumulator, stride apart.
func (k *kern[E, A]) each(acc []A, s []E, n, stride int) {
	for i := range acc {
		acc[i] = k.row(acc[i], s[i*stride:][:n])
	}
}

// turnBuffers hold short rows that are turned to columns.
var turnBuffers = sync.Pool{New: func() any { return new([turnBytes]uint8) }}

// turned is each for runs that are so short that a call for each, or joining its lanes at the end, would cost more than
// its work: some of them at a time are transposed in the cache, where a step takes up an element of all.
func (k *kern[E, A]) turned(acc []A, s []E, n, stride int) {
	size := int(unsafe.Sizeof(*new(E)))
	buf := turnBuffers.Get().(*[turnBytes]uint8)
	for per := max(16, turnBytes/(n*size)&^15); len(acc) > 0; {
		m := min(per, len(acc))
		iter.Transpose(unsafe.Pointer(buf), m*size, unsafe.Pointer(&s[0]), stride*size, m, n, size)
		k.columns(acc[:m], unsafe.Slice((*E)(unsafe.Pointer(buf)), n*m), n, m)
		if acc = acc[m:]; len(acc) > 0 {
			s = s[m*stride:]
		}
	}
	turnBuffers.Put(buf)
}

// columns takes up rows that lie stride apart.
func (k *kern[E, A]) columns(acc []A, s []E, rows, stride int) {
	if n := len(acc); n <= colNarrow && stride == n {
		// Narrow rows without gaps between them: g of them make a wide one, whose accumulators are merged at the end.
		g := 1
		if k.joins == nil {
			if rows >= 4*(colWide/n) {
				g = colWide / n
			}
		} else {
			for 2*g*n <= colWide && rows >= 2*g*wideLeast {
				g *= 2
			}
		}
		if g > 1 && g*n*int(unsafe.Sizeof(k.init)) <= turnBytes {
			buf := turnBuffers.Get().(*[turnBytes]uint8)
			wide := k.start(unsafe.Slice((*A)(unsafe.Pointer(buf)), g*n))
			k.takeUp(wide, s, rows/g, g*n)
			for ; len(wide)%(2*n) == 0; wide = wide[:len(wide)/2] {
				k.join(wide[:len(wide)/2], wide[len(wide)/2:])
			}
			for ; len(wide) > 0; wide = wide[n:] {
				k.join(acc, wide[:n])
			}
			turnBuffers.Put(buf)
			s, rows = s[rows/g*g*n:], rows%g
		}
	}
	k.takeUp(acc, s, rows, stride)
}

// takeUp is columns as they are.
func (k *kern[E, A]) takeUp(acc []A, s []E, rows, stride int) {
	if rows == 0 {
		return
	}
	if k.block != nil {
		k.block(acc, s, rows, stride)
		return
	}
	for r := range rows {
		k.col(acc, s[r*stride:][:len(acc)])
	}
}

// join merges accumulators of later elements into those of earlier ones.
func (k *kern[E, A]) join(acc, next []A) {
	if k.joins != nil {
		k.joins(acc, acc, next)
		return
	}
	for i, v := range next {
		acc[i] = k.merge(acc[i], v)
	}
}

// columnsAt takes up rows r to end, which begin at p.
func (k *kern[E, A]) columnsAt(acc []A, p, r, end int, over []axis, at func(p, n int) []E) {
	last := len(over) - 1
	if last < 0 { // dimensions of size 1: a row
		k.columns(acc, at(p, len(acc)), 1, 0)
		return
	}
	for n, st := over[last].n, over[last].stride; r < end; { // as far as the last of the reduced dimensions goes
		m := min(end-r, n-r%n)
		k.columns(acc, at(p+offset(over, r), (m-1)*st+len(acc)), m, st)
		r += m
	}
}

// reduceColumns handles runs of memory whose elements belong to different accumulators.
func reduceColumns[E, A any](outN int, kept, over []axis, k *kern[E, A], at func(p, n int) []E, dst []A,
	put func(at int, acc []A)) {
	last := len(kept) - 1
	cols := kept[last].n
	outer := kept[:last]
	mats := count(outer)
	rows := count(over)
	if n := rows * cols; mats >= matsLeast && n <= op.Pick(cols <= matsNarrow, matsTall, matsMost) &&
		n*int(unsafe.Sizeof(*new(E))) <= turnBytes/16 && len(over) == 1 && over[0].stride == cols {
		reduceTurned(outer, mats, rows, cols, k, at, dst, put)
		return
	}
	tiles := (cols + colTile - 1) / colTile
	units := mats * tiles
	bytes := mats * rows * cols * int(unsafe.Sizeof(*new(E)))
	blocks, size := 1, max(colRows, grain/cols)
	if units < 64 && rows >= 2*size {
		blocks = (rows + size - 1) / size
	}
	if blocks == 1 {
		per := rows * min(cols, colTile)
		par.Sweep(units, max(1, grain/per), bytes, func(lo, hi int) {
			room := min((hi-lo)*cols, colTile)
			var buf []A
			if dst == nil {
				buf = make([]A, room)
			}
			done := buf[:0] // of the outputs before the next
			for u := lo; u < hi; u++ {
				m, from := u/tiles, u%tiles*colTile
				w := min(colTile, cols-from)
				if len(done)+w > room {
					put(m*cols+from-len(done), done)
					done = done[:0]
				}
				if len(done) == 0 && dst != nil {
					done = dst[m*cols+from:][:0]
				}
				done = done[:len(done)+w]
				k.columnsAt(k.start(done[len(done)-w:]), offset(outer, m)+from, 0, rows, over, at)
			}
			put((hi-1)/tiles*cols+min(cols, ((hi-1)%tiles+1)*colTile)-len(done), done)
		})
		return
	}
	// few columns under many rows: blocks of rows, merged in order
	need := blocks * outN * int(unsafe.Sizeof(k.init))
	p := mem.Alloc(need)
	defer mem.Free(p, need)
	part := unsafe.Slice((*A)(p), blocks*outN)
	per := size * min(cols, colTile)
	par.Sweep(units*blocks, max(1, grain/per), bytes, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b, u := i/units, i%units
			m, from := u/tiles, u%tiles*colTile
			w := min(colTile, cols-from)
			acc := k.start(part[b*outN+m*cols+from:][:w])
			k.columnsAt(acc, offset(outer, m)+from, b*size, min(rows, (b+1)*size), over, at)
		}
	})
	for b := 1; b < blocks; b++ {
		k.join(part[:outN], part[b*outN:][:outN])
	}
	put(0, part[:outN])
}

// reduceTurned is reduceColumns for small matrices: as many of them as the cache holds are turned at a time, so that a
// call goes over a column of all.
func reduceTurned[E, A any](outer []axis, mats, rows, cols int, k *kern[E, A], at func(p, n int) []E, dst []A,
	put func(at int, acc []A)) {
	n, size, sizeA := rows*cols, int(unsafe.Sizeof(*new(E))), int(unsafe.Sizeof(k.init))
	last := outer[len(outer)-1]
	per := min(turnBytes/(n*size), colTile) // at least 16
	par.Sweep(mats, max(matsLeast, grain/n), mats*n*size, func(lo, hi int) {
		room := turnBuffers.Get().(*[turnBytes]uint8)
		s := unsafe.Slice((*E)(unsafe.Pointer(room)), turnBytes/size)
		most := min(per, hi-lo) * cols
		acc, res := make([]A, most), dst
		if dst == nil {
			res = make([]A, most)
		}
		for m := lo; m < hi; {
			c := min(per, hi-m, last.n-m%last.n)
			from := at(offset(outer, m), (c-1)*last.stride+n)
			iter.Transpose(unsafe.Pointer(room), c*size, unsafe.Pointer(&from[0]), last.stride*size, c, n, size)
			for x := range cols {
				k.takeUp(k.start(acc[x*c:][:c]), s[x*c:], rows, cols*c)
			}
			done := res[:c*cols]
			if dst != nil {
				done = res[m*cols:][:c*cols]
			}
			iter.Transpose(unsafe.Pointer(&done[0]), cols*sizeA, unsafe.Pointer(&acc[0]), c*sizeA, cols, c, sizeA)
			put(m*cols, done)
			m += c
		}
		turnBuffers.Put(room)
	})
}

// into reduces t to o, whose accumulators finish ends where it is set.
func into[E any, A storable](o, t *T, red []bool, k *kern[E, A], finish func(acc []A)) {
	writing[A](o, func(w *T) {
		var dst []A
		if w.DType() == tensor.DTypeOf[A]() {
			dst = op.Raw[A](w)
		}
		run(t, red, k, dst, func(at int, acc []A) {
			if finish != nil {
				finish(acc)
			}
			write(w, at, acc)
		})
	})
}

// storable are the types of accumulators.
type storable interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128
}

// writing calls f with what write can write accumulators to: o, or a tensor that is then copied to it.
func writing[A storable](o *T, f func(w *T)) {
	dt := tensor.Float64
	wide := false // that write rounds them to o's type
	switch any(*new(A)).(type) {
	case uint8:
		if dt = tensor.Uint8; o.DType() == tensor.Bool {
			dt = tensor.Bool
		}
	case int8:
		dt = tensor.Int8
	case int16:
		dt = tensor.Int16
	case int32:
		dt = tensor.Int32
	case int64:
		dt = tensor.Int64
	case float32:
		dt = tensor.Float32
		wide = o.DType().IsReduced()
	case float64:
		wide = o.DType() == tensor.Float32 || o.DType().IsReduced()
	case complex64:
		dt = tensor.Complex64
	case complex128:
		dt = tensor.Complex128
	}
	w := o
	if !o.IsContiguous() || o.DType() != dt && !wide {
		w = tensor.New(o.Shape(), dt)
	}
	f(w)
	if w != o {
		tensor.CopyRaw(o, w)
	}
}

// write sets the elements of o from at on.
func write[A storable](o *T, at int, acc []A) {
	if len(acc) == 0 {
		return
	}
	f, narrow := any(acc).([]float32)
	if d, ok := any(acc).([]float64); ok && o.DType() != tensor.Float64 {
		if o.DType() == tensor.Float32 {
			vec.F64ToF32s(op.Raw[float32](o)[at:][:len(d)], d)
			return
		}
		buf := half.Borrow[float32](len(d))
		defer half.Return(buf)
		f, narrow = *buf, true
		vec.F64ToF32s(f, d)
	}
	if narrow && o.DType().IsReduced() {
		half.Store(o, at, f)
		return
	}
	if d := op.Raw[A](o)[at:]; &d[0] != &acc[0] {
		copy(d, acc)
	}
}
