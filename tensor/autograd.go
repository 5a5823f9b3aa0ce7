package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/iter"
)

// Node is the record of one call on the tape: what it read, and where the gradients of its inputs go.
type Node struct {
	op    *Op
	args  []Value // tensor arguments that the rule does not read are stubs
	outs  []*Tensor
	saved []savedTensor
	user  any

	next     []edge // one per tensor argument
	outMeta  []outMeta
	seq      uint64
	leaf     *Tensor // of an accumulator
	more     *nodeMore
	released bool
	plain    uint8 // of a plain call: the number of tensor arguments, which stand in saved; args is empty

	// What one backward pass knows about the node. Passes that run at the same time over the same graph are rare: the
	// first one to come by owns the node's own state, the others keep theirs in a map.
	owner atomic.Pointer[engine]
	state nodeState

	nextBuf [2]edge
	metaBuf [1]outMeta
	outBuf  [1]*Tensor
}

// nodeMore is what few nodes have.
type nodeMore struct {
	fn        func(n *Node, grads []*Tensor) []*Tensor // instead of op: custom functions, slices written in place
	name      string
	hooks     []*hook // of results
	pre       []*nodeHook
	post      []*nodeHook
	stack     []uintptr // where the call was made, in anomaly mode
	onRelease func()
	reach     func() []*Tensor    // what a custom function has saved
	packed    map[*Tensor]*packed // saved tensors that went through a hook, by what stands for them
	inner     []*Storage          // freed when the rule has run
}

// stubNode and savedNode bring the room that nodes of operators need that save nothing or at most two tensors.
type stubNode struct {
	Node
	argBuf  [3]Value
	stubBuf [2]stub
}

type savedNode struct {
	Node
	argBuf   [3]Value
	savedBuf [2]savedTensor
}

type edge struct {
	node *Node
	nr   int
}

// outMeta is what the engine must know about a result to check its gradient.
type outMeta = stub

type savedTensor struct {
	t    *Tensor
	ver  uint32
	nr   int32
	node *Node
}

// stub stands for a tensor that the rule does not read: its shape, dtype and device. Nodes must not point into the
// tensors themselves, which would keep their memory.
type stub struct {
	buf [4]int
	big *[]int // of tensors with more dimensions
	nd  uint8
	dt  DType
	dev Device
}

func (s *stub) set(t *Tensor) {
	s.dt, s.dev, s.nd = t.dt, t.dev, uint8(len(t.shape))
	if len(t.shape) <= len(s.buf) {
		copy(s.buf[:], t.shape)
	} else {
		big := append([]int(nil), t.shape...)
		s.big = &big
	}
}

func (s *stub) sizes() []int {
	if s.big != nil {
		return *s.big
	}
	return s.buf[:s.nd:s.nd]
}

func (n *Node) extra() *nodeMore {
	if n.more == nil {
		n.more = &nodeMore{}
	}
	return n.more
}

type hook struct {
	nr     int
	fn     func(*Tensor) *Tensor
	retain bool
	off    bool
}

type nodeHook struct {
	pre  func(grads []*Tensor) []*Tensor
	post func(in, out []*Tensor) []*Tensor
	off  bool
}

var nodeSeq atomic.Uint64

// Name is PyTorch's name of the node, "MulBackward0".
func (n *Node) Name() string {
	if n.more != nil && n.more.name != "" {
		return n.more.name
	}
	if n.op != nil {
		if f := n.op.GradOf; f != nil {
			return f(n.args)
		}
		return n.op.grad
	}
	return ""
}

// Seq numbers the nodes of the program in the order in which they were made.
func (n *Node) Seq() uint64 { return n.seq }

// String prints the node as grad_fn does in Python.
func (n *Node) String() string { return fmt.Sprintf("<%s>", n.Name()) }

// NextFunctions are the nodes that the gradients go to, nil where an argument needs none; the second slice holds result
// numbers.
func (n *Node) NextFunctions() ([]*Node, []int) {
	nodes, nrs := make([]*Node, len(n.next)), make([]int, len(n.next))
	for i, e := range n.next {
		nodes[i], nrs[i] = e.node, e.nr
	}
	return nodes, nrs
}

// Variable is the leaf whose gradient an accumulator collects, nil for other nodes.
func (n *Node) Variable() *Tensor { return n.leaf }

// Op is the operator that the node records, nil for custom functions and accumulators.
func (n *Node) Op() *Op { return n.op }

