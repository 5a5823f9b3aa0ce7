package torch

import "github.com/gotorch-dev/torch/tensor"

// NewAxis and Ellipsis are parts of an index: a new dimension of size 1, and all the dimensions that the other parts
// leave.
var (
	NewAxis  = tensor.NewAxisIndex{}
	Ellipsis = tensor.EllipsisIndex{}
)

// Slice is a part of an index, written as Python's start:stop:step. Missing and nil parts are absent: Slice() is the
// whole dimension, Slice(2) begins at entry 2, Slice(nil, -1) leaves the last entry out.
func Slice(parts ...any) tensor.SliceIndex { return tensor.Slice(parts...) }

// List is a part of an index that picks entries by their numbers, as a list does in Python.
func List(entries ...int) tensor.ListIndex { return tensor.List(entries...) }

// TensorOf makes a 1-d tensor of its arguments; their type decides the dtype.
func TensorOf[T tensor.Element](values ...T) *Tensor { return tensor.FromSlice(values, len(values)) }

// BroadcastShapes is the shape that tensors of the given shapes are broadcast to. It panics with ErrShape when there is
// none.
func BroadcastShapes(shapes ...[]int) []int { return tensor.BroadcastShapes(shapes...) }
