package index

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// bags gives the bag of every index and where bags begin and end.
func bags(c *Ctx) (ix []int64, from []int, bag []int64) {
	ix = longs(c.T(1))
	off := longs(c.T(2))
	if len(off) > 0 && off[0] != 0 {
		c.Fail(tensor.ErrValue, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "+
			"from position 0. However, got %d", off[0])
	}
	if n := len(off); n > 0 && int(off[n-1]) > len(ix) {
		c.Fail(tensor.ErrValue, "offsets[-1] can not be greater than input's length %d but got offsets[-1] of %d",
			len(ix), off[n-1])
	}
	for _, o := range off {
		from = append(from, int(o))
	}
	if c.Bool(7) {
		if len(off) == 0 {
			c.Fail(tensor.ErrValue, "include_last_offset: number of offset should be at least 1")
		}
	} else {
		from = append(from, len(ix))
	}
	bag = make([]int64, len(ix))
	for i := from[len(from)-1]; i < len(ix); i++ {
		bag[i] = int64(len(from) - 1) // behind the last bag
	}
	for b := 0; b+1 < len(from); b++ {
		if from[b+1] < from[b] {
			c.Fail(tensor.ErrValue, "embedding_bag: offsets must not decrease, got %d after %d", from[b+1], from[b])
		}
		for i := from[b]; i < from[b+1]; i++ {
			bag[i] = int64(b)
		}
	}
	return
}

func bagInfer(c *Ctx) {
	w := c.T(0)
	if w.Dim() != 2 {
		c.Fail(tensor.ErrShape, "'weight' must be 2-D")
	}
	c.WantDim(1, 1)
	c.WantDim(2, 1)
	c.WantShape(6, c.Shape(1)...)
	if p := c.T(6); p != nil && p.DType() != w.DType() && c.Device().Type == tensor.CPUDevice {
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "+
			"#1 'per_sample_weights'; but type torch.%sTensor does not equal torch.%sTensor (while checking arguments "+
			"for embedding_bag)", w.DType().ClassName(), p.DType().ClassName())
	}
	n := c.T(2).Numel()
	if c.Bool(7) {
		n = max(0, n-1)
	}
	d := w.Shape()[1]
	c.Alloc(0, []int{n, d}, w.DType())
	places := tensor.PromoteTypes(c.ArgDType(1), c.ArgDType(2))
	if places != tensor.Int64 && places != tensor.Int32 {
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'indices' to have one of the following scalar "+
			"types: Long, Int; but got torch.%sTensor instead (while checking arguments for embedding_bag)",
			places.ClassName())
	}
	c.Alloc(1, []int{c.T(1).Numel()}, places)
	c.Alloc(2, []int{n}, places)
	m := []int{0}
	if c.Int(4) == 2 {
		m = []int{n, d}
	}
	c.Alloc(3, m, places)
}

func bagCPU(c *Ctx) {
	w := c.T(0)
	n, d := w.Shape()[0], w.Shape()[1]
	ix, from, bag := bags(c)
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be %d",
				i)
		}
	}
	numbers := func(i int) []int64 { // of a result, in memory of its own where that holds other integers
		if o := c.Out(i); o.DType() == tensor.Int64 {
			return tensor.Data[int64](o)
		}
		return make([]int64, c.Out(i).Numel())
	}
	size, top := numbers(2), numbers(3)
	mode, pad := c.Int(4), c.Int(8)
	dt := tensor.Float32
	if w.DType() == tensor.Float64 {
		dt = tensor.Float64
	}
	var psw *T
	if c.Has(6) {
		psw = as(c.T(6), dt)
	}
	inType(c.Out(0), dt, func(o *T) {
		if dt == tensor.Float64 {
			bagRun(raw[float64](o), raw[float64](as(w, dt)), psw, ix, from, d, mode, pad, size, top)
		} else {
			bagRun(raw[float32](o), raw[float32](as(w, dt)), psw, ix, from, d, mode, pad, size, top)
		}
	})
	for i, l := range [][]int64{bag, size, top} {
		if o := c.Out(1 + i); i == 0 || o.DType() != tensor.Int64 {
			tensor.CopyRaw(o, tensor.FromSlice(l, o.Shape()...))
		}
	}
}

