package onnxform

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// The methods of this file add nodes. Where all inputs are constants they compute the result at once instead.

// Node adds a node with one result. Its dtype is that of the first input until the caller says otherwise.
//
//go:noinline // the operators' forms would have hundreds of copies
func (c *Call) Node(op string, attrs A, ins ...*Value) *Value {
	return c.Nodes(1, op, attrs, ins...)[0]
}

// Nodes adds a node with n results.
func (c *Call) Nodes(n int, op string, attrs A, ins ...*Value) []*Value {
	for len(ins) > 0 && ins[len(ins)-1] == nil {
		ins = ins[:len(ins)-1]
	}
	out := c.Emit("", op, attrs, n, ins)
	if len(ins) > 0 && ins[0] != nil {
		for _, v := range out {
			v.DType = ins[0].DType
		}
	}
	return out
}

func constant(t *tensor.Tensor) *Value {
	return &Value{DType: t.DType(), Shape: t.Shape(), Known: true, Const: t}
}

// Const is a constant tensor.
func (c *Call) Const(t *tensor.Tensor) *Value { return constant(t) }

// I64 is a constant of dtype int64 and one dimension.
func (c *Call) I64(l ...int) *Value {
	x := make([]int64, len(l))
	for i, n := range l {
		x[i] = int64(n)
	}
	return constant(tensor.FromSlice(x, len(x)))
}

// Scalar is a constant without dimensions.
func (c *Call) Scalar(x float64, dt tensor.DType) *Value {
	return constant(tensor.FromSlice([]float64{x}, 1).Reshape([]int{}).ToDType(dt))
}

// Bin adds a node with two inputs of the dtype of the result.
func (c *Call) Bin(op string, a, b *Value) *Value { return c.Node(op, nil, a, b) }

// Cast converts to a dtype; 0 and the dtype that the value has leave it as it is.
func (c *Call) Cast(v *Value, dt tensor.DType) *Value {
	if v == nil || dt == 0 || v.DType == dt {
		return v
	}
	if v.Folds() {
		return constant(v.Const.ToDType(dt))
	}
	w := c.Node("Cast", A{"to": dt}, v)
	w.DType, w.Shape, w.Known = dt, v.Shape, v.Known
	return w
}

// CastLike converts to the dtype of another value.
func (c *Call) CastLike(v, like *Value) *Value { return c.Cast(v, like.DType) }

// Reshape gives a value a shape: -1 is the size that is left, 0 copies the size at the same place.
func (c *Call) Reshape(v *Value, shape ...int) *Value {
	if v.Folds() && !slices.Contains(shape, 0) {
		return constant(v.Const.Reshape(shape))
	}
	w := c.Node("Reshape", nil, v, c.I64(shape...))
	w.Known, w.Shape = true, slices.Clone(shape)
	return w
}

// ReshapeTo is Reshape with a shape that may be computed, in which a constant 0 is the size 0.
func (c *Call) ReshapeTo(v, shape *Value) *Value {
	var a A
	if shape.Folds() && slices.Contains(tensor.Data[int64](shape.Const), 0) {
		if c.Opset < 14 {
			c.Fail("a size of 0 in a shape exists from opset 14 on")
		}
		a = A{"allowzero": 1}
	}
	w := c.Node("Reshape", a, v, shape)
	if shape.Known && len(shape.Shape) == 1 && shape.Shape[0] >= 0 {
		w.Known, w.Shape = true, slices.Repeat([]int{-1}, shape.Shape[0])
	}
	return w
}

// Unsqueeze inserts dimensions of size 1 at axes of the result.
func (c *Call) Unsqueeze(v *Value, axes ...int) *Value {
	if len(axes) == 0 {
		return v
	}
	if v.Folds() && len(axes) == 1 {
		return constant(v.Const.Unsqueeze(axes[0]))
	}
	w := c.Node("Unsqueeze", nil, v, c.I64(axes...))
	if v.Known {
		n := len(v.Shape) + len(axes)
		at := make([]bool, n)
		for _, a := range axes {
			if a < 0 {
				a += n
			}
			at[a] = true
		}
		w.Known, w.Shape = true, make([]int, n)
		k := 0
		for i := range w.Shape {
			if at[i] {
				w.Shape[i] = 1
			} else {
				w.Shape[i], k = v.Shape[k], k+1
			}
		}
	}
	return w
}

