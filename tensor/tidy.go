package tensor

import (
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/mem"
)

// scope lists the storages made while it is the goroutine's innermost one.
type scope struct {
	made  []*Storage
	spare []*small // of the engine's scope: small tensors that nobody refers to any more
	all   bool     // small ones too: they are worth no freeing, but using them later is an error all the same
}

// activeTidies counts the scopes of all goroutines that want small storages.
var activeTidies atomic.Int32

func (s *scope) reset() {
	if len(s.made) > 0 {
		clear(s.made)
		s.made = s.made[:0]
	}
}

// track enters a new storage in the goroutine's innermost scope.
func track(s *Storage) {
	m := currentMode()
	if m == nil {
		return
	}
	if m.inference {
		s.bits.Store(stInference)
	}
	for _, o := range m.observers {
		o.Allocated(s.n)
	}
	if len(m.observers) > 0 {
		observeCollection(s, m.observers)
	}
	if m.scope != nil && (s.n >= mem.Large || m.scope.all) {
		m.scope.made = append(m.scope.made, s)
	}
}

// Tidy runs f and then frees the memory of all tensors that were made in it on this goroutine, except
//   - parameters and gradients, and what optimizers and modules keep between steps,
//   - tensors on which Keep was called, and their views.
//
// Using any other tensor made in f afterwards panics with ErrReleased, as does using a view of one. Tensors that
// existed before are left alone, also when f changes them in place. Calls may be nested: the inner one frees what was
// made in it. Tidy frees as well when f panics. Tensors made by goroutines that f starts are not concerned, unless they
// are handed over (MakeFor), but such goroutines must not use tensors of f when it has returned.
//
// A training step inside Tidy needs no more memory than its own peak, however rarely the garbage collector runs.
// PyTorch has no such function: it counts references.
func Tidy(f func()) { tidy(f, nil) }

// TidyReturn is Tidy for a function with a result. The result lives on, with the tensors that its Backward needs;
// inside another Tidy it belongs to that one.
func TidyReturn(f func() *Tensor) *Tensor {
	var t *Tensor
	tidy(func() { t = f() }, func() []*Tensor { return []*Tensor{t} })
	return t
}

// TidyReturnN is TidyReturn for any number of results; they may be nil.
func TidyReturnN(f func() []*Tensor) []*Tensor {
	var t []*Tensor
	tidy(func() { t = f() }, func() []*Tensor { return t })
	return t
}

func tidy(f func(), results func() []*Tensor) {
	s := &scope{all: true}
	var outer *scope
	activeTidies.Add(1)
	ok := false
	defer func() {
		activeTidies.Add(-1)
		var live map[*Storage]bool
		if ok && results != nil {
			live = map[*Storage]bool{}
			for _, t := range results() {
				reach(t, func(st *Storage) { live[st] = true })
			}
		}
		for _, st := range s.made {
			switch {
			case st.bits.Load()&(stKept|stReleased|stGrad) != 0:
			case live[st]:
				if outer != nil {
					outer.made = append(outer.made, st)
				}
			default:
				st.release()
			}
		}
	}()
	with(func(m *mode) { outer, m.scope = m.scope, s }, f)
	ok = true
}

// reach calls f for the storages of t, of its gradient and of everything that its gradient rules read.
func reach(t *Tensor, f func(*Storage)) {
	if t == nil || t.st == nil { // a zero Tensor has no memory
		return
	}
	done := map[*Node]bool{}
	var stack []*Node
	see := func(t *Tensor) {
		if t == nil {
			return
		}
		if t.st.bits.Load()&stReleased == 0 {
			t.eachStorage(f)
		}
		if g := t.held(); g != nil {
			g.eachStorage(f)
		}
		if n := t.node; n != nil && !done[n] {
			done[n] = true
			stack = append(stack, n)
		}
	}
	see(t)
	see(t.base)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := range n.saved {
			see(n.saved[i].t)
		}
		see(n.leaf)
		switch x := n.user.(type) {
		case *Tensor:
			see(x)
		case []*Tensor:
			for _, t := range x {
				see(t)
			}
		}
		if n.more != nil && n.more.reach != nil {
			for _, t := range n.more.reach() {
				see(t)
			}
		}
		for _, e := range n.next {
			if e.node != nil && !done[e.node] {
				done[e.node] = true
				stack = append(stack, e.node)
			}
		}
	}
}

// Handover is memory that one goroutine has made for another, such as a batch that a worker of a data loader has put
// together: see MakeFor.
type Handover struct{ made []*Storage }

// MakeFor runs f, whose results are for another goroutine. That goroutine calls Adopt, inside its own Tidy, to make
// them its own. Of what f has made only the results belong to the handover; the rest is left to the garbage collector,
// since f may keep tensors for later, as a dataset with a cache does.
func MakeFor(f func() []*Tensor) Handover {
	s := &scope{all: true}
	var results []*Tensor
	with(func(m *mode) { m.scope = s }, func() { results = f() })
	live := map[*Storage]bool{}
	for _, t := range results {
		reach(t, func(st *Storage) { live[st] = true })
	}
	made := s.made[:0]
	for _, st := range s.made {
		if live[st] {
			made = append(made, st)
		}
	}
	clear(s.made[len(made):])
	return Handover{made}
}