// bagRun reduces the bags, in parallel.
func bagRun[E float32 | float64](o, w []E, psw *T, ix []int64, from []int, d, mode, pad int, size, top []int64) {
	var p []E
	if psw != nil {
		p = raw[E](psw)
	}
	n := len(from) - 1
	if n < 1 {
		return
	}
	kernels, _ := any(&maxKernels32).(*maxKernels[E])
	if kernels == nil {
		kernels = any(&maxKernels64).(*maxKernels[E])
	}
	par.For(n, max(1, 1<<14/(d*(len(ix)/n+1)+1)), func(lo, hi int) {
		var scratch maxima[E]
		for b := lo; b < hi; b++ {
			row, rows := o[b*d:][:d], ix[from[b]:from[b+1]]
			var scale []E
			if p != nil {
				scale = p[from[b]:from[b+1]]
			}
			if pad >= 0 && slices.Contains(rows, int64(pad)) {
				rows, scale = without(rows, scale, int64(pad))
			}
			size[b] = int64(len(rows))
			clear(row)
			if mode == 2 {
				scratch.bagMax(kernels, row, w, rows, top[b*d:][:d])
				continue
			}
			if r, ok := any(row).([]float32); ok {
				vec.GatherSumF32(r, any(w).([]float32), rows, any(scale).([]float32))
			} else {
				for i, x := range rows {
					for j, v := range w[int(x)*d:][:d] {
						if scale != nil {
							v *= scale[i]
						}
						row[j] += v
					}
				}
			}
			if k := len(rows); mode == 1 && k > 1 {
				divRow(row, E(k))
			}
		}
	})
}

func divRow[E float32 | float64](row []E, n E) {
	switch x := any(row).(type) {
	case []float32:
		vec.DivScalarF32(x, x, float32(n))
	case []float64:
		vec.DivScalarF64(x, x, float64(n))
	}
}

// without leaves out the entries that name row pad.
func without[E float32 | float64](rows []int64, scale []E, pad int64) ([]int64, []E) {
	var r []int64
	var s []E
	for i, x := range rows {
		if x != pad {
			r = append(r, x)
			if scale != nil {
				s = append(s, scale[i])
			}
		}
	}
	return r, s
}

// maxima is the scratch memory of bagMax.
type maxima[E float32 | float64] struct {
	mask   []uint8
	at, is []E // which of the rows has the maximum, and the number of the current one in all columns
}

// bagMax takes the maximum of rows of w and notes where each came from, -1 without any row. NaN only counts in the
// first row.
func (s *maxima[E]) bagMax(k *maxKernels[E], row, w []E, rows, top []int64) {
	const exact = 1 << 24 // numbers that a float32 can tell apart
	if len(rows) > exact {
		s.bagMax(k, row, w, rows[:exact], top)
		for _, x := range rows[exact:] {
			for j, v := range w[int(x)*len(row):][:len(row)] {
				if v > row[j] {
					row[j], top[j] = v, x
				}
			}
		}
		return
	}
	d := len(row)
	if s.mask == nil {
		s.mask, s.at, s.is = make([]uint8, d), make([]E, d), make([]E, d)
	}
	clear(s.at)
	for i, x := range rows {
		src := w[int(x)*d:][:d]
		if i+2 < len(rows) {
			vec.PrefetchRow(w[int(rows[i+2])*d:][:d])
		}
		if i == 0 {
			copy(row, src)
			continue
		}
		k.gt(s.mask, src, row)
		k.where(row, s.mask, src, row)
		k.fill(s.is, E(i))
		k.where(s.at, s.mask, s.is, s.at)
	}
	for j := range top {
		if len(rows) == 0 {
			top[j] = -1
		} else {
			top[j] = rows[int(s.at[j])]
		}
	}
}

