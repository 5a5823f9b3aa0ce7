package index

import (
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// indices reads a 0-d or 1-d integer index along a dimension of size n. Negative numbers are not wrapped, as in
// PyTorch.
func indices(c *Ctx, arg, n int) []int64 {
	t := c.T(arg)
	if dt := t.DType(); dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "%s(): Expected dtype int32 or int64 for index but got: %s", c.Op().Sch.Name,
			dt.ClassName())
	}
	if t.Dim() > 1 {
		c.Fail(tensor.ErrIndex, "%s(): Index is supposed to be a vector", c.Op().Sch.Name)
	}
	ix := longs(t)
	if lo, hi := op.Extent(ix); lo < 0 || int(hi) >= n && len(ix) > 0 {
		failRow(c, ix, slices.IndexFunc(ix, func(i int64) bool { return uint64(i) >= uint64(n) }), nil, n)
	}
	return ix
}

// along1 is what the index_* operators with a source share: checks, and the dense source.
func along1(c *Ctx, srcArg int) (o, src *T, ix []int64, dim, n int) {
	t := c.T(0)
	o = c.Out(0)
	dim = tensor.WrapDim(c.Int(1), t.Dim())
	_, n, _ = iter.Split(t.Shape(), dim)
	ix = indices(c, 2, n)
	if srcArg > 0 {
		src = c.T(srcArg)
		checkSource(c, t, src, dim, len(ix))
		src = tensor.Dense(src)
		if src.Storage() == o.Storage() {
			src = tensor.CloneRaw(src)
		}
	}
	return
}

// checkSource compares source's shape with self's outside dim.
func checkSource(c *Ctx, t, s *T, dim, n int) {
	name := strings.TrimSuffix(c.Op().Sch.Name, "_") + "_"
	if s.DType() != t.DType() {
		if name != "index_copy_" {
			c.Fail(tensor.ErrDType, "%s(): self (%s) and source (%s) must have the same scalar type", name,
				t.DType().ClassName(), s.DType().ClassName())
		}
		c.Fail(tensor.ErrDType, "%s(): self and source expected to have the same dtype, but got (self) %s and "+
			"(source) %s", name, t.DType().ClassName(), s.DType().ClassName())
	}
	a, b := t.Shape(), s.Shape()
	if name == "index_copy_" {
		if len(b) == 0 && n != 1 {
			c.Fail(tensor.ErrIndex, "index_copy_(): When source is scalar, index should have one element (got %d)", n)
		}
		if len(b) == 0 && t.Dim() <= 1 {
			return
		}
	}
	if len(a) != len(b) && !(name == "index_copy_" && len(a) == 0 && s.Numel() == 1) {
		c.Fail(tensor.ErrShape, "%s(): source tensor shape must match self tensor shape, excluding the specified "+
			"dimension. Got self.shape = %s source.shape = %s", name, tensor.ShapeString(a), tensor.ShapeString(b))
	}
	for i := range a {
		if i != dim && a[i] != b[i] {
			c.Fail(tensor.ErrShape, "%s(): source tensor shape must match self tensor shape, excluding the specified "+
				"dimension. Got self.shape = %s source.shape = %s", name, tensor.ShapeString(a), tensor.ShapeString(b))
		}
	}
	if len(a) > 0 && b[dim] != n {
		if name != "index_copy_" {
			c.Fail(tensor.ErrShape, "%s(): Number of indices (%d) should be equal to source.size(dim): (%d), for "+
				"dim: %d", name, n, b[dim], dim)
		}
		c.Fail(tensor.ErrShape, "%s(): Number of indices (%d) should be equal to source.size(dim) (%d)", name, n,
			b[dim])
	}
}

func sameInfer(c *Ctx) {
	if g := c.GivenOut(0); g != nil && !c.Op().IsInPlace() {
		noOverlap(c, g)
	}
	c.Alloc(0, c.Shape(0), c.ArgDType(0))
}

