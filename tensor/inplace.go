package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"
)

// This file follows in-place changes on the tape, those of views and of what views look at: which are refused, what
// becomes of the history of a changed base, and how its views find theirs again.

// checkOverlap refuses to write to a tensor that holds a place of memory twice, unless the operator's in-place form
// takes one.
func (c *Ctx) checkOverlap(t *Tensor) {
	if t.IsInference() {
		c.refuseInferenceWrite(t)
	}
	switch {
	case !t.overlaps():
	case c.op.Overlap == OverlapRefused || c.op.variant == outVariant || c.outForm || t.dev.Type != CPUDevice:
		c.Fail(ErrShape, "unsupported operation: more than one element of the written-to tensor refers to a "+
			"single memory location. Please clone() the tensor before performing the operation.")
	case c.op.Overlap == OverlapWarned:
		Warn("Use of %s on expanded tensors is deprecated. Please clone() the tensor before performing this "+
			"operation. This also applies to advanced indexing", c.op.Sch.Name)
	}
}

// overlaps reports that several elements lie at one place of memory, as those of an expanded tensor do.
func (t *Tensor) overlaps() bool {
	for i, s := range t.stride {
		if s == 0 && t.shape[i] > 1 && t.numel > 0 {
			return true
		}
	}
	return false
}

// scatters reports that the in-place form writes to g element by element, since several lie at one place.
func (c *Ctx) scatters(g *Tensor) bool {
	return c.inplace && c.op.Overlap != OverlapRefused && g.flags&lazyBits == 0 && g.overlaps()
}

// denseCopy is a contiguous copy of the elements.
func denseCopy(t *Tensor) *Tensor {
	c := NewOn(t.dev, t.shape, nil, t.dt)
	copyRaw(c, t)
	return c
}

// copyChanged writes the elements of a contiguous src that differ from those of dst, which has several elements at one
// place: an element that an operator has left alone must not undo what it wrote to another one of the same place. Of
// several that it wrote the last one stays.
func copyChanged(dst, src *Tensor) {
	old, now, size := denseCopy(dst), src, dst.dt.Size()
	before := unsafe.Slice((*byte)(Ptr(old)), old.numel*size)
	after := unsafe.Slice((*byte)(Ptr(now)), now.numel*size)
	at := make([]int, len(dst.shape))
	for i := 0; i < len(before); i += size {
		if !bytes.Equal(before[i:i+size], after[i:i+size]) {
			place := 0
			for d, x := range at {
				place += x * dst.stride[d]
			}
			copy(unsafe.Slice((*byte)(unsafe.Add(Ptr(dst), place*size)), size), after[i:i+size])
		}
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < dst.shape[d] {
				break
			}
			at[d] = 0
		}
	}
}

// checkInputs refuses arguments that share some places with t, the tensor written to, but are not the same view: what
// they hold would depend on the order of the work. Like PyTorch it looks only at tensors without gaps.
func (c *Ctx) checkInputs(t *Tensor) {
	for i := range c.args {
		switch v := &c.args[i]; v.K {
		case KTensor:
			c.checkInput(t, v.T)
		case KTensors:
			for _, x := range v.X.([]*Tensor) {
				c.checkInput(t, x)
			}
		}
	}
}

func (c *Ctx) checkInput(t, x *Tensor) {
	if x == nil || x == t || x.st != t.st || x.numel == 0 || t.numel == 0 || !x.gapless() || !t.gapless() {
		return
	}
	lo, hi, size := x.off*x.dt.Size(), (x.off+x.numel)*x.dt.Size(), t.dt.Size()
	switch {
	case lo == t.off*size && hi == (t.off+t.numel)*size && slices.Equal(x.stride, t.stride):
	case lo < (t.off+t.numel)*size && t.off*size < hi:
		c.Fail(ErrShape, "unsupported operation: some elements of the input tensor and the written-to tensor refer "+
			"to a single memory location. Please clone() the tensor before performing the operation.")
	}
}

// gapless reports that the elements fill a range of the storage, each place once, in any order of the dimensions.
func (t *Tensor) gapless() bool {
	if t.IsContiguous() {
		return true
	}
	want := 1
	for range t.shape { // the dimension whose stride is the product of those inside it comes next
		found := false
		for d, s := range t.stride {
			if s == want && t.shape[d] != 1 {
				want *= t.shape[d]
				found = true
				break
			}
		}
		if !found {
			break
		}
	}
	return want == t.numel
}