// slotOf is the first gradient slot of argument i.
func (n *Node) slotOf(i int) int {
	if n.plain > 0 {
		return min(i, int(n.plain))
	}
	s := 0
	for k := 0; k < i; k++ {
		if k == n.op.scalar { // a number in place of a tensor
			s++
			continue
		}
		s += slotCount(&n.args[k], &n.op.Sch.Params[k])
	}
	return s
}

// edgeOf is where a tensor's gradient goes.
func edgeOf(t *Tensor) edge {
	if t == nil {
		return edge{}
	}
	if n := t.gradNode(); n != nil {
		return edge{n, int(t.outNr)}
	}
	if t.flags&flagRequiresGrad != 0 {
		return edge{t.accumulator(), 0}
	}
	return edge{}
}

func (t *Tensor) accumulator() *Node {
	m := t.meta()
	if n := m.acc.Load(); n != nil {
		return n
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.acc.Load()
	if n == nil {
		n = &Node{leaf: t, seq: math.MaxUint64, more: &nodeMore{name: "AccumulateGrad", hooks: m.hooks}}
		n.outMeta = n.metaBuf[:1]
		n.outMeta[0].set(t)
		m.acc.Store(n)
	}
	return n
}

// gradNode is the node that computed t; that of a view is made anew after its memory was changed in place.
func (t *Tensor) gradNode() *Node {
	if t.base != nil && t.attr != t.ver.Load() {
		t.regenerate()
	}
	return t.node
}

// record puts a functional call on the tape when one of its arguments requires grad.
func (c *Ctx) record() {
	if c.op.VJP == nil || !c.records() || !c.anyRequiresGrad() {
		return
	}
	c.refuseConstants()
	diff := false
	for _, t := range c.outs {
		diff = diff || t.dt.IsDifferentiable()
	}
	if !diff {
		return
	}
	n := c.newNode(nil)
	for i, t := range c.outs {
		if t.dt.IsDifferentiable() {
			t = t.split()
			c.outs[i] = t
			t.node, t.outNr = n, int32(i)
		}
	}
	n.saveOuts(c)
}

// refuseConstants refuses arguments that require grad and have none.
func (c *Ctx) refuseConstants() {
	for set := c.op.consts; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if t := c.args[i].T; t != nil && t.RequiresGrad() {
			c.Fail(ErrAutograd, "The function '%s' is not differentiable with respect to argument '%s'. This input "+
				"cannot have requires_grad True.", c.op.Sch.Name, c.op.Sch.Params[i].Name)
		}
	}
}

// newNode records the arguments. before replaces the first one, which was overwritten in place.
func (c *Ctx) newNode(before *Tensor) *Node {
	var n *Node
	var stubs []stub
	if c.op.saveIn|c.op.saveOut == 0 {
		x := &stubNode{}
		n, stubs = &x.Node, x.stubBuf[:]
		n.args = x.argBuf[:0]
	} else {
		x := &savedNode{}
		n = &x.Node
		n.args, n.saved = x.argBuf[:0], x.savedBuf[:0]
	}
	n.op, n.seq, n.user = c.op, nodeSeq.Add(1), c.user
	n.next = n.nextBuf[:0]
	n.args = append(n.args, c.args...)
	for i := range n.args {
		v := &n.args[i]
		if v.K == KTensor && v.T.flags&flagWrapped != 0 && i != c.op.scalar && i < len(c.op.Sch.Params) &&
			c.op.Sch.Params[i].Kind == KScalar {
			*v = v.T.Num().Value() // a number that the kernel read as a tensor
		}
		switch v.K {
		case KTensor:
			t := v.T
			reads := c.reads(i) // asked before the change below
			n.next = append(n.next, edgeOf(t))
			if before != nil && t == c.args[0].T { // what it was before the change
				if i == 0 {
					before.flags |= t.flags & flagRequiresGrad
					before.node, before.outNr = t.node, t.outNr
				}
				t = before
				v.T = t
			}
			if !reads {
				var st *stub
				if len(stubs) > 0 {
					st, stubs = &stubs[0], stubs[1:]
				} else {
					st = new(stub)
				}
				st.set(t)
				*v = Value{K: KTensor, X: st}
			} else {
				refuseInference(t)
				ver := t.ver.Load()
				if c.inplace && t.ver == c.args[0].T.ver {
					ver-- // shares the memory that was just overwritten
				}
				node, nr := t.node, t.outNr
				if c.mode != nil && c.mode.pack != nil {
					t, ver = n.pack(c.mode.pack, t), 0
					v.T = t
				}
				n.saved = append(n.saved, savedTensor{t: t, ver: ver, node: node, nr: nr})
			}
		case KTensors:
			l := v.X.([]*Tensor)
			keep := make([]*Tensor, len(l))
			for j, t := range l {
				n.next = append(n.next, edgeOf(t))
				if t == nil {
					continue
				}
				if c.op.saveIn>>i&1 == 0 {
					s := &Tensor{dt: t.dt, dev: t.dev}
					s.setDims(t.shape, nil)
					keep[j] = s
				} else {
					refuseInference(t)
					node, nr := t.node, t.outNr
					if c.mode != nil && c.mode.pack != nil {
						t = n.pack(c.mode.pack, t)
					}
					keep[j] = t
					n.saved = append(n.saved, savedTensor{t: t, ver: t.ver.Load(), node: node, nr: nr})
				}
			}
			v.X = keep
		case KNone:
			if i < len(c.op.Sch.Params) && c.op.Sch.Params[i].Kind == KTensor {
				n.next = append(n.next, edge{})
			}
		default:
			// a number in place of a tensor
			if i < len(c.op.Sch.Params) && (c.op.Sch.Params[i].Kind == KTensor || i == c.op.scalar) {
				n.next = append(n.next, edge{})
			}
		}
	}
	n.outMeta = n.metaBuf[:0]
	for _, t := range c.outs {
		n.outMeta = append(n.outMeta, outMeta{})
		n.outMeta[len(n.outMeta)-1].set(t)
	}
	return n
}