// Squeeze drops dimensions of size 1.
func (c *Call) Squeeze(v *Value, axes ...int) *Value {
	if len(axes) == 0 {
		return v
	}
	w := c.Node("Squeeze", nil, v, c.I64(axes...))
	if v.Known {
		drop := make([]bool, len(v.Shape))
		for _, a := range axes {
			drop[c.Dim(v, a)] = true
		}
		w.Known = true
		for i, n := range v.Shape {
			if !drop[i] {
				w.Shape = append(w.Shape, n)
			}
		}
	}
	return w
}

// Transpose permutes dimensions.
func (c *Call) Transpose(v *Value, perm ...int) *Value {
	if v.Folds() {
		return constant(v.Const.Permute(perm).Contiguous())
	}
	w := c.Node("Transpose", A{"perm": perm}, v)
	if v.Known {
		w.Known = true
		for _, p := range perm {
			w.Shape = append(w.Shape, v.Shape[p])
		}
	}
	return w
}

// Swap exchanges two dimensions.
func (c *Call) Swap(v *Value, i, j int) *Value {
	perm := make([]int, c.Rank(v))
	for k := range perm {
		perm[k] = k
	}
	i, j = c.Dim(v, i), c.Dim(v, j)
	if i == j {
		return v
	}
	perm[i], perm[j] = j, i
	return c.Transpose(v, perm...)
}

// Concat joins values along a dimension.
func (c *Call) Concat(axis int, vs ...*Value) *Value {
	if len(vs) == 1 {
		return vs[0]
	}
	return c.Node("Concat", A{"axis": axis}, vs...)
}

// ShapeOf is the shape of a value, as a tensor.
func (c *Call) ShapeOf(v *Value) *Value {
	if v.Static() {
		return c.I64(v.Shape...)
	}
	w := c.Node("Shape", nil, v)
	w.DType = tensor.Int64
	if v.Known {
		w.Known, w.Shape = true, []int{len(v.Shape)}
	}
	return w
}

// SizeOf is one size of a value: an int, or a *Value without dimensions where it is known only when the file runs.
func (c *Call) SizeOf(v *Value, dim int) any {
	dim = c.Dim(v, dim)
	if n := v.Shape[dim]; n >= 0 {
		return n
	}
	w := c.Node("Gather", A{"axis": 0}, c.ShapeOf(v),
		c.Const(tensor.FromSlice([]int64{int64(dim)}, 1).Reshape([]int{})))
	w.DType, w.Known, w.Shape = tensor.Int64, true, []int{}
	return w
}

// Sizes are all sizes of a value.
func (c *Call) Sizes(v *Value) []any {
	out := make([]any, c.Rank(v))
	for i := range out {
		out[i] = c.SizeOf(v, i)
	}
	return out
}

// Reduce adds ReduceSum, ReduceMean and so on. Without axes it reduces all of them.
func (c *Call) Reduce(op string, v *Value, axes []int, keep bool) *Value {
	k := 0
	if keep {
		k = 1
	}
	since := 18 // the first opset in which the axes are an input
	if op == "ReduceSum" {
		since = 13
	}
	if c.Opset < since {
		a := A{"keepdims": k}
		if len(axes) > 0 {
			a["axes"] = axes
		}
		return c.Node(op, a, v)
	}
	if len(axes) == 0 {
		return c.Node(op, A{"keepdims": k}, v)
	}
	return c.Node(op, A{"keepdims": k}, v, c.I64(axes...))
}

