package index

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// copyTable copies row ix[i] of a table of n rows to row i of dst.
func copyTable(c *Ctx, dst, src []byte, ix []int64, n, row int) {
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "index out of range in self")
		}
	}
	parRows(len(ix), row, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			copy(dst[r*row:][:row], src[int(ix[r])*row:][:row])
		}
	})
}

// sumTable adds row i of src to row ix[i] of dst. Tasks own ranges of dst's rows and go through the indices in order, so the result does
// not depend on the number of threads.
func sumTable[E number](dst, src []E, ix []int64, n, d, skip int, scale []E) {
	one := func(lo, hi int) {
		for r, i := range ix {
			if int(i) < lo || int(i) >= hi || int(i) == skip {
				continue
			}
			x, y := dst[int(i)*d:][:d], src[r*d:][:d]
			if scale != nil {
				s := scale[i]
				for j, v := range y {
					x[j] += v * s
				}
				continue
			}
			addTo(x, y)
		}
	}
	if len(ix)*d < 32<<10 {
		one(0, n)
		return
	}
	// at most 16 ranges: every task reads all indices
	par.For(n, (n+15)/16, one)
}

func addTo[E number](x, y []E) {
	if a, ok := any(x).([]float32); ok && len(a) >= 16 {
		vec.AddF32(a, a, any(y).([]float32))
		return
	}
	for j, v := range y {
		x[j] += v
	}
}

// denseBackward is the gradient of an embedding table.
func denseBackward(c *Ctx, o, g *T, ix []int64, skip int, byFreq bool) {
	n, d := o.Shape()[0], 1
	if o.Dim() > 1 {
		d = o.Shape()[1]
	}
	dt := computeType(o.DType())
	w := o
	if dt != o.DType() {
		w = tensor.New(o.Shape(), dt)
	}
	w.ZeroRaw()
	var freq []float64
	if byFreq {
		freq = make([]float64, n)
		for _, i := range ix {
			freq[i]++
		}
		for i := range freq {
			if freq[i] > 0 {
				freq[i] = 1 / freq[i]
			}
		}
	}
	g = as(g, dt)
	switch dt {
	case tensor.Float32:
		sumTable(raw[float32](w), raw[float32](g), ix, n, d, skip, scaleOf[float32](freq))
	case tensor.Float64:
		sumTable(raw[float64](w), raw[float64](g), ix, n, d, skip, scaleOf[float64](freq))
	case tensor.Complex64:
		sumTable(raw[complex64](w), raw[complex64](g), ix, n, d, skip, nil)
	case tensor.Complex128:
		sumTable(raw[complex128](w), raw[complex128](g), ix, n, d, skip, nil)
	default:
		sumTable(raw[int64](w), raw[int64](g), ix, n, d, skip, nil)
	}
	if w != o {
		tensor.CopyRaw(o, w)
	}
}

func scaleOf[E float32 | float64](f []float64) []E {
	if f == nil {
		return nil
	}
	out := make([]E, len(f))
	for i, v := range f {
		out[i] = E(v)
	}
	return out
}

