package sparse

import "github.com/gotorch-dev/torch/tensor"

// A tensor that stands for one example of a batch has strides, so that functions of sparse tensors cannot be mapped.
// Sparse tensors that all examples share may be used in a mapped function.
func init() {
	tensor.RefuseBatches("vmap does not take sparse tensors", "aten::_embedding_bag_sparse_backward", "aten::_indices",
		"aten::_nnz", "aten::_to_dense", "aten::_values", "aten::ccol_indices", "aten::coalesce", "aten::col_indices",
		"aten::crow_indices",
		"aten::embedding_sparse_backward", "aten::indices", "aten::is_coalesced",
		"aten::sparse_coo_tensor.indices_size", "aten::sparse_csr_tensor.crow_col_value_size", "aten::sparse_mask",
		"aten::values")
}
