package tensor

import (
	"container/heap"
	"fmt"
	"unsafe"
)

// BackwardOptions are the options of Backward.
type BackwardOptions struct {
	// Gradient of the tensor; nil means one, for a tensor of one element.
	Gradient *Tensor
	// RetainGraph keeps the tape for another pass. It is implied by CreateGraph.
	RetainGraph bool
	// CreateGraph records the backward pass itself, for gradients of gradients.
	CreateGraph bool
	// Inputs, when given, are the only leaves whose gradients are accumulated.
	Inputs []*Tensor
}

// Backward computes the gradients of t with respect to all leaves that it was computed from and adds them to their Grad.
func (t *Tensor) Backward(opts ...BackwardOptions) {
	var o BackwardOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	BackwardAll([]*Tensor{t}, []*Tensor{o.Gradient}, o)
}

// BackwardAll is Backward for the sum of several tensors, each with its gradient (nil: one).
func BackwardAll(ts, grads []*Tensor, o BackwardOptions) {
	e := newEngine(o.RetainGraph || o.CreateGraph, o.CreateGraph)
	if o.Inputs != nil {
		e.only = map[*Node]bool{}
		for _, in := range o.Inputs {
			if n := edgeOf(in).node; n != nil {
				e.only[n] = true
			}
			if in.gradNode() != nil {
				in.RetainGrad()
			}
		}
	}
	e.run(ts, grads)
}

// GradOptions are the options of Grad.
type GradOptions struct {
	GradOutputs []*Tensor
	RetainGraph bool
	CreateGraph bool
	// AllowUnused gives nil for inputs that the outputs do not depend on, instead of an error.
	AllowUnused bool
	// MaterializeGrads gives zeros for them.
	MaterializeGrads bool
}

// Grad computes and returns the gradients of the sum of outputs with respect to inputs; it changes no tensor's Grad.
func Grad(outputs, inputs []*Tensor, opts ...GradOptions) []*Tensor {
	var o GradOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	e := newEngine(o.RetainGraph || o.CreateGraph, o.CreateGraph)
	e.capture = map[edge]*Tensor{}
	e.only = map[*Node]bool{}
	for _, in := range inputs {
		ed := edgeOf(in)
		if ed.node == nil {
			Fail(ErrAutograd, "One of the differentiated Tensors does not require grad")
		}
		e.capture[ed] = nil
		e.only[ed.node] = true
	}
	gs := o.GradOutputs
	if gs == nil {
		gs = make([]*Tensor, len(outputs))
	}
	e.run(outputs, gs)
	out := make([]*Tensor, len(inputs))
	for i, in := range inputs {
		out[i] = e.capture[edgeOf(in)]
		if out[i] == nil {
			switch {
			case o.MaterializeGrads:
				out[i] = zerosLike(in)
			case !o.AllowUnused:
				Fail(ErrAutograd, "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.")
			}
		}
	}
	return out
}

// engine is one backward pass. It walks the nodes from the latest to the earliest, so the order, and with it every rounding, is the
// same in every run.
type engine struct {
	retain, create bool
	state          map[*Node]*nodeState
	ready          nodeHeap
	capture        map[edge]*Tensor // Grad: where to put gradients instead of accumulating
	only           map[*Node]bool   // nodes whose gradients are wanted; nil: all leaves
	free           []*nodeState
}

type nodeState struct {
	deps   int
	seen   bool
	needed bool
	grads  []*Tensor
	owned  uint64 // bit per gradient: the engine alone knows its memory
	buf    [2]*Tensor
}

type nodeHeap []*Node

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].seq > h[j].seq }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)        { *h = append(*h, x.(*Node)) }
func (h *nodeHeap) Pop() any {
	o := *h
	x := o[len(o)-1]
	*h = o[:len(o)-1]
	return x
}

func newEngine(retain, create bool) *engine {
	return &engine{retain: retain, create: create, state: map[*Node]*nodeState{}}
}

