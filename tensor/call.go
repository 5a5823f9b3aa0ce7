package tensor

import (
	"fmt"
	"sync"
)

// Ctx is one call of an operator: its arguments by schema position, its outputs, and, once recorded, what its gradient
// rule reads.
type Ctx struct {
	op    *Op
	args  []Value
	outs  []*Tensor
	given []*Tensor // outputs to write to: self of an in-place variant, the out arguments
	later []*Tensor // of a Body: where its results will be copied to
	ret   []Value   // results that are not tensors
	user  any       // what a kernel leaves for its gradient rule

	mode     *mode          // of the goroutine, while the call runs
	dev      Device         // that the call runs on
	located  bool           // dev is known
	backward *backwardState // while a gradient rule runs
	inplace  bool
	copyBack bool
	isView   bool
	outForm  bool  // SetOutArg was called
	unusual  bool  // a tensor of the call is one that kernels do not know: see substitute.go
	rare     flags // what an argument is that calls look for: sparse, named

	argBuf   [8]Value
	outBuf   [3]*Tensor
	givenBuf [1]*Tensor
	gradBuf  [2]*Tensor
	state    backwardState
}

// backwardState is what a gradient rule sees besides the arguments.
type backwardState struct {
	node  *Node
	grads []*Tensor
}

var ctxPool = sync.Pool{New: func() any { return new(Ctx) }}

// NewCall starts a call with n arguments. The generated methods fill them in with Arg and finish with Run.
func NewCall(op *Op, n int) *Ctx {
	c := ctxPool.Get().(*Ctx)
	c.op = op
	if n <= len(c.argBuf) {
		c.args = c.argBuf[:n]
	} else {
		c.args = make([]Value, n)
	}
	c.outs = c.outBuf[:0]
	return c
}

// Arg is where argument i of a new call is stored.
func (c *Ctx) Arg(i int) *Value { return &c.args[i] }

func (c *Ctx) free() {
	clear(c.args)
	clear(c.outs)
	if len(c.outs) > len(c.outBuf) {
		clear(c.outBuf[:])
	}
	c.op, c.args, c.outs, c.mode = nil, nil, nil, nil
	if c.given != nil {
		c.given, c.givenBuf[0] = nil, nil
	}
	if c.later != nil {
		c.later = nil
	}
	if c.ret != nil || c.user != nil {
		c.ret, c.user = nil, nil
	}
	if c.backward != nil {
		c.backward, c.state = nil, backwardState{}
	}
	c.inplace, c.copyBack, c.isView, c.outForm, c.located, c.dev = false, false, false, false, false, Device{}
	c.unusual, c.rare = false, 0
	ctxPool.Put(c)
}

// Op is the operator being called.
func (c *Ctx) Op() *Op { return c.op }

// NumArgs is the number of arguments.
func (c *Ctx) NumArgs() int { return len(c.args) }

// Value is argument i as it was boxed.
func (c *Ctx) Value(i int) Value { return c.args[i] }

// SetValue replaces argument i; for interceptors such as autocast.
func (c *Ctx) SetValue(i int, v Value) { c.args[i] = v }

// Fail panics with an *Error that describes this call.
func (c *Ctx) Fail(cause error, format string, args ...any) {
	c.fail(cause, "", fmt.Sprintf(format, args...))
}

// FailHint is Fail with a hint: what to write instead, in Go, where PyTorch's sentence speaks of Python or does not
// tell.
func (c *Ctx) FailHint(cause error, hint, format string, args ...any) {
	c.fail(cause, hint, fmt.Sprintf(format, args...))
}

// FailDType panics because a kernel, named as in PyTorch, was called with elements of type dt, which it does not take.
// The hint tells how to come by elements that it takes.
func (c *Ctx) FailDType(cause error, kernel string, dt DType) {
	hint := ""
	switch {
	case dt.IsComplex():
		hint = "take Real(), Imag() or Abs() of the tensor"
	case !dt.IsFloat() && !dt.IsOpaque():
		hint = "convert the tensor with Float()"
	}
	c.fail(cause, hint, fmt.Sprintf("\"%s\" not implemented for '%s'", kernel, dt.ClassName()))
}

func (c *Ctx) fail(cause error, hint, msg string) {
	e := &Error{Op: c.op.full, Msg: msg, Hint: hint, Err: cause}
	for _, v := range c.args {
		e.Args = append(e.Args, v.String())
	}
	e.locate(2)
	panic(e)
}

// Return sets the results of a composed operator.
//
//go:noinline // hundreds of bodies would each have a copy
func (c *Ctx) Return(outs ...*Tensor) { c.outs = append(c.outs[:0], outs...) }

// ReturnValue sets results that are not tensors.
func (c *Ctx) ReturnValue(v ...Value) { c.ret = v }

// Do1, Do2, Do3 and DoN run the call and return its tensor results.
func (c *Ctx) Do1() *Tensor {
	c.Run()
	t := c.outs[0]
	c.done()
	return t
}

// Do2 runs the call and returns two results.
func (c *Ctx) Do2() (a, b *Tensor) {
	c.Run()
	a, b = c.outs[0], c.outs[1]
	c.done()
	return a, b
}

// Do3 runs the call and returns three results.
func (c *Ctx) Do3() (a, b, d *Tensor) {
	c.Run()
	a, b, d = c.outs[0], c.outs[1], c.outs[2]
	c.done()
	return a, b, d
}

// DoN runs the call and returns all its tensor results.
func (c *Ctx) DoN() []*Tensor {
	c.Run()
	out := append([]*Tensor(nil), c.outs...)
	c.done()
	return out
}

// DoValue runs the call and returns its first result, boxed.
func (c *Ctx) DoValue() Value {
	c.Run()
	v := c.Results()[0]
	c.done()
	return v
}

// Do0 runs a call that has no results.
func (c *Ctx) Do0() {
	c.Run()
	c.done()
}

// DoAll runs the call and returns its results, boxed as the schema says.
func (c *Ctx) DoAll() []Value {
	c.Run()
	v := c.Results()
	c.done()
	return v
}

// Results are the results of a call that has run, boxed as the schema says; for layers.
func (c *Ctx) Results() []Value {
	res := c.op.Sch.Results
	if len(res) == 1 && res[0].Kind == KTensors {
		return []Value{TensorsValue(append([]*Tensor(nil), c.outs...))}
	}
	if c.ret != nil {
		return c.ret
	}
	out := make([]Value, len(c.outs))
	for i, t := range c.outs {
		out[i] = TensorValue(t)
	}
	return out
}

// done gives the Ctx back to the pool.
func (c *Ctx) done() { c.free() }
