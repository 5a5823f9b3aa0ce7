package sparse

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// with is x with other values of the same positions.
func with(x, v *T) *T {
	ix, _, sorted := tensor.SparseParts(x)
	return tensor.NewSparse(ix.Clone(), v, x.Shape(), sorted, true)
}

// setResult makes r the result of a call, or writes it to self where the call is in place. A result in place keeps
// self's dtype.
func setResult(c *Ctx, r *T) {
	if !c.Op().IsInPlace() {
		c.SetOut(0, fresh(r, c.T(0)))
		return
	}
	self := c.T(0)
	if !tensor.SameShape(self.Shape(), r.Shape()) {
		c.Fail(tensor.ErrShape, "output with shape %s doesn't match the broadcast shape %s",
			tensor.ShapeString(self.Shape()), tensor.ShapeString(r.Shape()))
	}
	if self.DType() != r.DType() {
		if !tensor.CanCast(r.DType(), self.DType()) {
			c.Fail(tensor.ErrDType, "result type %s can't be cast to the desired output type %s", r.DType().ClassName(),
				self.DType().ClassName())
		}
		r = with(r, values(r).ToDType(self.DType()))
	}
	tensor.SetSparse(self, r)
	c.SetOut(0, self)
}

// sameShape refuses operands of different shapes: sparse tensors do not broadcast.
func sameShape(c *Ctx, a, b *T) {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		c.Fail(tensor.ErrShape, "%s: expected sizes of 'self' and 'other' to match, but %s != %s", c.Op().Sch.Name,
			tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
	}
}

