package norm

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// planes is an [n, c, l] view of an input, in memory either like that (a plane of l elements for each channel of each
// image) or, with last, as [n, l, c]: one row of c channels for each of the n·l pixels.
type planes struct {
	n, c, l int
	last    bool
}

// formatOf is the memory format in which x is processed and its result laid out.
func formatOf(x *T) tensor.MemoryFormat {
	switch {
	case x.IsContiguous() || x.Dim() < 4:
		return tensor.ContiguousFormat
	case x.IsContiguousFormat(tensor.ChannelsLast):
		return tensor.ChannelsLast
	case x.IsContiguousFormat(tensor.ChannelsLast3d):
		return tensor.ChannelsLast3d
	}
	return x.SuggestFormat()
}

func planesOf(sh []int, f tensor.MemoryFormat) planes {
	p := planes{sh[0], sh[1], 1, f != tensor.ContiguousFormat}
	for _, s := range sh[2:] {
		p.l *= s
	}
	p.last = p.last || p.l == 1 // one pixel: the layouts are the same
	return p
}

// field is a tensor's memory from element off on, read and written in runs of the compute type.
type field[E float] struct {
	t   *T
	off int
}

// exceedsCaches reports that the arrays m, of which the last one is written, are together too large for the caches;
// the kernels then write past them.
func exceedsCaches[E float](m ...field[E]) bool {
	bytes, out := 0, m[len(m)-1].t
	if out == nil || out.DType() != tensor.DTypeOf[E]() { // 16-bit results are computed in a buffer first
		return false
	}
	for i, f := range m {
		bytes += f.t.Numel() * f.t.ElementSize()
		if i < len(m)-1 && tensor.Ptr(f.t) == tensor.Ptr(out) {
			return false
		}
	}
	return bytes >= vec.BeyondCaches
}

// fieldIn is t laid out in a memory format, still of its own type where that is a 16-bit float.
func fieldIn[E float](t *T, f tensor.MemoryFormat) field[E] {
	dt := t.DType()
	if dt.Size() != 2 {
		dt = tensor.DTypeOf[E]()
	}
	return field[E]{t: tensor.DenseIn(t, f, dt)}
}

// load is a run from element i on, as long as buf, which is used for 16-bit floats only.
func (m field[E]) load(i int, buf []E) []E { return half.Load(m.t, m.off+i, buf) }

// place is where a run is to be computed, which store then ends.
func (m field[E]) place(i int, buf []E) []E { return half.Place(m.t, m.off+i, buf) }

func (m field[E]) store(i int, values []E) { half.Store(m.t, m.off+i, values) }

// from is the memory from element i on.
func (m field[E]) from(i int) field[E] { return field[E]{m.t, m.off + i} }

// given reports whether there is memory.
func (m field[E]) given() bool { return m.t != nil }

// gradientsWanted lists the results of a backward operator that its mask asks for: the gradients of the input, the
// weight and the bias; nil for the others.
func gradientsWanted(c *Ctx, mask []bool) (outs [3]*T) {
	for i := range outs {
		if mask[i] {
			outs[i] = c.Out(i)
		}
	}
	return outs
}

// clearAll fills tensors with zeros; nil is passed over.
func clearAll(outs []*T) {
	for _, o := range outs {
		if o != nil {
			tensor.ZeroRaw(o)
		}
	}
}

// intoField runs f on out in a memory format; nil passes none.
func intoField[E float](out *T, f tensor.MemoryFormat, run func(d field[E])) {
	switch {
	case out == nil:
		run(field[E]{})
	case out.IsContiguousFormat(f) && (out.DType() == tensor.DTypeOf[E]() || out.DType().Size() == 2):
		run(field[E]{t: out})
	default:
		w := tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), f), tensor.DTypeOf[E]())
		run(field[E]{t: w})
		tensor.CopyRaw(out, w)
	}
}

// pieces calls f for runs of at most statBlock elements of lo to hi.
func pieces(lo, hi int, f func(i, n int)) {
	for ; lo < hi; lo += statBlock {
		f(lo, min(statBlock, hi-lo))
	}
}

// intoFormat runs f on memory for out in a memory format; nil passes nil.
func intoFormat[E float](out *T, f tensor.MemoryFormat, run func(d []E)) {
	if out == nil {
		run(nil)
		return
	}
	tensor.IntoFormat(out, f, run)
}

// tile is the number of elements that one kernel call handles at least where rows are short: rows are taken several
// at a time, with the per-channel arguments repeated.
const tile = 1024

// repeated gives k copies of x behind one another.
func repeated[E float](x []E, k int) []E {
	d := make([]E, len(x)*k)
	for i := 0; i < len(d); i += len(x) {
		copy(d[i:], x)
	}
	return d
}

// perTile is how many rows of p's channels make a tile: no more than there are.
func (p planes) perTile() int { return max(1, min(tile/p.c, p.n*p.l)) }

// foldRows adds up the rows of c elements of t, in the first row.
func foldRows[E float](t []E, c int) []E {
	for rows := len(t) / c; rows > 1; {
		// halves, so that errors stay small; an odd row goes to the first
		if rows&1 == 1 {
			add(t[:c], t[(rows-1)*c:rows*c])
			rows--
		}
		rows /= 2
		add(t[:rows*c], t[rows*c:2*rows*c])
	}
	return t[:c]
}

// rowBuf is memory for passes over the rows of one image, a tile of size elements at a time: an accumulator of a
// tile, two tiles for values of 16-bit floats and three for numbers of each channel.
type rowBuf[E float] struct {
	p    planes
	acc  []E
	tmp  [2][]E
	wide [3][]E
	buf  *[]E
}

