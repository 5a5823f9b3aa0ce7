package loss

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// allSequences makes the sequences of all examples one batch: log_probs [B, T, N, C] in argument i become [T, B·N, C],
// targets and lengths follow it. It reports false where the call has to take one example after the other.
func allSequences(b *tensor.Batched, args []tensor.Value, i int) bool {
	if b.Rank(i) != 3 || b.Rank(i+1) < 1 || b.Rank(i+1) > 2 {
		return false
	}
	x := b.Full(i)
	args[i] = tensor.TensorValue(batching.FoldIn(x.Transpose(1, 2)).Transpose(0, 1))
	args[i+1] = tensor.TensorValue(batching.FoldIn(b.Full(i + 1)))
	for k := i + 2; k <= i+3; k++ {
		if args[k].K != tensor.KTensor {
			args[k] = tensor.IntsValue(slices.Repeat(b.C.Ints(k), b.Size()))
			continue
		}
		// targets one behind the other: each example has its own sum of lengths, which only the call on it checks
		if b.Rank(k) != 1 || b.Rank(i+1) == 1 && b.Has(k) {
			return false
		}
		args[k] = tensor.TensorValue(batching.FoldIn(b.Full(k)))
	}
	return true
}

func ctcBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	if !allSequences(b, args, 0) {
		return b.Loop()
	}
	res := b.Call(args)
	return batching.Tensors(batching.Unfold(res[0].T, b.Size()), batching.Unfold(res[1].T, b.Size()))
}

func ctcBackwardBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	if !allSequences(b, args, 1) || b.Rank(0) != 1 || b.Rank(5) != 1 || b.Rank(6) != 3 {
		return b.Loop()
	}
	for _, i := range []int{0, 5, 6} {
		args[i] = tensor.TensorValue(batching.FoldIn(b.Full(i)))
	}
	g := b.Call(args)[0].T
	return batching.Tensors(batching.Unfold(g.Transpose(0, 1), b.Size()).Transpose(1, 2))
}
