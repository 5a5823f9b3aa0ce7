package reduce

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_segment_reduce_backward", "amax", "amin", "aminmax", "argmax", "argmin", "count_nonzero",
		"dist", "frobenius_norm", "linalg_vector_norm", "max.dim", "min.dim", "norm", "prod.out", "renorm",
		"segment_reduce", "sum.out", "trace")
	tensor.RegisterOutType("all only supports bool tensor for result, got: {got}", "all")
	tensor.RegisterOutType("any only supports bool tensor for result, got: {got}", "any")
	tensor.RegisterOutType("Expected result to be of dtype uint64, but got {got}", "hash_tensor")
}
