package pool

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps: images of all examples become one batch.
func init() {
	batching.Rule(batching.Fold(2, ""), "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "adaptive_max_pool2d",
		"adaptive_max_pool2d_backward", "avg_pool2d", "avg_pool2d_backward", "max_pool2d_with_indices",
		"max_pool2d_with_indices_backward", "max_unpool2d")
	batching.Rule(batching.Fold(3, ""), "_adaptive_avg_pool3d", "_adaptive_avg_pool3d_backward", "adaptive_max_pool3d",
		"adaptive_max_pool3d_backward", "avg_pool3d", "avg_pool3d_backward", "max_pool3d_with_indices",
		"max_pool3d_with_indices_backward", "max_unpool3d")
	batching.Rule(batching.Fold(1, "size"), "gotorch::adaptive_avg_pool1d_backward", "gotorch::avg_pool1d_backward")
	batching.Rule(batching.Fold(2, "size"), "gotorch::adaptive_avg_pool2d_backward", "gotorch::avg_pool2d_backward")
	batching.Rule(batching.Fold(3, "size"), "gotorch::adaptive_avg_pool3d_backward", "gotorch::avg_pool3d_backward")
}
