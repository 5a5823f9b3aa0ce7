package sparse

import "github.com/gotorch-dev/torch/internal/samples"

func init() {
	samples.None("takes or gives a sparse tensor, which has no memory to compare: see sparse_test.go",
		"sparse_coo_tensor.indices_size sparse_coo_tensor.indices sparse_coo_tensor.size _sparse_coo_tensor_unsafe "+
			"_indices _values indices values coalesce _coalesced_ is_coalesced _nnz _to_dense "+
			"to_sparse to_sparse.sparse_dim _to_sparse.sparse_dim sparse_mask sparse_csr_tensor.crow_col_value_size "+
			"sparse_csr_tensor.crow_col_value to_sparse_csr _to_sparse_csr crow_indices ccol_indices "+
			"col_indices")
	samples.Table(
		"to_dense :: 3x4 ; 3x4 f64 | nograd",
		"sparse_dim _dimI dense_dim _dimV :: 3x4",
	)
}