// Slice takes the elements from start to end of one dimension; the ends are ints or *Values without dimensions.
func (c *Call) Slice(v *Value, axis int, start, end any, step int) *Value {
	ins := []*Value{v, c.Vector(start), c.Vector(end), c.I64(axis)}
	if step != 1 {
		ins = append(ins, c.I64(step))
	}
	w := c.Node("Slice", nil, ins...)
	if v.Known {
		w.Known, w.Shape = true, slices.Clone(v.Shape)
		w.Shape[c.Dim(v, axis)] = -1
	}
	return w
}

// Split cuts a dimension into parts of these sizes.
func (c *Call) Split(v *Value, axis int, sizes ...int) []*Value {
	if len(sizes) == 1 {
		return []*Value{v}
	}
	out := c.Nodes(len(sizes), "Split", A{"axis": axis}, v, c.I64(sizes...))
	for i, w := range out {
		if v.Known {
			w.Known, w.Shape = true, slices.Clone(v.Shape)
			w.Shape[c.Dim(v, axis)] = sizes[i]
		}
	}
	return out
}

// Expand broadcasts a value to a shape.
func (c *Call) Expand(v, shape *Value) *Value { return c.Node("Expand", nil, v, shape) }

// Filled is a tensor of a shape, all of whose elements are x.
func (c *Call) Filled(shape *Value, x *Value) *Value {
	if shape.Folds() {
		n := 1
		sizes := tensor.Data[int64](shape.Const)
		for _, s := range sizes {
			n *= int(s)
		}
		if x.Folds() && n <= 64 {
			dims := make([]int, len(sizes))
			for i, s := range sizes {
				dims[i] = int(s)
			}
			return constant(x.Const.Reshape([]int{}).Expand(dims).Contiguous())
		}
	}
	if x.Folds() {
		w := c.Node("ConstantOfShape", A{"value": x.Const.Reshape([]int{1})}, shape)
		w.DType = x.DType
		return w
	}
	return c.Expand(x, shape)
}

// Range counts from start to end, without end.
func (c *Call) Range(start, end, step *Value) *Value {
	w := c.Node("Range", nil, start, end, step)
	w.Known, w.Shape = true, []int{-1}
	return w
}

// Int0 is an int, or a *Value without dimensions, as a *Value without dimensions.
func (c *Call) Int0(e any) *Value {
	if v, ok := e.(*Value); ok {
		return v
	}
	return c.Scalar(float64(e.(int)), tensor.Int64)
}

// Typed says the dtype of a node's result.
func (v *Value) Typed(dt tensor.DType) *Value {
	v.DType = dt
	return v
}

// Shaped says what is known of the shape of a node's result.
func (v *Value) Shaped(shape ...int) *Value {
	v.Known, v.Shape = true, shape
	return v
}

// After is start plus n, each an int or a *Value without dimensions. The last element, -1, is followed by the end.
func (c *Call) After(start, n any) any {
	a, ok := start.(int)
	b, ok2 := n.(int)
	if ok && ok2 {
		if a < 0 && a+b == 0 {
			return 1<<63 - 1
		}
		return a + b
	}
	return c.Node("Add", nil, c.Int0(start), c.Int0(n)).Typed(tensor.Int64).Shaped()
}

// PutRange is whole with the elements from start to end of a dimension replaced by part. The positions are found by
// slicing the numbers of the dimension just as the elements are.
func (c *Call) PutRange(whole, part *Value, dim int, start, end any, step int) *Value {
	n := c.Int0(c.SizeOf(whole, dim))
	all := c.Range(c.Int0(0), n, c.Int0(1)).Typed(tensor.Int64)
	at := c.Slice(all, 0, start, end, step).Typed(tensor.Int64)
	rank := c.Rank(whole)
	if dim != 0 {
		whole, part = c.Swap(whole, 0, dim), c.Swap(part.Shaped(slices.Repeat([]int{-1}, rank)...), 0, dim)
	}
	w := c.Node("ScatterND", nil, whole, c.Unsqueeze(at, 1), part).Shaped(slices.Clone(whole.Shape)...)
	if dim != 0 {
		w = c.Swap(w, 0, dim)
	}
	return w.Typed(whole.DType)
}