// markViews notes which views may not be changed in place: one of many, and those taken while nothing was recorded (see
// checkInPlace).
func (c *Ctx) markViews(many bool) {
	switch {
	case !c.anyRequiresGrad():
	case !c.records():
		for _, v := range c.outs {
			v.flags |= flagNoGradView
		}
	case many:
		for _, v := range c.outs {
			v.flags |= flagOneOfMany
		}
	}
}

// checkInPlace refuses in-place changes that autograd cannot follow, and those of memory that is seen twice.
func (c *Ctx) checkInPlace(self *Tensor) {
	if c.records() {
		if msg := self.inPlaceRefusal(); msg != "" {
			c.Fail(ErrAutograd, "%s", msg)
		}
		for i := range c.args { // views that may not be used any more, before anything is written
			if v := &c.args[i]; v.K == KTensor {
				v.T.gradNode()
			}
		}
	}
	c.checkOverlap(self)
	c.checkInputs(self)
}

// inPlaceRefusal says why autograd cannot follow an in-place change of t.
func (t *Tensor) inPlaceRefusal() string {
	switch {
	case t.flags&flagOneOfMany != 0 && t.node != nil:
		return t.viewRefusal("is being modified inplace")
	case t.flags&flagNoGradView != 0 && t.base != nil && t.base.RequiresGrad():
		return t.viewRefusal("is being modified inplace")
	case t.base != nil && t.base.isGradLeaf():
		return "a view of a leaf Variable that requires grad is being used in an in-place operation."
	case t.isGradLeaf():
		return "a leaf Variable that requires grad is being used in an in-place operation."
	}
	return ""
}

func (t *Tensor) isGradLeaf() bool { return t.flags&flagRequiresGrad != 0 && t.node == nil }

// viewRefusal says that a view which may not be changed, nor its base, has been (see markViews).
func (t *Tensor) viewRefusal(done string) string {
	if t.flags&flagNoGradView != 0 {
		return "A view was created in no_grad mode and " + done +
			" with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You " +
			"can clarify your code by moving both the view and the inplace either both inside the no_grad block (if " +
			"you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
	}
	return fmt.Sprintf("Output %d of %s is a view and %s. This view is the output of a function that returns "+
		"multiple views. Such functions do not allow the output views to be modified inplace. You should replace the "+
		"inplace operation by an out-of-place one.", t.outNr, forwardName(t.node.Name()), done)
}

// recordInPlace puts an in-place call on the tape: self becomes its result.
func (c *Ctx) recordInPlace(before *Tensor) {
	if c.op.VJP == nil || !c.records() || !c.anyRequiresGrad() || !c.args[0].T.dt.IsDifferentiable() {
		return
	}
	self := c.args[0].T
	self.attr = self.ver.Load() // the edges below are those of the tensor before the change
	n := c.newNode(before)
	self.rebase(n)
	n.saveOuts(c)
}

// rebase makes node the origin of t after an in-place change. For a view the change is one of its base.
func (t *Tensor) rebase(n *Node) {
	if t.base == nil || !t.sharesGrad() {
		t.node, t.outNr = n, 0
		return
	}
	base := t.base
	w := &Node{more: &nodeMore{name: "CopySlices"}, seq: nodeSeq.Add(1),
		next: append([]edge{edgeOf(base)}, n.next[1:]...)}
	w.outMeta = w.metaBuf[:1]
	w.outMeta[0].set(base)
	view := t.window()
	// an in-place view such as unsqueeze_ may change the base's
	baseStride, baseOff := slices.Clone(base.stride), base.off
	off := view.off - view.fine(base).off // from the base's first element
	w.more.fn = func(_ *Node, g []*Tensor) []*Tensor {
		full := g[0]
		if !SameShape(full.stride, baseStride) || full.off != baseOff {
			f := NewOn(full.dev, full.shape, baseStride, full.dt)
			if IsGradEnabled() && full.RequiresGrad() {
				f = full.cloneOp()
			} else {
				copyRaw(f, full)
			}
			full = f
		}
		at := off + view.fine(full).off
		slice := view.of(full, at)
		r := n.call([]*Tensor{slice}, new([2]*Tensor))
		inner := r[0]
		if inner == nil {
			inner = zerosLike(slice)
		}
		return append([]*Tensor{view.scatter(full, sumTo(inner, slice.shape), at)}, r[1:]...)
	}
	base.node, base.outNr = w, 0
	t.attr = t.ver.Load() - 1 // made anew on the next use
}