// Adopt treats the results as if the calling goroutine had made them now: the Tidy that it is in frees them. Outside of
// Tidy it does nothing. It must be called once at most.
func (h Handover) Adopt() {
	if s := inTidy(); s != nil {
		s.made = append(s.made, h.made...)
	}
}

// InTidy reports that the goroutine is inside Tidy.
func InTidy() bool { return inTidy() != nil }

// inTidy is the goroutine's Tidy, nil outside.
func inTidy() *scope {
	if activeTidies.Load() == 0 {
		return nil
	}
	if m := currentMode(); m != nil && m.scope != nil && m.scope.all {
		return m.scope
	}
	return nil
}

// dropGrad is called with a gradient that is about to be set to none or replaced. Inside Tidy it is freed: at once when
// the program has never asked for it, otherwise with the rest, unless the program may have it from somewhere else.
func dropGrad(g *Tensor) { g.eachStorage(dropStorage) }

// dropStorage is dropGrad for the memory of a gradient.
func dropStorage(st *Storage) {
	b := st.bits.Load()
	if b&stGrad == 0 || b&(stHeld|stKept) != 0 {
		return
	}
	if s := inTidy(); s != nil {
		st.bits.And(^stGrad)
		if b&stSeen == 0 && len(currentMode().layers) == 0 {
			st.release()
			return
		}
		s.made = append(s.made, st)
	}
}

// Keep exempts a tensor, and what its Backward needs, from every Tidy, and returns it. Its memory is freed by the
// garbage collector when nothing refers to it any more.
func (t *Tensor) Keep() *Tensor {
	t.mustHaveMemory("Tensor.Keep")
	t.flags |= flagKeep
	if t.node == nil && t.base == nil {
		t.eachStorage((*Storage).keep)
		return t
	}
	reach(t, (*Storage).keep)
	return t
}

// IsReleased reports that the tensor's memory was freed: using it would panic with ErrReleased.
func (t *Tensor) IsReleased() bool {
	t.mustHaveMemory("Tensor.IsReleased")
	return t.st.bits.Load()&stReleased != 0
}

// ReleaseRaw frees a tensor's memory at once, unless it is small. The caller knows that nobody else refers to it or a
// view of it: for kernels and optimizers that are done with a temporary of their own.
func ReleaseRaw(t *Tensor) {
	if t != nil && t.st.n >= mem.Large {
		t.st.release()
	}
}

// Blind is a Layer that does not look at the elements of what calls have taken and given once they are over, nor hands
// these tensors on: what nobody else refers to may be freed under it.
type Blind interface {
	Layer
	KeepsNoMemory()
}

// ReleaseConsumed frees the memory of x at once. The caller has computed with x, knows that no other tensor that the
// program can reach shares its memory, and names those it cannot be sure of: if one of them does, nothing happens. It
// is for modules, and for values that no hook and no user has seen. Nothing happens either where gradients are
// recorded, which may read x, and under a layer that is not Blind, which may have kept it.
func ReleaseConsumed(x *Tensor, others ...*Tensor) {
	m := currentMode()
	if m == nil || !m.noGrad || m.pack != nil || x.node != nil || x.st.bits.Load()&(stKept|stGrad) != 0 {
		return
	}
	for _, l := range m.layers {
		if _, ok := l.(Blind); !ok {
			return
		}
	}
	for _, t := range others {
		if t.st == x.st {
			return
		}
	}
	x.st.release()
}

// ReleaseAfter says that only the tape refers to the tensors inner, and that the rule of y's node, which has saved
// them, is the last one of a backward pass that reads them: when it has run in a pass that does not keep its graph,
// their memory is freed. It is for modules, and for values that no hook and no user has seen. Where something else may
// look on, a layer or a hook of saved tensors, nothing happens; what a recorded backward pass has read stays, too. It
// reports whether y's node has saved one of them.
func ReleaseAfter(y *Tensor, inner ...*Tensor) (saved bool) {
	n := y.node
	if n == nil || n.released || n.more != nil {
		return false
	}
	if m := currentMode(); m != nil && (!m.observedOnly() || m.pack != nil) {
		return false
	}
	for _, t := range inner {
		if t.base == nil && n.saves(t.st) {
			t.st.bits.Or(stInner)
			n.extra().inner = append(n.extra().inner, t.st)
			saved = true
		}
	}
	return saved
}

// saves reports that the node's rule reads the storage.
func (n *Node) saves(st *Storage) bool {
	for i := range n.saved {
		if n.saved[i].t != nil && n.saved[i].t.st == st {
			return true
		}
	}
	return false
}

// expose is called when others than the tape may have come by what the node has saved.
func (n *Node) expose() {
	for i := range n.saved {
		if t := n.saved[i].t; t != nil && t.st.bits.Load()&stInner != 0 {
			t.st.bits.And(^stInner)
		}
	}
}

// releaseInner frees what the node was the last to read, unless a gradient in keep shares it.
func (n *Node) releaseInner(keep []*Tensor) {
	for _, st := range n.more.inner {
		if st.bits.Load()&(stInner|stKept) == stInner && !holds(keep, st) {
			st.release()
		}
	}
	n.more.inner = nil
}
