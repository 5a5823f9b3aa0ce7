package tensor

// This file answers tensors that are none: nil, and the zero value of Tensor, which has no memory.

// nilHint says where a nil tensor most often comes from.
const nilHint = "Grad() is nil until Backward has reached the tensor"

// zeroHint says what to write instead of a zero Tensor.
const zeroHint = "a tensor is made by a function such as torch.Zeros or torch.FromSlice, never by torch.Tensor{}"

// checkGiven refuses a call that lacks a tensor which its schema asks for, or that has a zero Tensor among its
// arguments. What is left for the rules and kernels of an operator is a nil for an optional argument.
func (c *Ctx) checkGiven() {
	need, rare := c.op.needs, flags(0)
	for i := range c.args {
		if v := &c.args[i]; v.T == nil {
			if v.K == KNone && need>>i&1 != 0 {
				c.failNil(i)
			}
		} else if v.T.st == nil {
			c.failNil(i)
		} else {
			rare |= v.T.flags
		}
	}
	if c.op.lists {
		rare |= c.checkGivenLists()
	}
	c.rare = rare & flagRare
}

func (c *Ctx) checkGivenLists() (all flags) {
	for i := range c.args {
		if c.args[i].K != KTensors {
			continue
		}
		l, _ := c.args[i].X.([]*Tensor)
		for j, t := range l {
			if t == nil || t.st == nil {
				c.checkElement(i, j, t)
			} else {
				all |= t.flags
			}
		}
	}
	return all
}

// checkElement refuses element j of list i, which is nil or a zero Tensor, unless the schema allows a nil.
func (c *Ctx) checkElement(i, j int, t *Tensor) {
	p := &c.op.Sch.Params[i]
	switch {
	case t != nil:
		c.Fail(ErrType, "%s: element %d of argument '%s' is a zero torch.Tensor (%s)", c.op.full, j, p.Name, zeroHint)
	case !p.ElemOpt:
		c.Fail(ErrType, "%s: expected Tensor as element %d in argument %d, but got None: element %d of argument '%s' "+
			"is nil, a Tensor is wanted (%s)", c.op.full, j, i, j, p.Name, nilHint)
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

// noTensor is the error of a method that was called on a nil tensor or, if it reads the memory, on a zero Tensor. It is
// so short that the compiler still inlines the methods that look for this; Try adds the place of the call. The text
// stands in the cause, whose type has no size, since five thousand inlined copies of this function are a part of the
// program's size.
func noTensor(method string) *Error { return &Error{Op: method, Err: noTensorError{}} }

// noTensorError is the cause of noTensor's errors, an ErrType.
type noTensorError struct{}

func (noTensorError) Error() string {
	return "the tensor is nil, or a zero torch.Tensor (" + nilHint + "; " + zeroHint + ")"
}

func (noTensorError) Unwrap() error { return ErrType }

// mustHaveMemory panics unless t is a tensor with memory: neither nil nor a zero Tensor.
func (t *Tensor) mustHaveMemory(method string) {
	if t == nil || t.st == nil {
		panic(noTensor(method))
	}
}