// saveOuts keeps the results that the rule reads.
func (n *Node) saveOuts(c *Ctx) {
	if c.op.saveOut == 0 {
		return
	}
	if n.outs = n.outBuf[:]; len(c.outs) > 1 {
		n.outs = make([]*Tensor, len(c.outs))
	}
	for i, t := range c.outs {
		if c.op.saveOut>>i&1 != 0 {
			node := t.gradNode() // of a view that was changed in place: the node of its base's new values
			nr := t.outNr
			if c.mode != nil && c.mode.pack != nil {
				t = n.pack(c.mode.pack, t)
			}
			n.outs[i] = t
			n.saved = append(n.saved, savedTensor{t: t, ver: t.ver.Load(), node: node, nr: nr})
		}
	}
}

// saved checks and returns a tensor argument in a gradient rule.
func (c *Ctx) saved(v *Value, i int) *Tensor {
	if _, ok := v.X.(*stub); ok {
		panic(fmt.Sprintf("gradient of %s reads argument %s, which Save does not name", c.op.full,
			c.op.Sch.Params[i].Name))
	}
	return c.backward.node.unpack(v.T)
}

func (n *Node) unpack(t *Tensor) *Tensor {
	n.checkReleased()
	for i := range n.saved {
		s := &n.saved[i]
		if s.t != t {
			continue
		}
		if v := t.ver.Load(); v != s.ver {
			what := ""
			if s.node != nil {
				what = fmt.Sprintf(", which is output %d of %s,", s.nr, forwardName(s.node.Name()))
			}
			sentence, hint := inPlaceHint()
			e := &Error{Op: n.opName(), Err: ErrAutograd, Hint: hint,
				Msg: fmt.Sprintf("one of the variables needed for gradient computation has been modified by an "+
					"inplace operation: [torch.%sTensor %s]%s is at version %d; expected version %d instead. %s",
					t.dt.ClassName(), ShapeString(t.shape), what, v, s.ver, sentence)}
			e.locate(0)
			panic(e)
		}
		if n.more != nil && n.more.packed != nil {
			if x := n.more.packed[t]; x != nil {
				return x.get(s)
			}
		}
		if t.node != s.node { // rebased without a change of its elements
			a := *t
			a.node, a.outNr = s.node, s.nr
			return &a
		}
		return t
	}
	return t
}

// inPlaceHint is PyTorch's advice on finding the operator that wrote to a saved tensor, and how to follow it in Go.
func inPlaceHint() (sentence, hint string) {
	if m := currentMode(); m != nil {
		for _, i := range m.layers {
			if _, ok := i.(Watcher); ok {
				return "Hint: the backtrace further above shows the operation that failed to compute its gradient. " +
					"The variable in question was changed in there or anywhere later. Good luck!", ""
			}
		}
	}
	return "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with " +
			"torch.autograd.set_detect_anomaly(True, check_nan=False).",
		"in Go: autograd.SetDetectAnomaly(true, autograd.AnomalyOptions{NoCheckNaN: true})"
}

