package reduce

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("amax", "amin", "aminmax", "linalg_vector_norm", "max.dim", "min.dim", "norm", "renorm")
}
