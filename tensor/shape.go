package tensor

import (
	"math"
	"slices"
)

func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		if (s|n)>>31 != 0 && s > 0 && n > math.MaxInt/s { // a division only where it could matter
			if slices.Contains(shape, 0) {
				return 0
			}
			Fail(ErrShape, "numel: integer multiplication overflow: %s", ShapeString(shape))
		}
		n *= s
	}
	return n
}

// SameShape reports equal sizes.
func SameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// WrapDim turns a dimension counted from the end into one counted from the start; 0-d tensors count as 1-d.
func WrapDim(dim, nd int) int {
	n := max(nd, 1)
	if dim < -n || dim >= n {
		Fail(ErrIndex, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n-1, dim)
	}
	if dim < 0 {
		dim += n
	}
	return dim
}

// BroadcastShapes is torch.broadcast_shapes.
func BroadcastShapes(shapes ...[]int) []int {
	nd := 0
	for _, s := range shapes {
		nd = max(nd, len(s))
	}
	out := make([]int, nd)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, x := range s {
			j := nd - len(s) + i
			switch {
			case x == out[j] || x == 1:
			case out[j] == 1:
				out[j] = x
			default:
				Fail(ErrShape, "The size of tensor a (%d) must match the size of tensor b (%d) at non-singleton "+
					"dimension %d", out[j], x, j)
			}
		}
	}
	return out
}

// ExpandStrides gives the strides of t seen with a shape that it broadcasts to: 0 along repeated dimensions. A shape
// that t does not broadcast to is an error.
func ExpandStrides(t *Tensor, shape []int) []int {
	out := make([]int, len(shape))
	d := len(shape) - len(t.shape)
	if d < 0 {
		failExpand(t, shape)
	}
	for i, n := range t.shape {
		if n == shape[d+i] {
			out[d+i] = t.stride[i]
		} else if n != 1 {
			failExpand(t, shape)
		}
	}
	return out
}

func failExpand(t *Tensor, shape []int) {
	Fail(ErrShape, "a tensor of shape %s does not broadcast to %s", ShapeString(t.shape), ShapeString(shape))
}

// ViewStrides finds the strides with which memory of the given shape and strides can be seen in a new shape without
// copying; ok is false when it cannot. new must have the same number of elements.
func ViewStrides(shape, stride, new []int) (out []int, ok bool) {
	out = make([]int, len(new))
	if numel(shape) == 0 {
		if SameShape(shape, new) {
			copy(out, stride)
			return out, true
		}
		s := 1
		for i := len(new) - 1; i >= 0; i-- {
			out[i] = s
			s *= max(1, new[i])
		}
		return out, true
	}
	if len(shape) == 0 {
		for i := range out {
			out[i] = 1
		}
		return out, true
	}
	v := len(new) - 1
	base := stride[len(stride)-1]
	tn, vn := 1, 1
	for d := len(shape) - 1; d >= 0; d-- {
		tn *= shape[d]
		if d == 0 || (shape[d-1] != 1 && stride[d-1] != tn*base) {
			for v >= 0 && (vn < tn || new[v] == 1) {
				out[v] = vn * base
				vn *= new[v]
				v--
			}
			if vn != tn {
				return nil, false
			}
			if d > 0 {
				base = stride[d-1]
				tn, vn = 1, 1
			}
		}
	}
	return out, v == -1
}

// InferSize replaces one -1 in a requested shape.
func InferSize(shape []int, n int) []int {
	out := append([]int(nil), shape...)
	prod, at := 1, -1
	for i, s := range shape {
		switch {
		case s == -1 && at >= 0:
			Fail(ErrShape, "only one dimension can be inferred")
		case s == -1:
			at = i
		case s < 0:
			Fail(ErrShape, "invalid shape dimension %d at index %d of shape %s", s, i, ShapeString(shape))
		default:
			prod *= s
		}
	}
	if prod == n && at < 0 {
		return out
	}
	if at >= 0 && prod > 0 && n%prod == 0 {
		out[at] = n / prod
		return out
	}
	if at >= 0 && prod == 0 && n == 0 {
		Fail(ErrShape, "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 "+
			"can be any value and is ambiguous", ShapeString(shape))
	}
	Fail(ErrShape, "shape '%s' is invalid for input of size %d", ShapeString(shape), n)
	return nil
}

// Broadcastable reports that a tensor of shape from can be expanded to shape to.
func Broadcastable(from, to []int) bool { return expandable(from, to) }
