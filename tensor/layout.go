package tensor

import "unsafe"

// This file chooses the memory layout of results as PyTorch's iterator does: inputs of one layout hand it on, and where
// they differ the first input whose strides tell two dimensions apart decides their order.

// canonical reports that t's strides are those of a new contiguous tensor, also where a dimension has one element.
func (t *Tensor) canonical() bool {
	s := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.stride[i] != s {
			return false
		}
		s *= max(1, t.shape[i])
	}
	return true
}

// layout chooses the strides of an elementwise result; nil is contiguous.
func (c *Ctx) layout(shape []int) []int {
	plain := true
	for k := range c.args {
		if v := &c.args[k]; v.K == KTensor && !v.T.canonical() {
			plain = false
			break
		}
	}
	if plain || len(shape) < 2 {
		return nil
	}
	// A number counts as an input of another shape.
	var buf [8]*Tensor
	in, same := buf[:0], c.op.scalar < 0
	for k := range c.args {
		v := &c.args[k]
		p := &c.op.Sch.Params[k]
		switch {
		case v.K == KTensor && !(p.KwOnly && p.Writes):
			in = append(in, v.T)
			same = same && SameShape(v.T.shape, shape)
		case v.K != KNone && p.Kind == KTensor:
			same = false
		}
	}
	return resultStrides(shape, in, same)
}

// resultStrides chooses the strides of a result of the given shape computed element by element from tensors that
// broadcast to it; nil is contiguous. With same, all have that very shape, which settles ambiguous cases differently.
func resultStrides(shape []int, in []*Tensor, same bool) []int {
	if same {
		contiguous, last, dense := true, len(shape) == 4, true
		for _, t := range in {
			contiguous = contiguous && t.IsContiguous()
			last = last && t.IsContiguousFormat(ChannelsLast)
			dense = dense && SameShape(t.stride, in[0].stride)
		}
		switch {
		case contiguous:
			return nil
		case last:
			return FormatStrides(shape, ChannelsLast)
		case dense && in[0].IsDense():
			return in[0].stride
		}
	}
	n := len(shape)
	// order is +1 when dimension a must lie outside b, -1 when it lies inside, 0 when the inputs do not tell.
	order := func(a, b int) int {
		for _, t := range in {
			off := n - len(t.shape)
			if a < off || b < off {
				continue
			}
			sa, sb := t.stride[a-off], t.stride[b-off]
			if t.shape[a-off] == 1 && shape[a] != 1 || t.shape[b-off] == 1 && shape[b] != 1 || sa == 0 || sb == 0 {
				continue // broadcast
			}
			switch {
			case sa < sb:
				return -1
			case sa > sb || shape[a] > shape[b]:
				return 1
			}
		}
		return 0
	}
	// innermost dimension first, beginning with the contiguous order
	perm := make([]int, n)
	for i := range perm {
		perm[i] = n - 1 - i
	}
	inOrder := true
	for i := 1; i < n; i++ {
		for j, k := i-1, i; j >= 0; j-- {
			o := order(perm[j], perm[k])
			if o < 0 {
				break
			}
			if o > 0 {
				perm[j], perm[k] = perm[k], perm[j]
				k, inOrder = j, false
			}
		}
	}
	if inOrder {
		return nil
	}
	out, s := make([]int, n), 1
	for _, d := range perm {
		out[d] = s
		s *= max(1, shape[d])
	}
	return out
}

// PermutedStrides are dense strides in the order of t's own.
func PermutedStrides(t *Tensor) []int {
	if st := resultStrides(t.shape, []*Tensor{t}, false); st != nil {
		return st
	}
	return FormatStrides(t.shape, ContiguousFormat)
}

// SuggestFormat is the memory format that t's strides speak for: ChannelsLast, ChannelsLast3d, or ContiguousFormat,
// also where they fit several.
func (t *Tensor) SuggestFormat() MemoryFormat {
	if t == nil {
		panic(noTensor("Tensor.SuggestFormat"))
	}
	n := len(t.shape)
	if n != 4 && n != 5 || t.stride[1] == 0 {
		return ContiguousFormat
	}
	least := 0
	for i := range n { // the dimensions from the innermost one of the format: C, then W, H (and D), then N
		d := n - i
		switch i {
		case 0:
			d = 1
		case n - 1:
			d = 0
		}
		if t.shape[d] == 0 || t.stride[d] < least || d == 0 && least == t.stride[1] {
			return ContiguousFormat
		}
		least = t.stride[d] * max(1, t.shape[d])
	}
	if n == 5 {
		return ChannelsLast3d
	}
	return ChannelsLast
}

// DenseIn is t's contents as dt, laid out in a memory format: t itself when it is so already; not recorded: for
// kernels.
func DenseIn(t *Tensor, f MemoryFormat, dt DType) *Tensor {
	if t.dt == dt && t.IsContiguousFormat(f) && t.flags&lazyBits == 0 {
		return t
	}
	c := NewOn(t.dev, t.shape, FormatStrides(t.shape, f), dt)
	copyRaw(c, t)
	return c
}

// Memory is the memory of a dense tensor as a Go slice, in the order in which its elements lie there. As with Data,
// kernels let go of it before the call ends.
func Memory[T Element](t *Tensor) []T {
	if DTypeOf[T]() != t.dt || !t.IsDense() {
		Fail(ErrShape, "Memory: the tensor (%s, shape %s, strides %s) is not dense or not of the slice's type", t.dt,
			ShapeString(t.shape), ShapeString(t.stride))
	}
	t.refuseLazy("Memory")
	if t.numel == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(Ptr(t)), t.numel)
}

// IntoFormat runs f on memory for out in a memory format and leaves the result in out.
func IntoFormat[T Element](out *Tensor, format MemoryFormat, f func(d []T)) {
	if out.dt == DTypeOf[T]() && out.IsContiguousFormat(format) {
		f(Memory[T](out))
		return
	}
	w := NewStrided(out.shape, FormatStrides(out.shape, format), DTypeOf[T]())
	f(Memory[T](w))
	copyRaw(out, w)
}
