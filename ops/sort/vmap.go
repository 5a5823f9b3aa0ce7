package sort

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "sort", "sort.stable", "topk", "kthvalue", "median.dim", "nanmedian.dim",
		"mode")
	batching.Rule(batching.Flat("aten::median.dim"), "median")
	batching.Rule(batching.Flat("aten::nanmedian.dim"), "nanmedian")
	batching.Rule(bucketBatch, "bucketize.Tensor", "bucketize.Scalar")
	batching.Rule(batching.Leading("elements"), "isin.Tensor_Tensor", "isin.Tensor_Scalar")
	batching.Rule(searchBatch, "searchsorted.Tensor")
	batching.Rule(searchNumberBatch, "searchsorted.Scalar")
	batching.Rule(isInBatch, "isin.Scalar_Tensor")
	batching.Rule(batching.Leading("self", "ranks"), "gotorch::order_statistic_indices")
}

// isInBatch looks for a number among the elements of each example.
func isInBatch(b *tensor.Batched) []tensor.Value {
	same := op.Call1("aten::eq.Scalar", b.T(1), b.C.Value(0))
	for same.Dim() < 2 {
		same = same.Unsqueeze(1)
	}
	found := op.Call1("aten::any.dim", batching.Flatten(same, 1), 1)
	if b.C.Bool(3) {
		found = found.LogicalNot()
	}
	return batching.Tensors(found)
}

// searchBatch makes the rows of boundaries and those of the values searched for those of the whole batch.
func searchBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	if b.Rank(0) == 1 && !b.Has(0) && !b.Has(b.Index("sorter")) {
		return b.Call(args)
	}
	values := b.Full(1)
	shape := values.Shape()
	if b.Rank(0) == 1 {
		values = batching.Flatten(values, 1)
	}
	args[0], args[1] = tensor.TensorValue(b.Full(0)), tensor.TensorValue(values)
	if i := b.Index("sorter"); b.C.Has(i) {
		args[i] = tensor.TensorValue(b.Full(i))
	}
	return batching.Tensors(b.Call(args)[0].T.Reshape(shape))
}

// searchNumberBatch makes the number that is searched for a value of each row.
func searchNumberBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	rows := b.Full(0)
	args[0], args[1] = tensor.TensorValue(rows), tensor.TensorValue(numberFor(b.C.T(1), rows))
	if i := b.Index("sorter"); b.C.Has(i) {
		args[i] = tensor.TensorValue(b.Full(i))
	}
	y := b.CallOp(tensor.LookupOp("aten::searchsorted.Tensor"), args)[0].T
	return batching.Tensors(y.SqueezeDim(1))
}

// numberFor is a number as a column beside rows, in the type in which it is compared with them.
func numberFor(n, rows *T) *T {
	return n.ToDType(tensor.ResultType(rows, n)).Reshape([]int{1, 1}).Expand([]int{rows.Size(0), 1})
}

// bucketBatch searches rows of boundaries where these differ between the examples.
func bucketBatch(b *tensor.Batched) []tensor.Value {
	switch {
	case b.Rank(1) != 1: // to the operator's own error
		return b.Loop()
	case !b.Has(1):
		return b.Call(b.Args())
	}
	rows, number := b.T(1), b.Op.Sch.Params[0].Kind != tensor.KTensor
	shape := []int{b.Size()}
	var values *T
	if number {
		values = numberFor(b.C.T(0), rows)
	} else {
		values = b.Full(0)
		shape = values.Shape()
		values = batching.Flatten(values, 1)
	}
	y := op.Call1("aten::searchsorted.Tensor", rows, values, b.C.Bool(2), b.C.Bool(3))
	return batching.Tensors(y.Reshape(shape))
}
