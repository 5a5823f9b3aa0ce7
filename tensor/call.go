package tensor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/iter"
)

// Ctx is one call of an operator: its arguments by schema position, its outputs, and, once recorded, what its gradient rule reads.
type Ctx struct {
	op    *Op
	args  []Value
	outs  []*Tensor
	given []*Tensor // outputs to write to: self of an in-place variant, the out arguments
	ret   []Value   // results that are not tensors
	user  any       // what a kernel leaves for its gradient rule

	mode     *mode          // of the goroutine, while the call runs
	backward *backwardState // while a gradient rule runs
	inplace  bool
	copyBack bool
	isView   bool
	outForm  bool // SetOutArg was called

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
	if c.ret != nil || c.user != nil {
		c.ret, c.user = nil, nil
	}
	if c.backward != nil {
		c.backward, c.state = nil, backwardState{}
	}
	c.inplace, c.copyBack, c.isView, c.outForm = false, false, false, false
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

// Ints is int list argument i; nil when None. A single int counts as a list, repeated to the length that the schema fixes.
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

// Grads1 and Grads2 are the result of a gradient rule with one or two gradients. They save the slice literal's allocation.
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

// Fail panics with an *Error that describes this call.
func (c *Ctx) Fail(cause error, format string, args ...any) {
	e := &Error{Op: c.op.full, Msg: fmt.Sprintf(format, args...), Err: cause, Caller: caller()}
	for _, v := range c.args {
		e.Args = append(e.Args, v.String())
	}
	panic(e)
}

// Alloc provides result i with the given shape and dtype: a new tensor, or the memory that an in-place or out variant was given.
// Results of elementwise operators take over the memory layout of their inputs.
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
	for len(c.outs) <= i {
		c.outs = append(c.outs, nil)
	}
	if g != nil {
		if !dtype.CanCast(dt, g.dt) {
			c.Fail(ErrDType, "result type %s can't be cast to the desired output type %s", dt.ClassName(), g.dt.ClassName())
		}
		if !SameShape(g.shape, shape) {
			if c.inplace {
				c.Fail(ErrShape, "output with shape %s doesn't match the broadcast shape %s", ShapeString(g.shape), ShapeString(shape))
			}
			g.resizeRaw(shape)
		}
		if g.dt == dt && c.mayWrite(g) {
			c.outs[i] = g
			return g
		}
		c.copyBack = true
	} else if !strided && c.op.Elementwise {
		stride = c.layout(shape)
	}
	t := NewStrided(shape, stride, dt)
	c.outs[i] = t
	return t
}

