package tensor

import "slices"

// This file stands between the dispatcher and kernels that do not know some kind of tensor. A kernel sees tensors
// without the conjugate and the negative bit, and of the usual dtypes only: where an argument is another one, the
// kernel gets a substitute, and what it writes to a substitute is copied to the tensor itself.

// unusual reports a tensor that kernels do not know. It is asked for every argument of every call.
func (t *Tensor) unusual() bool { return t.flags&lazyBits != 0 }

// substitution pairs the tensors of a call with those that its kernel sees.
type substitution struct {
	real, seen []*Tensor
}

// of is what the kernel sees in place of t. Contents that nobody reads are not copied.
func (s *substitution) of(t *Tensor, read bool) *Tensor {
	if t == nil || !t.unusual() {
		return t
	}
	if i := slices.Index(s.real, t); i >= 0 {
		return s.seen[i]
	}
	var x *Tensor
	if read {
		x = t.resolved()
	} else {
		st := t.stride
		if !t.IsDense() {
			st = nil
		}
		x = NewOn(t.dev, t.shape, st, t.dt)
	}
	x.flags |= t.flags & flagWrapped
	if t.RequiresGrad() { // for kernels that keep something for the gradient
		x.flags |= flagRequiresGrad
	}
	s.real, s.seen = append(s.real, t), append(s.seen, x)
	return x
}

func (s *substitution) list(l []*Tensor, read bool) []*Tensor {
	out := make([]*Tensor, len(l))
	for i, t := range l {
		out[i] = s.of(t, read)
	}
	return out
}

// runSubstituted runs the kernel with substitutes for the tensors that it does not know.
func (c *Ctx) runSubstituted() {
	var s substitution
	args, given := c.args, c.given
	c.args = slices.Clone(args)
	for i := range c.args {
		switch v := &c.args[i]; v.K {
		case KTensor:
			v.T = s.of(v.T, true)
		case KTensors:
			v.X = s.list(v.X.([]*Tensor), true)
		}
	}
	c.given = s.list(given, false)
	for i, t := range c.outs {
		c.outs[i] = s.of(t, false)
	}
	c.kernelOfDevice()
	c.args, c.given = args, given
	for i := range args {
		if p := &c.op.Sch.Params[i]; p.Writes {
			switch v := &args[i]; v.K {
			case KTensor:
				s.writeBack(v.T)
			case KTensors:
				for _, t := range v.X.([]*Tensor) {
					s.writeBack(t)
				}
			}
		}
	}
	for _, t := range given {
		s.writeBack(t)
	}
	for i, t := range c.outs {
		if k := slices.Index(s.seen, t); k >= 0 {
			c.outs[i] = s.real[k]
			s.writeBack(s.real[k])
		}
	}
}

// writeBack copies what the kernel has written to t's substitute.
func (s *substitution) writeBack(t *Tensor) {
	i := slices.Index(s.real, t)
	if i < 0 {
		return
	}
	x := s.seen[i]
	if !SameShape(t.shape, x.shape) {
		t.resizeRaw(x.shape)
	}
	copyRaw(t, x)
}
