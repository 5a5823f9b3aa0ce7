package softmax

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "_softmax", "_log_softmax", "_softmax_backward_data",
		"_log_softmax_backward_data",
		"_safe_softmax")
}