// mayWrite reports that a kernel may write into g directly: no input shares its memory, or only elementwise as the same view.
func (c *Ctx) mayWrite(g *Tensor) bool {
	for k := range c.args {
		v := &c.args[k]
		check := func(t *Tensor) bool {
			if t == nil || t.st != g.st || t == g && c.op.Elementwise {
				return true
			}
			return c.op.Elementwise && t.off == g.off && t.dt == g.dt && SameShape(t.shape, g.shape) && SameShape(t.stride, g.stride)
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
func (c *Ctx) SetOut(i int, t *Tensor) {
	for len(c.outs) <= i {
		c.outs = append(c.outs, nil)
	}
	c.outs[i] = t
}

// Return sets the results of a composed operator.
func (c *Ctx) Return(outs ...*Tensor) { c.outs = append(c.outs[:0], outs...) }

// ReturnValue sets results that are not tensors.
func (c *Ctx) ReturnValue(v ...Value) { c.ret = v }

// Run calls the operator and leaves the results in the Ctx.
func (c *Ctx) Run() {
	op := c.op
	if op.Def == nil {
		panic(&Error{Msg: fmt.Sprintf("operator %s is not linked into this program: import github.com/gotorch-dev/torch", op.full), Err: ErrNotFound, Caller: caller()})
	}
	if c.mode = currentMode(); c.mode != nil && len(c.mode.chain) > 0 {
		c.intercept(c.mode, len(c.mode.chain)-1)
		return
	}
	c.dispatch()
}

// intercept runs interceptor k, innermost first; an interceptor does not see the calls that it makes itself.
func (c *Ctx) intercept(m *mode, k int) {
	if k < 0 {
		c.mode = currentMode()
		c.dispatch()
		return
	}
	with(func(n *mode) { n.chain = m.chain[:k:k] }, func() {
		m.chain[k].Intercept(c, func() {
			with(func(n *mode) { n.chain = m.chain }, func() { c.intercept(m, k-1) })
		})
	})
}

func (c *Ctx) dispatch() {
	op := c.op
	if (op.variant != functional || c.outForm) && !(op.variant == inPlace && op.base == nil && op.Body != nil) {
		c.runVariant()
		return
	}
	switch {
	case op.Body != nil:
		op.Body(c)
	case op.View != nil:
		c.isView = true
		v := op.View(c)
		if v != nil {
			c.SetOut(0, v)
		}
		c.record()
		c.markViews(v == nil)
	default:
		c.compute()
		c.record()
	}
}

// records reports that gradients are recorded while this call runs.
func (c *Ctx) records() bool { return c.mode == nil || !c.mode.noGrad }

func (c *Ctx) compute() {
	if c.op.Infer != nil {
		c.op.Infer(c)
	}
	k := c.op.kernels[c.device()]
	if k == nil {
		c.Fail(ErrNotImpl, "Could not run '%s' with arguments from the '%s' backend", c.op.full, c.deviceName())
	}
	k(c)
}

func (c *Ctx) device() DeviceType {
	for i := range c.args {
		if t := c.args[i].T; t != nil && t.dev.Type != CPUDevice {
			return t.dev.Type
		}
	}
	return CPUDevice
}

func (c *Ctx) deviceName() string { return [...]string{"CPU", "CUDA", "Meta"}[c.device()] }

// runVariant runs an in-place or out form.
func (c *Ctx) runVariant() {
	op := c.op
	nres := len(op.Sch.Results)
	if op.variant == outVariant || c.outForm {
		n := len(op.Sch.Params)
		if c.outForm {
			n, nres = len(c.args), 0 // SetOutArg has them
		}
		for _, v := range c.args[n-nres:] {
			if v.T == nil {
				c.Fail(ErrType, "%s: argument 'out' must be a Tensor, not %s", op.full, v)
			}
			c.given = append(c.given, v.T)
		}
		for _, g := range c.given {
			c.checkOverlap(g)
			c.checkInputs(g)
		}
		if c.records() && c.anyRequiresGrad() {
			c.Fail(ErrAutograd, "%s(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.", op.Sch.Name)
		}
	} else {
		self := c.args[0].T
		c.checkInPlace(self)
		c.givenBuf[0] = self
		c.given = c.givenBuf[:]
		c.inplace = true
	}
	if op.Body != nil || op.View != nil {
		c.runComposedVariant()
		return
	}
	var before *Tensor // what self was, for a rule that reads it
	if c.inplace && op.VJP != nil && c.records() && c.anyRequiresGrad() {
		self := c.args[0].T
		self.gradNode() // made now for a view whose memory has changed already, since the change to come will look like that one
		if op.saveIn&1 != 0 {
			before = self.cloneRaw()
		}
	}
	c.compute()
	if c.copyBack {
		for i, g := range c.given {
			if c.outs[i] != g {
				copyRaw(g, c.outs[i])
				c.outs[i] = g
			}
		}
	}
	for _, g := range c.given {
		g.bump()
	}
	if c.inplace {
		c.recordInPlace(before)
	}
}

func (c *Ctx) runComposedVariant() {
	given := c.given
	c.given = nil
	f := ctxPool.Get().(*Ctx)
	f.op = c.op
	if c.op.base != nil {
		f.op = c.op.base
	}
	n := len(c.args)
	if c.op.variant == outVariant {
		n -= len(given)
	}
	f.args = append(f.argBuf[:0], c.args[:n]...)
	if c.inplace && c.records() && c.anyRequiresGrad() { // the steps may save what was there before
		self := c.args[0].T
		before := TensorValue(self.Clone())
		for i := range f.args {
			if f.args[i].T == self {
				f.args[i] = before
			}
		}
	}
	f.outs = f.outBuf[:0]
	f.mode = c.mode
	f.dispatch()
	for i, g := range given {
		r := f.outs[i]
		if !dtype.CanCast(r.dt, g.dt) {
			c.Fail(ErrDType, "result type %s can't be cast to the desired output type %s", r.dt.ClassName(), g.dt.ClassName())
		}
		if c.inplace {
			if !SameShape(g.shape, r.shape) {
				c.Fail(ErrShape, "output with shape %s doesn't match the broadcast shape %s", ShapeString(g.shape), ShapeString(r.shape))
			}
			k := NewCall(opCopy, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = TensorValue(g), TensorValue(r), BoolValue(false)
			k.Do1()
		} else {
			if !SameShape(g.shape, r.shape) {
				g.resizeRaw(r.shape)
			}
			copyRaw(g, r)
			g.bump()
		}
		c.SetOut(i, g)
	}
	f.free()
}

var opCopy = slot("aten::copy_")

func (t *Tensor) bump() { t.ver.Add(1) }

// Bump counts an in-place change made outside the operators, as optimizers make, so that autograd notices stale saved values.
func Bump(t *Tensor) { t.bump() }

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
	v := c.results()[0]
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
	v := c.results()
	c.done()
	return v
}

func (c *Ctx) results() []Value {
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

func convertRun(to, from DType, d, s unsafe.Pointer, n int) { dtype.Convert(to, from)(d, s, n) }

// parallelCopy is the number of elements from which a plain copy is worth more than one thread.
const parallelCopy = 64 << 10

// copyRaw copies src, broadcast, into dst without recording.
func copyRaw(dst, src *Tensor) {
	if dst.numel == 0 {
		return
	}
	if dst.dt == src.dt && dst.numel <= parallelCopy && dst.IsContiguous() && src.IsContiguous() && dst.numel == src.numel {
		n := dst.numel * dst.dt.Size()
		copy(unsafe.Slice((*byte)(Ptr(dst)), n), unsafe.Slice((*byte)(Ptr(src)), n))
		return
	}
	if dst.numel <= plainMax && dst.IsContiguous() { // small: no walk to plan
		if src.numel == dst.numel && src.IsContiguous() {
			convertRun(dst.dt, src.dt, Ptr(dst), Ptr(src), dst.numel)
			return
		}
		if src.isOne() && dst.dt == src.dt {
			iter.Fill(Ptr(dst), Ptr(src), dst.numel, dst.dt.Size())
			return
		}
	}
	iter.Copy(dst.shape, iter.Operand{P: Ptr(dst), Strides: dst.stride, Mem: dst.dt},
		iter.Operand{P: Ptr(src), Strides: ExpandStrides(src, dst.shape), Mem: src.dt})
}

// isOne reports that all elements of t are one and the same in memory.
func (t *Tensor) isOne() bool {
	for i, n := range t.shape {
		if n != 1 && t.stride[i] != 0 {
			return false
		}
	}
	return t.numel > 0
}

// CopyRaw copies src (broadcast, converted) into dst without recording and without counting a version: for kernels.
func CopyRaw(dst, src *Tensor) { copyRaw(dst, src) }

// CloneRaw is a copy that is not recorded: for kernels.
func CloneRaw(t *Tensor) *Tensor { return t.cloneRaw() }

func (t *Tensor) cloneRaw() *Tensor {
	var st []int
	if !t.IsContiguous() && t.IsDense() {
		st = t.stride
	}
	c := NewStrided(t.shape, st, t.dt)
	copyRaw(c, t)
	return c
}

// Dense returns t itself when it is contiguous, a contiguous copy otherwise; not recorded: for kernels.
func Dense(t *Tensor) *Tensor {
	if t.IsContiguous() {
		return t
	}
	c := New(t.shape, t.dt)
	copyRaw(c, t)
	return c
}

// DenseAs is Dense with a conversion to dt.
func DenseAs(t *Tensor, dt DType) *Tensor {
	if t.dt == dt {
		return Dense(t)
	}
	c := New(t.shape, dt)
	copyRaw(c, t)
	return c
}

// resizeRaw gives t another shape, growing its storage when needed.
func (t *Tensor) resizeRaw(shape []int) {
	t.setDims(append([]int(nil), shape...), nil)
	t.st.resize((t.off + t.numel) * t.dt.Size())
}

// ResizeRaw is resizeRaw for operators such as resize_.
func ResizeRaw(t *Tensor, shape []int) { t.resizeRaw(shape) }

// SetRaw makes t see another storage; for set_ and Module.To.
func SetRaw(t, src *Tensor) {
	if t.flags&flagKeep != 0 {
		src.st.keep()
	}
	t.st, t.off, t.dt, t.dev = src.st, src.off, src.dt, src.dev
	t.setDims(src.shape, src.stride)
}

var defaultDType atomic.Uint32

func init() { defaultDType.Store(uint32(Float32)) }

// DefaultDType is the type of tensors made from Go floats; float32 unless SetDefaultDType changed it.
func DefaultDType() DType { return DType(defaultDType.Load()) }

// SetDefaultDType changes the type of tensors made from Go floats. It must be a floating-point type.
func SetDefaultDType(dt DType) {
	if !dt.IsFloat() {
		Fail(ErrDType, "only floating-point types are supported as the default type")
	}
	defaultDType.Store(uint32(dt))
}

// GivenOut is the tensor that result i must be written to (out=, or self of an in-place form), nil when the call makes a new one.
// Creation functions take their dtype from it.
func (c *Ctx) GivenOut(i int) *Tensor {
	if i < len(c.given) {
		return c.given[i]
	}
	return nil
}

// BecomeView gives t the shape, strides and offset of v, a view of t's memory, and v's place on the tape: for in-place forms of view
// operators such as unsqueeze_. As any in-place change it counts a version, and is refused where autograd cannot follow.
func BecomeView(t, v *Tensor) *Tensor {
	if IsGradEnabled() {
		if msg := t.inPlaceRefusal(); msg != "" {
			Fail(ErrAutograd, "%s", msg)
		}
	}
	node, nr := v.node, v.outNr
	shape, stride := append([]int(nil), v.shape...), append([]int(nil), v.stride...)
	t.off = v.off
	t.setDims(shape, stride)
	if node != nil {
		t.node, t.outNr = node, nr
	}
	t.bump()
	return t
}
