package pointwise

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "view_as_real(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view of a complex tensor as a real one with a last dimension of 2: real and imaginary part.",
		View: func(c *Ctx) *T {
			t := c.T(0)
			if !t.IsComplex() {
				c.Fail(tensor.ErrDType, "view_as_real is only supported for complex tensors")
			}
			if conj, _ := tensor.Bits(t); conj {
				c.Fail(tensor.ErrValue, "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the "+
					"conjugate tensor so you can view it as real, use self.resolve_conj(); however, be warned that "+
					"the resulting tensor will NOT alias the original.")
			}
			return op.Parts(t, true)
		},
		VJP: rule(func(c *Ctx, g *T) *T {
			if g = g.ResolveNeg().Contiguous(); g.StorageOffset()%2 != 0 { // a part of a longer gradient, as cat's rule cuts it
				g = g.Clone()
			}
			return call(opViewAsComplex, tv(g))
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "view_as_complex(Tensor(a) self) -> Tensor(a)",
		Doc: "is a view of a real tensor, whose last dimension of 2 holds real and imaginary part side by side, " +
			"as a complex one.",
		View: func(c *Ctx) *T {
			t := c.T(0)
			dt := t.DType()
			if dt != tensor.Float16 && dt != tensor.Float32 && dt != tensor.Float64 {
				c.Fail(tensor.ErrDType, "view_as_complex is only supported for half, float and double tensors, but "+
					"got a tensor of scalar type: %s", dt.ClassName())
			}
			n := t.Dim()
			if n == 0 {
				c.Fail(tensor.ErrShape, "Input tensor must have one or more dimensions")
			}
			if t.Size(-1) != 2 {
				c.Fail(tensor.ErrShape, "Tensor must have a last dimension of size 2")
			}
			if t.Stride(-1) != 1 {
				c.Fail(tensor.ErrShape, "Tensor must have a last dimension with stride 1")
			}
			st := make([]int, n-1)
			for i := range st {
				if st[i] = t.Strides()[i]; st[i]%2 != 0 && t.Size(i) != 1 {
					c.Fail(tensor.ErrShape, "Tensor must have a stride divisible by 2 for all but last dimension")
				}
				st[i] /= 2
			}
			if t.StorageOffset()%2 != 0 {
				c.Fail(tensor.ErrShape, "Tensor must have a storage_offset divisible by 2")
			}
			return tensor.WithDType(tensor.Alias(t, t.Shape()[:n-1], st, t.StorageOffset()/2), dt.Complex())
		},
		VJP: rule(func(c *Ctx, g *T) *T { return call(opViewAsReal, tv(g.ResolveConj().Contiguous())) }),
	})
	tensor.Register(tensor.Def{
		Schema: "real(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view of the real part; a real tensor is returned as it is.",
		Grad:   "SelectBackward0",
		View:   func(c *Ctx) *T { return part(c, 0) },
		VJP: rule(func(c *Ctx, g *T) *T {
			if !c.ArgDType(0).IsComplex() {
				return g
			}
			return call(opComplex, tv(g), tv(g.ZerosLike()))
		}),
	})
	tensor.Register(tensor.Def{
		Schema: "imag(Tensor(a) self) -> Tensor(a)",
		Doc:    "is a view of the imaginary part of a complex tensor; real tensors are refused.",
		Grad:   "SelectBackward0",
		View: func(c *Ctx) *T {
			if !c.T(0).IsComplex() {
				c.Fail(tensor.ErrDType, "imag is not implemented for tensors with non-complex dtypes.")
			}
			return part(c, 1)
		},
		VJP: rule(func(c *Ctx, g *T) *T { return call(opComplex, tv(g.ZerosLike()), tv(g)) }),
	})
	tensor.Register(tensor.Def{
		Schema: "complex(Tensor real, Tensor imag) -> Tensor", Doc: "puts complex numbers together.", Out: true,
		Elementwise: true,
		Storage:     tensor.TakesComplexHalf,
		Infer:       func(c *Ctx) { complexInfer(c, "real", "imag") },
		CPU: func(c *Ctx) {
			if out := c.Out(0); out.DType() == tensor.Complex64 {
				run2(out, c.T(0), c.T(1), tensor.Complex64, tensor.Float32, tensor.Float32, join[float32, complex64])
			} else {
				run2(out, c.T(0), c.T(1), tensor.Complex128, tensor.Float64, tensor.Float64, join[float64, complex128])
			}
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Real(), g.Imag()} },
	})
}

// complexInfer allocates the complex result of two real tensors.
func complexInfer(c *Ctx, first, second string) {
	a, b := c.ArgDType(0), c.ArgDType(1)
	ok := func(dt DType) bool { return dt == tensor.Float32 || dt == tensor.Float64 || dt == tensor.Float16 }
	if c.Device().Type == tensor.MetaDevice && a != b && a.IsFloat() && b.IsFloat() {
		// PyTorch's rule for shapes alone promotes what its kernels refuse
		c.Alloc(0, c.BroadcastArgs(0, 1), c.PromoteArgs(0, 1).Complex())
		return
	}
	if !ok(a) || !ok(b) {
		c.Fail(tensor.ErrDType, "Expected both inputs to be Half, Float or Double tensors but got %s and %s",
			a.ClassName(), b.ClassName())
	}
	if a != b {
		c.Fail(tensor.ErrDType, "Expected object of scalar type %s but got scalar type %s for second argument",
			a.ClassName(), b.ClassName())
	}
	if c.Op().IsOut() {
		if out := c.ArgDType(2); out != a.Complex() {
			c.Fail(tensor.ErrDType, "Expected object of scalar type %s but got scalar type %s for argument 'out'",
				a.Complex().ClassName(), out.ClassName())
		}
	}
	c.Alloc(0, c.BroadcastArgs(0, 1), a.Complex())
}

func part(c *Ctx, k int) *T {
	t := c.T(0)
	if !t.IsComplex() {
		return tensor.Alias(t, t.Shape(), t.Strides(), t.StorageOffset())
	}
	p := op.Parts(t, false)
	v := tensor.WithDType(tensor.Alias(t, p.Shape(), p.Strides(), p.StorageOffset()+k), p.DType())
	return tensor.PartBits(v, t, k == 1)
}

var (
	opComplex       = tensor.Slot("aten::complex")
	opConjPhysical  = tensor.Slot("aten::_conj_physical")
	opViewAsReal    = tensor.Slot("aten::view_as_real")
	opViewAsComplex = tensor.Slot("aten::view_as_complex")
)
