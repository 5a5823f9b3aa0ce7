package scan

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
}