// forwardName is a node's name without "Backward" and its number, as PyTorch's message has it.
func forwardName(name string) string {
	if i := strings.LastIndex(name, "Backward"); i > 0 && strings.Trim(name[i+len("Backward"):], "0123456789") == "" {
		return name[:i]
	}
	return name
}

func (n *Node) opName() string {
	if n.op != nil {
		return n.op.full
	}
	return n.Name()
}

func (n *Node) checkReleased() {
	if n.released {
		FailHint(ErrAutograd, "in Go: BackwardOptions{RetainGraph: true}",
			"Trying to backward through the graph a second time (or directly access saved tensors "+
				"after they have already been freed). Saved intermediate values of the graph are freed when you call "+
				".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a "+
				"second time or if you need to access saved tensors after calling backward.")
	}
}

// gone stands for released arguments.
var gone = new(stub)

// release drops what was saved.
func (n *Node) release() {
	if n.more != nil && n.more.onRelease != nil {
		n.more.onRelease()
	}
	if len(n.saved) == 0 && n.user == nil || n.leaf != nil {
		return
	}
	if len(n.saved) > 0 {
		n.released = true
	}
	clear(n.saved)
	n.saved = n.saved[:0]
	for i := range n.args {
		if n.args[i].K == KTensor && n.args[i].T != nil {
			n.args[i] = Value{K: KTensor, X: gone}
		} else if n.args[i].K == KTensors && n.op.saveIn>>i&1 != 0 {
			n.args[i].X = []*Tensor(nil)
		}
	}
	n.outs, n.user, n.outBuf[0] = nil, nil, nil
	if n.more != nil {
		n.more.packed = nil
	}
}

// zeros makes a contiguous tensor of zeros.
func zeros(d Device, shape []int, dt DType) *Tensor {
	z := NewOn(d, shape, nil, dt)
	ZeroRaw(z)
	return z
}

func zerosLike(t *Tensor) *Tensor { return zeros(t.dev, t.shape, t.dt) }

// ZeroRaw clears a dense tensor without recording: for kernels.
func ZeroRaw(t *Tensor) {
	if t.numel == 0 {
		return
	}
	if !t.IsDense() {
		copyRaw(t, zeros(t.dev, nil, t.dt))
		return
	}
	if x := t.st.ext; x != nil {
		x.b.Fill(t.st.Memory(), t.off*t.dt.Size(), t.numel*t.dt.Size(), 0)
		return
	}
	iter.Zero(Ptr(t), t.numel*t.dt.Size())
}

// RequiresGrad reports whether operators on t are recorded.
func (t *Tensor) RequiresGrad() bool {
	if t == nil {
		panic(noTensor("Tensor.RequiresGrad"))
	}
	return t.flags&flagRequiresGrad != 0 || t.node != nil || t.base != nil && t.attr != t.ver.Load() &&
		t.sharesGrad() && t.base.RequiresGrad()
}

// SetRequiresGrad marks a leaf as one whose gradient is wanted, and returns it.
func (t *Tensor) SetRequiresGrad(on bool) *Tensor {
	t.mustHaveMemory("Tensor.SetRequiresGrad")
	if on && t.IsInference() && !IsInferenceModeEnabled() {
		FailHint(ErrAutograd, "in Go: SetRequiresGrad(true), inside torch.InferenceMode or on a clone made outside",
			"Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
	}
	if on && !t.dt.IsDifferentiable() {
		Fail(ErrAutograd, "only Tensors of floating point and complex dtype can require gradients")
	}
	if t.node != nil {
		if on {
			return t
		}
		FailHint(ErrAutograd, "in Go: t.Detach()",
			"you can only change requires_grad flags of leaf variables. If you want to use a computed "+
				"variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().")
	}
	if on {
		t.flags |= flagRequiresGrad
		t.meta() // now, because goroutines that share the leaf must find it there
	} else {
		t.flags &^= flagRequiresGrad
	}
	return t
}

// IsLeaf reports a tensor that no recorded operator computed.
func (t *Tensor) IsLeaf() bool {
	if t == nil {
		panic(noTensor("Tensor.IsLeaf"))
	}
	return t.gradNode() == nil
}

// GradFn is the node that computed t, nil for leaves.
func (t *Tensor) GradFn() *Node {
	if t == nil {
		panic(noTensor("Tensor.GradFn"))
	}
	return t.gradNode()
}

// OutputNr is t's number among the results of GradFn.
func (t *Tensor) OutputNr() int {
	if t == nil {
		panic(noTensor("Tensor.OutputNr"))
	}
	return int(t.outNr)
}

// Base is the tensor that t is a view of, nil when it is none.
func (t *Tensor) Base() *Tensor {
	if t == nil {
		panic(noTensor("Tensor.Base"))
	}
	return t.base
}

// IsView reports a view of another tensor.
func (t *Tensor) IsView() bool {
	if t == nil {
		panic(noTensor("Tensor.IsView"))
	}
	return t.base != nil
}

// Grad is the gradient that Backward accumulated, nil when there is none. Only leaves have one, and tensors after
// RetainGrad.
func (t *Tensor) Grad() *Tensor {
	if t == nil {
		panic(noTensor("Tensor.Grad"))
	}
	if t.flags&flagRetainGrad == 0 && !t.IsLeaf() {
		Warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't " +
			"be " +
			"populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf " +
			"Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make " +
			"sure " +
			"you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.")
	}
	return t.held()
}