func (e *engine) of(n *Node) *nodeState {
	s := e.state[n]
	if s == nil {
		s = &nodeState{}
		s.grads = s.buf[:0]
		e.state[n] = s
	}
	return s
}

func (e *engine) run(ts, grads []*Tensor) {
	var roots []edge
	for i, t := range ts {
		ed := edgeOf(t)
		if ed.node == nil {
			Fail(ErrAutograd, "element %d of tensors does not require grad and does not have a grad_fn", i)
		}
		g := grads[i]
		if g == nil {
			if t.numel != 1 {
				Fail(ErrAutograd, "grad can be implicitly created only for scalar outputs")
			}
			if t.dt.IsComplex() {
				Fail(ErrAutograd, "grad can be implicitly created only for real scalar outputs but got %s", t.dt)
			}
			g = onesLike(t)
		} else if !SameShape(g.shape, t.shape) {
			Fail(ErrShape, "Mismatch in shape: grad_output[%d] has a shape of %s and output[%d] has a shape of %s.", i, ShapeString(g.shape), i, ShapeString(t.shape))
		}
		roots = append(roots, ed)
		e.count(ed.node)
		s := e.of(ed.node)
		e.add(s, ed.nr, g, grads[i] == nil && !e.create)
	}
	if e.only != nil {
		for _, r := range roots {
			e.mark(r.node)
		}
	}
	for _, r := range roots {
		s := e.of(r.node)
		if s.deps == 0 && s.seen {
			s.seen = false
			heap.Push(&e.ready, r.node)
		}
	}
	body := func() {
		for len(e.ready) > 0 {
			e.step(heap.Pop(&e.ready).(*Node))
		}
	}
	if e.create {
		EnableGrad(body)
	} else {
		NoGrad(body)
	}
}

// count walks the graph once and counts, for every node, the edges that lead to it.
func (e *engine) count(root *Node) {
	if e.of(root).seen {
		return
	}
	stack := []*Node{root}
	e.of(root).seen = true
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, ed := range n.next {
			if ed.node == nil {
				continue
			}
			s := e.of(ed.node)
			s.deps++
			if !s.seen {
				s.seen = true
				stack = append(stack, ed.node)
			}
		}
	}
}

// mark finds the nodes on a path to a wanted one.
func (e *engine) mark(root *Node) {
	type frame struct {
		n *Node
		i int
	}
	done := map[*Node]bool{}
	stack := []frame{{root, 0}}
	done[root] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.i < len(f.n.next) {
			c := f.n.next[f.i].node
			f.i++
			if c == nil {
				continue
			}
			if !done[c] {
				done[c] = true
				stack = append(stack, frame{c, 0})
			} else if e.of(c).needed {
				e.of(f.n).needed = true
			}
			continue
		}
		n := f.n
		stack = stack[:len(stack)-1]
		if e.only[n] {
			e.of(n).needed = true
		}
		if len(stack) > 0 && e.of(n).needed {
			e.of(stack[len(stack)-1].n).needed = true
		}
	}
}

// add accumulates a gradient of result nr.
func (e *engine) add(s *nodeState, nr int, g *Tensor, owned bool) {
	for len(s.grads) <= nr {
		s.grads = append(s.grads, nil)
	}
	old := s.grads[nr]
	if old == nil {
		s.grads[nr] = g
		if owned {
			s.owned |= 1 << nr
		} else {
			s.owned &^= 1 << nr
		}
		return
	}
	if s.owned>>nr&1 != 0 && !e.create && old.dt == g.dt && SameShape(old.shape, g.shape) {
		addInto(old, g)
		return
	}
	s.grads[nr] = addT(old, g)
	if !e.create {
		s.owned |= 1 << nr
	}
}

