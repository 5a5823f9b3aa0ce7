package tensor

import (
	"slices"
)

// This file provides the results of a call: new tensors on the device of the call, or the tensors that an in-place or
// out form was given.

// Alloc provides result i with the given shape and dtype: a new tensor, or the memory that an in-place or out variant
// was given. Results of elementwise operators take over the memory layout of their inputs.
func (c *Ctx) Alloc(i int, shape []int, dt DType) *Tensor { return c.alloc(i, shape, nil, dt, false) }

// AllocStrided is Alloc with strides.
func (c *Ctx) AllocStrided(i int, shape, stride []int, dt DType) *Tensor {
	return c.alloc(i, shape, stride, dt, true)
}

func (c *Ctx) alloc(i int, shape, stride []int, dt DType, strided bool) *Tensor {
	var g *Tensor
	if i < len(c.given) {
		g = c.given[i]
	}
	c.unusual = c.unusual || dt.IsStorage()
	for len(c.outs) <= i {
		c.outs = append(c.outs, nil)
	}
	if g != nil {
		if slices.Contains(c.given[:i], g) {
			c.Fail(ErrValue, "%s: one tensor cannot be the output of two results", c.op.full)
		}
		c.checkOutType(g, dt)
		fits := SameShape(g.shape, shape)
		read := !fits && c.isArgument(g)
		if !fits && (c.inplace || read && c.op.Elementwise) {
			c.Fail(ErrShape, "output with shape %s doesn't match the broadcast shape %s", ShapeString(g.shape),
				ShapeString(shape))
		}
		if !fits && !read {
			g.resizeOut(shape)
			fits = true
		}
		if fits && g.dt == dt && c.mayWrite(g) && !c.scatters(g) {
			c.outs[i] = g
			return g
		}
		c.copyBack = true
	} else if !strided && c.op.Elementwise {
		stride = c.layout(shape)
	}
	var t *Tensor
	if c.dev.Type == CPUDevice {
		t = newStrided(c, shape, stride, dt)
	} else {
		t = NewOn(c.dev, shape, stride, dt)
	}
	c.outs[i] = t
	return t
}

// isArgument reports that an argument of the call, other than the out arguments, is the tensor itself.
func (c *Ctx) isArgument(g *Tensor) bool {
	for k := range c.args {
		v := &c.args[k]
		if v.T == g && !c.op.Sch.Params[k].Writes {
			return true
		}
		if l, ok := v.X.([]*Tensor); ok && slices.Contains(l, g) {
			return true
		}
	}
	return false
}

// mayWrite reports that a kernel may write into g directly: no input shares its memory, or only elementwise as the same
// view.
func (c *Ctx) mayWrite(g *Tensor) bool {
	for k := range c.args {
		v := &c.args[k]
		check := func(t *Tensor) bool {
			if t == nil || t.st != g.st || t == g && c.op.Elementwise {
				return true
			}
			return c.op.Elementwise && t.off == g.off && t.dt == g.dt && SameShape(t.shape, g.shape) &&
				SameShape(t.stride, g.stride)
		}
		switch v.K {
		case KTensor:
			if c.op.Sch.Params[k].KwOnly && c.op.Sch.Params[k].Writes {
				continue
			}
			if !check(v.T) {
				return false
			}
		case KTensors:
			for _, t := range v.X.([]*Tensor) {
				if !check(t) {
					return false
				}
			}
		}
	}
	if c.op.Elementwise {
		return true
	}
	return g.IsContiguous()
}

// SetOut sets result i to a tensor that the kernel has.
//
//go:noinline // hundreds of bodies would each have a copy
func (c *Ctx) SetOut(i int, t *Tensor) {
	for len(c.outs) <= i {
		c.outs = append(c.outs, nil)
	}
	c.outs[i] = t
}

// GivenOut is the tensor that result i must be written to (out=, or self of an in-place form), nil when the call makes
// a new one. Creation functions take their dtype from it. A Body may look at it, and returns a tensor of its own, which
// is copied.
func (c *Ctx) GivenOut(i int) *Tensor {
	if i < len(c.given) {
		return c.given[i]
	}
	if i < len(c.later) {
		return c.later[i]
	}
	return nil
}
