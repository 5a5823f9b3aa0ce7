package pointwise

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

func slice[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

// operand is a tensor seen with the walk's shape; the kernel sees elements of type as.
func operand(t *T, shape []int, as tensor.DType) iter.Operand {
	st := t.Strides()
	if !tensor.SameShape(t.Shape(), shape) {
		st = tensor.ExpandStrides(t, shape)
	}
	return iter.Operand{P: t.Ptr(), Strides: st, Mem: t.DType(), As: as}
}

// unary runs a kernel for one input.
func unaryRun[D, S any](out, a *T, outAs, as tensor.DType, k func(dst []D, a []S)) {
	shape := out.Shape()
	if out.IsContiguous() && a.IsContiguous() && out.DType() == outAs && a.DType() == as && out.Numel() <= 4096 {
		if n := out.Numel(); n > 0 {
			k(slice[D](out.Ptr(), n), slice[S](a.Ptr(), n))
		}
		return
	}
	ops := [...]iter.Operand{operand(out, shape, outAs), operand(a, shape, as)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(slice[D](p[0], n), slice[S](p[1], n)) })
}

// binaryRun runs a kernel for two inputs.
func binaryRun[D, S any](out, a, b *T, outAs, as tensor.DType, k func(dst []D, a, b []S)) {
	shape := out.Shape()
	if n := out.Numel(); n <= 4096 && out.DType() == outAs && a.DType() == as && b.DType() == as && a.Numel() == n && b.Numel() == n &&
		out.IsContiguous() && a.IsContiguous() && b.IsContiguous() {
		if n > 0 {
			k(slice[D](out.Ptr(), n), slice[S](a.Ptr(), n), slice[S](b.Ptr(), n))
		}
		return
	}
	ops := [...]iter.Operand{operand(out, shape, outAs), operand(a, shape, as), operand(b, shape, as)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(slice[D](p[0], n), slice[S](p[1], n), slice[S](p[2], n)) })
}
