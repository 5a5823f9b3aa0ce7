package graph

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensor"
)

// Frozen is a method of an object prepared for inference, as long as the object is what it was. Any number of
// goroutines may run it.
type Frozen struct {
	plain *Function
	fn    *Function // nil where plain runs instead
	slots []frozenSlot
	dates []frozenTensor
	sets  []frozenSlot // that the function sets, without a value
}

// frozenSlot is an attribute that was read.
type frozenSlot struct {
	o *Object
	i int
	v tensor.Value
}

// frozenTensor is a tensor of the object with its version.
type frozenTensor struct {
	t       *tensor.Tensor
	version int
	storage *tensor.Storage
}

// Freeze makes a copy of a method of self, whose calls are replaced by what they call and whose attributes, those of
// objects in self included, are constants, and applies FuseWith to it. self is nil for a function without an object. An
// attribute that the function sets is read and set as before. What makes objects or writes into the memory of its
// arguments, attributes or constants stays as it is, and so does a function with calls that are not known before it
// runs.
func Freeze(f *Function, self *Object, opts ...FuseOptions) *Frozen {
	var o FuseOptions
	for _, opt := range opts {
		o = opt
	}
	z := &Frozen{plain: f}
	if f.Compile() != nil {
		return z
	}
	g := f.inlined()
	objects := map[*Value]*Object{}
	if self != nil && len(g.Body.Params) > 0 {
		objects[g.Body.Params[0]] = self
	}
	set := map[string]bool{}
	setAttributes(g.Body, set)
	z.attributes(g.Body, objects, set)
	err := tensor.Try(func() {
		u := newFuser(g, o)
		u.fold() // what only training does is gone
		if z.lasting(g, objects) {
			g.FuseWith(o)
			z.fn = g
		}
	})
	if err != nil || z.fn != nil && z.fn.Compile() != nil {
		z.fn = nil
	}
	return z
}

// setAttributes finds the names of attributes that the program sets.
func setAttributes(b *Block, set map[string]bool) {
	for _, n := range b.Nodes {
		if n.Op == SetAttr {
			set[n.Attr] = true
		}
		for _, c := range n.Blocks {
			setAttributes(c, set)
		}
	}
}

// attributes turns the reading of attributes that nobody sets into constants.
func (z *Frozen) attributes(b *Block, objects map[*Value]*Object, set map[string]bool) {
	for _, n := range b.Nodes {
		if n.Op == GetAttr && !set[n.Attr] && !set[BySlot] {
			z.attribute(n, objects)
		}
		for _, c := range n.Blocks {
			z.attributes(c, objects, set)
		}
	}
}

// attribute makes a constant of an attribute that is a tensor, a number, a string or None. Lists stay, since a program
// may change them.
func (z *Frozen) attribute(n *Node, objects map[*Value]*Object) {
	o, i := slotOf(n, objects)
	if o == nil {
		return
	}
	v := o.Slots[i]
	switch v.K {
	case tensor.KTensor:
		if v.T != nil && v.T.IsSparse() {
			return
		}
	case tensor.KInt, tensor.KFloat, tensor.KBool, tensor.KStr, tensor.KNone:
	default:
		if p, ok := v.X.(*Object); ok && v.K == tensor.KAny {
			objects[n.Out[0]] = p
			z.slots = append(z.slots, frozenSlot{o, i, v})
		}
		return
	}
	z.slots = append(z.slots, frozenSlot{o, i, v})
	if v.K == tensor.KTensor && v.T != nil {
		z.dates = append(z.dates, frozenTensor{v.T, v.T.Version(), v.T.Storage()})
	}
	n.Op, n.Const, n.In, n.Attr, n.Index = Constant, v, nil, "", 0
}

// slotOf is the attribute that a node reads or sets, nil where its object is not known.
func slotOf(n *Node, objects map[*Value]*Object) (*Object, int) {
	o := objects[n.In[0]]
	if o == nil {
		return nil, 0
	}
	i := n.Index
	if n.Attr != BySlot {
		i = o.Class.AttrIndex(n.Attr)
	}
	if i < 0 || i >= len(o.Slots) {
		return nil, 0
	}
	return o, i
}

// lasting reports that the function changes nothing that outlives a call but attributes of known objects, which are
// noted: it writes no memory but its own.
func (z *Frozen) lasting(f *Function, objects map[*Value]*Object) bool {
	a := newAliases(f)
	own := !a.any
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, n := range b.Nodes {
			switch n.Op {
			case SetAttr:
				o, i := slotOf(n, objects)
				t := n.In[1].Type // containers could hide tensors in another layout
				own = own && o != nil && (t.Kind == TensorType || isPlain(t))
				z.sets = append(z.sets, frozenSlot{o: o, i: i})
			case SetGrad, CreateObject:
				own = false
			case Constant, GetAttr:
				own = own && !a.written[a.class(n.Out[0])]
			}
			for _, c := range n.Blocks {
				walk(c)
			}
		}
	}
	walk(f.Body)
	return own && !slices.ContainsFunc(f.Body.Params, func(v *Value) bool { return a.written[a.class(v)] })
}

// Stale reports that an attribute of the object, or a tensor in one, was changed.
func (z *Frozen) Stale() bool {
	for i := range z.slots {
		s := &z.slots[i]
		v := &s.o.Slots[s.i]
		if v.K != s.v.K || v.N != s.v.N || v.T != s.v.T || v.X != s.v.X {
			return true
		}
	}
	for i := range z.dates {
		if d := &z.dates[i]; d.t.Version() != d.version || d.t.Storage() != d.storage {
			return true
		}
	}
	return false
}

// Run runs the method; self is the first argument. An error is that of the method itself.
func (z *Frozen) Run(ctx context.Context, opt Options, args ...tensor.Value) ([]tensor.Value, error) {
	if z.fn == nil {
		return z.plain.RunWith(ctx, opt, args...)
	}
	before := make([]tensor.Value, len(z.sets))
	for i, s := range z.sets {
		before[i] = s.o.Slots[s.i]
	}
	res, err := z.fn.RunWith(ctx, opt, args...)
	if err == nil || ctx != nil && ctx.Err() != nil || errors.Is(err, ErrSteps) {
		return res, err
	}
	for i, s := range z.sets { // as if it had not run
		s.o.Slots[s.i] = before[i]
	}
	return z.plain.RunWith(ctx, opt, args...) // which names the operators of the program
}

// Serving runs a method of an object. Where no gradients are recorded, and no layer looks on, the second call since the
// object was changed prepares the method with Freeze, and later ones run what was prepared. The zero value is ready.
// Any number of goroutines may use it.
type Serving struct {
	Options FuseOptions // of what is prepared

	frozen atomic.Pointer[Frozen]
	calls  atomic.Int32 // since the object was changed
}

// Run runs f, a method of self, which is the first argument; self is nil for a function without an object. It is always
// called with the same two.
func (s *Serving) Run(ctx context.Context, f *Function, self *Object, args ...tensor.Value) ([]tensor.Value, error) {
	if tensor.IsGradEnabled() || !tensor.Unwatched() {
		return f.Run(ctx, args...)
	}
	z := s.frozen.Load()
	if z != nil && z.Stale() {
		s.frozen.CompareAndSwap(z, nil)
		s.calls.Store(0)
		z = nil
	}
	if z == nil {
		if s.calls.Add(1) < 2 {
			return f.Run(ctx, args...)
		}
		z = Freeze(f, self, s.Options)
		s.frozen.Store(z)
	}
	return z.Run(ctx, Options{}, args...)
}
