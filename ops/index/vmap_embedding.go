package index

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of embeddings: the tables of all examples become one, in which the rows of each come behind those
// of the one before.
func init() {
	batching.Rule(embeddingBatch, "embedding")
	batching.Rule(embeddingBackwardBatch, "embedding_dense_backward")
	batching.Rule(bagBatch, "_embedding_bag")
	batching.Rule(bagBackwardBatch, "_embedding_bag_dense_backward")
}

// offset counts the rows of all examples in one table with n rows for each.
func offset(b *tensor.Batched, index *T, n int) *T {
	within := index.GeScalar(0).LogicalAnd(index.LtScalar(n))
	op.Call("aten::_assert_async.msg", op.Call1("aten::all", within), "vmap: index out of range in self")
	shape := append([]int{b.Size()}, slices.Repeat([]int{1}, index.Dim()-1)...)
	return index.Add(arange(index, b.Size()).MulScalar(n).View(shape))
}

// embeddingBatch keeps what the gradient outside of the map depends on: which rows get none, and whether it is divided
// by how often an example names a row.
func embeddingBatch(b *tensor.Batched) []tensor.Value {
	w, index, pad, byFreq := b.T(0), b.T(1), b.C.Int(2), b.C.Bool(3)
	switch {
	case !b.Has(0):
		return b.Call(b.Args())
	case !b.Has(1) && byFreq: // the rows of all examples side by side
		wide := w.Permute([]int{1, 2, 0}).Reshape([]int{w.Size(1), w.Size(2) * b.Size()})
		y := op.Call1("aten::embedding", wide, index, pad, true, false)
		y = y.Reshape(append(slices.Clone(index.Shape()), w.Size(-1), b.Size()))
		return batching.Tensors(shift(y, y.Dim()-1, 1, 0))
	case !b.Has(1):
		y := w.IndexSelect(1, index.Reshape([]int{-1}))
		y = y.Reshape(slices.Concat([]int{b.Size()}, index.Shape(), []int{w.Size(-1)}))
		return batching.Tensors(unlearned(y, index, pad))
	}
	y := op.Call1("aten::embedding", batching.FoldIn(w), offset(b, index, w.Size(1)), -1, byFreq, false)
	return batching.Tensors(unlearned(y, index, pad))
}

// unlearned is y without a gradient for the entries that name row pad.
func unlearned(y, index *T, pad int) *T {
	if pad < 0 {
		return y
	}
	return op.Call1("aten::where.self", index.EqScalar(pad).Unsqueeze(-1), y.Detach(), y)
}

func embeddingBackwardBatch(b *tensor.Batched) []tensor.Value {
	if b.C.Bool(4) { // by how often an index occurs in its example
		return b.Loop()
	}
	g, index, n := b.Full(0), b.Full(1), b.C.Int(2)
	if pad := b.C.Int(3); pad >= 0 {
		g = g.MaskedFillScalar(index.EqScalar(pad).Unsqueeze(-1), 0)
	}
	y := op.Call1("aten::embedding_dense_backward", g, offset(b, index, n), n*b.Size(), -1, false)
	return batching.Tensors(batching.Unfold(y, b.Size()))
}

// columnOf is a number for each example, beside a vector for each.
func columnOf(b *tensor.Batched, like *T, by int) *T {
	return arange(like, b.Size()).MulScalar(by).ToDType(like.DType()).View([]int{b.Size(), 1})
}

// rowsOf are indices that go with the table of all examples, and its padding index: that of the first example, to which
// the entries of the others that name their padding index are moved.
func rowsOf(b *tensor.Batched, index *T, rows, pad int) *T {
	all := offset(b, index, rows)
	if pad >= 0 {
		all = op.Call1("aten::where.ScalarSelf", index.EqScalar(pad), pad, all)
	}
	return all
}

