package shape

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// formatStrides are the strides of a copy of t in a memory format.
func formatStrides(c *Ctx, t *T, f tensor.MemoryFormat) []int {
	switch f {
	case tensor.NoFormat, tensor.PreserveFormat:
		if t.IsDense() {
			return t.Strides()
		}
		return tensor.PermutedStrides(t)
	case tensor.ContiguousFormat:
		return nil
	}
	st := tensor.FormatStrides(t.Shape(), f)
	if st == nil {
		c.Fail(tensor.ErrShape, "required rank %d tensor to use channels_last format",
			map[tensor.MemoryFormat]int{tensor.ChannelsLast: 4, tensor.ChannelsLast3d: 5}[f])
	}
	return st
}

// onDevice is t on a device: t itself where it is there already.
func onDevice(t *T, d tensor.Device) *T {
	if t.Device() == d {
		return t
	}
	return t.To(d)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
		Doc: "is a copy with memory of its own; gradients flow through " +
			"it.\nhttps://pytorch.org/docs/stable/generated/torch.clone.html",
		Infer: func(c *Ctx) {
			t := c.T(0)
			c.AllocStrided(0, t.Shape(), formatStrides(c, t, c.Format(1)), t.DType())
		},
		CPU: func(c *Ctx) { tensor.CopyRaw(c.Out(0), c.T(0)) },
		Raw: true,
		VJP: func(c *Ctx, g *T) []*T { return []*T{g} },
	})
	tensor.Register(tensor.Def{
		Schema: "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
		Doc: "returns the tensor itself when its elements lie in order, a copy that does " +
			"otherwise.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.contiguous.html",
		Body: func(c *Ctx) {
			t, f := c.T(0), c.Format(1)
			if f == tensor.PreserveFormat {
				c.Fail(tensor.ErrValue, "preserve memory format is unsupported by the contiguous operator")
			}
			if f == tensor.NoFormat {
				f = tensor.ContiguousFormat
			}
			if t.IsContiguousFormat(f) {
				c.Return(t)
				return
			}
			c.Return(t.Clone(tensor.CloneOptions{MemoryFormat: f}))
		},
	})
	tensor.Register(tensor.Def{
		Schema:      "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
		CrossDevice: true,
		Raw:         true,
		Doc: "copies src, broadcast and converted, into the " +
			"tensor.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.copy_.html",
		Infer: func(c *Ctx) {
			if !tensor.Broadcastable(c.Shape(1), c.Shape(0)) {
				c.Fail(tensor.ErrShape, "output with shape %s doesn't match the broadcast shape %s",
					tensor.ShapeString(c.Shape(0)), tensor.ShapeString(tensor.BroadcastShapes(c.Shape(0), c.Shape(1))))
			}
			c.SetOut(0, c.T(0))
		},
		CPU: func(c *Ctx) {
			dst, src := c.T(0), c.T(1)
			if dst.Storage() == src.Storage() && dst != src {
				src = tensor.CloneRaw(src) // views of one memory may overlap
			}
			tensor.CopyRaw(dst, src)
		},
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{nil, nil}
			if c.Needs(0) {
				r[0] = op.Zeros(g, g.Shape(), g.DType()) // of what is overwritten, whatever g is
			}
			if c.Needs(1) {
				r[1] = onDevice(g, c.ArgDevice(1))
			}
			return r
		},
		Grad: "CopyBackwards",
	})
	tensor.Register(tensor.Def{
		Schema: "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
		Doc:    "is a new tensor like self with the elements of src, broadcast and converted.",
		Go:     "-", Out: true,
		CrossDevice: true,
		Body: func(c *Ctx) {
			self, src := c.T(0), c.T(1)
			if self.IsContiguous() { // without a change in place, which vmap refuses where src alone has examples
				c.Return(convert(src.Expand(self.Shape()), self.DType(), self.Device(), true, tensor.ContiguousFormat))
				return
			}
			c.Return(copyOf(self).CopyInPlace(src))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
		Doc:    "is a copy with another dtype or on another device.",
		Go:     "-", CrossDevice: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			dt := dtypeOr(c, 1, t.DType())
			adviseComplex(dt, t)
			c.AllocStrided(0, t.Shape(), formatStrides(c, t, c.Format(6)), dt)
		},
		CPU:  func(c *Ctx) { tensor.CopyRaw(c.Out(0), c.T(0)) },
		Raw:  true,
		VJP:  func(c *Ctx, g *T) []*T { return []*T{onDevice(g, c.ArgDevice(0))} }, // the engine casts back
		Grad: "ToCopyBackward0",
	})
}

// adviseComplex warns of losing the imaginary part of t.
func adviseComplex(to tensor.DType, t *T) {
	if t.IsComplex() && !to.IsComplex() && to != tensor.Bool {
		tensor.Warn("Casting complex values to real discards the imaginary part")
	}
}
