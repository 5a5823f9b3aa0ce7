package tensor

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
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

// Backward computes the gradients of t with respect to all leaves that it was computed from and adds them to their
// Grad.
func (t *Tensor) Backward(opts ...BackwardOptions) {
	t.mustHaveMemory("Tensor.Backward")
	var o BackwardOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	BackwardAll([]*Tensor{t}, []*Tensor{o.Gradient}, o)
}

// BackwardAll is Backward for the sum of several tensors, each with its gradient (nil: one).
func BackwardAll(ts, grads []*Tensor, o BackwardOptions) {
	if o.CreateGraph {
		Warn("Using backward() with create_graph=True will create a reference cycle between the parameter and its " +
			"gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid " +
			"this. If you have to use this function, make sure to reset the .grad fields of your parameters to None " +
			"after use to break the cycle and avoid the leak.")
	}
	e := newEngine(o.RetainGraph || o.CreateGraph, o.CreateGraph)
	defer e.close()
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
	if e.only == nil {
		e.run(ts, grads)
		return
	}
	with(func(m *mode) { m.partial = true }, func() { e.run(ts, grads) })
}

// IsBackwardPartial reports that the backward pass which runs on this goroutine computes the gradients of chosen
// tensors only: it was started by Grad, or with BackwardOptions.Inputs. What starts a pass of its own inside cannot
// serve it.
func IsBackwardPartial() bool {
	m := currentMode()
	return m != nil && m.partial
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
	defer e.close()
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
	with(func(m *mode) { m.partial = true }, func() { e.run(outputs, gs) })
	out := make([]*Tensor, len(inputs))
	for i, in := range inputs {
		out[i] = e.capture[edgeOf(in)]
		if out[i] == nil {
			switch {
			case o.MaterializeGrads:
				out[i] = zerosLike(in)
			case !o.AllowUnused:
				FailHint(ErrAutograd, "in Go: GradOptions{AllowUnused: true}",
					"The differentiated Tensor at index %d appears to not have been used in the graph. "+
						"Set allow_unused=True if this is the desired behavior.", i)
			}
		}
	}
	return out
}

// engine is one backward pass. It walks the nodes from the latest to the earliest, so the order, and with it every
// rounding, is the same in every run.
type engine struct {
	retain, create bool
	pure           bool    // gradients are added out of place: they are recorded, or a transform looks on
	nodes          []*Node // whose own state belongs to this pass
	others         map[*Node]*nodeState
	ready          nodeHeap
	capture        map[edge]*Tensor // Grad: where to put gradients instead of accumulating
	only           map[*Node]bool   // nodes whose gradients are wanted; nil: all leaves
	watch          []Watcher
	observers      []Observer // those among the watchers
	scope          scope      // what gradient rules have made and the engine has not dealt with yet
	outer          *scope     // the Tidy around the pass
	frees          bool       // gradients are freed as they are consumed
	fitted         []*Tensor
	rootBuf        [1]edge
	ruleBuf        [2]*Tensor // the last rule's result
}

// Watcher is a Layer that also sees the gradient rules that Backward runs: out holds the gradients of the node's
// results, in those that its rule returned.
type Watcher interface {
	Layer
	Rule(n *Node, out, in []*Tensor)
	// RuleFailed is called when a rule panics, before the panic goes on.
	RuleFailed(n *Node)
}

// nodeState is what a pass knows about a node.
type nodeState struct {
	deps   int32
	seen   bool
	needed bool
	grads  []*Tensor
	owned  uint64 // bit per gradient: the engine alone knows its memory
	buf    [1]*Tensor
}

// nodeHeap holds the nodes that are ready, the latest at the top.
type nodeHeap []*Node

func (h *nodeHeap) push(n *Node) {
	l := append(*h, n)
	i := len(l) - 1
	for i > 0 {
		up := (i - 1) / 2
		if l[up].seq >= n.seq {
			break
		}
		l[i] = l[up]
		i = up
	}
	l[i] = n
	*h = l
}

func (h *nodeHeap) pop() *Node {
	l := *h
	top, n := l[0], l[len(l)-1]
	l[len(l)-1] = nil
	l = l[:len(l)-1]
	*h = l
	for i := 0; len(l) > 0; {
		c := 2*i + 1
		if c+1 < len(l) && l[c+1].seq > l[c].seq {
			c++
		}
		if c >= len(l) || l[c].seq <= n.seq {
			l[i] = n
			break
		}
		l[i] = l[c]
		i = c
	}
	return top
}

var enginePool = sync.Pool{New: func() any { return new(engine) }}

func newEngine(retain, create bool) *engine {
	e := enginePool.Get().(*engine)
	e.retain, e.create = retain, create
	e.pure = create || currentMode().transforms()
	return e
}