func checkIndexType(c *Ctx, t *T) {
	if dt := t.DType(); dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.%sTensor instead (while checking arguments for embedding)", dt.ClassName())
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
		Doc:    "looks up rows of a 2-d weight; the row padding_idx gets no gradient (gradients are dense). nn/functional has the form with max_norm.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html",
		Infer: func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 {
				c.Fail(tensor.ErrShape, "'weight' must be 2-D")
			}
			checkIndexType(c, c.T(1))
			c.Alloc(0, append(append([]int{}, c.Shape(1)...), w.Shape()[1]), w.DType())
		},
		CPU: func(c *Ctx) {
			w, o := c.T(0).Dense(), c.Out(0)
			copyTable(c, bytesOf(o), bytesOf(w), longs(c.T(1)), w.Shape()[0], w.Shape()[1]*w.ElementSize())
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call1("embedding_dense_backward", g, c.T(1), c.Shape(0)[0], c.Int(2), c.Bool(3)), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
		Doc:    "is the gradient of an embedding's weight.",
		Go:     "-",
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			c.Alloc(0, []int{c.Int(2), sh[len(sh)-1]}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			denseBackward(c, c.Out(0), c.T(0).Dense(), longs(c.T(1)), c.Int(3), c.Bool(4))
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			r := call1("embedding", g, c.T(1))
			if pad := c.Int(3); pad >= 0 {
				x := longs(c.T(1))
				m := tensor.New(append(append([]int{}, c.T(1).Shape()...), 1), tensor.Bool)
				for i, b := range x {
					tensor.Data[bool](m)[i] = int(b) == pad
				}
				r = r.MaskedFillScalar(m, 0)
			}
			return []*T{r, nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
		Doc:    "scales the rows that indices name down to max_norm where their norm is larger.",
		NoGrad: "changes the weight outside the tape, as PyTorch",
		Body: func(c *Ctx) {
			w := c.T(0)
			renorm(c, w, longs(c.T(1)), c.Float(2), c.Float(3))
			c.Return(w)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
		Doc: "looks up the rows of weight that input names. The row PaddingIdx gets no gradient; rows longer than MaxNorm are shortened first, in place. " +
			"Sparse is accepted, but gradients are dense.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html",
		Body: func(c *Ctx) {
			ix, w := c.T(0), c.T(1)
			pad := padIndex(c, 2, w)
			if c.Has(3) {
				renorm(c, w.Detach(), longs(ix), c.Float(3), c.Float(4))
			}
			c.Return(call1("embedding", w, ix, pad, c.Bool(5), false))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "one_hot(Tensor self, int num_classes=-1) -> Tensor",
		Doc:    "has a last dimension that is 1 at the class and 0 elsewhere. Without NumClasses the largest class decides.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(0); dt != tensor.Int64 {
				c.Fail(tensor.ErrDType, "one_hot is only applicable to index tensor of type LongTensor.")
			}
			n := c.Int(1)
			top := int64(-1)
			for _, x := range longs(c.T(0)) {
				if x < 0 {
					c.Fail(tensor.ErrValue, "Class values must be non-negative.")
				}
				top = max(top, x)
			}
			switch {
			case n == -1 && c.T(0).Numel() == 0:
				c.Fail(tensor.ErrValue, "Can not infer total number of classes from empty tensor.")
			case n == -1:
				n = int(top) + 1
			case n < 1:
				c.Fail(tensor.ErrValue, "num_classes should be positive")
			case int(top) >= n:
				c.Fail(tensor.ErrValue, "Class values must be smaller than num_classes.")
			}
			c.Alloc(0, append(append([]int{}, c.Shape(0)...), n), tensor.Int64)
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			o.ZeroRaw()
			if o.Numel() == 0 {
				return
			}
			d, n := tensor.Data[int64](o), o.Shape()[o.Dim()-1]
			for i, x := range longs(c.T(0)) {
				d[i*n+int(x)] = 1
			}
		},
	})
	// mode: 0 sum, 1 mean, 2 max
	tensor.Register(tensor.Def{
		Schema: "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    "reduces bags of embedding rows; further results: the bag of every index, the size of every bag, the row of every maximum.",
		Go:     "-",
		Infer:  bagInfer, CPU: bagCPU,
		Save: "weight indices offsets per_sample_weights",
		VJP:  bagVJP,
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    "reduces bags of embedding rows: mode 0 sums, 1 averages, 2 takes the maximum.",
		Go:     "-",
		Body: func(c *Ctx) {
			var psw any
			if c.Has(6) {
				psw = c.T(6)
			}
			c.Return(callN("_embedding_bag", c.T(0), c.T(1), c.T(2), c.Bool(3), c.Int(4), false, psw, c.Bool(7), c.Int(8))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode=\"mean\", bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor",
		Doc:    "reduces bags of embedding rows: \"sum\", \"mean\" or \"max\". The rows of a 2-d input are the bags; a 1-d input is cut at Offsets.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html",
		Body: func(c *Ctx) {
			ix, w := c.T(0), c.T(1)
			var psw any
			if c.Has(8) {
				p := c.T(8)
				if !tensor.SameShape(p.Shape(), ix.Shape()) {
					c.Fail(tensor.ErrShape, "embedding_bag: If per_sample_weights (%s) is not None, then it must have the same shape as the input (%s)", tensor.ShapeString(p.Shape()), tensor.ShapeString(ix.Shape()))
				}
				psw = p.Reshape([]int{-1})
			}
			var off *T
			switch ix.Dim() {
			case 2:
				if c.Has(2) {
					c.Fail(tensor.ErrValue, "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type Tensor")
				}
				n, per := ix.Shape()[0], ix.Shape()[1]
				l := make([]int64, n)
				for i := range l {
					l[i] = int64(i * per)
				}
				off = tensor.FromSlice(l)
				ix = ix.Reshape([]int{-1})
			case 1:
				if !c.Has(2) {
					c.Fail(tensor.ErrValue, "offsets has to be a 1D Tensor but got None")
				}
				off = c.T(2)
				if off.Dim() != 1 {
					c.Fail(tensor.ErrValue, "offsets has to be a 1D Tensor")
				}
			default:
				c.Fail(tensor.ErrValue, "input has to be 1D or 2D Tensor, but got Tensor of dimension %d", ix.Dim())
			}
			mode, ok := map[string]int{"sum": 0, "mean": 1, "max": 2}[c.Str(6)]
			if !ok {
				c.Fail(tensor.ErrValue, "mode has to be one of sum, mean or max")
			}
			if mode == 2 && c.Bool(5) {
				c.Fail(tensor.ErrValue, "max mode does not support scaling the gradient by the frequency")
			}
			if psw != nil && mode != 0 {
				c.Fail(tensor.ErrNotImpl, "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='%s'). Please open a feature request on GitHub.", c.Str(6))
			}
			pad := padIndex(c, 10, w)
			if c.Has(3) {
				renorm(c, w.Detach(), longs(ix), c.Float(3), c.Float(4))
			}
			c.Return(callN("_embedding_bag", w, ix, off, c.Bool(5), mode, false, psw, c.Bool(9), pad)[0])
		},
	})
}

// padIndex reads padding_idx, which may count from the end; -1 when absent.
func padIndex(c *Ctx, arg int, w *T) int {
	if !c.Has(arg) {
		return -1
	}
	p := c.Int(arg)
	if n := w.Size(0); p < -n || p >= n {
		c.Fail(tensor.ErrValue, "Padding_idx must be within num_embeddings")
	} else if p < 0 {
		p += n
	}
	return p
}

// renorm shortens the rows of w that ix names to maxNorm.
func renorm(c *Ctx, w *T, ix []int64, maxNorm, p float64) {
	n, d := w.Shape()[0], w.Shape()[1]
	x := tensor.Data[float64](w.Detach().DenseAs(tensor.Float64).CloneRaw())
	done := map[int64]bool{}
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "index out of range in self")
		}
		if done[i] {
			continue
		}
		done[i] = true
		row := x[int(i)*d:][:d]
		norm := 0.0
		for _, v := range row {
			switch {
			case math.IsInf(p, 1):
				norm = max(norm, math.Abs(v))
			case p == 2:
				norm += v * v
			default:
				norm += math.Pow(math.Abs(v), p)
			}
		}
		if p == 2 {
			norm = math.Sqrt(norm)
		} else if !math.IsInf(p, 1) {
			norm = math.Pow(norm, 1/p)
		}
		if norm > maxNorm {
			s := maxNorm / (norm + 1e-7)
			for j := range row {
				row[j] *= s
			}
		}
	}
	if len(done) > 0 {
		tensor.NoGrad(func() { w.Detach().CopyInPlace(tensor.FromSlice(x, n, d)) })
	}
}

