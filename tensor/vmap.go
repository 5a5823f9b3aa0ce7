package tensor

import (
	"fmt"
	"math"
	"slices"
)

// VmapLevel is the layer that maps a function over a batch of examples: one use of vmap. Inside the function a tensor
// stands for one example of the batch; it has the shape of an example and no memory of its own. The layer takes each
// call with such tensors to one call on the whole batch, by the batching rule of the operator.
//
// The layer acts above autograd. The call on the whole batch is recorded like any other, so a gradient taken outside
// the map flows through it. A gradient taken inside the map, of tensors that Fresh made there, is recorded by the layer
// itself, on the tensors that stand for examples. The gradient of a weight that all examples share is thus one for each
// example.
//
// Method: batching rules and levels as in JAX (Frostig et al., "Compiling machine learning programs via high-level
// tracing", 2018) and in torch.func.
type VmapLevel struct {
	size       int
	randomness Randomness
	depth      int // 1 for the outermost map
}

// Randomness says what random operators do in a mapped function.
type Randomness uint8

// The ways to draw random numbers in a mapped function.
const (
	RandomError     Randomness = iota // refuse
	RandomDifferent                   // other numbers for each example
	RandomSame                        // the same numbers for all examples
)

// NoBatch stands for a tensor that is not mapped over, where the dimension of a batch is asked for.
const NoBatch = math.MinInt

// batch says which examples a tensor of a mapped function stands for.
type batch struct {
	level *VmapLevel
	phys  *Tensor // the values of all examples, along dimension 0; with same: the value of each example
	same  bool
}

// NewVmapLevel is a map over size examples.
func NewVmapLevel(size int, r Randomness) *VmapLevel {
	l := &VmapLevel{size: size, randomness: r, depth: 1}
	for m, i := currentMode(), 0; m != nil && i < len(m.layers); i++ {
		if _, ok := m.layers[i].(*VmapLevel); ok {
			l.depth++
		}
	}
	return l
}

// Rank is RankTransform.
func (l *VmapLevel) Rank() Rank { return RankTransform }

// Size is the number of examples.
func (l *VmapLevel) Size() int { return l.size }

// transforms reports that a transform is set.
func (m *mode) transforms() bool {
	if m == nil {
		return false
	}
	for _, l := range m.layers {
		if l.Rank() == RankTransform {
			return true
		}
	}
	return false
}

// InVmap reports that the goroutine runs a mapped function.
func InVmap() bool { return innermostLevel() != nil }

func innermostLevel() *VmapLevel {
	if m := currentMode(); m != nil {
		for _, l := range m.layers {
			if v, ok := l.(*VmapLevel); ok {
				return v
			}
		}
	}
	return nil
}

func (t *Tensor) batched() *batch {
	if t == nil || t.ag == nil {
		return nil
	}
	return t.ag.batch
}

// IsBatched reports a tensor that stands for one example of a batch inside a mapped function.
func (t *Tensor) IsBatched() bool { return t.batched() != nil }

// Examples are the values of all examples of the innermost map that t stands for an example of, along dimension 0
// unless they are the same for all; another tensor is returned itself.
func Examples(t *Tensor) *Tensor {
	if b := t.batched(); b != nil {
		return b.phys
	}
	return t
}

// AnyExample reports whether a tensor is not zero for some example of the maps that it stands for an example of. It
// serves loops, which go on until no example needs them; what becomes of a single example must not depend on it.
func AnyExample(t *Tensor) bool {
	for t.IsBatched() {
		t = Examples(t)
	}
	c := NewCall(opAny, 1)
	*c.Arg(0) = TensorValue(t.Detach())
	return c.Do1().Num().F != 0
}

var opAny = slot("aten::any")

// of is what t stands for at this level, nil for a tensor from outside.
func (l *VmapLevel) of(t *Tensor) *batch {
	if b := t.batched(); b != nil && b.level == l {
		return b
	}
	return nil
}

// Wrap is the tensor that stands for one example of phys, whose examples lie along dimension 0.
func (l *VmapLevel) Wrap(phys *Tensor) *Tensor {
	w := l.wrap(phys, false)
	w.setDims(phys.shape[1:], phys.stride[1:])
	return w
}

// WrapSame is the tensor that stands for each example of a batch in which all examples are t.
func (l *VmapLevel) WrapSame(t *Tensor) *Tensor {
	w := l.wrap(t, true)
	w.setDims(t.shape, t.stride)
	return w
}