// close gives up the nodes' states, also after a panic.
func (e *engine) close() {
	for _, n := range e.nodes {
		n.state = nodeState{}
		n.owner.Store(nil)
	}
	clear(e.nodes)
	clear(e.ready)
	clear(e.fitted[:cap(e.fitted)])
	e.scope.reset()
	clear(e.scope.spare)
	e.scope.spare = e.scope.spare[:0]
	*e = engine{nodes: e.nodes[:0], ready: e.ready[:0], fitted: e.fitted[:0], scope: e.scope}
	enginePool.Put(e)
}

func (e *engine) of(n *Node) *nodeState {
	if n.owner.Load() == e {
		return &n.state
	}
	if s := e.others[n]; s != nil {
		return s
	}
	if n.owner.CompareAndSwap(nil, e) {
		e.nodes = append(e.nodes, n)
		n.state.grads = n.state.buf[:0]
		return &n.state
	}
	if e.others == nil {
		e.others = map[*Node]*nodeState{}
	}
	s := &nodeState{}
	e.others[n] = s
	return s
}

func (e *engine) run(ts, grads []*Tensor) {
	roots := e.rootBuf[:0]
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
			Fail(ErrShape, "Mismatch in shape: grad_output[%d] has a shape of torch.Size(%s) and output[%d] has a "+
				"shape of torch.Size(%s).", i, ShapeString(g.shape), i, ShapeString(t.shape))
		} else if g.dt.IsComplex() != t.dt.IsComplex() {
			Fail(ErrDType, "For complex Tensors, both grad_output and output are required to have the same dtype. "+
				"Mismatch in dtype: grad_output[%d] has a dtype of %s and output[%d] has a dtype of %s.", i, g.dt, i,
				t.dt)
		}
		g.disown()
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
			e.ready.push(r.node)
		}
	}
	if e.create {
		with(func(m *mode) { m.noGrad, m.noNames = m.inference, true }, e.loop)
		return
	}
	with(func(m *mode) {
		m.noGrad, m.noNames = true, true // gradients have no names
		e.outer = m.scope
		if m.observedOnly() { // another layer may hold on to what it sees
			e.frees = true
			e.scope.all = m.scope != nil && m.scope.all
			m.scope = &e.scope
		}
	}, e.loop)
}

func (e *engine) loop() {
	if m := currentMode(); m != nil {
		e.observers = m.observers
		for _, i := range m.layers {
			if w, ok := i.(Watcher); ok {
				e.watch = append(e.watch, w)
			}
		}
	}
	for len(e.ready) > 0 {
		e.step(e.ready.pop())
	}
	e.settle(nil, false)
}

// settle deals with what was made since the last call: without free it stays, with free all memory goes that is not in
// keep. What stays belongs to the surrounding Tidy.
func (e *engine) settle(keep []*Tensor, free bool) {
	for _, s := range e.scope.made {
		if !free || s.bits.Load()&(stKept|stGrad) != 0 || holds(keep, s) {
			if e.outer != nil {
				e.outer.made = append(e.outer.made, s)
			}
			continue
		}
		s.release()
	}
	e.scope.reset()
}

// drop frees a gradient that only the engine knows. What a small one is made of serves for the next one.
func (e *engine) drop(g *Tensor) {
	g.st.release()
	if g.joined() && g.st.n <= tinySize && g.ag == nil && g.node == nil && g.base == nil && g.flags == 0 &&
		g.st.bits.Load() == stReleased {
		e.scope.spare = append(e.scope.spare, (*small)(unsafe.Pointer(g)))
	}
}

func holds(l []*Tensor, s *Storage) bool {
	for _, t := range l {
		if t != nil && (t.st == s || t.flags&flagSparse != 0 &&
			(t.ag.sparse.indices.st == s || t.ag.sparse.values.st == s)) {
			return true
		}
	}
	return false
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
	bit := uint64(1) << nr
	old := s.grads[nr]
	if old == nil {
		s.grads[nr] = g
		if owned {
			s.owned |= bit
		} else {
			s.owned &^= bit
		}
		return
	}
	if !e.pure && old.dt == g.dt && SameShape(old.shape, g.shape) {
		if s.owned&bit != 0 {
			addInto(old, g)
			if owned && e.frees {
				e.drop(g)
			}
			return
		}
		if owned { // a sum is the same either way round
			addInto(g, old)
			s.grads[nr] = g
			s.owned |= bit
			return
		}
	}
	sum := addAny(old, g)
	s.grads[nr] = sum
	if !e.create && sum.flags&flagSparse == 0 {
		s.owned |= bit
	}
}

