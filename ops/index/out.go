package index

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("gather", "index_add", "index_copy", "index_reduce", "index_select", "masked_select",
		"nonzero", "scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim")
	tensor.RegisterOutType("index_out: self ({want}) and result ({got}) must have the same scalar type",
		"index.Tensor_out")
}
