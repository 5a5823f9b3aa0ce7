package tensor

// SliceIndex is a part of an index: the entries from Start to Stop (left out) in steps of Step. A part that is nil is
// absent, an int, or a 0-d integer tensor.
type SliceIndex struct{ Start, Stop, Step any }

// EllipsisIndex is a part of an index that stands for as many whole dimensions as are missing.
type EllipsisIndex struct{}

// NewAxisIndex is a part of an index that inserts a dimension of size 1. A nil part means the same.
type NewAxisIndex struct{}

// ListIndex is a part of an index that picks several entries by their numbers, as a Python list does.
type ListIndex []int

// TupleIndex is a whole index as one value.
type TupleIndex []any

// None stands for an absent part of a slice, as in Slice(None, 3).
var None any

// Slice is a part of an index, written as Python's start:stop:step. Missing and nil parts are absent: Slice() is the
// whole dimension, Slice(2) begins at entry 2, Slice(nil, -1) leaves the last entry out. It panics with ErrType on more
// than three parts.
func Slice(parts ...any) SliceIndex {
	if len(parts) > 3 {
		Fail(ErrType, "Slice: want start, stop and step, got %d parts", len(parts))
	}
	var p [3]any
	copy(p[:], parts)
	return SliceIndex{p[0], p[1], p[2]}
}

// List is a part of an index that picks entries by their numbers.
func List(entries ...int) ListIndex { return ListIndex(entries) }

var slotGetItem, slotSetItem = slot("Tensor::__getitem__"), slot("Tensor::__setitem__")

// Index is Python's t[…] with the parts separated by commas. A part is an int (picks one entry and removes the
// dimension), a Slice, an EllipsisIndex, nil or a NewAxisIndex (a new dimension), a bool, a List or []int, an integer
// tensor, or a bool tensor (a mask). The result is a view when only ints, slices and new axes occur, a copy otherwise.
// Tensors and lists are broadcast to one shape, which takes the place of their dimensions when they stand side by side,
// and comes first when they do not. Wrong parts panic with ErrIndex.
// https://pytorch.org/docs/stable/tensor_view.html
func (t *Tensor) Index(parts ...any) *Tensor {
	c := NewCall(slotGetItem, 2)
	*c.Arg(0), *c.Arg(1) = TensorValue(t), AnyValue(TupleIndex(parts))
	return c.Do1()
}

// SetIndex is Python's t[…] = value: it writes a number or a tensor, broadcast and converted, to what Index would pick.
// It returns t.
func (t *Tensor) SetIndex(value any, parts ...any) *Tensor {
	var v *Tensor
	if x, ok := value.(*Tensor); ok {
		v = x
	} else {
		v = ScalarValue(value).Num().Tensor()
	}
	c := NewCall(slotSetItem, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = TensorValue(t), AnyValue(TupleIndex(parts)), TensorValue(v)
	c.Do0()
	return t
}