func borrowRows[E float](p planes) *rowBuf[E] {
	size := p.perTile() * p.c
	b := &rowBuf[E]{p: p, buf: half.Borrow[E](6 * size)}
	for i, s := range []*[]E{&b.acc, &b.tmp[0], &b.tmp[1], &b.wide[0], &b.wide[1], &b.wide[2]} {
		*s = (*b.buf)[i*size : (i+1)*size]
	}
	return b
}

func (b *rowBuf[E]) free() { half.Return(b.buf) }

// each calls f for the tiles of n elements, from element at of the image on.
func (b *rowBuf[E]) each(f func(at, n int)) {
	for at, end := 0, b.p.c*b.p.l; at < end; at += len(b.acc) {
		f(at, min(len(b.acc), end-at))
	}
}

// sums adds up what f adds of every tile to the accumulator, by channel.
func (b *rowBuf[E]) sums(x field[E], f func(acc, v []E)) []E {
	clear(b.acc)
	b.each(func(at, n int) { f(b.acc[:n], x.load(at, b.tmp[0][:n])) })
	return foldRows(b.acc, b.p.c)
}

// repeat fills tiles with the numbers of the channels that they begin with.
func (b *rowBuf[E]) repeat(wide ...[]E) {
	for _, w := range wide {
		for n := b.p.c; n < len(w); n *= 2 {
			copy(w[n:], w[:n])
		}
	}
}

// fill sets all of d to v.
func fill[E float](d []E, v E) {
	for i := range d {
		d[i] = v
	}
}

// total is the sum of a few numbers.
func total[E float](x []E) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// The helpers below choose the vector kernel of an element type.

// add is d += a.
func add[E float](d, a []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.AddF32(d, d, any(a).([]float32))
	case []float64:
		vec.AddF64(d, d, any(a).([]float64))
	}
}

// sub is d = a - b.
func sub[E float](d, a, b []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.SubF32(d, any(a).([]float32), any(b).([]float32))
	case []float64:
		vec.SubF64(d, any(a).([]float64), any(b).([]float64))
	}
}

// addNumber is d = a + s.
func addNumber[E float](d, a []E, s E) {
	switch d := any(d).(type) {
	case []float32:
		vec.AddScalarF32(d, any(a).([]float32), float32(s))
	case []float64:
		vec.AddScalarF64(d, any(a).([]float64), float64(s))
	}
}

// mulAdd is d = a*b + c; far says that d and a are parts of arrays that the caches do not hold.
func mulAdd[E float](d, a, b, c []E, far bool) {
	switch d := any(d).(type) {
	case []float32:
		vec.MulAddPartF32(d, any(a).([]float32), any(b).([]float32), any(c).([]float32), far)
	case []float64:
		vec.MulAddPartF64(d, any(a).([]float64), any(b).([]float64), any(c).([]float64), far)
	}
}

// addSquares is d += (a-mean)².
func addSquares[E float](d, a, mean []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.AccumulateSquaresF32(d, any(a).([]float32), any(mean).([]float32))
	case []float64:
		vec.AccumulateSquaresF64(d, any(a).([]float64), any(mean).([]float64))
	}
}

// addCentered is d += g*(x-mean).
func addCentered[E float](d, g, x, mean []E) {
	switch d := any(d).(type) {
	case []float32:
		vec.AccumulateCenteredF32(d, any(g).([]float32), any(x).([]float32), any(mean).([]float32))
	case []float64:
		vec.AccumulateCenteredF64(d, any(g).([]float64), any(x).([]float64), any(mean).([]float64))
	}
}

// combineColumns is d = x*a + y*b + z, all of them per element, with far as for mulAdd.
func combineColumns[E float](d, a, b, x, y, z []E, far bool) {
	switch d := any(d).(type) {
	case []float32:
		vec.CombineColumnsPartF32(d, any(a).([]float32), any(b).([]float32), any(x).([]float32), any(y).([]float32),
			any(z).([]float32), far)
	case []float64:
		vec.CombineColumnsPartF64(d, any(a).([]float64), any(b).([]float64), any(x).([]float64), any(y).([]float64),
			any(z).([]float64), far)
	}
}

// blockSum is the sum of a block, and blockSquares that of (x-c)².
func blockSum[E float](x []E) float64 {
	switch x := any(x).(type) {
	case []float32:
		return float64(vec.SumF32(x))
	case []float64:
		return vec.SumF64(x)
	}
	return 0
}

// sum64 is blockSum added up in float64.
func sum64[E float](x []E) float64 {
	if x, ok := any(x).([]float32); ok {
		return vec.SumF32As64(x)
	}
	return blockSum(x)
}

func blockSquares[E float](x []E, c E) float64 {
	switch x := any(x).(type) {
	case []float32:
		return float64(vec.SumSquaresF32(x, float32(c)))
	case []float64:
		return vec.SumSquaresF64(x, float64(c))
	}
	return 0
}

// gradSums are the sums of g and of g*(x-mean).
func gradSums[E float](g, x []E, mean E) (s0, s1 float64) {
	switch g := any(g).(type) {
	case []float32:
		a, b := vec.GradSumsF32(g, nil, any(x).([]float32), float32(mean))
		return float64(a), float64(b)
	case []float64:
		return vec.GradSumsF64(g, nil, any(x).([]float64), float64(mean))
	}
	return 0, 0
}
