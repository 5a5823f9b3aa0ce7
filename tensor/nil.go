package tensor

// This file answers tensors that are none: nil, and the zero value of Tensor, which has no memory.

// nilHint says where a nil tensor most often comes from.
const nilHint = "Grad() is nil until Backward has reached the tensor"

// zeroHint says what to write instead of a zero Tensor.
const zeroHint = "a tensor is made by a function such as torch.Zeros or torch.FromSlice, never by torch.Tensor{}"

// checkGiven refuses a call that lacks a tensor which its schema asks for, or that has a zero Tensor among its
// arguments. What is left for the rules and kernels of an operator is a nil for an optional argument.
func (c *Ctx) checkGiven() {
	need := c.op.needs
	for i := range c.args {
		if v := &c.args[i]; v.T == nil {
			if v.K == KNone && need>>i&1 != 0 {
				c.failNil(i)
			}
		} else if v.T.st == nil {
			c.failNil(i)
		}
	}
	if c.op.lists {
		c.checkGivenLists()
	}
}

func (c *Ctx) checkGivenLists() {
	for i := range c.args {
		if c.args[i].K != KTensors {
			continue
		}
		l, _ := c.args[i].X.([]*Tensor)
		for j, t := range l {
			name := c.op.Sch.Params[i].Name
			switch {
			case t == nil && !c.op.Sch.Params[i].ElemOpt:
				c.Fail(ErrType, "%s: element %d of argument '%s' is nil, a Tensor is wanted (%s)", c.op.full, j, name,
					nilHint)
			case t != nil && t.st == nil:
				c.Fail(ErrType, "%s: element %d of argument '%s' is a zero torch.Tensor (%s)", c.op.full, j, name,
					zeroHint)
			}
		}
	}
}

// failNil panics because argument i is nil or a zero Tensor.
func (c *Ctx) failNil(i int) {
	name := c.op.full
	p := &c.op.Sch.Params[i]
	switch {
	case c.args[i].T != nil:
		c.Fail(ErrType, "%s: argument '%s' is a zero torch.Tensor (%s)", name, p.Name, zeroHint)
	case p.Kind == KTensors:
		c.Fail(ErrType, "%s: argument '%s' is nil, a list of Tensors is wanted", name, p.Name)
	case p.Name == "out" || p.Writes && c.op.IsOut():
		c.Fail(ErrType, "%s: argument 'out' must be a Tensor, not None", name)
	}
	c.Fail(ErrType, "%s: argument '%s' is nil, a Tensor is wanted (%s)", name, p.Name, nilHint)
}

// neededTensors has a bit for each parameter that must be a tensor, or a list of them.
func neededTensors(s *Schema) (bits uint64) {
	for i := range s.Params {
		if p := &s.Params[i]; (p.Kind == KTensor || p.Kind == KTensors) && !p.Optional {
			bits |= 1 << i
		}
	}
	return bits
}

// failNilMethod panics because a method was called on a nil tensor.
func failNilMethod(method string) {
	Fail(ErrType, "Tensor.%s: the tensor is nil (%s)", method, nilHint)
}

// mustHaveMemory panics unless t is a tensor with memory: neither nil nor a zero Tensor.
func (t *Tensor) mustHaveMemory(method string) {
	if t == nil || t.st == nil {
		t.failNoMemory(method)
	}
}

func (t *Tensor) failNoMemory(method string) {
	if t == nil {
		failNilMethod(method)
	}
	Fail(ErrType, "Tensor.%s: the tensor is a zero torch.Tensor (%s)", method, zeroHint)
}