// bagBatch makes the bags of all examples one list of bags. The entries behind the last offset, where that is given,
// are a bag of each example that is left out of the results.
func bagBatch(b *tensor.Batched) []tensor.Value {
	c, args := b.C, b.Args()
	if b.Rank(0) != 2 || b.Rank(1) != 1 || b.Rank(2) != 1 || c.Shape(2)[0] == 0 || c.Has(6) && b.Rank(6) != 1 {
		return b.Loop()
	}
	w, index, off, pad := b.T(0), b.Full(1), b.Full(2), c.Int(8)
	n, bags := index.Size(1), off.Size(1)
	first, last := off.Select(1, 0), off.Select(1, bags-1)
	op.Call("aten::_assert_async.msg", op.Call1("aten::all", first.EqScalar(0).LogicalAnd(last.LeScalar(n))),
		"vmap: offsets[0] has to be 0 and offsets[-1] can not be greater than input's length")
	rows := 0
	if b.Has(0) {
		rows = w.Size(1)
		w = batching.FoldIn(w)
		index = rowsOf(b, index, rows, pad)
	}
	args[0], args[1] = tensor.TensorValue(w), tensor.TensorValue(batching.FoldIn(index))
	args[2] = tensor.TensorValue(batching.FoldIn(off.Add(columnOf(b, off, n))))
	args[7] = tensor.BoolValue(false)
	if c.Has(6) {
		args[6] = tensor.TensorValue(batching.FoldIn(b.Full(6)))
	}
	out := make([]*T, 4)
	for i, v := range b.Call(args) {
		if out[i] = v.T; i < 3 || c.Int(4) == 2 {
			out[i] = batching.Unfold(out[i], b.Size())
			if c.Bool(7) && i != 1 {
				out[i] = out[i].Narrow(1, 0, bags-1)
			}
		} else {
			out[i] = b.Level.Unwrap(out[i]) // empty: only maxima are noted
		}
	}
	out[1] = out[1].Sub(columnOf(b, out[1], bags))
	if c.Int(4) == 2 && b.Has(0) { // -1 of an empty bag stays
		top := out[3].Sub(columnOf(b, out[3], rows).Unsqueeze(-1))
		out[3] = op.Call1("aten::where.self", out[3].LtScalar(0), out[3], top)
	}
	return batching.Tensors(out...)
}

func bagBackwardBatch(b *tensor.Batched) []tensor.Value {
	c, args := b.C, b.Args()
	bags, n, mode := c.Shape(0)[0], c.Int(5), c.Int(7)
	if b.Rank(0) != 2 || b.Rank(1) != 1 || b.Rank(2) != 1 || c.Has(8) && b.Rank(8) != 1 {
		return b.Loop()
	}
	g, bag := b.Full(0), b.Full(2)
	// one more bag for each example, whose gradient is zero: that of the indices that are in no bag
	none := op.Zeros(g, []int{b.Size(), 1, g.Size(2)}, g.DType())
	if mode != 2 {
		g = op.Call1("aten::cat", []*T{g, none}, 1)
		bag = bag.Add(columnOf(b, bag, bags+1))
	}
	args[0], args[2] = tensor.TensorValue(batching.FoldIn(g)), tensor.TensorValue(batching.FoldIn(bag))
	args[1] = tensor.TensorValue(batching.FoldIn(rowsOf(b, b.Full(1), n, c.Int(9))))
	args[5] = tensor.IntValue(n * b.Size())
	switch mode {
	case 1:
		size := b.Full(3)
		one := op.Zeros(size, []int{b.Size(), 1}, size.DType())
		args[3] = tensor.TensorValue(batching.FoldIn(op.Call1("aten::cat", []*T{size, one}, 1)))
	case 2:
		top := b.Full(4)
		all := top.Add(columnOf(b, top, n).Unsqueeze(-1))
		args[4] = tensor.TensorValue(batching.FoldIn(op.Call1("aten::where.self", top.LtScalar(0), top, all)))
		args[3] = tensor.TensorValue(batching.FoldIn(b.Full(3)))
	default:
		args[3] = tensor.TensorValue(batching.FoldIn(b.Full(3)))
	}
	if mode != 2 {
		args[4] = tensor.TensorValue(op.Zeros(bag, []int{0}, tensor.Int64))
	}
	if c.Has(8) {
		args[8] = tensor.TensorValue(batching.FoldIn(b.Full(8)))
	}
	return batching.Tensors(batching.Unfold(b.Call(args)[0].T, b.Size()))
}
