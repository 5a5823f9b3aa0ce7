package linalg

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps: the operators take batches of matrices.
func init() {
	batching.Rule(batching.Leading("A"), "_linalg_det", "_linalg_eigh", "_linalg_slogdet", "_linalg_svd",
		"linalg_inv_ex", "linalg_lu", "linalg_lu_factor_ex", "linalg_polar")
	batching.Rule(batching.Leading("self"), "_linalg_eigvals", "cholesky_inverse", "geqrf", "linalg_cholesky_ex",
		"linalg_eig", "linalg_ldl_factor_ex", "linalg_matrix_exp", "linalg_matrix_sqrth")

	whole := batching.Leading("A")
	batching.Rule(func(b *batching.Call) []batching.Value {
		if b.C.Str(b.Index("mode")) == "r" { // its Q is empty, whatever the batch
			return b.Loop()
		}
		return whole(b)
	}, "linalg_qr")

	batching.Rule(batching.Leading("self", "B"), "linalg_solve_triangular")
	batching.Rule(batching.Leading("self", "input2"), "cholesky_solve")
}