// maxKernels are what bagMax takes of internal/cpu/vec.
type maxKernels[E float32 | float64] struct {
	gt    func(dst []uint8, a, b []E)
	where func(dst []E, mask []uint8, a, b []E)
	fill  func(dst []E, s E)
}

var (
	maxKernels32 = maxKernels[float32]{vec.GtF32, vec.WhereF32, vec.FillF32}
	maxKernels64 = maxKernels[float64]{vec.GtF64, vec.WhereF64, vec.FillF64}
)

// bagVJP brings the gradient of every bag back to the rows in it. The further results of the operator tell the bag of
// every index, the size of every bag and where the maxima come from.
func bagVJP(c *Ctx, g *T) []*T {
	mode, pad := c.Int(4), c.Int(8)
	bag := c.Out(1)
	r := []*T{nil, nil, nil, nil}
	if c.Needs(0) {
		if tensor.IsGradEnabled() && !c.Bool(5) {
			r[0] = bagGradComposed(c, g)
		} else {
			var psw any
			if c.Has(6) {
				psw = c.T(6)
			}
			r[0] = op.Call1("aten::_embedding_bag_backward", g, c.T(1), c.T(2), bag, c.Out(2), c.Out(3), c.Shape(0)[0],
				c.Bool(3), mode, c.Bool(5), psw, pad)
		}
	}
	if c.Has(6) && c.Needs(6) {
		s := bagRows(c, g).Mul(c.T(0).IndexSelect(0, c.T(1))).SumDim([]int{1})
		if pad >= 0 {
			s = s.MaskedFillScalar(c.T(1).EqScalar(pad), 0)
		}
		r[3] = s
	}
	return r
}

// bagRows is, for every index, the row of its bag in g: zeros for the indices behind the last offset, which are in no
// bag.
func bagRows(c *Ctx, g *T) *T {
	bag := c.Out(1)
	if !c.Bool(7) { // the last bag goes to the end
		return g.IndexSelect(0, bag)
	}
	one := op.Zeros(g, []int{1, g.Size(1)}, g.DType()) // the bag that there is not
	return op.Call1("aten::cat", []*T{g, one}, 0).IndexSelect(0, bag)
}

// bagGradComposed is the weight's gradient of operators that have gradients themselves.
func bagGradComposed(c *Ctx, g *T) *T {
	mode := c.Int(4)
	if mode == 2 {
		top := c.Out(3).ToDType(tensor.Int64)
		none := top.LtScalar(0)
		return op.Call1("aten::scatter_add_", op.Zeros(g, c.Shape(0), g.DType()), 0, top.MaskedFillScalar(none, 0),
			g.MaskedFillScalar(none, 0))
	}
	if mode == 1 {
		size := c.Out(2)
		g = g.Div(size.MaskedFillScalar(size.EqScalar(0), 1).ToDType(g.DType()).Unsqueeze(1))
	}
	part := bagRows(c, g)
	if c.Has(6) {
		part = part.Mul(c.T(6).Unsqueeze(1))
	}
	return op.Call1("aten::embedding_dense_backward", part, c.T(1), c.Shape(0)[0], c.Int(8), c.Bool(3))
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
		Doc: "is the gradient of an embedding bag's weight. Indices with the number of bags as their bag count " +
			"for nothing.",
		Go: "-", NoGrad: "the gradient of a gradient goes through embedding_dense_backward",
		Infer: func(c *Ctx) {
			g, bags := c.Shape(0), c.Shape(3)
			if len(g) != 2 || c.Int(7) == 1 && (len(bags) != 1 || bags[0] != g[0]) {
				c.Fail(tensor.ErrShape, "_embedding_bag_dense_backward: a gradient of shape [bags, features] and "+
					"bag_size of shape [bags] are wanted, got %s and %s", tensor.ShapeString(g),
					tensor.ShapeString(bags))
			}
			if mode := c.Int(7); mode < 0 || mode > 2 {
				c.Fail(tensor.ErrValue, "_embedding_bag_dense_backward: there is no mode %d", mode)
			} else if mode == 2 {
				c.WantShape(4, g...)
			}
			c.WantDim(1, 1)
			c.WantShape(2, c.Shape(1)...)
			c.WantShape(8, c.Shape(1)...)
			c.Alloc(0, []int{c.Int(5), g[1]}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			dt := tensor.Float32
			if o.DType() == tensor.Float64 {
				dt = tensor.Float64
			}
			inType(o, dt, func(o *T) {
				if dt == tensor.Float64 {
					bagGrad[float64](c, o)
				} else {
					bagGrad[float32](c, o)
				}
			})
		},
	})
}

