package tensor

import (
	"slices"
	"strings"
)

// FunctionalLevel is the layer that has a function change no tensor in place: one use of functionalize. An operator
// in place runs as the operator that gives a new tensor, and the tensor that the program holds takes over what that one
// is. A view of it is made anew from the new tensor; what is written to a view becomes, by the inverse of the view
// (select_scatter for select), a new tensor that the view is one of. Layers below see functional operators on tensors
// that are never written.
//
// Tensors from before the level that are no arguments of the function are changed in place as usual. An operator that
// has no functional form, such as one that writes several of its arguments, runs on copies.
//
// Method: the functionalization of torch.func, without its wrappers: a Go program holds pointers to tensors, and what
// they point to can be exchanged.
// https://dev-discuss.pytorch.org/t/functionalization-in-pytorch-everything-you-wanted-to-know/965
type FunctionalLevel struct {
	copies  bool    // views are copies, too
	mark    uint64  // storages made since belong to the function
	inputs  []input // of the function
	current map[*Tensor]*Tensor
	handles map[*Tensor]*Tensor // the other way round
	views   []*functionalView   // in the order in which they were made
	viewOf  map[*Tensor]*functionalView
}

// input is an argument: what the function holds in its place.
type input struct {
	given, handle *Tensor
	written       bool
}

// functionalView says how a tensor is made of another one.
type functionalView struct {
	handle, parent *Tensor
	op             *Op
	args           []Value // the first one is the parent
	which          int     // of several results
	start, dim     int     // of one of several parts along a dimension
}

// NewFunctionalLevel begins a level; copies says that views are copies, too.
func NewFunctionalLevel(copies bool) *FunctionalLevel {
	return &FunctionalLevel{copies: copies, mark: StorageMark(), current: map[*Tensor]*Tensor{},
		handles: map[*Tensor]*Tensor{}, viewOf: map[*Tensor]*functionalView{}}
}

// Input is what the function is given in the place of an argument.
func (l *FunctionalLevel) Input(t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	h := &Tensor{}
	h.adopt(t)
	l.inputs = append(l.inputs, input{given: t, handle: h})
	l.hold(h, t)
	return h
}

// Result is what a result of the function stands for.
func (l *FunctionalLevel) Result(t *Tensor) *Tensor {
	for _, in := range l.inputs {
		if in.handle == t {
			return in.given
		}
	}
	return l.value(t)
}