// rowsInfer is sameInfer of kernels that check the index first and then change some entries of self alone: in place
// they write to self, of which they leave the rest alone.
func rowsInfer(c *Ctx) {
	self := c.T(0)
	if !c.Op().IsInPlace() || !self.IsContiguous() {
		sameInfer(c)
		return
	}
	for i := 1; i < c.NumArgs(); i++ {
		if v := c.Value(i); v.K == tensor.KTensor && op.Overlap(v.T, self) {
			sameInfer(c)
			return
		}
	}
	c.SetOut(0, self)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "index_select(Tensor self, int dim, Tensor index) -> Tensor",
		Doc: "picks the entries along dim that index (1-d, int32 or int64) " +
			"names.\nhttps://pytorch.org/docs/stable/generated/torch.index_select.html",
		Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			dim := tensor.WrapDim(c.Int(1), t.Dim())
			if g := c.GivenOut(0); g != nil {
				noOverlap(c, g)
			}
			sh := slices.Clone(t.Shape())
			n := c.T(2).Numel()
			if len(sh) > 0 {
				sh[dim] = n
			} else if n != 1 {
				c.Fail(tensor.ErrShape, "index_select(): Index to scalar can have only 1 value, got %d value(s)", n)
			}
			c.Alloc(0, sh, t.DType())
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			dim := tensor.WrapDim(c.Int(1), t.Dim())
			outer, n, inner := iter.Split(t.Shape(), dim)
			ix := indices(c, 2, n)
			if o.Numel() == 0 {
				return
			}
			if t.Dim() == 0 || inner == 1 || inner*t.ElementSize() < 8 {
				gatherAlong(alongRows(ix, o.Shape(), dim, n, t.Strides(), o.Strides()), o, t)
				return
			}
			copyTable(bytesOf(o), bytesOf(tensor.Dense(t)), ix, outer, n, inner*t.ElementSize())
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::index_add_", op.Zeros(g, c.Shape(0), g.DType()), c.Int(1), c.T(2), g), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
		Doc: "is self with alpha times the entries of source added at the places along dim that index " +
			"names.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
		InPlace: true, Out: true,
		Infer: func(c *Ctx) {
			if c.Num(4).K == tensor.KComplex && !c.ArgDType(0).IsComplex() {
				c.Fail(tensor.ErrDType, "For non-complex input tensors, argument alpha must not be a complex number.")
			}
			rowsInfer(c)
		},
		CPU: func(c *Ctx) {
			o, s, ix, dim, n := along1(c, 3)
			intoWide(o, c.T(0), func(w *T) {
				alpha := c.Num(4)
				if alpha.C == 1 && addHalf(alongRows(ix, w.Shape(), dim, n, w.Strides(), s.Strides()), w, s) {
					return
				}
				s := as(s, w.DType())
				if alpha.C != 1 {
					if c.ArgDType(0) == tensor.Bool { // whatever is not 0 is true
						alpha = tensor.BoolValue(alpha.C != 0).Num()
					}
					tensor.NoGrad(func() { s = s.Detach().MulScalar(alpha) })
				}
				reduceAlong(alongRows(ix, w.Shape(), dim, n, w.Strides(), s.Strides()), w, s, "sum")
			})
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			if c.Needs(3) {
				s := g.IndexSelect(c.Int(1), c.T(2)).Reshape(c.Shape(3))
				if a := c.Num(4); a.C != 1 {
					s = s.MulScalar(a)
				}
				r[2] = s
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
		Doc: "is self with the entries of source written to the places along dim that index " +
			"names.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",
		InPlace: true, Out: true, Infer: sameInfer,
		CPU: func(c *Ctx) {
			o, s, ix, dim, n := along1(c, 3)
			if o != c.T(0) {
				tensor.CopyRaw(o, c.T(0))
			}
			scatterAlong(alongRows(ix, o.Shape(), dim, n, o.Strides(), s.Strides()), o, s)
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = op.Call1("aten::index_fill.int_Scalar", g, c.Int(1), c.T(2), 0)
			}
			if c.Needs(3) {
				r[2] = g.IndexSelect(c.Int(1), c.T(2)).Reshape(c.Shape(3))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapWarned,
		Schema:  "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
		Doc: "is self with a 0-d value at the places along dim that index " +
			"names.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html",
		Go:      "IndexFill",
		InPlace: true, Scalar: "value",
		Infer: func(c *Ctx) {
			if n := c.T(3).Dim(); n != 0 {
				c.Fail(tensor.ErrShape, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "+
					"%d dimension(s).", n)
			}
			if c.T(2).Dim() > 1 {
				c.Fail(tensor.ErrShape, "Index has to be a vector/scalar")
			}
			if c.T(3).IsComplex() && !c.ArgDType(0).IsComplex() {
				c.Fail(tensor.ErrDType, "index_fill_(): Converting complex Scalar to non-complex type is not supported")
			}
			if v := c.T(3); v.IsWrappedNumber() {
				op.CheckFits(c, v.Num(), c.ArgDType(0))
			}
			sameInfer(c)
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			dim := tensor.WrapDim(c.Int(1), t.Dim())
			_, n, _ := iter.Split(t.Shape(), dim)
			ix := longs(c.T(2))
			if dt := c.ArgDType(2); dt != tensor.Int64 && dt != tensor.Int32 {
				c.Fail(tensor.ErrIndex, "index_fill_(): Expected dtype int64 for index.")
			}
			var places []int64 // each once: threads that write the same wait for one another
			var named []bool
			if o.Numel() > 0 {
				places, named = make([]int64, 0, min(len(ix), n)), make([]bool, n)
			}
			for _, i := range ix {
				if int(i) < -n || int(i) >= n {
					c.Fail(tensor.ErrIndex, "index %d is out of bounds for dimension %d with size %d", i, dim, n)
				}
				if k := (int(i) + n) % n; named != nil && !named[k] {
					named[k] = true
					places = append(places, int64(k))
				}
			}
			if o != t {
				tensor.CopyRaw(o, t)
			}
			if o.Numel() == 0 {
				return
			}
			v := tensor.New(nil, o.DType())
			tensor.CopyRaw(v, c.T(3))
			scatterAlong(alongRows(places, o.Shape(), dim, n, o.Strides(), nil), o, v)
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = op.Call1("aten::index_fill.int_Scalar", g, c.Int(1), c.T(2), 0)
			}
			if c.Needs(3) {
				// A place that is named twice is filled once: a mask of the places that are named tells what counts.
				sums, dim := g, c.Int(1)
				if nd := g.Dim(); nd > 1 { // of each place
					dim = tensor.WrapDim(dim, nd)
					var others []int
					for d := range nd {
						if d != dim {
							others = append(others, d)
						}
					}
					sums, dim = g.SumDim(others), 0
				}
				mask := op.Call1("aten::index_fill_.int_Scalar", op.Zeros(g, sums.Shape(), tensor.Bool), dim, c.T(2),
					true)
				r[2] = op.Call1("aten::sum", op.Where(mask, sums))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
		Doc: "reduces the entries of source into the places along dim that index names; reduce is \"prod\", " +
			"\"mean\", \"amax\" or \"amin\".\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_reduce_.html",
		InPlace: true, Out: true, Infer: sameInfer,
		CPU: func(c *Ctx) {
			how := c.Str(4)
			if how == "sum" {
				c.Fail(tensor.ErrValue, "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but "+
					"got %s.", how)
			}
			checkReduce(c, how)
			o, s, ix, dim, n := along1(c, 3)
			intoWide(o, c.T(0), func(w *T) {
				if s.Numel() > 0 {
					x := tensor.Alias(tensor.FromSlice(ix), indexShape(w.Shape(), dim, len(ix)),
						indexStrides(w.Dim(), dim), 0)
					reduceWalk(c, w, x, as(s, w.DType()), dim, n, how, c.Bool(5))
				}
			})
		},
		Save: "self index source result",
		VJP: func(c *Ctx, g *T) []*T {
			self, ix, src, out := c.T(0), c.T(2), c.T(3), c.Out(0)
			dim, how, include := c.Int(1), c.Str(4), c.Bool(5)
			r := reducer{
				spread:  func(t *T) *T { return t.IndexSelect(dim, ix) },
				collect: func(z, s *T) *T { return op.Call1("aten::index_add", z, dim, ix, s) },
				reduce:  func(a, b *T) *T { return op.Call1("aten::index_reduce", a, dim, ix, b, how, include) },
				zero:    func(t *T) *T { return op.Call1("aten::index_fill.int_Scalar", t, dim, ix, 0) },
			}
			gs, gsrc := r.grads(how, include, self, src, out, g)
			return []*T{gs, nil, gsrc}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "take(Tensor self, Tensor index) -> Tensor",
		Doc: "picks elements by their position in the flattened tensor; negative ones count from the " +
			"end.\nhttps://pytorch.org/docs/stable/generated/torch.take.html",
		Out: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(1); dt != tensor.Int64 {
				c.Fail(tensor.ErrDType, "take(): Expected a long tensor for index, but got %s", dt.ClassName())
			}
			if g := c.GivenOut(0); g != nil {
				noOverlap(c, g)
			}
			c.Alloc(0, c.Shape(1), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			t, o := tensor.Dense(c.T(0)), c.Out(0)
			ix := flatIndex(c, c.T(1), t.Numel())
			if o.Numel() > 0 {
				gatherAlong(alongRows(ix, []int{len(ix)}, 0, t.Numel(), []int{1}, []int{1}), o, t)
			}
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::put_", op.Zeros(g, c.Shape(0), g.DType()), c.T(1), g, true), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
		Doc: "is self with elements of source written (or added) by their position in the flattened " +
			"tensor.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.put_.html",
		InPlace: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(1); dt != tensor.Int64 {
				c.Fail(tensor.ErrDType, "put_(): Expected a long tensor for index, but got %s", dt.ClassName())
			}
			if c.ArgDType(0) != c.ArgDType(2) && c.Device().Type != tensor.MetaDevice {
				c.Fail(tensor.ErrDType, "put_(): self and source expected to have the same dtype, but got self.dtype "+
					"= %s and source.dtype = %s", c.ArgDType(0).ClassName(), c.ArgDType(2).ClassName())
			}
			if numel(c.Shape(1)) != numel(c.Shape(2)) {
				c.Fail(tensor.ErrShape, "put_(): Expected source and index to have the same number of elements, but "+
					"got source.numel() = %d, index.numel() = %d", numel(c.Shape(2)), numel(c.Shape(1)))
			}
			sameInfer(c)
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			s := tensor.Dense(c.T(2))
			ix := flatIndex(c, c.T(1), t.Numel())
			if s.Storage() == o.Storage() {
				s = tensor.CloneRaw(s)
			}
			flat := func(w *T) *along {
				return alongRows(ix, []int{len(ix)}, 0, t.Numel(), []int{1}, []int{1})
			}
			if c.Bool(3) {
				intoWide(o, t, func(w *T) {
					if len(ix) > 0 {
						reduceAlong(flat(w), w, as(s, w.DType()), "sum")
					}
				})
				return
			}
			if o != t {
				tensor.CopyRaw(o, t)
			}
			if len(ix) > 0 {
				scatterAlong(flat(o), o, s)
			}
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = g
				if !c.Bool(3) {
					r[0] = op.Call1("aten::put", g, c.T(1), op.Zeros(g, c.T(1).Shape(), g.DType()), false)
				}
			}
			if c.Needs(2) {
				r[2] = op.Call1("aten::take", g, c.T(1)).Reshape(c.Shape(2))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
		Doc: "is Gather with broadcasting; without Dim both are " +
			"flattened.\nhttps://pytorch.org/docs/stable/generated/torch.take_along_dim.html",
		Out: true,
		Body: func(c *Ctx) {
			t, ix := c.T(0), c.T(1)
			if !c.Has(2) && ix.Numel() == 0 { // PyTorch does not look at its type
				ix = ix.ToDType(tensor.Int64)
			}
			if ix.DType() != tensor.Int64 && ix.DType() != tensor.Int32 {
				c.Fail(tensor.ErrDType, "torch.take_along_dim(): dtype of indices should be Long but got %s",
					ix.DType().ClassName())
			}
			if !c.Has(2) {
				c.Return(op.Call1("aten::gather", t.Reshape([]int{-1}), 0, ix.Reshape([]int{-1})))
				return
			}
			if t.Dim() != ix.Dim() {
				c.Fail(tensor.ErrShape, "torch.take_along_dim(): input and indices should have the same number of "+
					"dimensions, but got %d dimensions for input, and %d dimensions for indices", t.Dim(), ix.Dim())
			}
			d := tensor.WrapDim(c.Int(2), t.Dim())
			a, b := slices.Clone(t.Shape()), slices.Clone(ix.Shape())
			if len(a) == 0 {
				c.Return(op.Call1("aten::gather", t, d, ix))
				return
			}
			n, m := a[d], b[d]
			a[d], b[d] = 1, 1
			sh := tensor.BroadcastShapes(a, b)
			sa, sb := slices.Clone(sh), slices.Clone(sh)
			sa[d], sb[d] = n, m
			ix = ix.Detach().Expand(sb)
			if n > 0 { // here, unlike in gather, indices may count from the end
				ix = op.Call1("aten::remainder.Scalar", ix, n)
			}
			c.Return(op.Call1("aten::gather", t.Expand(sa), d, ix))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::unravel_index(Tensor indices, SymInt[] shape) -> Tensor[]",
		Doc: "turns positions in a flattened tensor of the given shape into one index tensor per " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.unravel_index.html",
		Body: func(c *Ctx) {
			t := c.T(0)
			if !t.DType().IsInt() {
				c.Fail(tensor.ErrDType, "expected 'indices' to be integer dtype, but got %s", t.DType())
			}
			sizes, steps := make([]int64, len(c.Ints(1))), make([]int64, len(c.Ints(1)))
			step := int64(1)
			for d := len(sizes) - 1; d >= 0; d-- {
				s := int64(c.Ints(1)[d])
				if s < 0 {
					c.Fail(tensor.ErrShape, "'shape' cannot have negative values, but got %s",
						tensor.ShapeString(c.Ints(1)))
				}
				if s == 0 && t.Numel() > 0 {
					c.Fail(tensor.ErrShape,
						"'shape' cannot have zero dimensions when 'indices' is non-empty, but got %s",
						tensor.ShapeString(c.Ints(1)))
				}
				if step > math.MaxInt64/max(s, 1) {
					c.Fail(tensor.ErrValue, "Overflow when unpacking long long")
				}
				sizes[d], steps[d] = max(s, 1), step // of a size of 0 there are no positions
				step *= max(s, 1)
			}
			if len(sizes) == 0 {
				c.Return()
				return
			}
			at := op.Call1("aten::floor_divide", t.Unsqueeze(-1), op.Numbers(t, steps))
			c.Return(op.Call("aten::unbind.int", op.Call1("aten::remainder.Tensor", at, op.Numbers(t, sizes)), -1)...)
		},
	})
}

// flatIndex reads positions in n flattened elements; negative ones count from the end.
func flatIndex(c *Ctx, t *T, n int) []int64 {
	x := longs(t)
	if len(x) > 0 && n == 0 {
		c.Fail(tensor.ErrIndex, "%s", map[bool]string{true: "take(): tried to take from an empty tensor",
			false: "put_(): Tried to put elements into an empty tensor"}[c.Op().Sch.Name == "take"])
	}
	switch lo, hi := op.Extent(x); {
	case lo < -int64(n) || hi >= int64(n):
		for _, v := range x {
			if int(v) < -n || int(v) >= n {
				c.Fail(tensor.ErrIndex, "out of range: tried to access index %d on a tensor of %d elements.", v, n)
			}
		}
	case lo < 0:
		x = slices.Clone(x)
		for i, v := range x {
			if v < 0 {
				x[i] = v + int64(n)
			}
		}
	}
	return x
}

// alongRows is the walk along dimension dim in which the entries that a 1-d index names are whole slices of big. shape
// is the shape of either side, big or small, but for dimension dim.
func alongRows(ix []int64, shape []int, dim, n int, big, small []int) *along {
	a := &along{x: ix, shape: indexShape(shape, dim, len(ix)), dim: dim, n: n, big: slices.Clone(atLeast1(big)),
		small: slices.Clone(small)}
	a.idx = indexStrides(len(a.shape), dim)
	return a.ready()
}

// indexShape is a shape with k entries along dim.
func indexShape(shape []int, dim, k int) []int {
	s := slices.Clone(atLeast1(shape))
	s[dim] = k
	return s
}

// indexStrides are the strides of a 1-d index that is repeated over all dimensions but dim.
func indexStrides(nd, dim int) []int {
	st := make([]int, max(1, nd))
	st[dim] = 1
	return st
}

func bytesOf(t *T) []byte {
	if t.Numel() == 0 {
		return nil
	}
	return sl[byte](tensor.Ptr(t), t.Numel()*t.ElementSize())
}