// add is a + sign·alpha·b, where one of the two is sparse.
func add(sign int) func(c *Ctx) {
	return func(c *Ctx) {
		a, b := c.T(0), c.T(1)
		if !b.IsSparse() {
			c.FailHint(tensor.ErrNotImpl, "in Go: y.Add(x), with the dense tensor first",
				"add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
		}
		alpha := c.Num(2)
		if sign < 0 {
			b = with(b, call1("aten::neg", values(b)))
		}
		sameShape(c, a, b)
		if !a.IsSparse() {
			addDense(c, a, b, alpha)
			return
		}
		ia, va, sa := tensor.SparseParts(a)
		ib, vb, sb := tensor.SparseParts(b)
		if ia.Size(0) != ib.Size(0) {
			c.Fail(tensor.ErrShape, "add: expected 'self' and 'other' to have same number of sparse dimensions, but %d "+
				"!= %d", ia.Size(0), ib.Size(0))
		}
		dt := tensor.PromoteTypes(va.DType(), vb.DType())
		vb = vb.ToDType(dt)
		if alpha.K != tensor.KInt || alpha.I != 1 {
			vb = call1("aten::mul.Scalar", vb, alpha.Value())
		}
		if ia.Size(1) == 0 {
			setResult(c, tensor.NewSparse(ib.Clone(), vb.Clone(), a.Shape(), sb, true))
			return
		}
		sizes := dims(a)
		keys, ta, tb := merge(flat(ia, sizes), flat(ib, sizes))
		v := va.NewZeros(append([]int{len(keys)}, va.Shape()[1:]...)).ToDType(dt)
		addRows(v, tensor.FromSlice(ta), va.ToDType(dt), tensor.Value{})
		addRows(v, tensor.FromSlice(tb), vb, tensor.Value{})
		setResult(c, tensor.NewSparse(unflat(keys, sizes), v, a.Shape(), sa && sb, true))
	}
}

// addDense adds alpha·b to the dense tensor a.
func addDense(c *Ctx, a, b *T, alpha tensor.Num) {
	if c.Op().IsInPlace() {
		if dt := tensor.PromoteTypes(a.DType(), b.DType()); !tensor.CanCast(dt, a.DType()) {
			c.Fail(tensor.ErrDType, "Can't convert result type %s to output %s in add operation", dt, a.DType())
		}
		addTo(c, a, b, alpha.Value())
		c.SetOut(0, a)
		return
	}
	r := a.Detach().ToDType(tensor.PromoteTypes(a.DType(), b.DType()))
	if r.Storage() == a.Storage() {
		r = r.Clone()
	}
	addTo(c, r, b, alpha.Value())
	c.SetOut(0, r)
}

// mul is a product with a number, or element by element with a tensor of the same shape.
func mul(c *Ctx) {
	a, b := c.T(0), c.T(1)
	switch {
	case a.IsSparse() && !b.IsSparse() && b.Dim() == 0:
		setResult(c, with(a, values(a).Mul(b)))
	case b.IsSparse() && !a.IsSparse() && a.Dim() == 0 && !c.Op().IsInPlace():
		setResult(c, with(b, a.Mul(values(b))))
	case a.IsSparse() && b.IsSparse():
		sameShape(c, a, b)
		// the values of the other at the positions of the one that has fewer
		x, y := coalesced(c, a), coalesced(c, b)
		if indices(x).Size(1) > indices(y).Size(1) {
			x, y = y, x
		}
		setResult(c, with(x, values(x).Mul(valuesOf(y, indices(x)))))
	case a.IsSparse():
		sameShape(c, a, b)
		setResult(c, with(a, values(a).Mul(valuesOf(b, indices(a)))))
	case c.Op().IsInPlace():
		c.Fail(tensor.ErrNotImpl, "mul_: a dense tensor times a sparse one is sparse: it does not fit in place")
	default:
		sameShape(c, a, b)
		setResult(c, with(b, valuesOf(a, indices(b)).Mul(values(b))))
	}
}

// div divides by a number.
func div(c *Ctx) {
	a, b := c.T(0), c.T(1)
	if !a.IsSparse() || b.IsSparse() || b.Dim() != 0 {
		c.Fail(tensor.ErrNotImpl, "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape %s "+
			"for divisor)", tensor.ShapeString(b.Shape()))
	}
	setResult(c, with(a, values(a).Div(b)))
}

// linear makes the kernel of an operator that may be applied to each value, even of positions that are there twice.
func linear(name string) func(c *Ctx) {
	return func(c *Ctx) { setResult(c, with(c.T(0), call1(name, values(c.T(0))))) }
}

// unary makes the kernel of an operator that maps 0 to 0.
func unary(name string) func(c *Ctx) {
	return func(c *Ctx) {
		x := coalesced(c, c.T(0))
		setResult(c, with(x, call1(name, values(x))))
	}
}

func init() {
	tensor.RegisterSparse("aten::add.Tensor", add(1))
	tensor.RegisterSparse("aten::sub.Tensor", add(-1))
	tensor.RegisterSparse("aten::mul.Tensor", mul)
	tensor.RegisterSparse("aten::div.Tensor", div)
	tensor.RegisterSparse("aten::neg", linear("aten::neg"))
	// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/sparse/SparseUnaryOps.cpp
	for _, n := range []string{"abs", "asin", "asinh", "atan", "atanh", "ceil", "erf", "erfinv", "expm1", "floor",
		"isnan", "log1p", "relu", "round", "sgn", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"} {
		tensor.RegisterSparse("aten::"+n, unary("aten::"+n))
	}
	clone := func(c *Ctx) { setResult(c, with(c.T(0), values(c.T(0)).Clone())) }
	tensor.RegisterSparse("aten::clone", clone)
	tensor.RegisterSparse("aten::detach", func(c *Ctx) { c.SetOut(0, c.T(0).Detach()) })
	tensor.RegisterSparse("aten::_to_copy", func(c *Ctx) {
		ix, _, sorted := tensor.SparseParts(c.T(0))
		v := call1("aten::_to_copy", values(c.T(0)), c.Value(1), nil, c.Value(3))
		c.SetOut(0, tensor.NewSparse(ix.Clone().To(v.Device()), v, c.Shape(0), sorted, true))
	})
	tensor.RegisterSparse("aten::zero_", func(c *Ctx) {
		setResult(c, empty(c.T(0)))
	})
	tensor.RegisterSparse("aten::zeros_like", func(c *Ctx) { c.SetOut(0, empty(c.T(0))) })
	tensor.RegisterSparse("aten::copy_", func(c *Ctx) {
		self, src := c.T(0), c.T(1)
		sameShape(c, self, src)
		if !self.IsSparse() || !src.IsSparse() {
			c.Fail(tensor.ErrNotImpl, "copy_() between dense and sparse Tensors is not implemented! Found self type "+
				"= %s and src type = %s", self.Layout(), src.Layout())
		}
		tensor.SetSparse(self, with(src, call1("aten::to.dtype", values(src), self.DType(), false, true)))
		c.SetOut(0, self)
	})
	tensor.RegisterSparse("aten::permute", func(c *Ctx) {
		perm := append([]int{}, c.Ints(1)...)
		n := c.T(0).Dim()
		if len(perm) != n {
			c.Fail(tensor.ErrShape, "permute(sparse_coo): number of dimensions in the tensor input does not match the "+
				"length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d", n,
				len(perm))
		}
		seen := make([]bool, n)
		for i := range perm {
			perm[i] = op.Wrap(c, perm[i], n)
			if seen[perm[i]] {
				c.Fail(tensor.ErrValue, "permute(): duplicate dims are not allowed.")
			}
			seen[perm[i]] = true
		}
		permute(c, perm)
	})
	swap := func(c *Ctx, a, b int) {
		perm := make([]int, c.T(0).Dim())
		for i := range perm {
			perm[i] = i
		}
		perm[a], perm[b] = b, a
		permute(c, perm)
	}
	tensor.RegisterSparse("aten::transpose.int", func(c *Ctx) {
		n := c.T(0).Dim()
		swap(c, op.Wrap(c, c.Int(1), n), op.Wrap(c, c.Int(2), n))
	})
	tensor.RegisterSparse("aten::t", func(c *Ctx) {
		n := len(dims(c.T(0)))
		if n > 2 || c.T(0).Dim() > n {
			c.Fail(tensor.ErrShape, "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got %d sparse "+
				"and %d dense dimensions", n, c.T(0).Dim()-n)
		}
		if n < 2 {
			c.SetOut(0, c.T(0).Detach())
			return
		}
		swap(c, 0, 1)
	})
}

// permute orders the dimensions of a sparse tensor anew: sparse ones among themselves and dense ones among themselves.
func permute(c *Ctx, perm []int) {
	x := c.T(0)
	ix, v, _ := tensor.SparseParts(x)
	n := ix.Size(0)
	rows, inner, shape := make([]int64, n), make([]int, 1, v.Dim()), make([]int, len(perm))
	for i, d := range perm {
		shape[i] = x.Size(d)
		switch {
		case i < n != (d < n):
			c.Fail(tensor.ErrNotImpl, "permute(sparse_coo): dimensions %v move between the %d sparse ones and the "+
				"dense ones, which is not supported", perm, n)
		case i < n:
			rows[i] = int64(d)
		default:
			inner = append(inner, d-n+1)
		}
	}
	v = v.Permute(inner).Clone()
	c.SetOut(0, tensor.NewSparse(ix.IndexSelect(0, tensor.FromSlice(rows)), v.Contiguous(), shape, false, true))
}

// empty is a sparse tensor like x without elements.
func empty(x *T) *T {
	ix, v, _ := tensor.SparseParts(x)
	return tensor.NewSparse(ix.NewEmpty([]int{ix.Size(0), 0}), v.NewEmpty(append([]int{0}, v.Shape()[1:]...)),
		x.Shape(), true, true)
}