// Finish writes the arguments that the function has changed, at its end.
func (l *FunctionalLevel) Finish() {
	for _, in := range l.inputs {
		if in.written {
			k := NewCall(opCopy, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = TensorValue(in.given), TensorValue(l.value(in.handle)), BoolValue(false)
			k.Do1()
		}
	}
}

// adopt makes t what r is.
func (t *Tensor) adopt(r *Tensor) {
	t.st, t.ver, t.off, t.dt, t.dev, t.flags = r.st, r.ver, r.off, r.dt, r.dev, r.flags
	t.outNr, t.attr, t.node, t.base, t.ag = r.outNr, r.attr, r.node, r.base, r.ag
	t.setDims(r.shape, r.stride)
}

// hold makes v the value of the tensor h that the program holds.
func (l *FunctionalLevel) hold(h, v *Tensor) {
	if h == v {
		return
	}
	if old := l.current[h]; old != nil {
		delete(l.handles, old)
	}
	l.current[h], l.handles[v] = v, h
}

// value is what a tensor that the program holds stands for now.
func (l *FunctionalLevel) value(t *Tensor) *Tensor {
	if v := l.current[t]; v != nil {
		return v
	}
	return t
}

// holder is the tensor that the program holds for a value.
func (l *FunctionalLevel) holder(v *Tensor) *Tensor {
	if h := l.handles[v]; h != nil {
		return h
	}
	return v
}

// owns reports a tensor of the function: an argument, or one that was made since it began.
func (l *FunctionalLevel) owns(t *Tensor) bool {
	if t == nil {
		return false
	}
	return l.current[t] != nil || l.viewOf[t] != nil || t.st.MadeSince(l.mark)
}

// Rank is RankTransform.
func (l *FunctionalLevel) Rank() Rank { return RankTransform }

// Sees takes what writes whole, and looks into other composed operators, too.
func (l *FunctionalLevel) Sees(op *Op) Sight {
	switch {
	case op.writes():
		return Whole
	case op.Body != nil || op.target != nil:
		return Both
	}
	return Whole
}

// writes reports an operator that writes one of its arguments.
func (o *Op) writes() bool {
	return slices.ContainsFunc(o.Sch.Params, func(p Param) bool { return p.Writes })
}

// Call runs a call on the values of its arguments, and without writing one.
func (l *FunctionalLevel) Call(c *Ctx, next func()) {
	if l.writesOwn(c) {
		l.functional(c)
		return
	}
	given := slices.Clone(c.args)
	l.substitute(c.args)
	isView := c.op.View != nil && c.op.variant == functional && len(c.args) > 0 && c.args[0].K == KTensor
	if isView && l.copies {
		if cp := c.op.copyForm(); cp != nil {
			k := NewCall(cp, len(cp.Sch.Params))
			copy(k.args, c.args)
			k.Run()
			c.outs = append(c.outs[:0], k.outs...)
			k.done()
		} else {
			next()
		}
	} else {
		next()
	}
	for i, o := range c.outs {
		if o != nil {
			c.outs[i] = l.held(o)
		}
	}
	if isView {
		l.remember(c, given)
	}
	copy(c.args, given)
}

// held is the tensor that the program gets for a result of a call. It is never the result itself, which the tape may
// have saved and layers below may know, since what it points to is exchanged when it is written.
func (l *FunctionalLevel) held(r *Tensor) *Tensor {
	if h := l.handles[r]; h != nil { // a call that gave one of its arguments
		return h
	}
	h := &Tensor{}
	h.adopt(r)
	if l.current[r] != nil { // a tensor that the body of a composed operator held
		if v := l.viewOf[r]; v != nil {
			v.handle = h
			l.viewOf[h] = v
			delete(l.viewOf, r)
		}
		for _, v := range l.views {
			if v.parent == r {
				v.parent = h
				v.args[0] = TensorValue(h)
			}
		}
	}
	l.hold(h, r)
	return h
}

// substitute replaces tensors by their values.
func (l *FunctionalLevel) substitute(args []Value) {
	for i, v := range args {
		if list, ok := v.X.([]*Tensor); ok && v.K == KTensors {
			list = slices.Clone(list)
			for j, t := range list {
				list[j] = l.value(t)
			}
			args[i] = TensorsValue(list)
		} else if v.K == KTensor && v.T != nil {
			if x := l.value(v.T); x != v.T {
				args[i] = TensorValue(x)
			}
		}
	}
}

// writesOwn reports a call that writes a tensor of the function.
func (l *FunctionalLevel) writesOwn(c *Ctx) bool {
	for i, p := range c.op.Sch.Params {
		if !p.Writes || i >= len(c.args) {
			continue
		}
		if l.owns(c.args[i].T) {
			return true
		}
		if list, ok := c.args[i].X.([]*Tensor); ok && slices.ContainsFunc(list, l.owns) {
			return true
		}
	}
	return false
}

// remember notes that the results of a call are views of its first argument.
func (l *FunctionalLevel) remember(c *Ctx, given []Value) {
	parent := l.holder(given[0].T)
	start := 0
	for k, o := range c.outs {
		if o == parent || l.viewOf[o] != nil {
			continue
		}
		v := &functionalView{handle: o, parent: parent, op: c.op, args: slices.Clone(given), which: k, start: start}
		v.args[0] = TensorValue(parent)
		if i := c.op.Sch.Index("dim"); len(c.op.Sch.Results) == 1 && c.op.Sch.Results[0].Kind == KTensors && i >= 0 {
			v.dim = c.Int(i)
			if o.Dim() == parent.Dim() {
				start += o.Size(v.dim)
			}
		}
		l.views = append(l.views, v)
		l.viewOf[o] = v
	}
}

// functional runs a call that writes, as one that does not.
func (l *FunctionalLevel) functional(c *Ctx) {
	op, self := c.op, c.args[0].T
	form := op.functionalForm()
	switch {
	case slices.Contains(inPlaceViews, op.Sch.Name) && form != nil: // the tensor becomes a view of what it was
		l.viewInPlace(c, form)
	case form != nil && self != nil && c.args[0].K == KTensor && len(form.Sch.Results) == 1:
		l.refuse(c, self)
		res := l.run(form, c.args)
		if !SameShape(res[0].shape, self.shape) {
			c.Fail(ErrShape, "output with shape %s doesn't match the broadcast shape %s", ShapeString(self.shape),
				ShapeString(res[0].shape))
		}
		l.write(c, self, res[0])
		c.outs = append(c.outs[:0], self)
	case op.variant == outVariant && op.base != nil:
		n := len(op.Sch.Params) - len(op.Sch.Results)
		res := l.run(op.base, c.args[:min(n, len(op.base.Sch.Params))])
		c.outs = c.outs[:0]
		for i, r := range res {
			o := c.args[n+i].T
			l.write(c, o, r)
			c.outs = append(c.outs, o)
		}
	default:
		l.onCopies(c)
	}
}

// refuse refuses what autograd cannot follow, as the operator in place would.
func (l *FunctionalLevel) refuse(c *Ctx, self *Tensor) {
	if c.records() && IsGradEnabled() {
		if msg := self.inPlaceRefusal(); msg != "" && l.viewOf[self] == nil {
			c.Fail(ErrAutograd, "%s", msg)
		}
	}
}

// run calls an operator on the values of arguments.
func (l *FunctionalLevel) run(op *Op, args []Value) []*Tensor {
	k := NewCall(op, len(op.Sch.Params))
	defaults(op, k.args, copy(k.args, args))
	l.substitute(k.args)
	k.Run()
	out := slices.Clone(k.outs)
	k.done()
	return out
}

// call1 calls an operator by its name, on values.
func (l *FunctionalLevel) call1(name string, args ...Value) *Tensor {
	op := LookupOp(name)
	k := NewCall(op, len(op.Sch.Params))
	defaults(op, k.args, copy(k.args, args))
	return k.Do1()
}

// defaults sets the arguments from the n-th on to their defaults.
func defaults(op *Op, args []Value, n int) {
	for i := n; i < len(args); i++ {
		if d := op.Sch.Params[i].Default; d != nil {
			args[i] = *d
		}
	}
}

// onCopies runs an operator that has no functional form on copies of what it writes.
func (l *FunctionalLevel) onCopies(c *Ctx) {
	k := NewCall(c.op, len(c.args))
	copy(k.args, c.args)
	l.substitute(k.args)
	type pair struct{ h, v *Tensor }
	var written []pair
	clone := func(h, v *Tensor) *Tensor {
		if !l.owns(h) {
			return v
		}
		w := v.cloneOp()
		written = append(written, pair{h, w})
		return w
	}
	for i, p := range c.op.Sch.Params {
		if !p.Writes || i >= len(k.args) {
			continue
		}
		if v := k.args[i]; v.K == KTensor && v.T != nil {
			k.args[i] = TensorValue(clone(c.args[i].T, v.T))
		} else if list, ok := v.X.([]*Tensor); ok {
			list = slices.Clone(list)
			for j, t := range list {
				list[j] = clone(c.args[i].X.([]*Tensor)[j], t)
			}
			k.args[i] = TensorsValue(list)
		}
	}
	k.Run()
	c.outs = append(c.outs[:0], k.outs...)
	c.ret = k.ret
	k.done()
	for i, o := range c.outs {
		at := slices.IndexFunc(written, func(w pair) bool { return w.v == o })
		switch {
		case at >= 0:
			c.outs[i] = written[at].h
		case o != nil:
			c.outs[i] = l.held(o)
		}
	}
	for _, w := range written {
		l.write(c, w.h, w.v)
	}
}

// withoutUnderscore is the operator of the name of one in place without its underscore, nil where there is none that
// leaves its arguments alone.
func (o *Op) withoutUnderscore() *Op {
	name, overload, dot := strings.Cut(o.full, ".")
	name, ok := strings.CutSuffix(name, "_")
	if !ok {
		return nil
	}
	if name == "aten::transpose" {
		overload, dot = "int", true
	}
	if dot {
		name += "." + overload
	}
	if f := LookupOp(name); f != nil && f.Def != nil && f.variant == functional && !f.writes() {
		return f
	}
	return nil
}

// functionalForm is the operator that gives a new tensor where this one in place writes its first argument.
func (o *Op) functionalForm() *Op {
	if o.variant != inPlace && !(o.writesFirst() && o.variant == functional) {
		return nil
	}
	if f := o.withoutUnderscore(); f != nil {
		return f
	}
	return o.base
}

// inPlaceViews are the operators that make their argument another view of its memory.
var inPlaceViews = []string{"t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_"}

// viewInPlace makes the tensor self a view of what it was.
func (l *FunctionalLevel) viewInPlace(c *Ctx, form *Op) {
	self := c.args[0].T
	was := &Tensor{}
	was.adopt(self)
	if v := l.current[self]; v != nil {
		delete(l.current, self)
		l.hold(was, v)
	}
	for i := range l.inputs {
		if l.inputs[i].handle == self {
			l.inputs[i].handle = was
		}
	}
	if v := l.viewOf[self]; v != nil {
		v.handle = was
		l.viewOf[was] = v
		delete(l.viewOf, self)
	}
	for _, v := range l.views {
		if v.parent == self {
			v.parent = was
			v.args[0] = TensorValue(was)
		}
	}
	args := slices.Clone(c.args)
	args[0] = TensorValue(was)
	v := &functionalView{handle: self, parent: was, op: form, args: args}
	l.views = append(l.views, v)
	l.viewOf[self] = v
	r := l.view(v)
	self.adopt(r)
	l.hold(self, r)
	c.outs = append(c.outs[:0], self)
}

// write makes r the value of h, of the tensor that h is a view of, and of the other views of that.
func (l *FunctionalLevel) write(c *Ctx, h, r *Tensor) {
	if !l.owns(h) { // of out arguments, one that is not the function's
		copyRaw(h, r)
		h.bump()
		return
	}
	if r.dt != h.dt {
		c.checkOutType(h, r.dt)
		if !CanCast(r.dt, h.dt) {
			c.Fail(ErrDType, "result type %s can't be cast to the desired output type %s", r.dt.ClassName(),
				h.dt.ClassName())
		}
		r = r.ToDType(h.dt)
	}
	l.set(h, r)
	top := h
	for v := l.viewOf[top]; v != nil; v = l.viewOf[top] {
		r = l.inverse(c, v, l.value(v.parent), r)
		top = v.parent
		l.set(top, r)
	}
	for i := range l.inputs {
		l.inputs[i].written = l.inputs[i].written || l.inputs[i].handle == top
	}
	fresh := map[*Tensor]bool{top: true}
	for _, v := range l.views { // parents come first
		if fresh[v.parent] {
			fresh[v.handle] = true
			l.set(v.handle, l.view(v))
		}
	}
}

func (l *FunctionalLevel) set(h, r *Tensor) {
	h.adopt(r)
	l.hold(h, r)
}

// view makes a view anew.
func (l *FunctionalLevel) view(v *functionalView) *Tensor {
	op := v.op
	if l.copies {
		if cp := op.copyForm(); cp != nil {
			op = cp
		}
	}
	return l.run(op, v.args)[v.which]
}

// copyForm is the operator that gives what a view operator gives as a copy: select_copy.int for select.int.
func (o *Op) copyForm() *Op {
	name, overload, dot := strings.Cut(o.full, ".")
	name += "_copy"
	if dot {
		name += "." + overload
	}
	if c := LookupOp(name); c != nil && c.variant == functional {
		return c
	}
	return nil
}

// inverse is the tensor of which r is the view, and which is p elsewhere.
func (l *FunctionalLevel) inverse(c *Ctx, v *functionalView, p, r *Tensor) *Tensor {
	name, _, _ := strings.Cut(strings.TrimPrefix(v.op.full, "aten::"), ".")
	args := func(first ...Value) []Value { return append(first, v.args[1:]...) }
	tv, iv := TensorValue, func(i int) Value { return IntValue(i) }
	switch name {
	case "alias", "detach", "view_as":
		if name != "view_as" {
			return r
		}
		fallthrough
	case "view", "squeeze", "unsqueeze", "unflatten", "_unsafe_view", "_reshape_alias":
		if v.op.full == "aten::view.dtype" {
			break
		}
		return l.call1("aten::reshape", tv(r), IntsValue(p.shape))
	case "select":
		return l.call1("aten::select_scatter", args(tv(p), tv(r))...)
	case "slice":
		return l.call1("aten::slice_scatter", args(tv(p), tv(r))...)
	case "diagonal":
		return l.call1("aten::diagonal_scatter", args(tv(p), tv(r))...)
	case "transpose", "swapaxes", "swapdims":
		return l.call1(v.op.full, args(tv(r))...)
	case "t":
		return l.call1("aten::t", tv(r))
	case "permute":
		dims, _ := v.args[1].X.([]int)
		back := make([]int, len(dims))
		for i, d := range dims {
			back[WrapDim(d, len(dims))] = i
		}
		return l.call1("aten::permute", tv(r), IntsValue(back))
	case "unbind":
		return l.call1("aten::select_scatter", tv(p), tv(r), iv(v.dim), iv(v.which))
	case "split", "split_with_sizes", "tensor_split", "chunk":
		return l.call1("aten::slice_scatter", tv(p), tv(r), iv(v.dim), iv(v.start), iv(v.start+r.Size(v.dim)), iv(1))
	case "as_strided":
		return l.call1("aten::as_strided_scatter", args(tv(p), tv(r))...)
	}
	whole := p.cloneOp() // of no one else: what is written to its view is written to it
	k := NewCall(v.op, len(v.args))
	copy(k.args, args(tv(whole)))
	k.Run()
	part := k.outs[v.which]
	k.done()
	if part.overlaps() {
		c.Fail(ErrValue, "unsupported operation: more than one element of the written-to tensor refers to a single "+
			"memory location. Please clone() the tensor before performing the operation.")
	}
	w := NewCall(opCopy, 3)
	*w.Arg(0), *w.Arg(1), *w.Arg(2) = tv(part), tv(r), BoolValue(false)
	w.Do1()
	return whole
}