func (e *engine) step(n *Node) {
	s := e.of(n)
	for i := range n.outMeta {
		if i >= len(s.grads) {
			s.grads = append(s.grads, nil)
		}
	}
	grads := s.grads
	for _, h := range n.hooks {
		if h.off || h.nr >= len(grads) || grads[h.nr] == nil {
			continue
		}
		s.owned &^= 1 << h.nr
		if r := h.fn(grads[h.nr]); r != nil {
			grads[h.nr] = r
		}
	}
	for _, h := range n.pre {
		if h.off {
			continue
		}
		s.owned = 0
		if r := h.pre(grads); r != nil {
			copy(grads, r)
		}
	}
	if e.capture != nil {
		for nr, g := range grads {
			if _, ok := e.capture[edge{n, nr}]; ok && g != nil {
				e.capture[edge{n, nr}] = g
			}
		}
	}
	if n.leaf != nil {
		if e.capture == nil && (e.only == nil || e.only[n]) && grads[0] != nil {
			e.accumulate(n.leaf, grads[0], s.owned&1 != 0)
		}
		delete(e.state, n)
		return
	}
	if e.only != nil && !s.needed {
		return
	}
	some := false
	for _, g := range grads {
		some = some || g != nil
	}
	var r []*Tensor
	before := storageSeq.Load()
	if some && (e.only == nil || e.wantsNext(n)) {
		n.checkReleased()
		r = n.call(grads)
		for _, h := range n.post {
			if !h.off {
				before = 1 << 63
				if q := h.post(r, grads); q != nil {
					r = q
				}
			}
		}
		if len(r) > len(n.next) {
			panic(fmt.Sprintf("gradient rule of %s returned %d gradients for %d tensors", n.opName(), len(r), len(n.next)))
		}
	}
	if !e.retain {
		n.release()
	}
	for i, ed := range n.next {
		if ed.node == nil {
			continue
		}
		d := e.of(ed.node)
		if i < len(r) && r[i] != nil {
			g := e.fit(n, r[i], &ed.node.outMeta[ed.nr])
			owned := !e.create && g.st.seq > before && n.fn == nil && g.IsContiguous() && g.off == 0
			for j := range r {
				if owned && j != i && r[j] != nil && r[j].st == g.st {
					owned = false
				}
			}
			e.add(d, ed.nr, g, owned)
		}
		d.deps--
		if d.deps == 0 {
			if e.only == nil || d.needed {
				heap.Push(&e.ready, ed.node)
			} else {
				e.skip(ed.node)
			}
		}
	}
	delete(e.state, n)
}

func (e *engine) wantsNext(n *Node) bool {
	for _, ed := range n.next {
		if ed.node != nil && e.of(ed.node).needed {
			return true
		}
	}
	return false
}

// skip passes over nodes whose gradients nobody wants.
func (e *engine) skip(n *Node) {
	stack := []*Node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, ed := range n.next {
			if ed.node == nil {
				continue
			}
			d := e.of(ed.node)
			if d.deps--; d.deps == 0 {
				if d.needed {
					heap.Push(&e.ready, ed.node)
				} else {
					stack = append(stack, ed.node)
				}
			}
		}
	}
}

// fit reduces a gradient to the shape and casts it to the type of the tensor that it belongs to.
func (e *engine) fit(n *Node, g *Tensor, m *outMeta) *Tensor {
	if !SameShape(g.shape, m.shape) {
		if !expandable(m.shape, g.shape) {
			Fail(ErrShape, "Function %s returned an invalid gradient: got %s but expected shape compatible with %s", n.Name(), ShapeString(g.shape), ShapeString(m.shape))
		}
		g = sumTo(g, m.shape)
	}
	if g.dt != m.dt {
		if g.dt.IsComplex() && !m.dt.IsComplex() {
			c := NewCall(opReal, 1)
			*c.Arg(0) = TensorValue(g)
			g = c.Do1()
		}
		if g.dt != m.dt {
			c := NewCall(opTo, 5)
			*c.Arg(0), *c.Arg(1) = TensorValue(g), DTypeValue(m.dt)
			*c.Arg(2), *c.Arg(3) = BoolValue(false), BoolValue(false)
			g = c.Do1()
		}
	}
	return g
}

