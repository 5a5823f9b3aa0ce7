package reduce

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Where extrema stand is found in two steps: a kernel of the extremum goes over a stretch, which is then searched, and only where it has
// changed the result.

const (
	argBlock = 1024 // elements of a long line whose extremum is taken
	argTile  = 256  // columns side by side
	argRows  = 8    // rows of a block of columns
)

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

// argExt finds values and indices (either may be nil) of the extrema along dim of a contiguous array: the first of equal ones, NaN before all.
func argExt[E real](src []E, shape []int, dim int, isMax bool, k *kern[E, E], vals []E, idx []int64) {
	outer, n, inner := iter.Split(shape, dim)
	if outer*inner == 0 || n == 0 {
		return
	}
	o := results[E]{vals, idx}
	switch {
	case inner > 1 && n > 1<<24: // more than there are whole numbers of float32
		argColumns(src, outer, n, inner, isMax, k, o)
	case inner > 1:
		switch x := any(src).(type) {
		case []float32:
			argColumnsFloat(x, outer, n, inner, isMax, any(o).(results[float32]), vec.NegF32, vec.MaxTapAtF32)
		case []float64:
			argColumnsFloat(x, outer, n, inner, isMax, any(o).(results[float64]), vec.NegF64, vec.MaxTapAtF64)
		default:
			argColumns(src, outer, n, inner, isMax, k, o)
		}
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
			at := found[r*parts]
			for _, b := range found[r*parts:][1:parts] {
				if better(line[b], line[at], isMax) {
					at = b
				}
			}
			o.put(r, line[at], at)
		}
	default:
		par.For(outer, max(1, grain/n), func(lo, hi int) {
			var acc [rowGroup]E
			for r := lo; r < hi; r += rowGroup {
				m := min(rowGroup, hi-r)
				k.extrema(acc[:m], src[r*n:(r+m)*n], n, n)
				for i, v := range acc[:m] {
					at := first(src[(r+i)*n:][:n], v)
					o.put(r+i, src[(r+i)*n+at], at)
				}
			}
		})
	}
}

// argColumns is argExt for columns. The extrema of a few rows are compared with those before them.
func argColumns[E real](src []E, outer, n, inner int, isMax bool, k *kern[E, E], o results[E]) {
	tiles := (inner + argTile - 1) / argTile
	par.For(outer*tiles, max(1, grain/(n*min(inner, argTile))), func(lo, hi int) {
		var best, next [argTile]E
		var at [argTile]int
		for u := lo; u < hi; u++ {
			from := u % tiles * argTile
			w := min(argTile, inner-from)
			base := u/tiles*n*inner + from
			for r := 0; r < n; r += argRows {
				rows := src[base+r*inner:]
				x := next[:w]
				copy(x, rows)
				if m := min(argRows, n-r); m > 1 {
					k.block(x, rows[inner:], m-1, inner)
				}
				for j, v := range x {
					if b := best[j]; r == 0 || isMax && v > b || !isMax && v < b || v != v && b == b {
						i := 0
						for e := rows[j]; e != v && e == e; e = rows[i*inner+j] {
							i++
						}
						best[j], at[j] = rows[i*inner+j], r+i
					}
				}
			}
			for j, v := range best[:w] {
				o.put(u/tiles*inner+from+j, v, at[j])
			}
		}
	})
}

// argColumnsFloat is argColumns for floats: the vector kernel of maximum pooling keeps the extrema and where they stand, in the same type,
// which is exact up to 2^24 rows.
func argColumnsFloat[E float32 | float64](src []E, outer, n, inner int, isMax bool, o results[E], neg func(dst, a []E), tap func(dst, at, a []E, tap E)) {
	tiles := (inner + argTile - 1) / argTile
	par.For(outer*tiles, max(1, grain/(n*min(inner, argTile))), func(lo, hi int) {
		var best, at, buf [argTile]E
		for u := lo; u < hi; u++ {
			from := u % tiles * argTile
			w := min(argTile, inner-from)
			base := u/tiles*n*inner + from
			row := func(k int) []E {
				r := src[base+k*inner:][:w]
				if !isMax {
					neg(buf[:w], r)
					r = buf[:w]
				}
				return r
			}
			copy(best[:w], row(0))
			clear(at[:])
			for k := 1; k < n; k++ {
				tap(best[:w], at[:w], row(k), E(k))
			}
			p := u/tiles*inner + from
			for j, b := range best[:w] {
				k := int(at[j])
				if b != b { // the first NaN, where the kernel takes the last one
					for k = 0; src[base+k*inner+j] == src[base+k*inner+j]; k++ {
					}
				}
				o.put(p+j, src[base+k*inner+j], k)
			}
		}
	})
}

// argInto dispatches argExt; vals and idx may be nil.
func argInto(vals, idx, t *T, dim int, isMax bool) {
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		argTyped(vals, idx, t, dim, isMax, extF64)
	case dt == tensor.Float32:
		argTyped(vals, idx, t, dim, isMax, extF32)
	case dt.IsFloat():
		argTyped(vals, idx, t.DenseAs(tensor.Float32), dim, isMax, extF32)
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
	t = t.Dense()
	var ix []int64
	if idx != nil {
		ix = raw[int64](idx)
	}
	kernel := pick(isMax, k[0], k[1])
	switch {
	case vals == nil:
		argExt(raw[E](t), t.Shape(), dim, isMax, kernel, nil, ix)
	case vals.DType() == t.DType():
		argExt(raw[E](t), t.Shape(), dim, isMax, kernel, raw[E](vals), ix)
	default:
		w := tensor.New(vals.Shape(), t.DType())
		argExt(raw[E](t), t.Shape(), dim, isMax, kernel, raw[E](w), ix)
		tensor.CopyRaw(vals, w)
	}
}
