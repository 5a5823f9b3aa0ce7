package tensor

import "fmt"

// This file is how kernels, shape rules and gradient rules read the arguments of a call.

// T is tensor argument i. In a gradient rule the Def must name it in Save.
func (c *Ctx) T(i int) *Tensor {
	v := &c.args[i]
	if v.K == KTensor {
		if c.backward != nil {
			return c.saved(v, i)
		}
		return v.T
	}
	if v.K == KNone {
		return nil
	}
	if n := v.Num(); true { // a number where a tensor is expected
		t := n.Tensor()
		if c.backward == nil {
			c.args[i] = TensorValue(t)
		}
		return t
	}
	return nil
}

// Tensors is tensor list argument i; elements of an optional list may be nil.
func (c *Ctx) Tensors(i int) []*Tensor {
	l, _ := c.args[i].X.([]*Tensor)
	if c.backward != nil {
		out := make([]*Tensor, len(l))
		for j, t := range l {
			if t != nil {
				out[j] = c.backward.node.unpack(t)
			}
		}
		return out
	}
	return l
}

// Has reports that argument i is not None.
func (c *Ctx) Has(i int) bool { return c.args[i].K != KNone }

// Int is int argument i; None gives 0.
func (c *Ctx) Int(i int) int {
	v := &c.args[i]
	if v.K == KFloat || v.K == KComplex {
		c.Fail(ErrType, "%s(): argument '%s' must be int, not float", c.op.Sch.Name, c.op.Sch.Params[i].Name)
	}
	if v.K == KTensor {
		return int(v.T.Num().I)
	}
	return int(v.N)
}

// Float is float argument i; ints count.
func (c *Ctx) Float(i int) float64 {
	v := &c.args[i]
	switch v.K {
	case KFloat:
		return v.Float()
	case KTensor:
		return v.T.Num().F
	}
	return float64(v.N)
}

// Bool is bool argument i; None gives false.
func (c *Ctx) Bool(i int) bool { return c.args[i].N != 0 }

// Ints is int list argument i; nil when None. A single int counts as a list, repeated to the length that the schema
// fixes.
//
//go:noinline // hundreds of shape rules would each have a copy
func (c *Ctx) Ints(i int) []int {
	v := &c.args[i]
	if v.K == KInt {
		n := 1
		if c.op != nil && c.op.Sch.Params[i].Fixed > 0 {
			n = c.op.Sch.Params[i].Fixed
		}
		l := make([]int, n)
		for j := range l {
			l[j] = int(v.N)
		}
		return l
	}
	return v.Ints()
}

// Bools is bool list argument i.
func (c *Ctx) Bools(i int) []bool {
	l := c.args[i].Ints()
	out := make([]bool, len(l))
	for j, x := range l {
		out[j] = x != 0
	}
	return out
}

// Floats is float list argument i.
func (c *Ctx) Floats(i int) []float64 {
	v := &c.args[i]
	switch x := v.X.(type) {
	case []float64:
		return x
	}
	if v.K == KInts {
		out := make([]float64, len(v.Ints()))
		for j, x := range v.Ints() {
			out[j] = float64(x)
		}
		return out
	}
	return nil
}

// Str is string argument i; None gives "".
func (c *Ctx) Str(i int) string {
	s, _ := c.args[i].X.(string)
	return s
}

// Strs is string list argument i; nil when None.
func (c *Ctx) Strs(i int) []string {
	l, _ := c.args[i].X.([]string)
	return l
}

// Num is number argument i.
func (c *Ctx) Num(i int) Num {
	if c.args[i].K == KTensor {
		return c.args[i].T.Num()
	}
	return c.args[i].Num()
}

// DType is dtype argument i; None gives the zero value.
func (c *Ctx) DType(i int) DType { return DType(c.args[i].N) }

// Format is memory format argument i; None gives NoFormat.
func (c *Ctx) Format(i int) MemoryFormat { return MemoryFormat(c.args[i].N) }

// Any is argument i of a kind that has no accessor of its own (a Generator, say).
func (c *Ctx) Any(i int) any { return c.args[i].X }