// held is Grad for the library's own use.
func (t *Tensor) held() *Tensor {
	if t.ag == nil {
		return nil
	}
	g := t.ag.grad
	if g != nil {
		g.eachStorage(holdStorage)
	}
	return g
}

// holdStorage notes that the program has asked for the gradient with this storage.
func holdStorage(s *Storage) {
	if b := s.bits.Load(); b&(stGrad|stHeld) == stGrad {
		if inTidy() == nil {
			s.bits.Or(stSeen | stHeld)
		} else if b&stSeen == 0 {
			s.bits.Or(stSeen)
		}
	}
}

// GradRaw is Grad for optimizers, which read the gradient and do not hold on to it.
func GradRaw(t *Tensor) *Tensor {
	if t.ag == nil {
		return nil
	}
	return t.ag.grad
}

// SetGrad sets or, with nil, removes the gradient.
func (t *Tensor) SetGrad(g *Tensor) {
	t.mustHaveMemory("Tensor.SetGrad")
	if g == nil && t.ag == nil {
		return
	}
	if g != nil && !SameShape(g.shape, t.shape) {
		Fail(ErrShape, "assigned grad has data of a different size: expected %s, got %s", ShapeString(t.shape),
			ShapeString(g.shape))
	}
	m := t.meta()
	if old := m.grad; old != nil && (g == nil || g.st != old.st) {
		dropGrad(old)
	}
	if g != nil {
		g.eachStorage((*Storage).keep)
	}
	m.grad = g
}

// Detach returns a view of the same memory that is not connected to the tape.
func (t *Tensor) Detach() *Tensor {
	t.mustHaveMemory("Tensor.Detach")
	if b := t.batched(); b != nil {
		return b.level.rewrap(b, b.phys.Detach())
	}
	d := &Tensor{st: t.st, ver: t.ver, off: t.off, dt: t.dt, dev: t.dev, flags: t.flags & (lazyBits | flagRare)}
	d.setDims(t.shape, t.stride)
	if t.flags&flagRare != 0 {
		d.shareRare(t)
	}
	return d
}

// DetachInPlace cuts t off from the tape.
func (t *Tensor) DetachInPlace() *Tensor {
	t.mustHaveMemory("Tensor.DetachInPlace")
	if t.base != nil {
		Fail(ErrAutograd, "Can't detach views in-place. Use detach() instead.")
	}
	t.node, t.outNr = nil, 0
	t.flags &^= flagRequiresGrad
	if b := t.batched(); b != nil {
		b.phys = b.phys.Detach()
	}
	return t
}

// HookHandle removes a hook.
type HookHandle struct{ remove func() }

// Remove takes the hook off; it may be called more than once.
func (h HookHandle) Remove() {
	if h.remove != nil {
		h.remove()
	}
}

// RegisterHook calls f with every gradient of t; what it returns, unless nil, is used instead.
func (t *Tensor) RegisterHook(f func(g *Tensor) *Tensor) HookHandle {
	t.mustHaveMemory("Tensor.RegisterHook")
	if !t.RequiresGrad() {
		Fail(ErrAutograd, "cannot register a hook on a tensor that doesn't require gradient")
	}
	h := &hook{nr: int(t.outNr), fn: f}
	t.addHook(h)
	return HookHandle{func() { h.off = true }}
}

func (t *Tensor) addHook(h *hook) {
	if n := t.gradNode(); n != nil {
		x := n.extra()
		x.hooks = append(x.hooks, h)
		return
	}
	a := t.accumulator().extra()
	a.hooks = append(a.hooks, h)
	t.ag.hooks = a.hooks
}

