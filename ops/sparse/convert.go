package sparse

import "github.com/gotorch-dev/torch/tensor"

func init() {
	tensor.Register(tensor.Def{
		Schema: "_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor",
		Doc:    "is a dense tensor with the elements of a sparse one.",
		Go:     "-",
		CPU:    wrongLayout,
		Save:   "self",
		VJP: func(c *Ctx, g *T) []*T {
			if c.Has(2) && !c.Bool(2) {
				return []*T{g}
			}
			return []*T{call1("aten::sparse_mask", g, call1("aten::coalesce", c.T(0)))}
		},
	})
	tensor.RegisterSparse("aten::_to_dense", func(c *Ctx) {
		d := dense(c, c.T(0))
		if c.Has(1) {
			d = d.ToDType(c.DType(1))
		}
		c.SetOut(0, d)
	})
	tensor.Register(tensor.Def{
		Schema: "to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
		Doc: "is a dense tensor with the elements of a sparse one; a dense tensor is returned as it is.\n" +
			"https://pytorch.org/docs/stable/generated/torch.Tensor.to_dense.html",
		Body: func(c *Ctx) {
			x := c.T(0)
			switch {
			case x.Layout() != tensor.Strided:
				x = call1("aten::_to_dense", x, c.Value(1), c.Value(2))
			case c.Has(1):
				x = x.ToDType(c.DType(1))
			}
			c.Return(x)
		},
	})
	const doc = "is a sparse tensor in coordinate format with the elements of a dense one that are not 0 (or, with " +
		"dense dimensions, the slices that are not all 0), coalesced.\n" +
		"https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse.html"
	tensor.Register(tensor.Def{
		Schema: "to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", Go: "ToSparseDim", Doc: doc,
		DataDependent: true,
		Body:          func(c *Ctx) { c.Return(call1("aten::_to_sparse.sparse_dim", c.T(0), c.Int(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> Tensor",
		Go:     "ToSparse", Doc: doc, DataDependent: true,
		Body: func(c *Ctx) {
			if l, ok := c.Any(1).(tensor.Layout); ok && l == tensor.Strided || c.Has(2) {
				c.Fail(tensor.ErrNotImpl, "to_sparse: only the layout torch.sparse_coo is supported, without blocksize")
			}
			n := c.T(0).Dim()
			if c.Has(3) {
				n -= c.Int(3)
			}
			c.Return(call1("aten::_to_sparse.sparse_dim", c.T(0), n))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", Go: "-",
		Doc:           "is to_sparse.",
		DataDependent: true,
		CPU:           func(c *Ctx) { c.SetOut(0, fromDense(c, c.T(0), c.Int(1))) },
		VJP:           func(_ *Ctx, g *T) []*T { return []*T{call1("aten::to_dense", g)} },
	})
	tensor.RegisterSparse("aten::_to_sparse.sparse_dim", func(c *Ctx) {
		if c.Int(1) != len(dims(c.T(0))) {
			c.Fail(tensor.ErrNotImpl, "to_sparse: conversion from sparse to sparse with sparse_dim argument %d is not "+
				"supported", c.Int(1))
		}
		c.SetOut(0, fresh(c.T(0), c.T(0)))
	})
	tensor.Register(tensor.Def{
		Schema: "sparse_mask(Tensor self, Tensor mask) -> Tensor",
		Doc: "is a sparse tensor with the positions of mask, a sparse tensor of the same shape, and the elements of " +
			"self that stand there.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.sparse_mask.html",
		CPU: wrongLayout,
		VJP: func(_ *Ctx, g *T) []*T { return []*T{call1("aten::to_dense", g), nil} },
	})
	tensor.RegisterSparse("aten::sparse_mask", func(c *Ctx) {
		x, m := c.T(0), c.T(1)
		if !m.IsSparse() {
			wrongLayout(c)
		}
		if !tensor.SameShape(x.Shape(), m.Shape()) {
			c.Fail(tensor.ErrShape, "sparse_mask(): operands have incompatible sizes; self has size %s but mask has "+
				"size %s", tensor.ShapeString(x.Shape()), tensor.ShapeString(m.Shape()))
		}
		if x.IsSparse() {
			x = dense(c, x)
		}
		ix, _, sorted := tensor.SparseParts(m)
		c.SetOut(0, tensor.NewSparse(ix.Clone(), valuesOf(x.Detach(), ix).Contiguous(), m.Shape(), sorted, true))
	})
}

// dense is a dense tensor with the elements of x.
func dense(c *Ctx, x *T) *T {
	d := values(x).NewZeros(x.Shape())
	addTo(c, d, x, tensor.Value{})
	return d
}

// addTo adds alpha (None: 1) times the sparse tensor x to the dense d of the same shape.
func addTo(c *Ctx, d, x *T, alpha tensor.Value) {
	ix, v, _ := tensor.SparseParts(x)
	sizes := dims(x)
	if d.Device().Type != tensor.CPUDevice {
		c.Fail(tensor.ErrNotImpl, "%s: sparse tensors on device %s are not supported", c.Op().FullName(), d.Device())
	}
	if v.Numel() == 0 {
		return
	}
	at := tensor.FromSlice(flat(ix, sizes))
	shape := append([]int{rows(sizes)}, x.Shape()[len(sizes):]...)
	if !d.IsContiguous() {
		y := d.Contiguous()
		addRows(y.View(shape), at, v.ToDType(d.DType()), alpha)
		tensor.CopyRaw(d, y)
		return
	}
	addRows(d.View(shape), at, v.ToDType(d.DType()), alpha)
}

// fromDense lists the slices of x over its first sd dimensions that are not all zero.
func fromDense(c *Ctx, x *T, sd int) *T {
	if sd < 0 || sd > x.Dim() || sd == 0 && x.Dim() > 0 {
		c.Fail(tensor.ErrValue, "sparse_dim argument must be in >0 and <=%d, but got %d", x.Dim(), sd)
	}
	x = x.Detach()
	shape := x.Shape()
	mask := call1("aten::ne.Scalar", x, 0)
	if sd < x.Dim() {
		mask = call1("aten::any.dim", mask.Reshape(append(append([]int{}, shape[:sd]...), -1)), -1)
	}
	at := call1("aten::nonzero", mask) // [nnz, sd]
	ix := at.Transpose(0, 1).Contiguous()
	return tensor.NewSparse(ix, valuesOf(x, ix).Contiguous(), shape, true, true)
}
