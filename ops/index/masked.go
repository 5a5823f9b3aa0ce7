package index

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// invert is the logical negation of a mask, without gradient.
func invert(t *T) *T { return op.Call1("aten::logical_not", t.Detach()) }

func operand(t *T, shape []int, as tensor.DType) iter.Operand {
	st := t.Strides()
	if !tensor.SameShape(t.Shape(), shape) {
		st = tensor.ExpandStrides(t, shape)
	}
	return iter.Operand{P: tensor.Ptr(t), Strides: st, Mem: t.DType(), As: as}
}

// fillMasked writes v where the mask is set and self elsewhere.
func fillMasked[E moved](o, self, mask, v *T) {
	shape, dt := o.Shape(), o.DType()
	ops := [...]iter.Operand{operand(o, shape, dt), operand(self, shape, dt), operand(mask, shape, tensor.Bool)}
	k := filler(raw[E](v)[0])
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(sl[E](p[0], n), sl[E](p[1], n), sl[uint8](p[2], n)) })
}

// filler makes the kernel that sets d to x where m is set and to s elsewhere.
func filler[E moved](x E) func(d, s []E, m []uint8) {
	var k any
	switch x := any(x).(type) {
	case uint8:
		k = fillerOf(x, vec.WhereU8)
	case uint16:
		k = fillerOf(x, vec.WhereU16)
	case uint32: // a choice keeps all bits
		k = func(d, s []uint32, m []uint8) {
			p, q := unsafe.Pointer(&d[0]), unsafe.Pointer(&s[0])
			vec.MaskedFillF32(sl[float32](p, len(d)), sl[float32](q, len(d)), m, math.Float32frombits(x))
		}
	case uint64:
		k = func(d, s []uint64, m []uint8) {
			p, q := unsafe.Pointer(&d[0]), unsafe.Pointer(&s[0])
			vec.MaskedFillF64(sl[float64](p, len(d)), sl[float64](q, len(d)), m, math.Float64frombits(x))
		}
	default:
		return func(d, s []E, m []uint8) {
			for i, b := range m {
				y := s[i]
				if b != 0 {
					y = any(x).(E)
				}
				d[i] = y
			}
		}
	}
	return k.(func(d, s []E, m []uint8))
}

// fillerOf makes it from the choice between two operands.
func fillerOf[E uint8 | uint16](x E, where func(d []E, m []uint8, a, b []E)) func(d, s []E, m []uint8) {
	run := make([]E, 2048)
	for i := range run {
		run[i] = x
	}
	return func(d, s []E, m []uint8) {
		for len(d) > 0 {
			n := min(len(d), len(run))
			where(d[:n], m[:n], run[:n], s[:n])
			d, s, m = d[n:], s[n:], m[n:]
		}
	}
}

