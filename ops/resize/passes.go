package resize

import (
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// grid is how a tensor is walked: planes whose positions hold unit elements each, the channels of channels-last memory.
type grid struct {
	planes, unit int
	format       tensor.MemoryFormat
}

func gridOf(t *T) grid {
	sh := t.Shape()
	if f := t.SuggestFormat(); f != tensor.ContiguousFormat && !t.IsContiguous() {
		return grid{sh[0], sh[1], f}
	}
	return grid{sh[0] * sh[1], 1, tensor.ContiguousFormat}
}

// pass resizes one dimension of a plane. The elements after that dimension make a row; either the rows are long enough
// to be vectors themselves, or lanes picks the elements of a vector.
type pass[E any] struct {
	dim, row int
	t        *taps
	rows     func(dst, src []E, start []int32, first int)
	lanes    func(dst, src []E, rows int)
}

// short is the length of rows that are better picked from than summed.
const short = 8

// passes makes a plan: shrinking dimensions come first, growing ones last, so that little is computed in between.
func passes[E any](unit int, ts []*taps, order func(a, b int) int, add func(p *pass[E])) []*pass[E] {
	var dims []int
	size := make([]int, len(ts))
	for i, t := range ts {
		size[i] = t.in
		if !t.identity {
			dims = append(dims, i)
		}
	}
	slices.SortFunc(dims, order)
	var list []*pass[E]
	for _, d := range dims {
		p := &pass[E]{dim: d, row: unit, t: ts[d]}
		for _, n := range size[d+1:] {
			p.row *= n
		}
		size[d] = p.t.out
		add(p)
		list = append(list, p)
	}
	return list
}

// byGrowth orders dimensions for arithmetic in which the order does not matter.
func byGrowth(ts []*taps) func(a, b int) int {
	return func(a, b int) int {
		x, y := ts[a].out*ts[b].in, ts[b].out*ts[a].in
		switch {
		case x != y:
			return x - y
		case ts[a].out > ts[a].in:
			return b - a // rows are shorter the earlier the last dimension grows
		}
		return a - b
	}
}

func passes32(unit int, ts []*taps, many bool) []*pass[float32] {
	return passes(unit, ts, byGrowth(ts), func(p *pass[float32]) {
		w := p.t.weights32()
		p.rows = func(dst, src []float32, start []int32, first int) {
			vec.TapRowsF32(dst, src, p.row, start, p.t.index, w, first)
		}
		if many && p.row <= short {
			s := p.t.spread(p.row)
			l := vec.NewLanes(s.in, s.start, s.index, s.weights32())
			p.lanes = func(dst, src []float32, rows int) { vec.LanesF32(l, dst, src, rows) }
		}
	})
}

func passes64(unit int, ts []*taps, many bool) []*pass[float64] {
	return passes(unit, ts, byGrowth(ts), func(p *pass[float64]) {
		p.rows = func(dst, src []float64, start []int32, first int) {
			vec.TapRowsF64(dst, src, p.row, start, p.t.index, p.t.weight, first)
		}
		if many && p.row <= short/2 {
			s := p.t.spread(p.row)
			l := vec.NewLanes(s.in, s.start, s.index, s.weight)
			p.lanes = func(dst, src []float64, rows int) { vec.LanesF64(l, dst, src, rows) }
		}
	})
}

// bytePasses go from the last dimension to the first: each rounds its results to bytes.
func bytePasses(unit int, ts []*taps, many bool) []*pass[uint8] {
	return passes(unit, ts, func(a, b int) int { return b - a }, func(p *pass[uint8]) {
		w, bits := p.t.fixed()
		p.rows = func(dst, src []uint8, start []int32, first int) {
			vec.TapRowsU8(dst, src, p.row, start, p.t.index, w, first, bits)
		}
		if many && p.row <= short {
			s := p.t.spread(p.row)
			ws, _ := s.fixed()
			l := vec.NewLanes(s.in, s.start, s.index, ws)
			p.lanes = func(dst, src []uint8, rows int) { vec.LanesU8(l, dst, src, rows, bits) }
		}
	})
}

// memory is t's memory as n elements from i on.
func memory[E any](t *T, i, n int) []E { return unsafe.Slice((*E)(tensor.Ptr(t)), i+n)[i:] }

// scratch is memory for n elements, with any contents; release gives it back.
func scratch[E any](n int) []E { return unsafe.Slice((*E)(mem.Alloc(max(n, 1)*size[E]())), max(n, 1)) }

func release[E any](b []E) {
	if b != nil {
		mem.Free(unsafe.Pointer(unsafe.SliceData(b)), cap(b)*size[E]())
	}
}

func size[E any]() int { return int(unsafe.Sizeof(*new(E))) }

// dense runs f on in and out in the memory format of g.
func dense(g grid, out, in *T, f func(out, in *T)) {
	in = tensor.DenseIn(in, g.format, in.DType())
	if out.IsContiguousFormat(g.format) {
		f(out, in)
		return
	}
	w := tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), g.format), out.DType())
	f(w, in)
	tensor.CopyRaw(out, w)
}

