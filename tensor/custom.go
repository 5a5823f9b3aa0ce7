package tensor

import "sync/atomic"

// Custom is a function with its own gradient: what package autograd and data-parallel modules put on the tape.
type Custom struct {
	Name            string
	Inputs, Outputs []*Tensor // nil where there is nothing to differentiate
	// Backward gets the gradients of the outputs, nil where nothing depends on one, and returns those of the inputs.
	Backward func(grads []*Tensor) []*Tensor
	// Saved lists what Backward reads, so that Tidy keeps it with the outputs; Release drops it. Both may be nil.
	Saved   func() []*Tensor
	Release func()
}

// Attach records the outputs. It reports false, and does nothing, when recording is off or no input requires grad.
func (c Custom) Attach() bool {
	if !Attach(c.Name, c.Inputs, c.Outputs, c.Backward) {
		return false
	}
	for _, t := range c.Outputs {
		if t != nil && t.node != nil {
			t.node.more.reach, t.node.more.onRelease = c.Saved, c.Release
			break
		}
	}
	return true
}

// FailSecondBackward panics as a second Backward through a freed graph does.
func FailSecondBackward() {
	(&Node{released: true}).checkReleased()
}

// Hollow has the shape and dtype of t and no memory.
func Hollow(t *Tensor) *Tensor {
	h := &Tensor{dt: t.dt, dev: t.dev, ver: new(atomic.Uint32), st: &Storage{}}
	h.setDims(t.shape, nil)
	h.st.bits.Store(stReleased)
	return h
}

// packer replaces what operators save for their gradient rules.
type packer struct {
	pack     func(*Tensor) any
	unpack   func(any) *Tensor
	anyShape bool
}

// packed is a saved tensor that went through a packer.
type packed struct {
	p    *packer
	obj  any
	leaf *agMeta // of a leaf that requires grad
	got  *Tensor // while a rule runs
}

// SavedTensorsHooks runs f such that every tensor that operators save for Backward is replaced by what pack makes of
// it; unpack must give a tensor of the same shape and dtype back when a gradient rule reads it. Hooks are called
// without recording. pack gets a detached tensor that shares memory with the one to be saved.
func SavedTensorsHooks(pack func(*Tensor) any, unpack func(any) *Tensor, f func()) {
	with(func(m *mode) { m.pack = &packer{pack, unpack, false} }, f)
}

// SavedTensorsHooksOfAnyShape is SavedTensorsHooks without the check that unpack gives a tensor of the same shape and
// dtype: the operators of the gradient rule then say what does not fit.
func SavedTensorsHooksOfAnyShape(pack func(*Tensor) any, unpack func(any) *Tensor, f func()) {
	with(func(m *mode) { m.pack = &packer{pack, unpack, true} }, f)
}

// pack replaces a tensor that is about to be saved by a hollow one.
func (n *Node) pack(p *packer, t *Tensor) *Tensor {
	h := Hollow(t)
	x := &packed{p: p}
	if t.node == nil && t.flags&flagRequiresGrad != 0 {
		t.accumulator()
		x.leaf = t.ag
	}
	with(func(m *mode) { m.noGrad, m.pack = true, nil }, func() { x.obj = p.pack(t.Detach()) })
	m := n.extra()
	if m.packed == nil {
		m.packed = map[*Tensor]*packed{}
	}
	m.packed[h] = x
	return h
}

func (x *packed) get(s *savedTensor) *Tensor {
	if x.got == nil {
		var t *Tensor
		with(func(m *mode) { m.noGrad, m.pack, m.scope = true, nil, nil }, func() { t = x.p.unpack(x.obj).Detach() })
		if !x.p.anyShape && (!SameShape(t.shape, s.t.shape) || t.dt != s.t.dt) {
			Fail(ErrAutograd, "unpack hook returned %s, the saved tensor was %s", describe(t), describe(s.t))
		}
		if x.leaf != nil {
			t.flags |= flagRequiresGrad
			t.ag = x.leaf
		} else {
			t.node, t.outNr = s.node, s.nr
		}
		x.got = t
	}
	return x.got
}

// Stack is where the operator was called, in anomaly mode; see runtime.CallersFrames.
func (n *Node) Stack() []uintptr {
	if n.more == nil {
		return nil
	}
	return n.more.stack
}

// SetStack notes where the operator was called.
func (n *Node) SetStack(pcs []uintptr) { n.extra().stack = pcs }