func init() {
	tensor.Register(tensor.Def{
		Overlap: tensor.OverlapWarned,
		Schema:  "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
		Doc: "is self with a 0-d value where mask is " +
			"true.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html",
		InPlace: true, Scalar: "value", Elementwise: true,
		Infer: func(c *Ctx) {
			v := c.T(2)
			if v.Dim() != 0 {
				c.Fail(tensor.ErrShape, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "+
					"with %d dimension(s).", v.Dim())
			}
			if dt := c.ArgDType(1); dt != tensor.Bool {
				c.Fail(tensor.ErrDType, "masked_fill_ only supports boolean masks, but got mask with dtype %s", dt)
			}
			self := c.ArgDType(0)
			if v.IsWrappedNumber() {
				op.CheckFits(c, v.Num(), self)
			} else if !tensor.CanCast(v.DType(), self) {
				op.FailFit(c, self)
			}
			c.AllocStrided(0, c.BroadcastArgs(0, 1), nil, self) // dense whatever the layout of self, as in PyTorch
		},
		CPU: func(c *Ctx) {
			o, self, m := c.Out(0), c.T(0), c.T(1)
			if o.Numel() == 0 {
				return
			}
			v := tensor.New(nil, o.DType())
			tensor.CopyRaw(v, c.T(2))
			bySize(o, func() { fillMasked[uint8](o, self, m, v) }, func() { fillMasked[uint16](o, self, m, v) },
				func() { fillMasked[uint32](o, self, m, v) },
				func() { fillMasked[uint64](o, self, m, v) }, func() { fillMasked[wide](o, self, m, v) })
		},
		Save: "mask",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = g.MaskedFillScalar(c.T(1), 0)
			}
			if c.Needs(2) {
				r[2] = op.Call1("aten::sum", g.MaskedFillScalar(invert(c.T(1)), 0))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "masked_select(Tensor self, Tensor mask) -> Tensor",
		Doc: "lists the elements of self where mask is " +
			"true.\nhttps://pytorch.org/docs/stable/generated/torch.masked_select.html",
		Out: true, DataDependent: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(1); dt != tensor.Bool {
				c.Fail(tensor.ErrDType, "masked_select: expected BoolTensor for mask")
			}
			if g := c.GivenOut(0); g != nil {
				noOverlap(c, g)
			}
			c.BroadcastArgs(0, 1)
		},
		CPU: func(c *Ctx) {
			m := truthsOf(expand(c.T(1), c.BroadcastArgs(0, 1)))
			o := c.Alloc(0, []int{m.count()}, c.ArgDType(0))
			self := tensor.DenseAs(expand(c.T(0), m.shape), o.DType()) // a number has another type than its result
			bySize(o, func() { sel(m, raw[uint8](o), raw[uint8](self)) },
				func() { sel(m, raw[uint16](o), raw[uint16](self)) },
				func() { sel(m, raw[uint32](o), raw[uint32](self)) },
				func() { sel(m, raw[uint64](o), raw[uint64](self)) },
				func() { sel(m, raw[wide](o), raw[wide](self)) })
		},
		Save: "mask",
		VJP: func(c *Ctx, g *T) []*T {
			sh := tensor.BroadcastShapes(c.Shape(0), c.Shape(1))
			return []*T{op.Call1("aten::masked_scatter_", op.Zeros(g, sh, g.DType()), c.T(1), g), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
		Doc: "is self with the elements of source, in order, where mask is " +
			"true.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",
		InPlace: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(0) != c.ArgDType(2) {
				c.Fail(tensor.ErrDType, "masked_scatter_: expected self and source to have same dtypes but got %s "+
					"and %s", c.ArgDType(0).ClassName(), c.ArgDType(2).ClassName())
			}
			if dt := c.ArgDType(1); dt != tensor.Bool {
				c.Fail(tensor.ErrDType, "masked_scatter_ only supports boolean masks, but got mask with dtype %s",
					dt.ClassName())
			}
			c.Alloc(0, c.BroadcastArgs(0, 1), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			m := truthsOf(expand(c.T(1), o.Shape()))
			src, n := tensor.Dense(c.T(2)), m.count()
			if n > src.Numel() {
				c.Fail(tensor.ErrShape, "masked_scatter: expected the number of elements in source to be greater "+
					"than or equal to the number of ones in mask: got %d and %d", src.Numel(), n)
			}
			if src.Storage() == o.Storage() {
				src = tensor.CloneRaw(src)
			}
			if o != c.T(0) {
				tensor.CopyRaw(o, c.T(0))
			}
			bySize(o, func() { place(m, raw[uint8](o), raw[uint8](src)) },
				func() { place(m, raw[uint16](o), raw[uint16](src)) },
				func() { place(m, raw[uint32](o), raw[uint32](src)) },
				func() { place(m, raw[uint64](o), raw[uint64](src)) },
				func() { placeWide(m, raw[wide](o), raw[wide](src)) })
		},
		Save: "mask",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil, nil}
			if c.Needs(0) {
				r[0] = g.MaskedFillScalar(c.T(1), 0)
			}
			if sh := c.Shape(2); c.Needs(2) {
				r[2] = op.Call1("aten::masked_scatter_backward", g, c.T(1), sh)
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
		Doc: "is the gradient of the source of masked_scatter: the elements of grad_output where mask is true, in " +
			"order, and zeros behind them.",
		Go: "-",
		Infer: func(c *Ctx) {
			c.BroadcastArgs(0, 1)
			c.Alloc(0, c.Ints(2), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			m := truthsOf(expand(c.T(1), c.Shape(0)))
			if m.count() > o.Numel() {
				c.Fail(tensor.ErrShape, "masked_scatter_backward: got %d ones in mask for %d elements", m.count(),
					o.Numel())
			}
			tensor.ZeroRaw(o)
			g := tensor.Dense(c.T(0))
			bySize(o, func() { sel(m, raw[uint8](o), raw[uint8](g)) },
				func() { sel(m, raw[uint16](o), raw[uint16](g)) },
				func() { sel(m, raw[uint32](o), raw[uint32](g)) }, func() { sel(m, raw[uint64](o), raw[uint64](g)) },
				func() { sel(m, raw[wide](o), raw[wide](g)) })
		},
		Save: "mask",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::masked_scatter_", op.Zeros(g, c.Shape(0), g.DType()), c.T(1), g), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nonzero(Tensor self) -> Tensor",
		Doc: "lists the positions of the elements that are not zero, one per " +
			"row.\nhttps://pytorch.org/docs/stable/generated/torch.nonzero.html",
		Out: true, NoGrad: "integer result", DataDependent: true,
		Aliases: []string{"argwhere"}, FormNames: "argwhere.out=-",
		Infer: func(c *Ctx) {}, // the kernel finds out how many rows there are
		CPU: func(c *Ctx) {
			m := truthsOf(c.T(0))
			m.rows(c.Alloc(0, []int{m.count(), len(m.shape)}, tensor.Int64))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "torch::nonzero(Tensor input, *, bool as_tuple=False) -> Any",
		Doc: "lists the positions of the elements that are not zero: one per row, or with as_tuple one tensor per " +
			"dimension.",
		Go: "-", Aliases: []string{"Tensor::nonzero"}, DataDependent: true,
		Body: func(c *Ctx) {
			if c.Bool(1) {
				c.ReturnValue(tensor.TensorsValue(op.Call("aten::nonzero_numpy", c.T(0))))
				return
			}
			c.Return(op.Call1("aten::nonzero", c.T(0)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor",
		Doc:    "is Nonzero cut or filled up to a given number of rows.",
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			if c.Int(1) < 0 {
				c.Fail(tensor.ErrValue, "nonzero_static: 'size' must be an non-negative integer")
			}
			c.Alloc(0, []int{c.Int(1), c.T(0).Dim()}, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			m, o := truthsOf(c.T(0)), c.Out(0)
			n, size := m.count(), o.Size(0)
			if n <= size {
				m.rows(o.Narrow(0, 0, n))
				tensor.CopyRaw(o.Narrow(0, n, size-n), tensor.IntValue(c.Int(2)).Num().Tensor())
				return
			}
			all := tensor.New([]int{n, len(m.shape)}, tensor.Int64)
			m.rows(all)
			tensor.CopyRaw(o, all.Narrow(0, 0, size))
			tensor.ReleaseRaw(all)
		},
	})
	tensor.Register(tensor.Def{
		Schema:        "nonzero_numpy(Tensor self) -> Tensor[]",
		Doc:           "gives the positions of the elements that are not zero, one tensor per dimension.",
		DataDependent: true,
		Body: func(c *Ctx) {
			t := c.T(0)
			if t.Dim() == 0 {
				t = t.Unsqueeze(0)
			}
			c.Return(op.Call1("aten::nonzero", t).Unbind(tensor.UnbindOptions{Dim: 1})...)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "where(Tensor condition) -> Tensor[]",
		Doc: "gives the positions where condition holds, one tensor per " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.where.html",
		Go: "-", DataDependent: true,
		Body: func(c *Ctx) { c.Return(op.Call("aten::nonzero_numpy", c.T(0))...) },
	})
}

// expand sees t with a larger shape, without recording.
func expand(t *T, shape []int) *T {
	if tensor.SameShape(t.Shape(), shape) {
		return t
	}
	return tensor.Alias(t, shape, tensor.ExpandStrides(t, shape), t.StorageOffset())
}
