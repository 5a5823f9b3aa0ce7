package pool

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps: images of all examples become one batch.
func init() {
	batching.Rule(batching.Fold(2, ""), "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "adaptive_max_pool2d",
		"adaptive_max_pool2d_backward", "avg_pool2d", "avg_pool2d_backward", "max_pool2d_with_indices",
		"max_pool2d_with_indices_backward", "max_unpool2d", "fractional_max_pool2d_backward")
	batching.Rule(batching.Fold(3, ""), "_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward", "adaptive_max_pool3d",
		"adaptive_max_pool3d_backward", "avg_pool3d", "avg_pool3d_backward", "max_pool3d_with_indices",
		"max_pool3d_with_indices_backward", "max_unpool3d", "fractional_max_pool3d_backward")
	batching.Rule(fractionalBatch(2), "fractional_max_pool2d")
	batching.Rule(fractionalBatch(3), "fractional_max_pool3d")
	batching.Rule(batching.Fold(1, "size"), "gotorch::adaptive_avg_pool1d_backward", "gotorch::avg_pool1d_backward")
	batching.Rule(batching.Fold(2, "size"), "gotorch::adaptive_avg_pool2d_backward", "gotorch::avg_pool2d_backward")
	batching.Rule(batching.Fold(3, "size"), "gotorch::adaptive_avg_pool3d_backward", "gotorch::avg_pool3d_backward")
}

// fractionalBatch makes the images of all examples one batch, and their random samples, which always have a batch.
func fractionalBatch(nd int) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		args := b.Args()
		x, batch := b.Full(0), b.Rank(0) == nd+2
		if batch {
			x = batching.FoldIn(x)
		}
		args[0], args[3] = tensor.TensorValue(x), tensor.TensorValue(batching.FoldIn(b.Full(3)))
		res := b.Call(args)
		if batch {
			for i, v := range res {
				res[i] = tensor.TensorValue(batching.Unfold(v.T, b.Size()))
			}
		}
		return res
	}
}
