package linalg

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_linalg_det", "_linalg_slogdet", "_linalg_solve_ex", "inverse", "linalg_cholesky",
		"linalg_cholesky_ex", "linalg_det", "linalg_eigh", "linalg_eigvalsh", "linalg_inv", "linalg_inv_ex",
		"linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lu", "linalg_lu_factor",
		"linalg_lu_factor_ex", "linalg_lu_solve", "linalg_matrix_exp", "linalg_matrix_norm", "linalg_matrix_sqrth",
		"linalg_norm", "linalg_polar", "linalg_qr", "linalg_slogdet", "linalg_solve", "linalg_solve_ex",
		"linalg_solve_triangular", "linalg_svd", "linalg_svdvals", "lu_solve", "lu_unpack", "ormqr", "slogdet", "svd",
		"triangular_solve")
	tensor.RegisterOutType("linalg.matrix_norm expected out tensor dtype {want} but got: {got}", "nuclear_norm")
}
