package pointwise

import "github.com/gotorch-dev/torch/tensor"

// This file has the operators of the conjugate and the negative bit, which tensor/bits.go describes.

func init() {
	tensor.Register(tensor.Def{
		Schema: "conj(Tensor(a) self) -> Tensor(a)",
		Doc: "is the complex conjugate: a view of complex tensors that is conjugated when it is read; real tensors " +
			"are returned as they are.\nhttps://pytorch.org/docs/stable/generated/torch.conj.html",
		Body: func(c *Ctx) {
			if t := c.T(0); t.IsComplex() {
				c.Return(call(opConj, tv(t)))
			} else {
				c.Return(t)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_conj(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view of a complex tensor that is conjugated when it is read.",
		Go:     "-",
		View: func(c *Ctx) *T {
			t := c.T(0)
			if !t.IsComplex() {
				c.Fail(tensor.ErrDType, "_conj: want a complex tensor, got %s", t.DType())
			}
			return tensor.LazyConj(whole(t))
		},
		VJP: rule(func(c *Ctx, g *T) *T { return g.Conj() }),
	})
	tensor.Register(tensor.Def{
		Schema: "_neg_view(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view whose elements change their sign when they are read.",
		Go:     "-",
		View:   func(c *Ctx) *T { return tensor.LazyNeg(whole(c.T(0))) },
		VJP:    rule(func(c *Ctx, g *T) *T { return g.Neg() }),
		Grad:   "NegBackward0",
	})
	conj := &unK{name: "conj", u8: copyK[uint8], i8: copyK[int8], i16: copyK[int16], i32: copyK[int32],
		i64: copyK[int64], f32: copyK[float32], f64: copyK[float64], c64: conjC64, c128: conjC128, b: copyK[uint8]}
	tensor.Register(tensor.Def{
		Schema: "_conj_physical(Tensor self) -> Tensor",
		Doc:    "is the complex conjugate, computed at once.",
		Go:     "-", Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), c.ArgDType(0)) },
		CPU:   func(c *Ctx) { conj.run(c, c.Out(0), c.T(0), c.Out(0).DType()) },
		VJP:   rule(func(c *Ctx, g *T) *T { return call(opConjPhysical, tv(g)) }),
		Grad:  "ConjPhysicalBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "conj_physical(Tensor self) -> Tensor",
		Doc: "is the complex conjugate, computed at once; real tensors are returned as they " +
			"are.\nhttps://pytorch.org/docs/stable/generated/torch.conj_physical.html",
		InPlace: true, Out: true,
		Body: func(c *Ctx) {
			if t := c.T(0); t.IsComplex() {
				c.Return(call(opConjPhysical, tv(t)))
			} else {
				c.Return(t)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "resolve_conj(Tensor(a) self) -> Tensor(a)",
		Doc: "is a copy without conjugate bit, or the tensor itself where it has " +
			"none.\nhttps://pytorch.org/docs/stable/generated/torch.resolve_conj.html",
		Body: func(c *Ctx) {
			conj, _ := tensor.Bits(c.T(0))
			c.Return(resolve(c.T(0), conj))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "resolve_neg(Tensor(a) self) -> Tensor(a)",
		Doc: "is a copy without negative bit, or the tensor itself where it has " +
			"none.\nhttps://pytorch.org/docs/stable/generated/torch.resolve_neg.html",
		Body: func(c *Ctx) {
			_, neg := tensor.Bits(c.T(0))
			c.Return(resolve(c.T(0), neg))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "is_conj(Tensor self) -> bool",
		Doc: "reports the conjugate bit: a view that is conjugated when it is " +
			"read.\nhttps://pytorch.org/docs/stable/generated/torch.is_conj.html",
		Body: func(c *Ctx) {
			conj, _ := tensor.Bits(c.T(0))
			c.ReturnValue(tensor.BoolValue(conj))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "is_neg(Tensor self) -> bool",
		Doc: "reports the negative bit: a view whose elements change their sign when they are read, such as the " +
			"imaginary part of a conjugated tensor.",
		Body: func(c *Ctx) {
			_, neg := tensor.Bits(c.T(0))
			c.ReturnValue(tensor.BoolValue(neg))
		},
	})
}

// whole is a view of all of t.
func whole(t *T) *T { return tensor.Alias(t, t.Shape(), t.Strides(), t.StorageOffset()) }

// resolve copies t where it has a bit. A copy has none.
func resolve(t *T, bit bool) *T {
	if bit {
		return t.Clone()
	}
	return t
}

var opConj = tensor.Slot("aten::_conj")
