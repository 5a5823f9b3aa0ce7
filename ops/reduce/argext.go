package reduce

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Where extrema stand is found in two steps: a kernel of the extremum goes over a stretch, which is then searched, and
// only where it has changed the result.

const (
	argBlock = 1024 // elements of a long line whose extremum is taken
	argTile  = 256  // columns side by side
	argRows  = 8    // rows of a block of columns
	argTurn  = 32   // elements of a row that is turned to a column
)

// turnedInts is argTurn for integers. With AVX-512, whose vectors end anywhere, short rows of integers are as good as
// columns; without it, rows from some length on are searched as they lie.
func turnedInts() int { return op.Pick(cpu.HasAVX512, argTurn, 16) }

// narrow reports columns of n elements, inner of them side by side, that are turned to rows: for vectors that cannot
// end anywhere there are too few of them. Those of wide elements must be longer for it to pay.
func narrow[E real](n, inner int) bool {
	switch {
	case cpu.HasAVX512:
		return false
	case isInt[E]() && unsafe.Sizeof(E(0)) < 8:
		return inner <= argTurn && n > turnedInts()
	}
	return inner < 8 && n > 40
}

// first is the index of the extremum of a line, of its first NaN if it has one.
func first[E real](s []E, best E) int {
	for i, v := range s {
		if v == best || v != v {
			return i
		}
	}
	return 0
}

// extrema sets acc to the extrema of rows of n elements, stride apart.
func (k *kern[E, A]) extrema(acc []A, s []E, n, stride int) {
	for i := range acc {
		acc[i] = k.init
	}
	k.rows(acc, s, n, stride)
}

// argLine is the index of the extremum of a line of any length.
func argLine[E real](s []E, isMax bool, k *kern[E, E]) int {
	var acc [rowGroup]E
	at, best := 0, s[0]
	for from := 0; from < len(s); {
		n := min(argBlock, len(s)-from)
		blocks := min(rowGroup, (len(s)-from)/n)
		k.extrema(acc[:blocks], s[from:from+blocks*n], n, n)
		for i, v := range acc[:blocks] {
			if better(v, best, isMax) {
				at, best = from+i*n, v
			}
		}
		from += blocks * n
	}
	return at + first(s[at:], best)
}

// results take what is found; either may be nil.
type results[E real] struct {
	vals []E
	idx  []int64
}

func (o results[E]) put(p int, v E, at int) {
	if o.vals != nil {
		o.vals[p] = v
	}
	if o.idx != nil {
		o.idx[p] = int64(at)
	}
}

