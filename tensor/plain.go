package tensor

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
)

// Plain holds the kernels of an operator for the commonest call: contiguous operands of one shape and one type, float32
// or float64, and every optional argument left at its default. Such a call needs neither Infer nor the argument record
// of a Ctx, which is what most of the time of an operator on a few numbers goes into. It computes the same as CPU does,
// and is recorded in the same way; whatever is not plain, and every call that a layer wants to see, takes the way
// through Ctx.
type Plain struct {
	Un32  func(d, a []float32)
	Un64  func(d, a []float64)
	Bin32 func(d, a, b []float32)
	Bin64 func(d, a, b []float64)
	Num32 func(d, a []float32, s float32) // the second operand is a number
	Num64 func(d, a []float64, s float64)
}

// plainMax is the number of elements up to which a call counts as plain: the length of one task of an elementwise
// operator. Longer calls are shared out among the threads, and do not feel the cost of a Ctx.
const plainMax = 32 * 1024

// plainMode returns the goroutine's mode, and whether plain calls may be made in it.
func plainMode() (*mode, bool) {
	if activeModes.Load() == 0 {
		return nil, true
	}
	m := currentMode()
	if witnesses.Load() != 0 { // Ctx.Run tells it
		return m, false
	}
	return m, m == nil || len(m.layers) == 0 && m.pack == nil
}

// isPlain reports that t is an operand of a plain call.
func (t *Tensor) isPlain() bool {
	return (t.dt == Float32 || t.dt == Float64) && uint(t.numel-1) < plainMax && t.dev.Type == CPUDevice &&
		t.flags&(flagNeg|flagRare) == 0 && t.canonical()
}

// plain1 calls a unary operator; nil means that the call is not plain.
func (o *Op) plain1(a *Tensor) *Tensor {
	if a == nil || o.Def == nil || o.Plain == nil || !a.isPlain() {
		return nil
	}
	m, ok := plainMode()
	if !ok {
		return nil
	}
	n, src := a.numel, Ptr(a)
	out, rec := o.plainOut(a, m, a.recorded(m))
	if a.dt == Float32 {
		o.Plain.Un32(unsafe.Slice((*float32)(out.st.p), n), unsafe.Slice((*float32)(src), n))
	} else {
		o.Plain.Un64(unsafe.Slice((*float64)(out.st.p), n), unsafe.Slice((*float64)(src), n))
	}
	if rec != nil {
		rec.record(o, out, a, nil)
	}
	return out
}

// plain2 calls a binary operator; nil means that the call is not plain.
func (o *Op) plain2(a, b *Tensor) *Tensor {
	if a == nil || b == nil || o.Def == nil || a.dt != b.dt || !a.isPlain() || !SameShape(a.shape, b.shape) ||
		b.dev.Type != CPUDevice || b.flags&(flagNeg|flagRare) != 0 || !b.IsContiguous() {
		return nil
	}
	m, ok := plainMode()
	if !ok {
		return nil
	}
	n, p, q := a.numel, Ptr(a), Ptr(b)
	out, rec := o.plainOut(a, m, a.recorded(m) || b.recorded(m))
	if a.dt == Float32 {
		o.Plain.Bin32(unsafe.Slice((*float32)(out.st.p), n), unsafe.Slice((*float32)(p), n),
			unsafe.Slice((*float32)(q), n))
	} else {
		o.Plain.Bin64(unsafe.Slice((*float64)(out.st.p), n), unsafe.Slice((*float64)(p), n),
			unsafe.Slice((*float64)(q), n))
	}
	if rec != nil {
		rec.record(o, out, a, b)
	}
	return out
}

// plainNum calls a binary operator with a number. Calls to be recorded are not plain: the rule needs the boxed number.
func (o *Op) plainNum(a *Tensor, s Scalar) *Tensor {
	if a == nil || o.Def == nil || !a.isPlain() {
		return nil
	}
	var f float64
	switch x := s.(type) {
	case float64:
		f = x
	case float32:
		f = float64(x)
	case int:
		f = float64(x)
	default:
		return nil
	}
	m, ok := plainMode()
	if !ok || a.recorded(m) {
		return nil
	}
	n, src := a.numel, Ptr(a)
	out := newLike(a, m)
	if a.dt == Float32 {
		o.Plain.Num32(unsafe.Slice((*float32)(out.st.p), n), unsafe.Slice((*float32)(src), n), float32(f))
	} else {
		o.Plain.Num64(unsafe.Slice((*float64)(out.st.p), n), unsafe.Slice((*float64)(src), n), f)
	}
	return out
}