func (l *VmapLevel) wrap(phys *Tensor, same bool) *Tensor {
	w := &Tensor{st: &Storage{n: phys.st.n}, ver: phys.ver, off: phys.off, dt: phys.dt, dev: phys.dev,
		flags: phys.flags & (flagWrapped | lazyBits)}
	w.st.bits.Store(stForeign | stBatched | phys.st.bits.Load()&stInference)
	w.ag = &agMeta{batch: &batch{level: l, phys: phys, same: same}}
	return w
}

// Unwrap gives the values of all examples of t along dimension 0; a tensor that is the same for all examples is
// expanded.
func (l *VmapLevel) Unwrap(t *Tensor) *Tensor {
	b := l.of(t)
	switch {
	case b == nil:
		return l.expand(t)
	case b.same:
		return l.expand(b.phys)
	}
	return b.phys
}

// Shared is the value of t if it is the same for all examples, nil otherwise.
func (l *VmapLevel) Shared(t *Tensor) *Tensor {
	b := l.of(t)
	switch {
	case b == nil:
		return t
	case b.same:
		return b.phys
	}
	return nil
}

func (l *VmapLevel) expand(t *Tensor) *Tensor { return t.Expand(append([]int{l.size}, t.shape...)) }

// Fresh is a new leaf with the value of t that gradients can be taken with respect to, without touching the caller's
// tensor. The leaf belongs to the innermost map. Where t takes part in a gradient outside already, so does the leaf.
func Fresh(t *Tensor) *Tensor {
	l := innermostLevel()
	switch {
	case t.RequiresGrad() && IsGradEnabled() && (l == nil || l.of(t) != nil):
		return t.ViewAs(t)
	case l == nil:
		return t.Detach().SetRequiresGrad(true)
	}
	if b := l.of(t); b == nil {
		t = l.WrapSame(t)
	} else if b.same {
		t = l.WrapSame(b.phys)
	} else {
		t = l.Wrap(b.phys)
	}
	return t.SetRequiresGrad(true)
}

// Spend says that the function ran that leaves, made by Fresh, were for: to all but the transform that made them they
// are constants from then on.
func Spend(leaves []*Tensor) {
	for _, t := range leaves {
		if t.gradNode() == nil {
			t.meta().spent = true
		}
	}
}

// Stale is t without the record of a gradient that leads to spent leaves alone. The record stays where it leads to
// other leaves, too.
func Stale(t *Tensor) *Tensor {
	if !t.RequiresGrad() || HasLiveLeaves(t) {
		return t
	}
	if b := t.batched(); b != nil {
		if b.same {
			return b.level.WrapSame(b.phys)
		}
		return b.level.Wrap(b.phys)
	}
	return t.Detach()
}

// HasLiveLeaves reports that the records of ts lead to leaves that are not spent.
func HasLiveLeaves(ts ...*Tensor) bool {
	seen := map[*Node]bool{}
	var stack []*Node
	push := func(n *Node) {
		if n != nil && !seen[n] {
			seen[n] = true
			stack = append(stack, n)
		}
	}
	for _, t := range ts {
		push(edgeOf(t).node)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.leaf != nil && !(n.leaf.ag != nil && n.leaf.ag.spent) {
			return true
		}
		for _, e := range n.next {
			push(e.node)
		}
	}
	return false
}

// refuseBatchRead panics since a program asked for the elements of a tensor that stands for one example of a batch.
func refuseBatchRead(doing string) {
	FailHint(ErrValue, "in Go: torch.Where in place of an if, operators in place of numbers",
		"vmap: It looks like you're %s. We don't support vmap over %s, please try to rewrite what you're doing with "+
			"other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report.",
		doing, doing)
}

// Sees has composed operators run their bodies, unless they have a batching rule.
func (l *VmapLevel) Sees(op *Op) Sight {
	switch {
	case op.IsOut():
		return Whole
	case op.target != nil:
		return Inside
	case op.Body != nil && op.batchRule() == nil:
		return Inside
	}
	return Whole
}