// argExt finds values and indices (either may be nil) of the extrema along dim of a contiguous array: the first of
// equal ones, NaN before all.
func argExt[E real](src []E, shape []int, dim int, isMax bool, k *kern[E, E], vals []E, idx []int64) {
	outer, n, inner := iter.Split(shape, dim)
	if outer*inner == 0 || n == 0 {
		return
	}
	if n == 1 {
		copy(vals, src)
		clear(idx)
		return
	}
	o := results[E]{vals, idx}
	find := finderOf(n, isMax, k)
	switch {
	case inner > 1 && inner <= argTurn && n >= argBlock: // of a few long columns many rows make a wide one
		per := max(1, grain/inner)
		parts := (n + per - 1) / per
		found := make([]int, outer*parts*inner)
		par.For(outer*parts, 1, func(lo, hi int) {
			c, free := lendColumns[E]()
			defer free()
			for i := lo; i < hi; i++ {
				from := i % parts * per
				m := min(per, n-from)
				c.folded(find, found[i*inner:][:inner], src[(i/parts*n+from)*inner:], m, groupOf(m, inner), isMax)
				for j := range inner {
					found[i*inner+j] += from
				}
			}
		})
		for i := range outer * inner {
			column := src[i/inner*n*inner+i%inner:]
			at := bestPart(column, found[i/inner*parts*inner+i%inner:], parts, inner, isMax)
			o.put(i, column[at*inner], at)
		}
	case inner > 1 && narrow[E](n, inner):
		par.For(outer, max(1, grain/(n*inner)), func(lo, hi int) {
			buf := make([]E, n*inner)
			size := int(unsafe.Sizeof(buf[0]))
			for u := lo; u < hi; u++ {
				iter.Transpose(unsafe.Pointer(&buf[0]), n*size, unsafe.Pointer(&src[u*n*inner]), inner*size, n, inner,
					size)
				argRowsOf(o, u*inner, buf, n, k)
			}
		})
	case inner > 1:
		tiles := (inner + argTile - 1) / argTile
		group := groupOf(n, inner)
		par.For(outer*tiles, max(1, grain/(n*min(inner, argTile))), func(lo, hi int) {
			c, free := lendColumns[E]()
			defer free()
			for u := lo; u < hi; u++ {
				if group > 1 {
					s := src[u*n*inner:]
					var found [argTurn]int
					c.folded(find, found[:inner], s, n, group, isMax)
					for j, at := range found[:inner] {
						o.put(u*inner+j, s[at*inner+j], at)
					}
					continue
				}
				from := u % tiles * argTile
				c.put(find, o, u/tiles*inner+from, min(argTile, inner-from), src[u/tiles*n*inner+from:], n, inner)
			}
		})
	case n > 1 && n <= 3 && isInt[E]():
		par.For(outer, grain/n, func(lo, hi int) {
			var at [rowGroup]int
			for r := lo; r < hi; r += rowGroup {
				m := min(rowGroup, hi-r)
				firstsFew(at[:m], src[r*n:(r+m)*n], n, isMax)
				for j, k := range at[:m] {
					o.put(r+j, src[(r+j)*n+k], k)
				}
			}
		})
	case n <= turnedInts() && isInt[E]():
		shortInts(src, n, isMax, o)
	case n <= argTurn && !isInt[E]() && outer >= turnLeast: // short rows are turned to columns
		par.For(outer, max(argTile, grain/n), func(lo, hi int) {
			c, free := lendColumns[E]()
			defer free()
			buf := c.rows[0][:]
			size := int(unsafe.Sizeof(buf[0]))
			for r := lo; r < hi; r += argTile {
				w := min(argTile, hi-r)
				iter.Transpose(unsafe.Pointer(&buf[0]), w*size, unsafe.Pointer(&src[r*n]), n*size, w, n, size)
				c.put(find, o, r, w, buf, n, w)
			}
		})
	case n > rowShort:
		const part = grain
		parts := (n + part - 1) / part
		found := make([]int, outer*parts)
		par.For(len(found), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				from := i % parts * part
				found[i] = from + argLine(src[i/parts*n+from:][:min(part, n-from)], isMax, k)
			}
		})
		for r := range outer {
			line := src[r*n:][:n]
			at := bestPart(line, found[r*parts:], parts, 1, isMax)
			o.put(r, line[at], at)
		}
	default:
		par.For(outer, max(1, grain/n), func(lo, hi int) {
			argRowsOf(o, lo, src[lo*n:hi*n], n, k)
		})
	}
}

// argRowsOf puts what is found in rows of n elements at p and behind.
func argRowsOf[E real](o results[E], p int, s []E, n int, k *kern[E, E]) {
	var acc [rowGroup]E
	for ; len(s) > 0; p += rowGroup {
		m := min(rowGroup, len(s)/n)
		k.extrema(acc[:m], s[:m*n], n, n)
		for i, v := range acc[:m] {
			row := s[i*n:][:n]
			at := first(row, v)
			o.put(p+i, row[at], at)
		}
		s = s[m*n:]
	}
}

// shortInts is argExt for short rows of integers, which are turned to columns of floats if these hold them exactly.
func shortInts[E real](src []E, n int, isMax bool, o results[E]) {
	find := floatFinder(isMax, vec.NegF64, vec.MaxTapAtF64)
	par.For(len(src)/n, max(argTile, grain/n), func(lo, hi int) {
		c, free := lendColumns[float64]()
		defer free()
		wide, buf := c.rows[0][:], c.rows[1][:]
		for r := lo; r < hi; r += argTile {
			w := min(argTile, hi-r)
			s, x, at := src[r*n:][:w*n], wide[:w*n], c.at[:w]
			toF64(x, s)
			const exact = 1 << 53
			if unsafe.Sizeof(s[0]) < 8 || vec.MaxF64(x) < exact && vec.MinF64(x) > -exact {
				iter.Transpose(unsafe.Pointer(&buf[0]), w*8, unsafe.Pointer(&x[0]), n*8, w, n, 8)
				find(buf, n, w, c.best[:w], at, c.tmp[:])
			} else {
				for j := range at {
					at[j] = firstWide(s[j*n:][:n], isMax)
				}
			}
			for j, k := range at {
				o.put(r+j, s[j*n+k], k)
			}
		}
	})
}