// recorded reports that a call that reads t is put on the tape.
func (t *Tensor) recorded(m *mode) bool { return (m == nil || !m.noGrad) && t.RequiresGrad() }

// newLike returns an uninitialised contiguous tensor of a's shape and type.
func newLike(a *Tensor, m *mode) *Tensor {
	n := a.numel * a.dt.Size()
	if n > tinySize {
		t := newJoined(mem.Alloc(n), n, a.dt)
		t.setDims(a.shape, nil)
		return t
	}
	t := &newSmall(n, a.dt, m).t
	t.setDims(a.shape, nil)
	return t
}

// enter numbers a small storage made in mode m and enters it in m's scope.
func (s *Storage) enter(m *mode) {
	s.seq = storageSeq.Add(1)
	if m.inference {
		s.bits.Store(stInference)
	}
	for _, o := range m.observers {
		o.Allocated(s.n)
	}
	if m.scope != nil && m.scope.all {
		m.scope.made = append(m.scope.made, s)
	}
}

// plainRecord is a recorded result and its node in one piece: the tensor refers to the node in any case, and the node
// keeps no more than the tensor's header and a few bytes alive. The elements have a piece of their own, because a
// detached tensor that shares them must not keep the tape.
type plainRecord struct {
	t Tensor
	plainNode
}

// plainNode is a node with room for what the rules of plain calls read.
type plainNode struct {
	n     Node
	saved [2]savedTensor
}

// joinMax is the size in bytes up to which a result may live as long as its node.
const joinMax = 1024

// plainOut makes the result of a plain call, with the node if it is to be recorded.
func (o *Op) plainOut(a *Tensor, m *mode, record bool) (*Tensor, *plainNode) {
	if !record || o.VJP == nil {
		return newLike(a, m), nil
	}
	n := a.numel * a.dt.Size()
	var t *Tensor
	var rec *plainNode
	if n <= joinMax {
		x := &plainRecord{}
		t, rec = &x.t, &x.plainNode
	} else {
		t, rec = &Tensor{}, &plainNode{}
	}
	t.dt = a.dt
	if n <= tinySize {
		x := &tiny{}
		x.s.p, x.s.n = unsafe.Pointer(&x.b), n
		t.st, t.ver = &x.s, &x.s.version
		if m != nil {
			x.s.enter(m)
		}
	} else {
		t.st = newStorage(n)
		t.ver = &t.st.version
	}
	t.setDims(a.shape, nil)
	t.node = &rec.n
	return t, rec
}

// tiny joins a storage and its few elements.
type tiny struct {
	s Storage
	b [4]uint64
}

// record fills in the node of a plain call, as newNode does for others. The arguments need no record of their own: they
// are tensors of the result's shape and type, those that the rule reads stand in saved, and the rest are defaults.
func (rec *plainNode) record(o *Op, out, a, b *Tensor) {
	n := &rec.n
	n.op, n.seq, n.plain = o, nodeSeq.Add(1), 1
	n.outMeta = n.metaBuf[:1]
	n.outMeta[0].set(out)
	n.saved = rec.saved[:0]
	n.next = n.nextBuf[:1]
	n.recordArg(0, a)
	if b != nil {
		n.plain, n.next = 2, n.nextBuf[:2]
		n.recordArg(1, b)
	}
	if o.saveOut != 0 {
		n.outBuf[0] = out
		n.outs = n.outBuf[:]
		n.saved = append(n.saved, savedTensor{t: out, ver: out.ver.Load(), node: n})
	}
}

func (n *Node) recordArg(i int, t *Tensor) {
	n.next[i] = edgeOf(t)
	if n.op.saveIn>>i&1 != 0 {
		refuseInference(t)
		n.saved = append(n.saved, savedTensor{t: t, ver: t.ver.Load(), node: t.node, nr: t.outNr})
	}
}

// plainArgs are the arguments of a plain call for its gradient rule, put into buf.
func (n *Node) plainArgs(buf []Value) []Value {
	saved := n.saved
	for i := range n.op.Sch.Params {
		v := Value{K: KTensor}
		switch {
		case i >= int(n.plain):
			v = Value{}
			if d := n.op.Sch.Params[i].Default; d != nil {
				v = *d
			}
		case n.op.saveIn>>i&1 != 0 && len(saved) > 0:
			v.T, saved = saved[0].t, saved[1:]
		default:
			v.X = &n.outMeta[0]
		}
		buf = append(buf, v)
	}
	return buf
}