// RegisterPostAccumulateGradHook calls f with the leaf after its gradient was accumulated.
func (t *Tensor) RegisterPostAccumulateGradHook(f func(t *Tensor)) HookHandle {
	t.mustHaveMemory("Tensor.RegisterPostAccumulateGradHook")
	if t.gradNode() != nil || !t.RequiresGrad() {
		Fail(ErrAutograd, "post accumulate grad hooks cannot be registered on non-leaf tensors")
	}
	m := t.meta()
	m.postAcc = append(m.postAcc, f)
	i := len(m.postAcc) - 1
	return HookHandle{func() { m.postAcc[i] = nil }}
}

// RetainGrad makes Backward keep the gradient of a tensor that is not a leaf.
func (t *Tensor) RetainGrad() {
	t.mustHaveMemory("Tensor.RetainGrad")
	if !t.RequiresGrad() {
		Fail(ErrAutograd, "can't retain_grad on Tensor that has requires_grad=False")
	}
	if t.gradNode() == nil || t.flags&flagRetainGrad != 0 {
		return
	}
	t.flags |= flagRetainGrad
	t.addHook(&hook{nr: int(t.outNr), retain: true, fn: func(g *Tensor) *Tensor {
		if old := t.held(); old != nil {
			t.SetGrad(addT(old, g))
		} else {
			t.SetGrad(g.cloneOp())
		}
		return nil
	}})
}

// RetainsGrad reports whether RetainGrad was called on a tensor that is not a leaf.
func (t *Tensor) RetainsGrad() bool {
	if t == nil {
		panic(noTensor("Tensor.RetainsGrad"))
	}
	return t.flags&flagRetainGrad != 0
}

// RegisterHook calls f when the node has computed its gradients: in holds those of the arguments, out those of the
// results. What it returns, unless nil, is used instead of in.
func (n *Node) RegisterHook(f func(in, out []*Tensor) []*Tensor) HookHandle {
	h := &nodeHook{post: f}
	x := n.extra()
	x.post = append(x.post, h)
	return HookHandle{func() { h.off = true }}
}

// RegisterPrehook calls f with the gradients of the results before the node runs.
func (n *Node) RegisterPrehook(f func(out []*Tensor) []*Tensor) HookHandle {
	h := &nodeHook{pre: f}
	x := n.extra()
	x.pre = append(x.pre, h)
	return HookHandle{func() { h.off = true }}
}

// Attach records outputs as computed from inputs by a function with its own gradient: backward gets the gradients of
// outputs and returns one per input, nil where there is none. It is what custom functions, checkpointing and
// data-parallel modules are made of. Nothing is recorded when no input requires grad or recording is off; the result
// tells.
func Attach(name string, inputs, outputs []*Tensor, backward func(grads []*Tensor) []*Tensor) bool {
	if !IsGradEnabled() {
		return false
	}
	need := false
	for _, t := range inputs {
		need = need || t != nil && t.RequiresGrad()
	}
	if !need {
		return false
	}
	n := &Node{seq: nodeSeq.Add(1), more: &nodeMore{name: name}}
	n.more.fn = func(_ *Node, g []*Tensor) []*Tensor { return backward(g) }
	for _, t := range inputs {
		n.next = append(n.next, edgeOf(t))
	}
	for i, t := range outputs {
		m := outMeta{}
		if t != nil {
			m.set(t)
			if t.dt.IsDifferentiable() {
				t.node, t.outNr = n, int32(i)
			}
		}
		n.outMeta = append(n.outMeta, m)
	}
	return true
}

// SavedTensor keeps a tensor for a custom gradient and notices when it was changed in place since.
type SavedTensor struct {
	t   *Tensor
	ver uint32
}

// SaveForBackward keeps tensors for a custom gradient.
func SaveForBackward(ts ...*Tensor) []SavedTensor {
	out := make([]SavedTensor, len(ts))
	for i, t := range ts {
		if t != nil {
			refuseInference(t)
			out[i] = SavedTensor{t, t.ver.Load()}
		}
	}
	return out
}

// Get returns the tensor, or panics when it was modified in place.
func (s SavedTensor) Get() *Tensor {
	if s.t == nil {
		return nil
	}
	n := &Node{more: &nodeMore{name: "custom function"},
		saved: []savedTensor{{t: s.t, ver: s.ver, node: s.t.node, nr: s.t.outNr}}}
	return n.unpack(s.t)
}