// toF64 converts integers.
func toF64[E real](dst []float64, s []E) {
	switch s := any(s).(type) {
	case []uint8:
		vec.U8ToF64s(dst, s)
	case []int8:
		vec.I8ToF64s(dst, s)
	case []int16:
		vec.I16ToF64s(dst, s)
	case []int32:
		vec.I32ToF64s(dst, s)
	case []int64:
		vec.I64ToF64s(dst, s)
	}
}

// firstsFew sets at to where the first extrema of rows of two or three integers stand.
func firstsFew[E real](at []int, s []E, n int, isMax bool) {
	switch s := any(s).(type) {
	case []uint8:
		firstsOf(at, s, n, isMax)
	case []int8:
		firstsOf(at, s, n, isMax)
	case []int16:
		firstsOf(at, s, n, isMax)
	case []int32:
		firstsOf(at, s, n, isMax)
	case []int64:
		firstsOf(at, s, n, isMax)
	}
}

// firstsOf takes no branches, which could not be foreseen. Inverted numbers have the opposite order.
func firstsOf[E vec.Integer](at []int, s []E, n int, isMax bool) {
	var flip E
	if isMax {
		flip--
	}
	for i := range at {
		r := s[i*n:][:n]
		a, b, second := r[0]^flip, r[1]^flip, 0
		if b < a {
			second = 1
		}
		if n > 2 {
			third := 0
			if r[2]^flip < min(a, b) {
				third = 1
			}
			second += (2 - second) & -third
		}
		at[i] = second
	}
}

func firstWide[E real](s []E, isMax bool) int {
	at := 0
	for i, v := range s {
		if better(v, s[at], isMax) {
			at = i
		}
	}
	return at
}

// bestPart is where the extremum of a line stands, given where the extrema of its parts stand. Its elements lie step
// apart, and so do the parts' places.
func bestPart[E real](line []E, found []int, parts, step int, isMax bool) int {
	at := found[0]
	for p := 1; p < parts; p++ {
		if b := found[p*step]; better(line[b*step], line[at*step], isMax) {
			at = b
		}
	}
	return at
}

func isInt[E real]() bool { return E(1)/2 == 0 }

// finder finds the extrema of columns of n elements, stride apart, and where they stand; tmp has room for two elements
// a column.
type finder[E real] func(s []E, n, stride int, best []E, at []int, tmp []E)

// columns is what a task needs for columns side by side.
type columns[E real] struct {
	best [argTile]E
	at   [argTile]int
	tmp  [2 * argTile]E
	rows [2][argTurn * argTile]E // room for short rows that are turned
}

// lendColumns gives the memory of a task, with anything in it, and a function that takes it back.
func lendColumns[E real]() (*columns[E], func()) {
	bytes := int(unsafe.Sizeof(columns[E]{}))
	p := mem.Alloc(bytes)
	return (*columns[E])(p), func() { mem.Free(p, bytes) }
}

// put puts what is found for w columns at p.
func (c *columns[E]) put(find finder[E], o results[E], p, w int, s []E, n, stride int) {
	find(s, n, stride, c.best[:w], c.at[:w], c.tmp[:])
	for j, v := range c.best[:w] {
		o.put(p+j, v, c.at[j])
	}
}

// groupOf is the number of rows of few columns that make one, so that the calls for wide rows, each of which takes the
// time of several elements, and what is left to do for each of their columns take equally long.
func groupOf(n, inner int) int {
	if inner > argTurn {
		return 1
	}
	return max(1, min(int(math.Sqrt(float64(8*n/inner))), argTile/inner))
}

// folded finds where the extrema of a few columns of n contiguous rows stand, group of which make one.
func (c *columns[E]) folded(find finder[E], found []int, s []E, n, group int, isMax bool) {
	inner := len(found)
	w := group * inner
	whole := n / group
	find(s, whole, w, c.best[:w], c.at[:w], c.tmp[:])
	for j := range found {
		found[j] = c.at[j] * group
	}
	take := func(j, at int) {
		v, best := s[at*inner+j], s[found[j]*inner+j]
		if better(v, best, isMax) || at < found[j] && !better(best, v, isMax) {
			found[j] = at
		}
	}
	for x := inner; x < w; x++ {
		take(x%inner, c.at[x]*group+x/inner)
	}
	for x := whole * w; x < n*inner; x++ {
		take(x%inner, x/inner)
	}
}

