package index

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of operators that count the elements of a mask: the running count of each example says where
// an element goes.
func init() {
	batching.Rule(maskedScatterBatch, "masked_scatter")
	batching.Rule(maskedScatterBackwardBatch, "masked_scatter_backward")
	batching.Rule(nonzeroStaticBatch, "nonzero_static")
}

// counted gives, for the mask of each example in a row, how many elements in front of each are set. No example may have
// more than room.
func counted(mask *T, room int) *T {
	n := op.Call1("aten::cumsum", mask, 1)
	if mask.Size(1) > room {
		op.Call("aten::_assert_async.msg", op.Call1("aten::all", n.LeScalar(room)),
			"vmap: masked_scatter: expected the number of elements in source to be greater than or equal to the "+
				"number of ones in mask")
	}
	return n.Sub(mask.ToDType(tensor.Int64))
}

// rowsLike gives a tensor of each example the shape of one example, in a row.
func rowsLike(b *tensor.Batched, i int, shape []int) *T {
	x := b.Full(i)
	for x.Dim() < len(shape)+1 {
		x = x.Unsqueeze(1)
	}
	return batching.Flatten(x.Expand(append([]int{b.Size()}, shape...)), 1)
}

func maskedScatterBatch(b *tensor.Batched) []tensor.Value {
	c := b.C
	shape := c.Shape(0)
	if b.Op.IsInPlace() || !tensor.Broadcastable(c.Shape(1), shape) {
		shape = tensor.BroadcastShapes(c.Shape(0), c.Shape(1))
	}
	mask, src := rowsLike(b, 1, shape), batching.Flatten(b.Full(2), 1)
	self := rowsLike(b, 0, shape)
	if mask.DType() != tensor.Bool || self.DType() != src.DType() {
		return b.Loop() // to the operator's own error
	}
	at := counted(mask, src.Size(1))
	y := self
	if n := src.Size(1); n > 0 {
		at = op.Call1("aten::clamp_max", at, n-1)
		y = op.Call1("aten::where.self", mask, src.Gather(1, at), self)
	}
	return batching.Tensors(y.Reshape(append([]int{b.Size()}, shape...)))
}

func maskedScatterBackwardBatch(b *tensor.Batched) []tensor.Value {
	sizes := b.C.Ints(2)
	shape := b.C.Shape(0)
	g, mask := rowsLike(b, 0, shape), rowsLike(b, 1, shape)
	if mask.DType() != tensor.Bool {
		return b.Loop()
	}
	n := tensor.Size(sizes).Numel()
	at := counted(mask, n)
	y := op.Zeros(g, []int{b.Size(), n}, g.DType())
	if n > 0 {
		y = op.Call1("aten::scatter_add", y, 1, op.Call1("aten::clamp_max", at, n-1),
			g.MaskedFillScalar(mask.LogicalNot(), 0))
	}
	return batching.Tensors(y.Reshape(append([]int{b.Size()}, sizes...)))
}

// nonzeroStaticBatch writes the number of each element that is not zero to its place among size places; behind them
// lies one more for all that there is no room for.
func nonzeroStaticBatch(b *tensor.Batched) []tensor.Value {
	size, fill, shape := b.C.Int(1), b.C.Int(2), b.C.Shape(0)
	if size < 0 || len(shape) == 0 {
		return b.Loop()
	}
	set := batching.Flatten(b.Full(0), 1).NeScalar(0)
	n := set.Size(1)
	at := op.Call1("aten::clamp_max", op.Call1("aten::cumsum", set, 1).SubScalar(1), size)
	at = at.MaskedFillScalar(set.LogicalNot(), size)
	none := op.Full(at, []int{b.Size(), size + 1}, -1, tensor.Int64)
	flat := op.Call1("aten::scatter.src", none, 1, at, arange(at, n).Expand([]int{b.Size(), n})).Narrow(1, 0, size)
	columns := make([]*T, len(shape))
	rest := flat
	for d := len(shape) - 1; d >= 0; d-- {
		columns[d] = op.Call1("aten::remainder.Scalar", rest, max(1, shape[d])).MaskedFillScalar(flat.LtScalar(0), fill)
		rest = op.Call1("aten::floor_divide.Scalar", rest, max(1, shape[d]))
	}
	return batching.Tensors(op.Call1("aten::stack", columns, -1))
}