func (e *engine) step(n *Node) {
	s := e.of(n)
	for len(s.grads) < len(n.outMeta) {
		s.grads = append(s.grads, nil)
	}
	grads := s.grads
	if n.more != nil {
		for _, h := range n.more.hooks {
			if h.off || h.nr >= len(grads) || grads[h.nr] == nil {
				continue
			}
			s.owned &^= 1 << h.nr
			grads[h.nr].disown()
			if r := h.fn(grads[h.nr]); r != nil {
				grads[h.nr] = r
			}
		}
		for _, h := range n.more.pre {
			if h.off {
				continue
			}
			s.owned = 0
			if r := h.pre(grads); r != nil {
				copy(grads, r)
			}
		}
	}
	if e.capture != nil {
		for nr, g := range grads {
			if _, ok := e.capture[edge{n, nr}]; ok && g != nil {
				e.capture[edge{n, nr}] = g
				s.owned &^= 1 << nr
			}
		}
	}
	if n.leaf != nil {
		if e.capture == nil && (e.only == nil || e.only[n]) && grads[0] != nil {
			e.begin(n)
			e.accumulate(n.leaf, grads[0], s.owned&1 != 0)
			for _, o := range e.observers {
				o.Rule(n, grads, nil)
			}
		}
		e.settle(nil, false)
		s.grads = nil
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
	// What hooks and custom functions have made is theirs; sums of gradients made since the last step are in use.
	e.settle(nil, false)
	before := storageSeq.Load()
	closed := n.more == nil || n.more.fn == nil // only the engine sees the results
	if some && (e.only == nil || e.wantsNext(n)) {
		n.checkReleased()
		e.begin(n)
		switch {
		case e.watch != nil:
			r = e.watched(n, grads)
		case n.more == nil:
			r = n.call(grads, &e.ruleBuf)
		default: // hooks may keep what they see
			r = n.call(grads, new([2]*Tensor))
		}
		if n.more != nil {
			for _, x := range n.more.packed {
				x.got = nil
			}
			for _, h := range n.more.post {
				if !h.off {
					closed = false
					s.owned = 0
					if q := h.post(r, grads); q != nil {
						r = q
					}
				}
			}
		}
		for _, w := range e.watch {
			w.Rule(n, grads, r)
		}
		if len(r) > len(n.next) {
			panic(fmt.Sprintf("gradient rule of %s returned %d gradients for %d tensors", n.opName(), len(r),
				len(n.next)))
		}
	}
	if !e.frees {
		n.expose()
	}
	if !e.retain {
		n.release()
	}
	out := e.fitted[:0]
	for i, g := range r {
		if g != nil && n.next[i].node != nil {
			ed := n.next[i]
			g = e.fit(n, i, g, &ed.node.outMeta[ed.nr])
		} else {
			g = nil
		}
		out = append(out, g)
	}
	if e.frees {
		if closed {
			e.settle(out, true)
		} else {
			e.settle(nil, false)
		}
		for i, g := range grads {
			if g != nil && s.owned>>i&1 != 0 && closed && !holds(out, g.st) {
				e.drop(g)
			}
		}
		if !e.retain && n.more != nil && n.released {
			n.releaseInner(out)
		}
	}
	clear(s.grads)
	s.grads = nil
	for i, ed := range n.next {
		if ed.node == nil {
			continue
		}
		d := e.of(ed.node)
		if i < len(out) && out[i] != nil {
			g := out[i]
			owned := closed && !e.create && len(e.watch) == len(e.observers) && g.st.seq > before && g.base == nil &&
				g.flags == 0 &&
				g.off == 0 && g.IsDense()
			for j := range out {
				if owned && j != i && out[j] != nil && out[j].st == g.st {
					owned = false
				}
			}
			e.add(d, ed.nr, g, owned)
		}
		d.deps--
		if d.deps == 0 {
			if e.only == nil || d.needed {
				e.ready.push(ed.node)
			} else {
				e.skip(ed.node)
			}
		}
	}
	clear(out)
	e.fitted = out[:0]
}

// begin tells the observers of a gradient rule.
func (e *engine) begin(n *Node) {
	for _, o := range e.observers {
		o.RuleBegins(n)
	}
}

func (e *engine) watched(n *Node, grads []*Tensor) []*Tensor {
	ok := false
	defer func() {
		if !ok {
			for _, w := range e.watch {
				w.RuleFailed(n)
			}
		}
	}()
	r := n.call(grads, new([2]*Tensor))
	ok = true
	return r
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
					e.ready.push(ed.node)
				} else {
					stack = append(stack, ed.node)
				}
			}
		}
	}
}