func bagGrad[E float32 | float64](c *Ctx, o *T) {
	dt := o.DType()
	n, d := o.Shape()[0], o.Shape()[1]
	ix, bag, size := longs(c.T(1)), longs(c.T(2)), longs(c.T(3))
	bags := c.Shape(0)[0]
	g, mode := raw[E](as(c.T(0), dt)), c.Int(7)
	for _, b := range bag {
		if uint64(b) > uint64(bags) {
			c.Fail(tensor.ErrIndex, "_embedding_bag_dense_backward: there is no bag %d among %d", b, bags)
		}
	}
	if mode == 2 {
		maxGrad(raw[E](o), g, longs(c.T(4)), d)
		return
	}
	var psw []E
	if c.Has(8) {
		psw = raw[E](as(c.T(8), dt))
	}
	if mode == 1 { // a bag's gradient goes to each of its rows divided by their number
		part := tensor.New(c.Shape(0), dt)
		defer tensor.ReleaseRaw(part)
		p := raw[E](part)
		for b, k := range size {
			addScaled(p[b*d:][:d], g[b*d:][:d], 1/max(1, float64(k)), true)
		}
		g = p
	}
	names := bag
	if psw != nil {
		names = nil
	}
	l := listRows(c, ix, n, c.Int(9), names)
	defer l.done()
	eachRow(l, raw[E](o), d, nil, func(scratch []E, k int) []E {
		by := l.of(k)
		freq := 1.0
		if c.Bool(6) {
			freq = 1 / float64(len(by))
		}
		var sum []E
		for _, i := range by {
			b, s := int(i), freq
			if psw != nil {
				b, s = int(bag[i]), s*float64(psw[i])
			}
			if b >= bags { // in no bag
				continue
			}
			x := g[b*d:][:d]
			if len(by) == 1 && s == 1 {
				return x
			}
			addScaled(scratch, x, s, sum == nil)
			sum = scratch
		}
		return sum
	})
}

// maxGrad brings the gradients g of bags to where their maxima came from, row top of the table dst for each of the d
// columns. A task has columns of its own, and takes the bags in order.
func maxGrad[E float32 | float64](dst, g []E, top []int64, d int) {
	const block = 16 // columns: a cache line
	n := len(dst) / max(1, d)
	par.For(n, max(1, 1<<15/max(1, d)), func(lo, hi int) {
		wipe(dst[lo*d:hi*d], len(dst))
		vec.ZeroDone()
	})
	par.For((d+block-1)/block, max(1, 1<<12/(len(top)/max(1, d)*block+1)), func(lo, hi int) {
		for at := lo * block; at < len(top); at += d {
			cols := min(hi*block, d) - lo*block
			for j, t := range top[at:][:cols] {
				if uint64(t) < uint64(n) { // otherwise the bag is empty
					dst[int(t)*d+lo*block+j] += g[at+j]
				}
			}
		}
	})
}