// cut divides planes with rows outputs in their first dimension and cost elements each into tasks of about work
// elements: some whole planes, or some rows of one. The plane's cost is divided only if split is true.
func cut(planes, rows, cost int, split bool, f func(plane, n, lo, hi int)) {
	const work, fewest = 32 << 10, 16
	parts, height := 1, rows
	if split && cost > 2*work {
		height = max(fewest, (rows*work+cost-1)/cost)
		parts = (rows + height - 1) / height
	}
	group := 1
	if parts == 1 {
		group = max(1, work/max(cost, 1))
	}
	par.For((planes+group-1)/group*parts, 1, func(from, to int) {
		for i := from; i < to; i++ {
			plane, lo := i/parts*group, i%parts*height
			f(plane, min(group, planes-plane), lo, min(lo+height, rows))
		}
	})
}

// resize runs the passes over all planes.
func resize[E uint8 | float32 | float64](g grid, list []*pass[E], ts []*taps, out, in *T) {
	nsrc, ndst := g.unit, g.unit
	split := true
	for _, t := range ts {
		nsrc *= t.in
		ndst *= t.out
	}
	for _, p := range list {
		split = split && (p.dim > 0 || p.lanes == nil)
	}
	t0 := ts[0]
	dense(g, out, in, func(out, in *T) {
		narrow := in.DType().Size() == 2
		cut(g.planes, t0.out, nsrc+ndst, split, func(plane, n, lo, hi int) {
			// The inputs that matter: all planes of the group, or rows from first on of one.
			first, rows := 0, t0.in
			if hi-lo < t0.out {
				to := hi
				if first = lo; !t0.identity {
					first, to = t0.span(lo, hi)
				}
				rows = to - first
			}
			count := n * nsrc / t0.in * rows
			var spare [2][]E
			buffer := func(not []E, n int) []E { // one that is not the argument
				b := &spare[0]
				if len(*b) > 0 && len(not) > 0 && &(*b)[0] == &not[0] {
					b = &spare[1]
				}
				if cap(*b) < n {
					release(*b)
					*b = scratch[E](n)
				}
				return (*b)[:n]
			}
			at := plane*nsrc + nsrc/t0.in*first
			var cur []E
			if narrow {
				cur = buffer(nil, count)
				half.Load(in, at, any(cur).([]float32))
			} else {
				cur = memory[E](in, at, count)
			}
			for i, p := range list {
				outer := n
				for d, t := range ts[:p.dim] {
					switch {
					case d == 0 && !slices.ContainsFunc(list[:i], func(q *pass[E]) bool { return q.dim == 0 }):
						outer *= rows
					case d == 0:
						outer *= hi - lo
					case slices.ContainsFunc(list[:i], func(q *pass[E]) bool { return q.dim == d }):
						outer *= t.out
					default:
						outer *= t.in
					}
				}
				from, to, start, skip := p.t.in, p.t.out, p.t.start, 0
				if p.dim == 0 {
					from, to, start, skip = rows, hi-lo, p.t.start[lo:hi+1], first
				}
				var dst []E
				if total := outer * to * p.row; i < len(list)-1 || narrow {
					dst = buffer(cur, total)
				} else {
					dst = memory[E](out, plane*ndst+ndst/t0.out*lo, total)
				}
				if p.lanes != nil {
					p.lanes(dst, cur, outer)
				} else {
					for o := range outer {
						p.rows(dst[o*to*p.row:][:to*p.row], cur[o*from*p.row:][:from*p.row], start, skip)
					}
				}
				cur = dst
			}
			if narrow {
				half.Store(out, plane*ndst+ndst/t0.out*lo, any(cur).([]float32))
			}
			release(spare[0])
			release(spare[1])
		})
	})
}