// Call takes a call on one example to a call on the whole batch.
func (l *VmapLevel) Call(c *Ctx, next func()) {
	some := l.takesPart(c)
	random := c.op.draws()
	switch {
	case random && l.randomness == RandomError:
		c.Fail(ErrValue, "vmap: called random operation while in randomness error mode. Please either use the 'same' "+
			"or 'different' randomness flags on vmap or perform the randomness operation out of vmap")
	case random && l.randomness == RandomDifferent && !some && c.op.variant == functional && !hasTensors(c):
		some = true
	}
	if !some {
		next()
		return
	}
	b := &Batched{C: c, Op: c.op, Level: l}
	b.read()
	l.check(b)
	wants := c.op.VJP != nil && c.records() && l.requiresGrad(c)
	var before *Tensor
	if c.op.variant == inPlace && wants {
		before = l.prepareInPlace(c)
	}
	res := b.lower(random)
	if c.op.variant == inPlace {
		if len(c.outs) == 0 {
			c.outs = append(c.outs[:0], c.args[0].T)
		}
		if wants {
			c.recordInPlace(before)
			c.inplace = false
		}
		return
	}
	l.deliver(c, b, res)
	if c.op.View != nil && c.records() && len(c.outs) > 0 && l.of(c.args[0].T) != nil {
		l.rememberBase(c)
	}
	if wants {
		c.record()
	}
}

// takesPart reports that an argument stands for an example of this level.
func (l *VmapLevel) takesPart(c *Ctx) bool {
	for _, v := range c.args {
		if v.K == KTensor && l.of(v.T) != nil {
			return true
		}
		if list, ok := v.X.([]*Tensor); ok &&
			slices.ContainsFunc(list, func(t *Tensor) bool { return l.of(t) != nil }) {
			return true
		}
	}
	return false
}

func hasTensors(c *Ctx) bool {
	return slices.ContainsFunc(c.args, func(v Value) bool { return v.K == KTensor || v.K == KTensors })
}

// requiresGrad reports that a gradient taken inside the mapped function depends on the call.
func (l *VmapLevel) requiresGrad(c *Ctx) bool {
	for _, v := range c.args {
		if v.K == KTensor && l.of(v.T) != nil && v.T.RequiresGrad() {
			return true
		}
		if list, ok := v.X.([]*Tensor); ok && slices.ContainsFunc(list, func(t *Tensor) bool {
			return l.of(t) != nil && t.RequiresGrad()
		}) {
			return true
		}
	}
	return false
}

// check refuses the calls that no batching rule can serve.
func (l *VmapLevel) check(b *Batched) {
	c := b.C
	if c.op.IsOut() {
		c.Fail(ErrNotImpl, "Batching rule not implemented for %s; the fallback path doesn't work on out= or view ops.",
			c.op.full)
	}
	if c.op.DataDependent && c.op.batchRule() == nil {
		if len(c.op.Sch.Results) == 1 && c.op.Sch.Results[0].Kind == KBool {
			refuseBranch(c)
		}
		c.Fail(ErrNotImpl, "vmap: We do not support batching operators that can output dynamic shape. Attempted to "+
			"vmap "+
			"over %s: the examples of a batch would have results of different shapes", c.op.full)
	}
	if !c.op.IsInPlace() && !c.op.writesFirst() {
		return
	}
	if c.args[0].K != KTensor {
		c.Fail(ErrNotImpl, "Batching rule not implemented for %s, which changes the tensors of lists", c.op.full)
	}
	if s := l.of(c.args[0].T); s == nil || s.same {
		for i := 1; i < len(c.args); i++ {
			if b.Has(i) {
				c.FailHint(ErrValue, "in Go: x.NewZeros(…) of a tensor that is mapped over, in place of torch.Zeros",
					"vmap: %s(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "+
						"that has more elements than `self`. This happened due to `other` being vmapped over but "+
						"`self` "+
						"not being vmapped over at level %d. Please try to use out-of-place operators instead of %s. "+
						"If "+
						"said operator is being called inside the PyTorch framework, please file a bug report instead.",
					c.op.full, l.depth, c.op.full)
			}
		}
	}
}

// prepareInPlace is what must happen before a call in place that is recorded: see runVariant.
func (l *VmapLevel) prepareInPlace(c *Ctx) (before *Tensor) {
	self := c.args[0].T
	if msg := self.inPlaceRefusal(); msg != "" {
		c.Fail(ErrAutograd, "%s", msg)
	}
	self.gradNode()
	c.inplace = true
	if c.reads(0) {
		b := l.of(self)
		before = l.rewrap(b, b.phys.cloneOp())
	}
	return before
}