// Shape is the shape of tensor argument i; always allowed in gradient rules.
func (c *Ctx) Shape(i int) []int {
	if t := c.args[i].T; t != nil {
		return t.shape
	}
	if s, ok := c.args[i].X.(*stub); ok {
		return s.sizes()
	}
	return nil
}

// ArgDType is the dtype of tensor argument i; always allowed in gradient rules.
func (c *Ctx) ArgDType(i int) DType {
	if t := c.args[i].T; t != nil {
		return t.dt
	}
	if s, ok := c.args[i].X.(*stub); ok {
		return s.dt
	}
	return c.args[i].Num().DType()
}

// ArgDevice is the device of tensor argument i; always allowed in gradient rules.
func (c *Ctx) ArgDevice(i int) Device {
	if t := c.args[i].T; t != nil {
		return t.dev
	}
	if s, ok := c.args[i].X.(*stub); ok {
		return s.dev
	}
	return Device{}
}

// Out is result i: in kernels after Alloc, in gradient rules when the Def names it in Save.
func (c *Ctx) Out(i int) *Tensor {
	if c.backward != nil {
		n := c.backward.node
		if n.op.saveOut>>i&1 == 0 {
			panic(fmt.Sprintf("gradient of %s reads result %d, which Save does not name", c.op.full, i))
		}
		return n.unpack(n.outs[i])
	}
	return c.outs[i]
}

// NumOut is the number of tensor results so far.
func (c *Ctx) NumOut() int { return len(c.outs) }

// Keep stores something that a kernel computes for the gradient rule.
func (c *Ctx) Keep(x any) { c.user = x }

// Kept is what Keep stored.
func (c *Ctx) Kept() any { return c.user }

// G is, in a gradient rule, the gradient of result i; nil when nothing depends on it.
func (c *Ctx) G(i int) *Tensor {
	if i < len(c.backward.grads) {
		return c.backward.grads[i]
	}
	return nil
}

// Grads1 and Grads2 are the result of a gradient rule with one or two gradients. They save the slice literal's
// allocation.
func (c *Ctx) Grads1(a *Tensor) []*Tensor {
	c.gradBuf[0] = a
	return c.gradBuf[:1]
}

// Grads2 is described at Grads1.
func (c *Ctx) Grads2(a, b *Tensor) []*Tensor {
	c.gradBuf = [2]*Tensor{a, b}
	return c.gradBuf[:]
}

// Needs reports, in a gradient rule, that the gradient of tensor argument i is wanted.
func (c *Ctx) Needs(i int) bool {
	n := c.backward.node
	s := n.slotOf(i)
	return s < len(n.next) && n.next[s].node != nil
}

// Wants reports, in a kernel, that the call will be recorded (so that it may keep something for the gradient).
func (c *Ctx) Wants() bool { return c.op.VJP != nil && IsGradEnabled() && c.anyRequiresGrad() }

// NArgs is the number of tensors in argument i, 1 for a single tensor.
func slotCount(v *Value, p *Param) int {
	if p.Kind == KTensors {
		l, _ := v.X.([]*Tensor)
		return len(l)
	}
	if p.Kind == KTensor || v.K == KTensor {
		return 1
	}
	return 0
}

// reads reports that the gradient rule will read tensor argument i in a call that is recorded.
func (c *Ctx) reads(i int) bool {
	if c.op.saveIn>>i&1 == 0 {
		return false
	}
	if i >= len(c.op.saveFor) || c.op.saveFor[i] == 0 {
		return true
	}
	v := &c.args[c.op.saveFor[i]-1]
	return v.K == KTensor && v.T.RequiresGrad()
}

func (c *Ctx) anyRequiresGrad() bool {
	for i := range c.args {
		v := &c.args[i]
		switch v.K {
		case KTensor:
			if v.T.RequiresGrad() {
				return true
			}
		case KTensors:
			for _, t := range v.X.([]*Tensor) {
				if t != nil && t.RequiresGrad() {
					return true
				}
			}
		}
	}
	return false
}
