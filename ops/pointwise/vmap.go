package pointwise

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Operators of this family that compute element by element need no batching rule, but for those that want a number: a
// tensor without dimensions, which a batch of numbers is not.
func init() {
	batching.Rule(batching.Dims("dim"), "glu", "glu_backward")
	batching.Rule(batching.Leading("self"), "log_sigmoid")
	batching.Rule(fillBatch, "fill.Tensor")
	batching.Rule(maskedFillBatch, "masked_fill.Tensor")
}

// valueLike is a batch of numbers in the type of self and with its dimensions.
func valueLike(b *tensor.Batched, i int) *T {
	v := b.T(i).ToDType(b.T(0).DType())
	for range b.Rank(0) {
		v = v.Unsqueeze(-1)
	}
	return v
}

func fillBatch(b *tensor.Batched) []tensor.Value {
	if !b.Has(1) {
		return b.Call(b.Args())
	}
	return batching.Tensors(valueLike(b, 1).Expand(b.Full(0).Shape()).Clone())
}

func maskedFillBatch(b *tensor.Batched) []tensor.Value {
	if !b.Has(2) || b.C.Op().Sch.Params[2].Kind == tensor.KScalar && b.C.Value(2).K != tensor.KTensor {
		return b.Pointwise()
	}
	mask := b.T(1)
	if b.Has(1) {
		for mask.Dim() < b.Rank(0)+1 {
			mask = mask.Unsqueeze(1)
		}
	}
	return batching.Tensors(op.Call1("aten::where.self", mask, valueLike(b, 2), b.Full(0)))
}