var (
	opAsStrided        = slot("aten::as_strided")
	opAsStridedScatter = slot("gotorch::strided_scatter")
	opViewAsReal       = slot("aten::view_as_real")
	opViewAsComplex    = slot("aten::view_as_complex")
	opConj             = slot("aten::_conj")
	opNegView          = slot("aten::_neg_view")
	opResolveConj      = slot("aten::resolve_conj")
	opResolveNeg       = slot("aten::resolve_neg")
)

func asStrided(t *Tensor, shape, stride []int, off int) *Tensor {
	c := NewCall(opAsStrided, 4)
	*c.Arg(0), *c.Arg(1), *c.Arg(2), *c.Arg(3) = TensorValue(t), IntsValue(shape), IntsValue(stride), IntValue(off)
	return c.Do1()
}

func (t *Tensor) regenerate() {
	if t.flags&flagRequiresGrad != 0 || !t.base.RequiresGrad() || !t.sharesGrad() {
		t.attr = t.ver.Load()
		return
	}
	if t.flags&(flagNoGradView|flagOneOfMany) != 0 {
		Fail(ErrAutograd, "%s", t.viewRefusal("its base or another view of its base has been modified inplace"))
	}
	t.attr = t.ver.Load()
	EnableGrad(func() {
		w := t.window()
		v := w.of(t.base, w.off)
		t.node, t.outNr = v.node, v.outNr
	})
}

// sharesGrad reports that gradients flow between a view and its base: both are of one type, or one is complex and the
// other its parts.
func (t *Tensor) sharesGrad() bool {
	return t.dt == t.base.dt || t.dt.IsDifferentiable() && t.dt.Real() == t.base.dt.Real()
}

// window is where a view lies in its base: shape, strides and offset, counted in parts of complex numbers when one of
// both is complex and the other is not.
type window struct {
	shape, stride []int
	off           int
	split, join   bool // the base is complex and the view real; the other way round
	conj, neg     bool // the view's elements are the conjugates of the base's, or have the other sign
}

func (t *Tensor) window() window {
	w := window{shape: slices.Clone(t.shape), stride: slices.Clone(t.stride), off: t.off}
	w.split, w.join = t.base.IsComplex() && !t.IsComplex(), t.IsComplex() && !t.base.IsComplex()
	bits := (t.flags ^ t.base.flags) & lazyBits
	if w.split { // a real part has the sign of the number, an imaginary part that of the conjugate where there is one
		bits &^= flagConj
		if t.off%2 == 1 && t.base.flags&flagConj != 0 {
			bits ^= flagNeg
		}
	}
	w.conj, w.neg = bits&flagConj != 0, bits&flagNeg != 0
	if w.join {
		for i := range w.stride {
			w.stride[i] *= 2
		}
		w.shape, w.stride, w.off = append(w.shape, 2), append(w.stride, 1), 2*w.off
	}
	return w
}

// fine is base in the elements that the window counts.
func (w window) fine(base *Tensor) *Tensor {
	return viewIf(w.split, opViewAsReal, viewIf(w.split, opResolveConj, base))
}

// signed applies what the bits of the view add to those of the base; twice is none.
func (w window) signed(t *Tensor) *Tensor { return viewIf(w.neg, opNegView, viewIf(w.conj, opConj, t)) }

// of is the view of base at an offset.
func (w window) of(base *Tensor, off int) *Tensor {
	v := asStrided(w.fine(base), w.shape, w.stride, off)
	return w.signed(viewIf(w.join, opViewAsComplex, viewIf(w.join, opResolveNeg, v)))
}

// scatter is a copy of base with part in place of the view.
func (w window) scatter(base, part *Tensor, off int) *Tensor {
	c := NewCall(opAsStridedScatter, 5)
	part = viewIf(w.join, opViewAsReal, viewIf(w.join, opResolveConj, w.signed(part)))
	*c.Arg(0), *c.Arg(1) = TensorValue(w.fine(base)), TensorValue(part)
	*c.Arg(2), *c.Arg(3), *c.Arg(4) = IntsValue(w.shape), IntsValue(w.stride), IntValue(off)
	return viewIf(w.split, opViewAsComplex, c.Do1())
}

// viewIf is t, or another view of it.
func viewIf(on bool, op *Op, t *Tensor) *Tensor {
	if !on {
		return t
	}
	c := NewCall(op, 1)
	*c.Arg(0) = TensorValue(t)
	return c.Do1()
}