// fit reduces a gradient to the shape and casts it to the type of the tensor that it belongs to.
func (e *engine) fit(n *Node, i int, g *Tensor, m *outMeta) *Tensor {
	if !SameShape(g.shape, m.sizes()) {
		if !expandable(m.sizes(), g.shape) {
			Fail(ErrShape, "Function %s returned an invalid gradient at index %d - got %s but expected shape "+
				"compatible with %s", n.Name(), i, ShapeString(g.shape), ShapeString(m.sizes()))
		}
		g = sumTo(g, m.sizes())
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
	case g.flags&flagSparse != 0 || old != nil && old.flags&flagSparse != 0:
		e.accumulateSparse(m, g)
	case old == nil && e.create:
		m.grad = g.cloneOp()
		m.grad.Keep()
	case old == nil && owned && SameShape(g.stride, t.stride):
		m.grad = g.Detach()
		g.st.bits.Or(stGrad)
	case old == nil:
		var st []int
		if t.IsDense() && !t.IsContiguous() {
			st = t.stride
		}
		c := NewOn(t.dev, t.shape, st, t.dt)
		c.st.bits.Or(stGrad)
		copyRaw(c, g)
		m.grad = c
	case e.create:
		m.grad = addT(old, g)
		m.grad.Keep()
	default:
		addInto(old, g)
		if owned && e.frees {
			e.drop(g)
		}
	}
	hooks := m.postAcc
	m.mu.Unlock()
	for _, f := range hooks {
		if f != nil {
			f(t)
		}
	}
}

// call runs the gradient rule. The result may lie in buf, which has room for two gradients.
func (n *Node) call(grads []*Tensor, buf *[2]*Tensor) []*Tensor {
	if n.more != nil && n.more.fn != nil {
		return n.more.fn(n, grads)
	}
	if l := innermostLevel(); l != nil {
		grads = l.gradsOfExamples(n, grads)
	}
	g := grads[0]
	if g == nil {
		m := &n.outMeta[0]
		g = zeros(m.dev, m.sizes(), m.dt)
	}
	c := ctxPool.Get().(*Ctx)
	c.op, c.args, c.user = n.op, n.args, n.user
	if n.plain > 0 {
		c.args = n.plainArgs(c.argBuf[:0])
	}
	c.state = backwardState{node: n, grads: grads}
	c.backward = &c.state
	c.outs = c.outBuf[:0]
	r := n.op.VJP(c, g)
	if len(r) <= len(buf) { // it may lie in the Ctx
		r = append(buf[:0], r...)
	}
	if n.plain > 0 {
		clear(c.args)
	}
	c.args = nil
	c.gradBuf = [2]*Tensor{}
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

// addGrain is the length of a task of addInto, the same as of an elementwise operator.
const addGrain = 32 * 1024

// addInto is a += b. The usual case, gradients of the same shape and layout on the CPU, goes straight to the kernel
// unless a layer looks on.
func addInto(a, b *Tensor) {
	if n := a.numel; a.dev.Type|b.dev.Type == CPUDevice && !currentMode().watched() && a.dt == b.dt &&
		(a.flags|b.flags)&(lazyBits|flagSparse) == 0 &&
		(a.dt == Float32 || a.dt == Float64) && SameShape(a.shape, b.shape) &&
		(a.IsContiguous() && b.IsContiguous() || SameShape(a.stride, b.stride) && a.IsDense()) {
		if n == 0 {
			return
		}
		p, q := Ptr(a), Ptr(b)
		if n <= addGrain {
			addRun(a.dt, p, q, 0, n)
		} else {
			par.For(n, addGrain, func(lo, hi int) { addRun(a.dt, p, q, lo, hi) })
		}
		a.bump()
		return
	}
	c := NewCall(opAdd_, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = TensorValue(a), TensorValue(b), IntValue(1)
	c.Do1()
}

func addRun(dt DType, p, q unsafe.Pointer, lo, hi int) {
	if dt == Float32 {
		a := unsafe.Slice((*float32)(p), hi)[lo:]
		vec.AddF32(a, a, unsafe.Slice((*float32)(q), hi)[lo:])
		return
	}
	a := unsafe.Slice((*float64)(p), hi)[lo:]
	vec.AddF64(a, a, unsafe.Slice((*float64)(q), hi)[lo:])
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
	o := NewOn(t.dev, t.shape, nil, t.dt)
	if t.dev.Type == CPUDevice && t.dt == Float32 && t.numel == 1 { // most losses
		*(*float32)(Ptr(o)) = 1
		return o
	}
	one := Num{K: KInt, I: 1, F: 1, C: 1}.Tensor()
	copyRaw(o, one)
	return o
}
