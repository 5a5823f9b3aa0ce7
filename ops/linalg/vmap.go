package linalg

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps: the operators take batches of matrices.
func init() {
	batching.Rule(batching.Leading("A"), "_linalg_eigh", "_linalg_slogdet")
	batching.Rule(batching.Leading("self"), "linalg_cholesky_ex", "cholesky_inverse")

	batching.Rule(batching.Leading("self", "B"), "linalg_solve_triangular")
	batching.Rule(batching.Leading("self", "input2"), "cholesky_solve")
}