// bags gives the bag of every index and where bags begin and end.
func bags(c *Ctx) (ix []int64, from []int, bag []int64) {
	if dt := c.ArgDType(1); dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.%sTensor instead (while checking arguments for embedding_bag)", dt.ClassName())
	}
	ix = longs(c.T(1))
	off := longs(c.T(2))
	if len(off) > 0 && off[0] != 0 {
		c.Fail(tensor.ErrValue, "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got %d", off[0])
	}
	if n := len(off); n > 0 && int(off[n-1]) > len(ix) {
		c.Fail(tensor.ErrValue, "offsets[-1] can not be greater than input's length %d but got offsets[-1] of %d", len(ix), off[n-1])
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
	n := c.T(2).Numel()
	if c.Bool(7) {
		n = max(0, n-1)
	}
	d := w.Shape()[1]
	c.Alloc(0, []int{n, d}, w.DType())
	c.Alloc(1, []int{c.T(1).Numel()}, tensor.Int64)
	c.Alloc(2, []int{n}, tensor.Int64)
	m := []int{0}
	if c.Int(4) == 2 {
		m = []int{n, d}
	}
	c.Alloc(3, m, tensor.Int64)
}

func bagCPU(c *Ctx) {
	w := c.T(0)
	n, d := w.Shape()[0], w.Shape()[1]
	ix, from, bag := bags(c)
	for _, i := range ix {
		if uint64(i) >= uint64(n) {
			c.Fail(tensor.ErrIndex, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be %d", i)
		}
	}
	copy(tensor.Data[int64](c.Out(1)), bag)
	mode, pad := c.Int(4), c.Int(8)
	dt := tensor.Float32
	if w.DType() == tensor.Float64 {
		dt = tensor.Float64
	}
	o := c.Out(0)
	wide := o
	if o.DType() != dt {
		wide = tensor.New(o.Shape(), dt)
	}
	var psw *T
	if c.Has(6) {
		psw = as(c.T(6), dt)
	}
	if dt == tensor.Float64 {
		bagRun(raw[float64](wide), raw[float64](as(w, dt)), psw, ix, from, d, mode, pad, tensor.Data[int64](c.Out(2)), tensor.Data[int64](c.Out(3)))
	} else {
		bagRun(raw[float32](wide), raw[float32](as(w, dt)), psw, ix, from, d, mode, pad, tensor.Data[int64](c.Out(2)), tensor.Data[int64](c.Out(3)))
	}
	if wide != o {
		tensor.CopyRaw(o, wide)
	}
	// the gradient of the weight needs the maxima
	c.Keep([]*T{c.Out(2), c.Out(3)})
}

func bagRun[E float32 | float64](o, w []E, psw *T, ix []int64, from []int, d, mode, pad int, size, top []int64) {
	var p []E
	if psw != nil {
		p = raw[E](psw)
	}
	for b := 0; b+1 < len(from); b++ {
		row := o[b*d:][:d]
		clear(row)
		k := 0
		for i := from[b]; i < from[b+1]; i++ {
			if int(ix[i]) == pad {
				continue
			}
			src := w[int(ix[i])*d:][:d]
			switch {
			case mode == 2:
				for j, v := range src {
					if k == 0 || v > row[j] {
						row[j], top[b*d+j] = v, ix[i]
					}
				}
			case p != nil:
				for j, v := range src {
					row[j] += p[i] * v
				}
			default:
				addTo(row, src)
			}
			k++
		}
		if mode == 2 && k == 0 {
			for j := range row {
				top[b*d+j] = -1
			}
		}
		if mode == 1 && k > 1 {
			for j := range row {
				row[j] /= E(k)
			}
		}
		size[b] = int64(k)
	}
}

// bagVJP brings the gradient of every bag back to the rows in it.
func bagVJP(c *Ctx, g *T) []*T {
	ix, from, bag := bags(c)
	w := c.T(0)
	mode, pad := c.Int(4), c.Int(8)
	kept := c.Kept().([]*T)
	r := []*T{nil, nil, nil}
	if c.Value(6).K == tensor.KTensor || len(c.Op().Sch.Params) > 6 {
		r = append(r, nil)
	}
	if c.Needs(0) {
		if mode == 2 {
			top := kept[1].CloneRaw()
			t := tensor.Data[int64](top)
			none := tensor.New(top.Shape(), tensor.Bool)
			for i := range t {
				tensor.Data[bool](none)[i] = t[i] < 0
				t[i] = max(t[i], 0)
			}
			r[0] = call1("scatter_add", zeros(w.Shape(), g.DType()), 0, top, g.MaskedFillScalar(none, 0))
		} else {
			part := g.IndexSelect(0, tensor.FromSlice(bag))
			if mode == 1 {
				size := tensor.Data[int64](kept[0])
				part = part.Mul(constant(g.DType(), []int{len(bag), 1}, func(i int) float64 { return 1 / max(1, float64(size[bag[i]])) }))
			}
			if c.Has(6) {
				part = part.Mul(c.T(6).Unsqueeze(1))
			}
			if k := from[len(from)-1]; k < len(ix) { // indices after the last offset are in no bag
				drop := tensor.New([]int{len(ix), 1}, tensor.Bool)
				for i := range ix {
					tensor.Data[bool](drop)[i] = i >= k
				}
				part = part.MaskedFillScalar(drop, 0)
			}
			r[0] = call1("embedding_dense_backward", part, c.T(1), w.Shape()[0], pad, c.Bool(3))
		}
	}
	if c.Has(6) && c.Needs(6) {
		rows := w.IndexSelect(0, c.T(1))
		s := call1("sum.dim_IntList", g.IndexSelect(0, tensor.FromSlice(bag)).Mul(rows), []int{1})
		if pad >= 0 {
			m := tensor.New([]int{len(ix)}, tensor.Bool)
			for i, x := range ix {
				tensor.Data[bool](m)[i] = int(x) == pad
			}
			s = s.MaskedFillScalar(m, 0)
		}
		r[3] = s
	}
	return r
}
