package tensor

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/iter"
)

func convertRun(to, from DType, d, s unsafe.Pointer, n int) { dtype.Convert(to, from)(d, s, n) }

// refuseOpaque refuses to convert elements of types that have no conversions.
func refuseOpaque(to, from DType) {
	if dt := from; to != from {
		if !dt.IsOpaque() {
			dt = to
		}
		if dt.IsOpaque() {
			Fail(ErrNotImpl, "\"copy_\" not implemented for '%s'", dt.ClassName())
		}
	}
}

// parallelCopy is the number of elements from which a plain copy is worth more than one thread.
const parallelCopy = 64 << 10

// copyRaw copies src, broadcast, into dst without recording.
func copyRaw(dst, src *Tensor) {
	refuseOpaque(dst.dt, src.dt)
	if dst.numel == 0 {
		return
	}
	if (dst.flags|src.flags)&(lazyBits|flagQuantized) != 0 {
		if (dst.flags|src.flags)&flagQuantized != 0 {
			copyQuantized(dst, src)
		} else {
			copyLazy(dst, src)
		}
		return
	}
	if dst.dev.Type|src.dev.Type != CPUDevice {
		copyAcross(dst, src)
		return
	}
	if dst.dt == src.dt && dst.numel <= parallelCopy && dst.IsContiguous() && src.IsContiguous() &&
		dst.numel == src.numel {
		n := dst.numel * dst.dt.Size()
		copy(unsafe.Slice((*byte)(Ptr(dst)), n), unsafe.Slice((*byte)(Ptr(src)), n))
		return
	}
	if dst.numel <= plainMax && dst.IsContiguous() { // small: no walk to plan
		if src.numel == dst.numel && src.IsContiguous() {
			convertRun(dst.dt, src.dt, Ptr(dst), Ptr(src), dst.numel)
			return
		}
		if src.isOne() && dst.dt == src.dt {
			iter.Fill(Ptr(dst), Ptr(src), dst.numel, dst.dt.Size())
			return
		}
	}
	iter.Copy(dst.shape, iter.Operand{P: Ptr(dst), Strides: dst.stride, Mem: dst.dt},
		iter.Operand{P: Ptr(src), Strides: ExpandStrides(src, dst.shape), Mem: src.dt})
}

// isOne reports that all elements of t are one and the same in memory.
func (t *Tensor) isOne() bool {
	for i, n := range t.shape {
		if n != 1 && t.stride[i] != 0 {
			return false
		}
	}
	return t.numel > 0
}

// CopyRaw copies src (broadcast, converted) into dst without recording and without counting a version: for kernels.
func CopyRaw(dst, src *Tensor) { copyRaw(dst, src) }

// CloneRaw is a copy that is not recorded: for kernels.
func CloneRaw(t *Tensor) *Tensor { return t.cloneRaw() }

func (t *Tensor) cloneRaw() *Tensor {
	if t.flags&flagQuantized != 0 {
		x := QuantizedInts(t).cloneRaw()
		if t.dt.Bits() < 8 {
			return NewPacked(x, t.shape, t.dt, t.ag.quant)
		}
		return NewQuantized(x, t.dt, t.ag.quant)
	}
	var st []int
	if !t.IsContiguous() && t.IsDense() {
		st = t.stride
	}
	c := NewOn(t.dev, t.shape, st, t.dt)
	copyRaw(c, t)
	return c
}

// Dense returns t itself when it is contiguous, a contiguous copy otherwise; not recorded: for kernels.
func Dense(t *Tensor) *Tensor {
	if t.IsContiguous() && t.flags&lazyBits == 0 {
		return t
	}
	c := NewOn(t.dev, t.shape, nil, t.dt)
	copyRaw(c, t)
	return c
}

// DenseAs is Dense with a conversion to dt.
func DenseAs(t *Tensor, dt DType) *Tensor {
	if t.dt == dt {
		return Dense(t)
	}
	c := NewOn(t.dev, t.shape, nil, dt)
	copyRaw(c, t)
	return c
}

// resizeRaw gives t another shape, growing its storage when needed.
func (t *Tensor) resizeRaw(shape []int) {
	refuseBatchMemory(t)
	shape = slices.Clone(shape) // it may be t's own
	n, before := storageSize(shape, nil, t.dt), t.off*t.dt.Size()
	if n > math.MaxInt-before {
		Fail(ErrShape, "Storage size calculation overflowed with sizes=%s", ShapeString(shape))
	}
	t.st.resize(n+before, shape, t.dt)
	t.setDims(shape, nil)
}

// resizeOut gives an out argument the shape of the result.
func (t *Tensor) resizeOut(shape []int) {
	if t.numel > 0 {
		Warn("An output with one or more elements was resized since it had shape %s, which does not match the required "+
			"output shape %s. This behavior is deprecated, and in a future PyTorch release outputs will not be resized "+
			"unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "+
			"elements with t.resize_(0).", ShapeString(t.shape), ShapeString(shape))
	}
	t.resizeRaw(shape)
}

// ResizeRaw is resizeRaw for operators such as resize_.
func ResizeRaw(t *Tensor, shape []int) { t.resizeRaw(shape) }

// SetRaw makes t see another storage; for set_ and Module.To.
func SetRaw(t, src *Tensor) {
	refuseBatchMemory(t, src)
	if t.flags&flagKeep != 0 {
		src.eachStorage((*Storage).keep)
	}
	if (t.flags|src.flags)&flagSparse != 0 {
		t.takeSparse(src)
	}
	if t.flags = t.flags&^flagQuantized | src.flags&flagQuantized; src.flags&flagQuantized != 0 {
		t.meta().quant = src.ag.quant
	}
	t.st, t.off, t.dt, t.dev = src.st, src.off, src.dt, src.dev
	t.flags = t.flags&^lazyBits | src.flags&lazyBits
	t.setDims(src.shape, src.stride)
}

func (t *Tensor) bump() { t.ver.Add(1) }

// Bump counts an in-place change made outside the operators, as optimizers make, so that autograd notices stale saved
// values.
func Bump(t *Tensor) { t.bump() }

// BecomeView gives t the shape, strides and offset of v, a view of t's memory, and v's place on the tape: for in-place
// forms of view operators such as unsqueeze_. As any in-place change it counts a version, and is refused where autograd
// cannot follow.
func BecomeView(t, v *Tensor) *Tensor {
	if IsGradEnabled() {
		if msg := t.inPlaceRefusal(); msg != "" {
			Fail(ErrAutograd, "%s", msg)
		}
	}
	node, nr := v.node, v.outNr
	shape, stride := append([]int(nil), v.shape...), append([]int(nil), v.stride...)
	t.off = v.off
	t.flags = t.flags&^lazyBits | v.flags&lazyBits
	t.setDims(shape, stride)
	if b := v.batched(); b != nil && t.batched() != nil {
		*t.ag.batch = *b
	}
	if node != nil {
		t.node, t.outNr = node, nr
	}
	t.bump()
	return t
}