func (l *VmapLevel) rewrap(b *batch, phys *Tensor) *Tensor {
	if b.same {
		return l.WrapSame(phys)
	}
	return l.Wrap(phys)
}

// rememberBase makes the results of a view operator views of the tensor that stands for the example, for changes in
// place, and leaves what the gradient rule keeps.
func (l *VmapLevel) rememberBase(c *Ctx) {
	outs := slices.Clone(c.outs)
	c.op.View(c)
	c.outs = append(c.outs[:0], outs...)
	self := c.args[0].T
	base := self
	if self.base != nil {
		base = self.base
	}
	for _, v := range c.outs {
		v.base, v.attr = base, v.ver.Load()
		if len(c.outs) > 1 {
			v.flags |= flagOneOfMany
		}
	}
}

// deliver sets the results of the call.
func (l *VmapLevel) deliver(c *Ctx, b *Batched, res []Value) {
	wrap := func(t *Tensor) *Tensor {
		if t == nil { // a result that nobody asked for, which has no elements
			return l.WrapSame(zeros(c.args[0].T.dev, []int{0}, c.args[0].T.dt))
		}
		if b.Same {
			return l.WrapSame(t)
		}
		return l.Wrap(t)
	}
	c.outs = c.outs[:0]
	for _, v := range res {
		switch v.K {
		case KTensors:
			for _, t := range v.X.([]*Tensor) {
				c.outs = append(c.outs, wrap(t))
			}
		case KTensor, KNone:
			c.outs = append(c.outs, wrap(v.T))
		default:
			c.ret = res
		}
	}
}

// writesFirst reports an operator that writes to its first argument by nature, such as copy_.
func (o *Op) writesFirst() bool { return len(o.Sch.Params) > 0 && o.Sch.Params[0].Writes }

// draws reports an operator that draws random numbers itself, not through the operators that it is composed of.
func (o *Op) draws() bool {
	return o.Body == nil && o.View == nil && (o.Draw != DrawByElements || o.Sch.Index("generator") >= 0)
}

func vmapShapes(op *Op, a, b []int) string {
	return fmt.Sprintf("%s gave results of the shapes %s and %s for two examples of a batch", op.full, ShapeString(a),
		ShapeString(b))
}

// TracksGrad reports that t, or what it stands for in a mapped function, requires gradients.
func TracksGrad(t *Tensor) bool {
	for t != nil {
		if t.RequiresGrad() {
			return true
		}
		b := t.batched()
		if b == nil {
			return false
		}
		t = b.phys
	}
	return false
}

// gradsOfExamples gives each example a gradient of its own where the rule of n reads what differs between the examples:
// rules write into tensors that they make like the gradient.
func (l *VmapLevel) gradsOfExamples(n *Node, grads []*Tensor) []*Tensor {
	differs := func(t *Tensor) bool { b := l.of(t); return b != nil && !b.same }
	some := slices.ContainsFunc(n.outs, differs)
	for i := range n.args {
		list, _ := n.args[i].X.([]*Tensor)
		some = some || differs(n.args[i].T) || slices.ContainsFunc(list, differs)
	}
	if !some {
		return grads
	}
	out := slices.Clone(grads)
	for i, g := range out {
		if g != nil && !differs(g) {
			out[i] = l.apart(g)
		}
	}
	return out
}

// apart gives each example a value of its own of what was the same for all.
func (l *VmapLevel) apart(t *Tensor) *Tensor {
	if t.RequiresGrad() && IsGradEnabled() {
		return addT(t, l.Wrap(zeros(t.dev, []int{l.size}, t.dt))) // is recorded
	}
	return l.Wrap(l.Unwrap(t))
}

// refuseBatchMemory panics where a tensor that stands for one example would get another memory.
func refuseBatchMemory(ts ...*Tensor) {
	for _, t := range ts {
		if t.batched() != nil {
			Fail(ErrNotImpl, "vmap: the memory of a tensor that is mapped over cannot be resized or exchanged")
		}
	}
}

// refuseBranch panics since a program asked for the truth of a value that differs between the examples.
func refuseBranch(c *Ctx) {
	c.FailHint(ErrNotImpl, "in Go: torch.Where in place of an if",
		"vmap: It looks like you're attempting to use a Tensor "+
			"in some data-dependent control flow. We don't support that yet")
}