func expandable(from, to []int) bool {
	if len(from) > len(to) {
		return false
	}
	for i, x := range from {
		if x != 1 && x != to[len(to)-len(from)+i] {
			return false
		}
	}
	return true
}

func (e *engine) accumulate(t, g *Tensor, owned bool) {
	m := t.meta()
	m.mu.Lock()
	switch old := m.grad; {
	case old == nil && e.create:
		m.grad = g.cloneOp()
	case old == nil && owned && SameShape(g.stride, t.stride):
		m.grad = g.Detach()
		g.st.keep()
	case old == nil:
		var st []int
		if t.IsDense() && !t.IsContiguous() {
			st = t.stride
		}
		c := NewStrided(t.shape, st, t.dt)
		c.st.keep()
		copyRaw(c, g)
		m.grad = c
	case e.create:
		m.grad = addT(old, g)
	default:
		addInto(old, g)
	}
	hooks := m.postAcc
	m.mu.Unlock()
	for _, f := range hooks {
		if f != nil {
			f(t)
		}
	}
}

// call runs the gradient rule.
func (n *Node) call(grads []*Tensor) []*Tensor {
	if n.fn != nil {
		return n.fn(n, grads)
	}
	g := grads[0]
	if g == nil {
		g = New(n.outMeta[0].shape, n.outMeta[0].dt)
		g.ZeroRaw()
	}
	c := ctxPool.Get().(*Ctx)
	c.op, c.args, c.user = n.op, n.args, n.user
	st := backwardState{node: n, grads: grads}
	c.backward = &st
	c.outs = c.outBuf[:0]
	r := n.op.VJP(c, g)
	c.args = nil
	c.free()
	return r
}

var (
	opAdd   = slot("aten::add.Tensor")
	opAdd_  = slot("aten::add_.Tensor")
	opSum   = slot("aten::sum.dim_IntList")
	opClone = slot("aten::clone")
	opReal  = slot("aten::real")
	opTo    = slot("aten::to.dtype")
)

func addT(a, b *Tensor) *Tensor {
	c := NewCall(opAdd, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = TensorValue(a), TensorValue(b), IntValue(1)
	return c.Do1()
}

func addInto(a, b *Tensor) {
	c := NewCall(opAdd_, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = TensorValue(a), TensorValue(b), IntValue(1)
	c.Do1()
}

func (t *Tensor) cloneOp() *Tensor {
	c := NewCall(opClone, 2)
	*c.Arg(0) = TensorValue(t)
	return c.Do1()
}

// sumTo sums over the dimensions that were broadcast.
func sumTo(t *Tensor, shape []int) *Tensor {
	if SameShape(t.shape, shape) {
		return t
	}
	lead := len(t.shape) - len(shape)
	var dims []int
	for i := range t.shape {
		if i < lead || shape[i-lead] == 1 && t.shape[i] != 1 {
			dims = append(dims, i)
		}
	}
	if len(dims) > 0 {
		c := NewCall(opSum, 4)
		*c.Arg(0), *c.Arg(1), *c.Arg(2) = TensorValue(t), IntsValue(dims), BoolValue(true)
		t = c.Do1()
	}
	if lead > 0 {
		c := NewCall(opView, 2)
		*c.Arg(0), *c.Arg(1) = TensorValue(t), IntsValue(shape)
		t = c.Do1()
	}
	return t
}

// SumTo sums t over the dimensions along which shape was broadcast to t's shape.
func SumTo(t *Tensor, shape []int) *Tensor { return sumTo(t, shape) }

var opView = slot("aten::view")

func onesLike(t *Tensor) *Tensor {
	o := New(t.shape, t.dt)
	one := Num{K: KInt, I: 1, F: 1, C: 1}.Tensor()
	copyRaw(o, one)
	return o
}

func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// keep exempts a storage from the Tidy that it was made in.
func (s *Storage) keep() {}
