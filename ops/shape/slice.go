package shape

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// wrapNonZero is WrapDim for operators that refuse 0-d tensors.
func wrapNonZero(c *Ctx, dim, nd int) int {
	if nd == 0 {
		c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return tensor.WrapDim(dim, nd)
}

// The functions below build views without recording; operators, their scatter forms and their gradients share them.

func selectView(c *Ctx, t *T, dim, index int) *T {
	if t.Dim() == 0 {
		c.Fail(tensor.ErrIndex, "select() cannot be applied to a 0-dim tensor.")
	}
	d := tensor.WrapDim(dim, t.Dim())
	n := t.Shape()[d]
	if index < -n || index >= n {
		c.Fail(tensor.ErrIndex, "select(): index %d out of range for tensor of size %s at dimension %d", index,
			tensor.ShapeString(t.Shape()), d)
	}
	if index < 0 {
		index += n
	}
	return tensor.Alias(t, slices.Delete(slices.Clone(t.Shape()), d, d+1),
		slices.Delete(slices.Clone(t.Strides()), d, d+1), t.StorageOffset()+index*t.Strides()[d])
}

// sliceBounds wraps and clamps as Python does. missing ends are given by has.
func sliceBounds(n, start, end int, hasStart, hasEnd bool) (lo, hi int) {
	lo, hi = 0, n
	if hasStart {
		lo = start
	}
	if hasEnd {
		hi = end
	}
	if lo < 0 {
		lo += n
	}
	if hi < 0 {
		hi += n
	}
	lo = min(max(lo, 0), n)
	hi = min(max(hi, lo), n)
	return
}

func sliceView(c *Ctx, t *T, dim, start, end, step int, hasStart, hasEnd bool) *T {
	if t.Dim() == 0 {
		c.Fail(tensor.ErrIndex, "slice() cannot be applied to a 0-dim tensor.")
	}
	if step <= 0 {
		c.Fail(tensor.ErrValue, "slice step must be positive")
	}
	d := tensor.WrapDim(dim, t.Dim())
	lo, hi := sliceBounds(t.Shape()[d], start, end, hasStart, hasEnd)
	sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	sh[d] = (hi - lo + step - 1) / step
	off := t.StorageOffset() + lo*st[d]
	st[d] *= step
	return tensor.Alias(t, sh, st, off)
}

func diagonalView(c *Ctx, t *T, offset, dim1, dim2 int) *T {
	a, b := tensor.WrapDim(dim1, t.Dim()), tensor.WrapDim(dim2, t.Dim())
	if a == b {
		c.Fail(tensor.ErrShape, "diagonal dimensions cannot be identical %d, %d", dim1, dim2)
	}
	n, off := 0, t.StorageOffset()
	sa, sb := t.Strides()[a], t.Strides()[b]
	if offset >= 0 {
		n = max(min(t.Shape()[a], t.Shape()[b]-offset), 0)
		if n > 0 {
			off += offset * sb
		}
	} else {
		n = max(min(t.Shape()[a]+offset, t.Shape()[b]), 0)
		if n > 0 {
			off -= offset * sa
		}
	}
	var sh, st []int
	for d := range t.Shape() {
		if d != a && d != b {
			sh, st = append(sh, t.Shape()[d]), append(st, t.Strides()[d])
		}
	}
	return tensor.Alias(t, append(sh, n), append(st, sa+sb), off)
}

// scatterInfer checks the source of a scatter form and lays the result out like self.
func scatterInfer(c *Ctx, view *T) {
	if !tensor.SameShape(c.Shape(1), view.Shape()) {
		c.Fail(tensor.ErrShape, "expected src to have a size equal to the slice of self. src size = %s, slice size = %s", tensor.ShapeString(c.Shape(1)), tensor.ShapeString(view.Shape()))
	}
	c.AllocStrided(0, c.Shape(0), formatStrides(c, c.T(0), tensor.NoFormat), c.ArgDType(0))
}

// scatterCPU copies self and then src into the view that v makes.
func scatterCPU(c *Ctx, v func(t *T) *T) {
	o := c.Out(0)
	tensor.CopyRaw(o, c.T(0))
	tensor.CopyRaw(v(o), c.T(1))
}

// scatterVJP gives self the gradient outside the view and src the gradient inside.
func scatterVJP(c *Ctx, view *T, outside func(zero *T) *T) []*T {
	r := []*T{nil, view}
	if c.Needs(0) {
		r[0] = outside(op.Zeros(view, view.Shape(), view.DType()))
	}
	return r
}

// checkViews refuses more views than there is memory for: each takes about a kilobyte, with its node.
func checkViews(n int) { mem.Check(n, 1<<10) }

// spread is the kernel of the backward forms: zeros with g in the view that v makes.
func spread(c *Ctx, v func(t *T) *T) {
	o := c.Out(0)
	fillNum(o, zeroNum)
	tensor.CopyRaw(v(o), c.T(0))
}

// foldRows adds the windows in g's last dimension, which lie step apart along dimension d of o, to where they were
// taken from.
func foldRows[E float32 | float64](o, g *T, d, step int) {
	g = tensor.Dense(g)
	if g.Numel() == 0 {
		return
	}
	inner, nd := 1, o.Dim()
	for _, s := range o.Shape()[d+1:] {
		inner *= s
	}
	n, windows, size := o.Shape()[d], g.Shape()[d], g.Shape()[nd]
	dst, src := tensor.Data[E](o), tensor.Data[E](g)
	part := windows * inner * size
	par.For(len(src)/part, max(1, 1<<15/part), func(lo, hi int) {
		for a := lo; a < hi; a++ {
			to, from := dst[a*n*inner:][:n*inner], src[a*part:][:part]
			for w := range windows {
				to := to[w*step*inner:]
				for i := range inner {
					from := from[(w*inner+i)*size:][:size]
					if inner == 1 {
						to := to[:size]
						for k, v := range from {
							to[k] += v
						}
						continue
					}
					for k, v := range from {
						to[k*inner+i] += v
					}
				}
			}
		}
	})
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
		Doc: "picks one index of a dimension, which is removed. Negative ones count from the " +
			"end.\nhttps://pytorch.org/docs/stable/generated/torch.select.html",
		View: func(c *Ctx) *T { return selectView(c, c.T(0), c.Int(1), c.Int(2)) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::select_backward", g, c.Shape(0), c.Int(1), c.Int(2))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
		Doc:    "is the gradient of Select: zeros with grad_output at one index.",
		Go:     "-",
		Infer:  func(c *Ctx) { c.Alloc(0, c.Ints(1), c.ArgDType(0)) },
		CPU:    func(c *Ctx) { spread(c, func(t *T) *T { return selectView(c, t, c.Int(2), c.Int(3)) }) },
		VJP:    func(c *Ctx, g *T) []*T { return []*T{g.Select(c.Int(2), c.Int(3))} },
	})
	tensor.Register(tensor.Def{
		Schema: "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
		Doc: "is a copy of self with src at one index of a " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.select_scatter.html",
		Infer: func(c *Ctx) { scatterInfer(c, selectView(c, c.T(0), c.Int(2), c.Int(3))) },
		CPU:   func(c *Ctx) { scatterCPU(c, func(t *T) *T { return selectView(c, t, c.Int(2), c.Int(3)) }) },
		VJP: func(c *Ctx, g *T) []*T {
			return scatterVJP(c, g.Select(c.Int(2), c.Int(3)),
				func(z *T) *T { return g.SelectScatter(z, c.Int(2), c.Int(3)) })
		},
	})
	tensor.Register(tensor.Def{
		Schema: "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
		Doc: "is every step-th entry of a dimension from start to end, which is left out; both are clamped to the " +
			"size.",
		Go: "SliceAlong",
		View: func(c *Ctx) *T {
			return sliceView(c, c.T(0), c.Int(1), c.Int(2), c.Int(3), c.Int(4), c.Has(2), c.Has(3))
		},
		VJP: func(c *Ctx, g *T) []*T {
			sh := c.Shape(0)
			lo, hi := sliceBounds(sh[tensor.WrapDim(c.Int(1), len(sh))], c.Int(2), c.Int(3), c.Has(2), c.Has(3))
			return []*T{op.Call1("aten::slice_backward", g, sh, c.Int(1), lo, hi, c.Int(4))}
		},
		Grad: "SliceBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor",
		Doc:    "is the gradient of SliceAlong: zeros with grad_output in the slice.",
		Go:     "-",
		Infer:  func(c *Ctx) { c.Alloc(0, c.Ints(1), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			spread(c, func(t *T) *T { return sliceView(c, t, c.Int(2), c.Int(3), c.Int(4), c.Int(5), true, true) })
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{sliceOp(g, c.Int(2), c.Int(3), c.Int(4), c.Int(5))} },
	})
	tensor.Register(tensor.Def{
		Schema: "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
		Doc: "is a copy of self with src in a slice of a " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.slice_scatter.html",
		Out: true,
		Infer: func(c *Ctx) {
			scatterInfer(c, sliceView(c, c.T(0), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Has(3), c.Has(4)))
		},
		CPU: func(c *Ctx) {
			scatterCPU(c, func(t *T) *T {
				return sliceView(c, t, c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Has(3), c.Has(4))
			})
		},
		VJP: func(c *Ctx, g *T) []*T {
			lo, hi := sliceBounds(g.Size(c.Int(2)), c.Int(3), c.Int(4), c.Has(3), c.Has(4))
			return scatterVJP(c, sliceOp(g, c.Int(2), lo, hi, c.Int(5)), func(z *T) *T {
				return op.Call1("aten::slice_scatter", g, z, c.Int(2), lo, hi, c.Int(5))
			})
		},
	})
	tensor.Register(tensor.Def{
		Schema: "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
		Doc: "is the diagonal of two dimensions, which becomes the last dimension. Offset > 0 lies above the main " +
			"diagonal.\nhttps://pytorch.org/docs/stable/generated/torch.diagonal.html",
		View: func(c *Ctx) *T { return diagonalView(c, c.T(0), c.Int(1), c.Int(2), c.Int(3)) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::diagonal_backward", g, c.Shape(0), c.Int(1), c.Int(2), c.Int(3))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
		Doc:    "is Diagonal of the last two dimensions.",
		Body:   func(c *Ctx) { c.Return(op.Call1("aten::diagonal", c.T(0), c.Int(1), c.Int(2), c.Int(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
		Doc:    "is the gradient of Diagonal: zeros with grad_output on the diagonal.",
		Go:     "-",
		Infer:  func(c *Ctx) { c.Alloc(0, c.Ints(1), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			spread(c, func(t *T) *T { return diagonalView(c, t, c.Int(2), c.Int(3), c.Int(4)) })
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{op.Call1("aten::diagonal", g, c.Int(2), c.Int(3), c.Int(4))} },
	})
	tensor.Register(tensor.Def{
		Schema: "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
		Doc: "is a copy of self with src on a " +
			"diagonal.\nhttps://pytorch.org/docs/stable/generated/torch.diagonal_scatter.html",
		Infer: func(c *Ctx) { scatterInfer(c, diagonalView(c, c.T(0), c.Int(2), c.Int(3), c.Int(4))) },
		CPU: func(c *Ctx) {
			scatterCPU(c, func(t *T) *T { return diagonalView(c, t, c.Int(2), c.Int(3), c.Int(4)) })
		},
		VJP: func(c *Ctx, g *T) []*T {
			return scatterVJP(c, op.Call1("aten::diagonal", g, c.Int(2), c.Int(3), c.Int(4)), func(z *T) *T {
				return op.Call1("aten::diagonal_scatter", g, z, c.Int(2), c.Int(3), c.Int(4))
			})
		},
	})
	tensor.Register(tensor.Def{
		Schema: "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
		Doc: "is length entries of a dimension from start on. Nothing is " +
			"clamped.\nhttps://pytorch.org/docs/stable/generated/torch.narrow.html",
		Body: func(c *Ctx) {
			c.Return(narrow(c, c.T(0), c.Int(1), c.Int(2), c.Int(3)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "narrow.Tensor(Tensor(a) self, int dim, Tensor start, SymInt length) -> Tensor(a)",
		Doc:    "is narrow with the start in a 0-d tensor, which is read.",
		Go:     "-", DataDependent: true,
		Body: func(c *Ctx) {
			s := c.T(2)
			if s.Dim() != 0 || !s.DType().IsInt() {
				c.Fail(tensor.ErrType, "start must be an 0-dim integral Tensor.")
			}
			c.Return(narrow(c, c.T(0), c.Int(1), int(s.Num().I), c.Int(3)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor",
		Doc:    "is a copy of Narrow.",
		Out:    true,
		Body: func(c *Ctx) {
			t := c.T(0)
			if t.Dim() > 0 && c.Int(1) >= t.Dim() {
				c.Fail(tensor.ErrIndex, "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got "+
					"false.")
			}
			if n := c.Int(3); n < 0 && t.Dim() > 0 {
				c.Fail(tensor.ErrValue, "start (%d) + length (%d) exceeds dimension size (%d).", c.Int(2), n,
					t.Size(c.Int(1)))
			}
			c.Return(copyOf(narrow(c, t, c.Int(1), c.Int(2), c.Int(3))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
		Doc: "is the windows of a given size, step apart, along a dimension; a new last dimension runs inside the " +
			"windows.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html",
		View: func(c *Ctx) *T { return unfoldView(c, c.T(0), c.Int(1), c.Int(2), c.Int(3)) },
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::unfold_backward", g, c.Shape(0), c.Int(1), c.Int(2), c.Int(3))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
		Doc:    "is the gradient of Unfold: windows that overlap add up.",
		Go:     "-",
		Infer: func(c *Ctx) {
			o := c.Alloc(0, c.Ints(1), c.ArgDType(0))
			c.WantShape(0, unfoldView(c, o, c.Int(2), c.Int(3), c.Int(4)).Shape()...)
		},
		CPU: func(c *Ctx) {
			g, o := c.T(0), c.Out(0)
			fillNum(o, zeroNum)
			if o.Dim() == 0 {
				if g.Numel() > 0 {
					tensor.CopyRaw(o, tensor.Alias(g, nil, nil, g.StorageOffset()))
				}
				return
			}
			d := tensor.WrapDim(c.Int(2), o.Dim())
			if o.DType() == tensor.Float32 {
				foldRows[float32](o, g, d, c.Int(4))
				return
			}
			if o.DType() == tensor.Float64 {
				foldRows[float64](o, g, d, c.Int(4))
				return
			}
			// entry k of every window: places that do not overlap, so one addition per k
			v := unfoldView(c, o, c.Int(2), c.Int(3), c.Int(4))
			tensor.NoGrad(func() {
				for k := 0; k < c.Int(3); k++ {
					a := selectView(c, v, -1, k).Detach()
					a.AddInPlace(selectView(c, g, -1, k).Detach())
				}
			})
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Unfold(c.Int(2), c.Int(3), c.Int(4))} },
	})
	tensor.Register(tensor.Def{
		Schema: "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension into views of split_size entries, the last one possibly " +
			"shorter.\nhttps://pytorch.org/docs/stable/generated/torch.split.html",
		View: func(c *Ctx) *T { return splitSizes(c, 0, splitEven(c, c.T(0), c.Int(1), c.Int(2)), c.Int(2)) },
		VJP:  splitVJP(2), Grad: "SplitBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension into views of the given sizes, which must add up to its " +
			"size.\nhttps://pytorch.org/docs/stable/generated/torch.split.html",
		View: func(c *Ctx) *T { return splitSizes(c, 0, c.Ints(1), c.Int(2)) },
		VJP:  splitVJP(2), Grad: "SplitWithSizesBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension into views of the given sizes, which must add up to its " +
			"size.\nhttps://pytorch.org/docs/stable/generated/torch.split.html",
		View: func(c *Ctx) *T { return splitSizes(c, 0, c.Ints(1), c.Int(2)) },
		VJP:  splitVJP(2),
	})
	tensor.Register(tensor.Def{
		Schema: "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension into at most the given number of views of equal size, the last one possibly " +
			"smaller.\nhttps://pytorch.org/docs/stable/generated/torch.chunk.html",
		Body: func(c *Ctx) {
			t, n := c.T(0), c.Int(1)
			if t.Dim() == 0 {
				c.Fail(tensor.ErrShape, "chunk expects at least a 1-dimensional tensor")
			}
			if n <= 0 {
				c.Fail(tensor.ErrValue, "chunk expects `chunks` to be greater than 0, got: %d", n)
			}
			size := t.Size(c.Int(2))
			checkViews(op.Pick(size == 0, n, min(n, size)))
			per := (size-1)/n + 1
			if size == 0 {
				per = 0
			}
			if per == 0 && size == 0 {
				c.Return(op.Call("aten::split_with_sizes", t, make([]int, n), c.Int(2))...)
				return
			}
			c.Return(op.Call("aten::split.Tensor", t, per, c.Int(2))...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
		Doc:    "is Chunk.",
		Body:   func(c *Ctx) { c.Return(single(op.Call("aten::chunk", c.T(0), c.Int(1), c.Int(2)))...) },
	})
	tensor.Register(tensor.Def{
		Schema: "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
		Doc:    "is Split.", Go: "UnsafeSplit",
		Body: func(c *Ctx) { c.Return(single(op.Call("aten::split.Tensor", c.T(0), c.Int(1), c.Int(2)))...) },
	})
	tensor.Register(tensor.Def{
		Schema: "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
		Doc:    "is SplitWithSizes.",
		Body:   func(c *Ctx) { c.Return(single(op.Call("aten::split_with_sizes", c.T(0), c.Ints(1), c.Int(2)))...) },
	})
	tensor.Register(tensor.Def{
		Schema: "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
		Doc: "gives the slices along a dimension, which is " +
			"removed.\nhttps://pytorch.org/docs/stable/generated/torch.unbind.html",
		View: func(c *Ctx) *T {
			t := c.T(0)
			d := wrapNonZero(c, c.Int(1), t.Dim())
			for i := 0; i < t.Shape()[d]; i++ {
				c.SetOut(i, selectView(c, t, d, i))
			}
			return nil
		},
		VJP: func(c *Ctx, g *T) []*T {
			sh := c.Shape(0)
			d := tensor.WrapDim(c.Int(1), len(sh))
			gs := make([]*T, sh[d])
			part := slices.Delete(slices.Clone(sh), d, d+1)
			for i := range gs {
				if gs[i] = c.G(i); gs[i] == nil {
					gs[i] = op.Zeros(g, part, c.ArgDType(0))
				}
			}
			return []*T{stack(gs, d)}
		},
	})
	tensorSplit := func(c *Ctx, t *T, at []int, sections, dim int) {
		if t.Dim() == 0 {
			c.Fail(tensor.ErrShape, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 "+
				"dims")
		}
		d := tensor.WrapDim(dim, t.Dim())
		n := t.Shape()[d]
		if at == nil {
			if sections <= 0 {
				c.Fail(tensor.ErrValue, "number of sections must be larger than 0, got %d", sections)
			}
			checkViews(sections)
			for i := 1; i < sections; i++ {
				at = append(at, i*(n/sections)+min(i, n%sections))
			}
		}
		var out []*T
		from := 0
		for _, to := range at {
			out = append(out, sliceOp(t, d, from, to, 1))
			from = to
		}
		c.Return(append(out, sliceOp(t, d, from, n, 1))...)
	}
	tensor.Register(tensor.Def{
		Schema: "tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension into the given number of views whose sizes differ by at most " +
			"1.\nhttps://pytorch.org/docs/stable/generated/torch.tensor_split.html",
		Go:   "TensorSplit",
		Body: func(c *Ctx) { tensorSplit(c, c.T(0), nil, c.Int(1), c.Int(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
		Doc: "cuts a dimension before each of the given " +
			"indices.\nhttps://pytorch.org/docs/stable/generated/torch.tensor_split.html",
		Body: func(c *Ctx) { tensorSplit(c, c.T(0), append([]int{}, c.Ints(1)...), 0, c.Int(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
		Doc:    "cuts a dimension into sections, or before indices, that a tensor holds; its elements are read.",
		Go:     "-", CrossDevice: true, DataDependent: true,
		Body: func(c *Ctx) {
			s := c.T(1)
			if s.DType() != tensor.Int64 {
				c.Fail(tensor.ErrDType, "tensor_split expected tensor_indices_or_sections to have dtype of long, but "+
					"got %s", s.DType().ClassName())
			}
			switch s.Dim() {
			case 0:
				tensorSplit(c, c.T(0), nil, int(s.Num().I), c.Int(2))
			case 1:
				list := s.ToList().([]any)
				at := make([]int, len(list))
				for i, k := range list {
					at[i] = int(k.(int64))
				}
				tensorSplit(c, c.T(0), at, 0, c.Int(2))
			default:
				c.Fail(tensor.ErrShape, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional "+
					"or one-dimensional tensor, but got a tensor with %d dims", s.Dim())
			}
		},
	})
	for _, k := range []struct {
		name     string
		need, at int
	}{{"hsplit", 1, 1}, {"vsplit", 2, 0}, {"dsplit", 3, 2}} {
		registerNSplit(k.name, k.need, k.at)
	}
}

func registerNSplit(name string, need, at int) {
	dim := func(c *Ctx) int {
		t := c.T(0)
		if t.Dim() < need {
			c.Fail(tensor.ErrShape, "torch.%s requires a tensor with at least %d dimension, but got a tensor with %d "+
				"dimensions!", name, need, t.Dim())
		}
		if name == "hsplit" && t.Dim() == 1 {
			return 0
		}
		return at
	}
	sections := func(c *Ctx) {
		d := dim(c)
		if n, s := c.T(0).Shape()[d], c.Int(1); s == 0 || n%s != 0 {
			c.Fail(tensor.ErrValue, "torch.%s attempted to split along dimension %d, but the size of the dimension "+
				"%d is not divisible by the split_size %d!", name, d, n, s)
		}
		c.Return(op.Call("aten::tensor_split.sections", c.T(0), c.Int(1), d)...)
	}
	indices := func(c *Ctx) { c.Return(op.Call("aten::tensor_split.indices", c.T(0), c.Ints(1), dim(c))...) }
	nsplit[name] = [2]func(c *Ctx){sections, indices}
}

var nsplit = map[string][2]func(c *Ctx){}

func nsplitBody(name string, k int) func(c *Ctx) { return func(c *Ctx) { nsplit[name][k](c) } }

func init() {
	tensor.Register(tensor.Def{
		Schema: "hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
		Doc: "cuts dimension 1 (0 of a 1-d tensor) into equal " +
			"views.\nhttps://pytorch.org/docs/stable/generated/torch.hsplit.html",
		Body: nsplitBody("hsplit", 0),
	})
	tensor.Register(tensor.Def{
		Schema: "hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
		Doc: "cuts dimension 1 (0 of a 1-d tensor) before each " +
			"index.\nhttps://pytorch.org/docs/stable/generated/torch.hsplit.html",
		Go:   "HsplitAt",
		Body: nsplitBody("hsplit", 1),
	})
	tensor.Register(tensor.Def{
		Schema: "vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
		Doc:    "cuts dimension 0 into equal views.\nhttps://pytorch.org/docs/stable/generated/torch.vsplit.html",
		Body:   nsplitBody("vsplit", 0),
	})
	tensor.Register(tensor.Def{
		Schema: "vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
		Doc:    "cuts dimension 0 before each index.\nhttps://pytorch.org/docs/stable/generated/torch.vsplit.html",
		Go:     "VsplitAt",
		Body:   nsplitBody("vsplit", 1),
	})
	tensor.Register(tensor.Def{
		Schema: "dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
		Doc:    "cuts dimension 2 into equal views.\nhttps://pytorch.org/docs/stable/generated/torch.dsplit.html",
		Body:   nsplitBody("dsplit", 0),
	})
	tensor.Register(tensor.Def{
		Schema: "dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
		Doc:    "cuts dimension 2 before each index.\nhttps://pytorch.org/docs/stable/generated/torch.dsplit.html",
		Go:     "DsplitAt",
		Body:   nsplitBody("dsplit", 1),
	})
}

func narrow(c *Ctx, t *T, dim, start, length int) *T {
	if t.Dim() == 0 {
		c.Fail(tensor.ErrShape, "narrow() cannot be applied to a 0-dim tensor.")
	}
	if length < 0 {
		c.Fail(tensor.ErrValue, "narrow(): length must be non-negative.")
	}
	n := t.Size(dim)
	if start < -n || start > n {
		c.Fail(tensor.ErrIndex, "start out of range (expected to be in range of [%d, %d], but got %d)", -n, n, start)
	}
	if start < 0 {
		start += n
	}
	if start+length > n {
		c.Fail(tensor.ErrShape, "start (%d) + length (%d) exceeds dimension size (%d).", start, length, n)
	}
	return sliceOp(t, dim, start, start+length, 1)
}

func unfoldView(c *Ctx, t *T, dim, size, step int) *T {
	d := tensor.WrapDim(dim, t.Dim())
	n := 1
	if t.Dim() > 0 {
		n = t.Shape()[d]
	}
	switch {
	case size < 0:
		c.Fail(tensor.ErrValue, "size is %d but must be >= 0", size)
	case size > n:
		c.Fail(tensor.ErrShape, "maximum size for tensor at dimension %d is %d but size is %d", d, n, size)
	case step <= 0:
		c.Fail(tensor.ErrValue, "step is %d but must be > 0", step)
	}
	sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	last := 1
	if t.Dim() > 0 {
		last = st[d]
		sh[d] = (n-size)/step + 1
		st[d] *= step
	}
	return tensor.Alias(t, append(sh, size), append(st, last), t.StorageOffset())
}

// splitEven lists the sizes of parts of one size.
func splitEven(c *Ctx, t *T, size, dim int) []int {
	if t.Dim() == 0 {
		c.Fail(tensor.ErrShape, "split expects at least a 1-dimensional tensor")
	}
	if size < 0 {
		c.Fail(tensor.ErrValue, "split expects split_size be non-negative, but got split_size=%d", size)
	}
	n := t.Size(dim)
	if size == 0 && n != 0 {
		c.Fail(tensor.ErrValue, "split_size can only be 0 if dimension size is 0, but got dimension size of %d", n)
	}
	if n == 0 {
		return []int{0}
	}
	var out []int
	for i := 0; i < n; i += size {
		out = append(out, min(size, n-i))
	}
	return out
}

// single makes of each of many views one by itself, which may be changed in place.
func single(ts []*T) []*T {
	out := make([]*T, len(ts))
	for i, t := range ts {
		out[i] = t.AliasView()
	}
	return out
}

func splitSizes(c *Ctx, arg int, sizes []int, dim int) *T {
	t := c.T(arg)
	if t.Dim() == 0 {
		c.Fail(tensor.ErrShape, "split expects at least a 1-dimensional tensor")
	}
	d := tensor.WrapDim(dim, t.Dim())
	n, at := t.Shape()[d], 0
	sum := 0
	for _, s := range sizes {
		if s < 0 {
			c.Fail(tensor.ErrValue, "split_with_sizes expects split_sizes have only non-negative entries, but got "+
				"split_sizes=%s", tensor.ShapeString(sizes))
		}
		sum += s
	}
	if sum != n {
		c.Fail(tensor.ErrShape, "split_with_sizes expects split_sizes to sum exactly to %d (input tensor's size at "+
			"dimension %d), but got split_sizes=%s", n, dim, tensor.ShapeString(sizes))
	}
	for i, s := range sizes {
		sh := slices.Clone(t.Shape())
		sh[d] = s
		c.SetOut(i, tensor.Alias(t, sh, t.Strides(), t.StorageOffset()+at*t.Strides()[d]))
		at += s
	}
	return nil
}

// splitVJP joins the parts' gradients again.
func splitVJP(dimArg int) func(c *Ctx, g *T) []*T {
	return func(c *Ctx, g *T) []*T {
		sh := c.Shape(0)
		d := tensor.WrapDim(c.Int(dimArg), len(sh))
		var sizes []int
		if c.Value(1).K == tensor.KInts {
			sizes = c.Ints(1)
		} else {
			size := c.Int(1)
			for i := 0; i < sh[d]; i += size {
				sizes = append(sizes, min(size, sh[d]-i))
			}
			if sizes == nil {
				sizes = []int{0}
			}
		}
		gs := make([]*T, len(sizes))
		for i, s := range sizes {
			if gs[i] = c.G(i); gs[i] == nil {
				part := slices.Clone(sh)
				part[d] = s
				gs[i] = op.Zeros(g, part, c.ArgDType(0))
			}
		}
		if whole := adjacent(gs, d, sh); whole != nil {
			return []*T{whole}
		}
		return []*T{cat(gs, d)}
	}
}

// adjacent is the tensor of shape sh that parts already are, one after the other along dimension d of the same memory;
// nil when they lie otherwise.
func adjacent(parts []*T, d int, sh []int) *T {
	p := parts[0]
	off := p.StorageOffset()
	for _, q := range parts {
		if q.Storage() != p.Storage() || q.DType() != p.DType() || q.StorageOffset() != off ||
			!slices.Equal(q.Strides(), p.Strides()) {
			return nil
		}
		off += q.Size(d) * q.Stride(d)
	}
	if len(parts) == 1 || p.Stride(d) == 0 || tensor.IsGradEnabled() {
		return nil
	}
	return tensor.Alias(p, sh, p.Strides(), p.StorageOffset())
}

func sliceOp(t *T, dim, start, end, step int) *T {
	return op.Call1("aten::slice.Tensor", t, dim, start, end, step)
}

func cat(ts []*T, dim int) *T   { return op.Call1("aten::cat", ts, dim) }
func stack(ts []*T, dim int) *T { return op.Call1("aten::stack", ts, dim) }

// copyOf is a contiguous copy, as the _copy forms of views return it.
func copyOf(t *T) *T { return t.Clone(tensor.CloneOptions{MemoryFormat: tensor.ContiguousFormat}) }
