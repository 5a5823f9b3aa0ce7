package random

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps. What random operators draw is up to the mode of the
// map.
func init() {
	batching.Rule(batching.Pointwise, "native_dropout_backward", "_standard_gamma_grad", "_dirichlet_grad")
}