func finderOf[E real](n int, isMax bool, k *kern[E, E]) finder[E] {
	if n <= 1<<24 { // as far as the whole numbers of float32 go
		switch any(k).(type) {
		case *kern[float32, float32]:
			return any(floatFinder(isMax, vec.NegF32, vec.MaxTapAtF32)).(finder[E])
		case *kern[float64, float64]:
			return any(floatFinder(isMax, vec.NegF64, vec.MaxTapAtF64)).(finder[E])
		}
	}
	// the extrema of a few rows are compared with those before them
	return func(s []E, n, stride int, best []E, at []int, tmp []E) {
		for r := 0; r < n; r += argRows {
			rows := s[r*stride:]
			x := tmp[:len(best)]
			copy(x, rows)
			if m := min(argRows, n-r); m > 1 {
				k.block(x, rows[stride:], m-1, stride)
			}
			for j, v := range x {
				if b := best[j]; r == 0 || isMax && v > b || !isMax && v < b || v != v && b == b {
					i := 0
					for e := rows[j]; e != v && e == e; e = rows[i*stride+j] {
						i++
					}
					best[j], at[j] = rows[i*stride+j], r+i
				}
			}
		}
	}
}

// floatFinder uses the vector kernel of maximum pooling, which keeps the extrema and where they stand, in the same
// type.
func floatFinder[E float](isMax bool, neg func(dst, a []E), tap func(dst, at, a []E, tap E)) finder[E] {
	return func(s []E, n, stride int, best []E, at []int, tmp []E) {
		w := len(best)
		where, turned := tmp[:w], tmp[w:2*w]
		row := func(k int) []E {
			r := s[k*stride:][:w]
			if !isMax {
				neg(turned, r)
				r = turned
			}
			return r
		}
		copy(best, row(0))
		clear(where)
		for k := 1; k < n; k++ {
			tap(best, where, row(k), E(k))
		}
		for j, b := range best {
			k := int(where[j])
			if b != b { // the first NaN, where the kernel takes the last one
				for k = 0; s[k*stride+j] == s[k*stride+j]; k++ {
				}
			}
			best[j], at[j] = s[k*stride+j], k
		}
	}
}

// argInto dispatches argExt; vals and idx may be nil.
func argInto(vals, idx, t *T, dim int, isMax bool) {
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		argTyped(vals, idx, t, dim, isMax, extF64)
	case dt == tensor.Float32:
		argTyped(vals, idx, t, dim, isMax, extF32)
	case dt.IsFloat():
		argTyped(vals, idx, tensor.DenseAs(t, tensor.Float32), dim, isMax, extF32)
	case dt == tensor.Uint8 || dt == tensor.Bool:
		argTyped(vals, idx, t, dim, isMax, extU8)
	case dt == tensor.Int8:
		argTyped(vals, idx, t, dim, isMax, extI8)
	case dt == tensor.Int16:
		argTyped(vals, idx, t, dim, isMax, extI16)
	case dt == tensor.Int32:
		argTyped(vals, idx, t, dim, isMax, extI32)
	default:
		argTyped(vals, idx, t, dim, isMax, extI64)
	}
}

func argTyped[E real](vals, idx, t *T, dim int, isMax bool, k [2]*kern[E, E]) {
	t = tensor.Dense(t)
	var ix []int64
	if idx != nil {
		ix = op.Raw[int64](idx)
	}
	kernel := op.Pick(isMax, k[0], k[1])
	switch {
	case vals == nil:
		argExt(op.Raw[E](t), t.Shape(), dim, isMax, kernel, nil, ix)
	case vals.DType() == t.DType():
		argExt(op.Raw[E](t), t.Shape(), dim, isMax, kernel, op.Raw[E](vals), ix)
	default:
		w := tensor.New(vals.Shape(), t.DType())
		argExt(op.Raw[E](t), t.Shape(), dim, isMax, kernel, op.Raw[E](w), ix)
		tensor.CopyRaw(vals, w)
	}
}
