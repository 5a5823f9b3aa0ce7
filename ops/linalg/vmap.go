package linalg

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

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

	batching.Rule(func(b *batching.Call) []batching.Value { // a batch of matrices, in the text of an error, too
		args := b.Args()
		args[2] = tensor.BoolValue(false)
		return b.Call(args)
	}, "_linalg_check_errors")
	batching.Rule(batching.Leading("self", "B"), "linalg_solve_triangular")
	batching.Rule(batching.Matrices(map[string]int{"self": 2, "atol": 0, "rtol": 0}), "linalg_pinv.atol_rtol_tensor")
	batching.Rule(batching.Leading("self", "input2"), "cholesky_solve")

	batching.Rule(batching.Matrices(map[string]int{"LU": 2, "pivots": 1, "B": 2}), "linalg_lu_solve")
	batching.Rule(batching.Matrices(map[string]int{"LD": 2, "pivots": 1, "B": 2}), "linalg_ldl_solve")
	batching.Rule(batching.Matrices(map[string]int{"input": 2, "tau": 1}), "linalg_householder_product")
	batching.Rule(batching.Matrices(map[string]int{"self": 2, "input2": 1, "input3": 2}), "ormqr")
	batching.Rule(batching.Matrices(map[string]int{"self": 2, "A": 2}), "triangular_solve")
	batching.Rule(batching.Matrices(map[string]int{"LU_data": 2, "LU_pivots": 1}), "lu_unpack")
	matrix := batching.Matrices(map[string]int{"A": 2, "B": 2})
	vector := batching.Matrices(map[string]int{"A": 2, "B": 1})
	batching.Rule(func(b *batching.Call) []batching.Value {
		a, r := b.C.Shape(0), b.C.Shape(1)
		if len(a) > 1 && len(r) >= len(a) && !tensor.Broadcastable(r[:len(r)-2], a[:len(a)-2]) {
			return b.Loop() // the status is one for each matrix of A, not for each pair
		}
		if len(r) == 1 || len(a) > 1 && slices.Equal(r, a[:len(a)-1]) { // as linalg.solve itself tells the two apart
			return vector(b)
		}
		return matrix(b)
	}, "_linalg_solve_ex")
}
