package reduce

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Sizes of the blocks that work is cut into. They depend on nothing but the shape, so that a result has the same bits on any
// number of threads.
const (
	grain    = 32 * 1024 // elements of a parallel task
	rowBlock = 32 * 1024 // elements of a long row that are reduced as one
	rowGroup = 128       // short rows that are reduced in one call
	rowShort = 4096      // what is short
	colTile  = 1024      // columns that are accumulated side by side
	colRows  = 256       // rows of a column block
)

// raw is the memory of a contiguous tensor; unlike tensor.Data it lets bool pass as uint8.
func raw[E any](t *T) []E {
	if t.Numel() == 0 {
		return nil
	}
	return unsafe.Slice((*E)(t.Ptr()), t.Numel())
}

// cast is t in another dtype, t itself when it has it. Not recorded.
func cast(t *T, dt tensor.DType) *T {
	if t.DType() == dt {
		return t
	}
	return t.DenseAs(dt)
}

// kern reduces elements of type E to an accumulator of type A.
type kern[E, A any] struct {
	init  A
	row   func(acc A, s []E) A                   // takes up a contiguous run
	rows  func(acc []A, s []E, n, stride int)    // where set: a run of n for each of at most rowGroup accumulators, stride apart
	col   func(acc []A, s []E)                   // takes up one element per accumulator
	block func(acc []A, s []E, rows, stride int) // where set, stands for col: rows that lie stride apart, for at most colTile accumulators
	merge func(into, next A) A                   // joins two accumulators, the second of later elements
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
func rowsOf[E, R, A any](f func(dst []R, a []E, rows, cols, lda int), join func(acc A, r R) A) func(acc []A, s []E, n, stride int) {
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

// columnsOf makes a kernel's block from the kernel of two operands that joins rows to the accumulators.
func columnsOf[E any](join func(rows, cols int, dst []E, ldd int, a []E, lda int, b []E, ldb int)) func(acc, s []E, rows, stride int) {
	return func(acc, s []E, rows, stride int) { join(rows, len(acc), acc, 0, acc, 0, s, stride) }
}

// run reduces the marked dimensions of t; the result has one accumulator per element of the output, row-major.
func run[E, A any](t *T, red []bool, k *kern[E, A]) []A {
	if t.IsContiguous() { // the whole of a small tensor: nothing to plan
		all := true
		for _, r := range red {
			all = all && r
		}
		if all && t.Numel() <= rowBlock {
			acc := k.init
			if t.Numel() > 0 {
				acc = k.row(acc, raw[E](t))
			}
			return []A{acc}
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
	out := make([]A, outN)
	for i := range out {
		out[i] = k.init
	}
	if t.Numel() == 0 {
		return out
	}
	// the order within the reduced dimensions is free: follow memory
	slices.SortStableFunc(over, func(a, b axis) int { return b.stride - a.stride })
	over, kept = mergeAxes(over), mergeAxes(kept)
	nk, nr := len(kept), len(over)
	base := (*E)(t.Ptr())
	at := func(p, n int) []E {
		return unsafe.Slice((*E)(unsafe.Add(unsafe.Pointer(base), p*int(unsafe.Sizeof(*base)))), n)
	}
	switch {
	case nr == 0 && nk == 0:
		out[0] = k.row(k.init, at(0, 1))
	case nr > 0 && over[nr-1].stride == 1:
		reduceRows(out, kept, over, k, at)
	case nk > 0 && kept[nk-1].stride == 1:
		reduceColumns(out, kept, over, k, at)
	default:
		c := tensor.New(t.Shape(), t.DType())
		tensor.CopyRaw(c, t)
		return run(c, red, k)
	}
	return out
}

// reduceRows handles runs of memory that are reduced to one accumulator.
func reduceRows[E, A any](out []A, kept, over []axis, k *kern[E, A], at func(p, n int) []E) {
	last := len(over) - 1
	n := over[last].n
	outer := over[:last]
	rows := count(outer)
	line, step := 1, 0 // accumulators whose runs lie at equal distances
	if l := len(kept) - 1; l >= 0 {
		line, step = kept[l].n, kept[l].stride
	}
	if rows*n <= rowBlock || len(out) >= 64 && rows*n <= 8*rowBlock {
		// Runs that lie apart are best taken many at a time.
		par.For(len(out), max(1, pick(rows > 1, 4, 1)*grain/(rows*n)), func(lo, hi int) {
			for o := lo; o < hi; {
				p := offset(kept, o)
				if m := min(hi-o, rowGroup, line-o%line); m > 1 && k.rows != nil && n <= rowShort {
					for r := range rows {
						k.rows(out[o:o+m], at(p+offset(outer, r), (m-1)*step+n), n, step)
					}
					o += m
					continue
				}
				acc := out[o]
				for r := range rows {
					acc = k.row(acc, at(p+offset(outer, r), n))
				}
				out[o] = acc
				o++
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
	part := make([]A, len(out)*blocks)
	par.For(len(part), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p := offset(kept, i/blocks)
			b := i % blocks
			acc := k.init
			from := b % perRow * rowBlock
			m := min(rowBlock, n-from)
			for r := b / perRow * rowsPer; r < min(rows, (b/perRow+1)*rowsPer); r++ {
				acc = k.row(acc, at(p+offset(outer, r)+from, m))
			}
			part[i] = acc
		}
	})
	mergeBlocks(out, part, blocks, k)
}

func mergeBlocks[E, A any](out, part []A, blocks int, k *kern[E, A]) {
	for o := range out {
		acc := part[o*blocks]
		for b := 1; b < blocks; b++ {
			acc = k.merge(acc, part[o*blocks+b])
		}
		out[o] = acc
	}
}

// columns takes up rows r to end, which begin at p.
func (k *kern[E, A]) columns(acc []A, p, r, end int, over []axis, at func(p, n int) []E) {
	if k.block == nil {
		for ; r < end; r++ {
			k.col(acc, at(p+offset(over, r), len(acc)))
		}
		return
	}
	last := len(over) - 1
	if last < 0 { // dimensions of size 1: a row
		k.block(acc, at(p, len(acc)), 1, 0)
		return
	}
	for n, st := over[last].n, over[last].stride; r < end; { // as far as the last of the reduced dimensions goes
		m := min(end-r, n-r%n)
		k.block(acc, at(p+offset(over, r), (m-1)*st+len(acc)), m, st)
		r += m
	}
}

// reduceColumns handles runs of memory whose elements belong to different accumulators.
func reduceColumns[E, A any](out []A, kept, over []axis, k *kern[E, A], at func(p, n int) []E) {
	last := len(kept) - 1
	cols := kept[last].n
	outer := kept[:last]
	mats := count(outer)
	rows := count(over)
	tiles := (cols + colTile - 1) / colTile
	units := mats * tiles
	blocks := 1
	if units < 64 && rows >= 2*colRows {
		blocks = (rows + colRows - 1) / colRows
	}
	if blocks == 1 {
		per := rows * min(cols, colTile)
		par.For(units, max(1, grain/per), func(lo, hi int) {
			for u := lo; u < hi; u++ {
				m, from := u/tiles, u%tiles*colTile
				w := min(colTile, cols-from)
				p := offset(outer, m) + from
				acc := out[m*cols+from:][:w]
				k.columns(acc, p, 0, rows, over, at)
			}
		})
		return
	}
	// few columns under many rows: blocks of rows, merged in order
	part := make([]A, blocks*len(out))
	per := colRows * min(cols, colTile)
	par.For(units*blocks, max(1, grain/per), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b, u := i/units, i%units
			m, from := u/tiles, u%tiles*colTile
			w := min(colTile, cols-from)
			p := offset(outer, m) + from
			acc := part[b*len(out)+m*cols+from:][:w]
			for j := range acc {
				acc[j] = k.init
			}
			k.columns(acc, p, b*colRows, min(rows, (b+1)*colRows), over, at)
		}
	})
	copy(out, part[:len(out)])
	for b := 1; b < blocks; b++ {
		for j, v := range part[b*len(out):][:len(out)] {
			out[j] = k.merge(out[j], v)
		}
	}
}

// storable are the types of accumulators.
type storable interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex128
}

// store writes accumulators to a result of any dtype.
func store[A storable](o *T, acc []A) {
	if len(acc) == 0 {
		return
	}
	var zero A
	var dt tensor.DType
	switch any(zero).(type) {
	case uint8:
		dt = tensor.Uint8
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
	case float64:
		dt = tensor.Float64
		if o.DType() == tensor.Float32 && o.IsContiguous() {
			vec.F64ToF32s(raw[float32](o), any(acc).([]float64))
			return
		}
	case complex128:
		dt = tensor.Complex128
	}
	if o.DType() == dt && o.IsContiguous() {
		copy(raw[A](o), acc)
		return
	}
	w := tensor.New(o.Shape(), dt)
	copy(raw[A](w), acc)
	tensor.CopyRaw(o, w)
}
