package linalg

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		// The rules assume that a matrix stays Hermitian, or a factor triangular, which a change of one element does
		// not do: the tests of this package check them.
		"linalg_cholesky linalg_cholesky_ex :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} | nograd ; {4.0,1.0;1.0,3.0} "+
			"upper=true | nograd",
		"linalg_solve_triangular :: 3x3@1..2 3x2 upper=false ; 2x3x3@1..2 3x2 upper=true ; 3x3@1..2 2x3 upper=true "+
			"left=false ; 3x3@1..2 2x3x2 upper=false unitriangular=true",
		"cholesky_solve :: 3x2 3x3@1..2 | const=1 ; 2x3x2 3x3@1..2 true | const=1",
		"cholesky_inverse :: 3x3@1..2 | nograd ; 2x3x3@1..2 true | nograd",
		"linalg_slogdet slogdet :: 3x3 ; 2x3x3", "_linalg_slogdet :: 3x3 | nograd ; 2x3x3 | nograd",
		"linalg_eigvalsh :: 3x3 | nograd ; 2x3x3 U | nograd",
		"linalg_det det logdet :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} ; 2x0x0 | nograd",
		"_linalg_det :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} | nograd ; 2x3x3 | nograd",
		"linalg_inv inverse linalg_inv_ex :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} ; 2x3x3 | tol=1e-3 nograd ; 2x0x0",
		"linalg_solve linalg_solve_ex :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} 3x2 ; "+
			"{4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} 3 ; {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} 2x2x3 left=false",
		"_linalg_solve_ex :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} 3x2 | nograd",
		"linalg_tensorinv :: 2x3x6 | nograd ; 6x2x3 1 | nograd", "linalg_tensorsolve :: 2x3x6 2x3 | nograd",
		"linalg_lu_factor linalg_lu_factor_ex _lu_with_info :: 3x3 | nograd ; 3x5 | nograd ; 2x5x3 | nograd",
		"linalg_lu :: 3x3 | nograd ; 3x5 | nograd ; 2x5x3 | nograd",
		"torch::lu :: 3x3 | nograd ; 3x5 true true | nograd",
		"triangular_solve :: 3x2 3x3@1..2 ; 2x3x2 3x3@1..2 false true ; 3x2 3x3@1..2 true false true",
		"linalg_qr :: 4x3 | nograd ; 2x3x4 | nograd ; 4x3 complete | nograd ; 4x3 r | nograd",
		"geqrf :: 4x3 ; 2x3x4", "linalg_householder_product orgqr :: 4x3 3 ; 2x4x3 2x2",
		"ormqr :: 4x3 3 4x2 ; 4x3 3 2x4 false true",
		"linalg_svdvals :: 3x4 | nograd ; 2x4x3 | nograd", "linalg_polar :: 4x3 | nograd ; 2x3x3 | nograd",
		"linalg_matrix_sqrth :: {4.0,1.0,0.5;1.0,3.0,1.0;0.5,1.0,2.0} | nograd",
		"linalg_matrix_exp matrix_exp :: 3x3 ; 2x3x3 ; 0x3x3 | nograd",
		"linalg_pinv :: 4x3 1e-5 ; 2x3x4 1e-5", "linalg_pinv.atol_rtol_float :: 4x3 ; 2x3x4 rtol=1e-4",
		"linalg_pinv.atol_rtol_tensor :: 4x3 | nograd", "linalg_pinv.rcond_tensor :: 4x3 {0.001} | nograd",
		"pinverse :: 4x3", "linalg_matrix_rank :: 4x3 0.1 | nograd",
		"linalg_matrix_rank.atol_rtol_float :: 4x3 | nograd ; 2x3x4 rtol=1e-4 | nograd",
		"linalg_matrix_rank.atol_rtol_tensor :: 4x3 | nograd", "linalg_matrix_rank.tol_tensor :: 4x3 {0.001} | nograd",
		"linalg_norm :: 3x4 ; 3x4 1 ; 2x3x4 2.0 [1] true ; 3x4 -1 [0,1] | nograd",
		"linalg_norm.ord_str :: 3x4 fro ; 3x4 nuc [1,0]",
		"linalg_matrix_norm :: 3x4 1 ; 2x3x4 inf | nograd ; 3x4 2 ; 2x3x4 -2 [0,2] true | nograd",
		"linalg_matrix_norm.str_ord :: 3x4 ; 2x3x4 nuc [0,2] true",
		"nuclear_norm :: 3x4", "nuclear_norm.dim :: 2x3x4 [0,2] true",
		"linalg_cond :: 3x3 | nograd ; 2x3x4 | nograd ; 3x3 1 | nograd", "linalg_cond.p_str :: 3x3 fro | nograd",
		"linalg_ldl_factor linalg_ldl_factor_ex :: 3x3 ; 2x4x4", "linalg_ldl_solve :: 3x3@1..2 {1,2,3} 3x2",
		"linalg_vander :: 4 ; 2x3 N=4 ; 4:i5 | nograd",
	)
	pivots := func(at int, line string) func(s *tensor.Sampler) { // argument at becomes int32
		return func(s *tensor.Sampler) {
			c, err := samples.Parse(s.Op.Sch, line)
			if err != nil {
				tensor.Fail(tensor.ErrValue, "samples of %s: %v", s.Op.FullName(), err)
			}
			c.Args[at] = tensor.TensorValue(tensor.FromSlice([]int32{2, 2, 3}))
			s.Calls = append(s.Calls, c)
		}
	}
	tensor.RegisterSamples("aten::lu_unpack", pivots(1, "3x3 {1,2,3}"))
	tensor.RegisterSamples("aten::lu_solve", pivots(2, "3x2 3x3@1..2 {1,2,3}"))
	tensor.RegisterSamples("aten::linalg_lu_solve", pivots(1, "3x3@1..2 {1,2,3} 3x2"))
	samples.None("the number of results depends on the matrices; checked by the package's tests", "linalg_lstsq")
	samples.None("eigenvectors of another operator; checked with it", "gotorch::eigenpairs")
	samples.None("random", "torch::lobpcg torch::svd_lowrank torch::pca_lowrank")
	samples.None("singular vectors are defined up to a factor; checked by their products",
		"_linalg_svd linalg_svd svd linalg_eigh")
	samples.None("eigenvectors are defined up to a factor, and eigenvalues have no order; checked by their products",
		"linalg_eig linalg_eigvals _linalg_eigvals")
	samples.None("removed from PyTorch; they only panic", "torch::solve torch::lstsq torch::eig torch::symeig "+
		"torch::matrix_rank torch::qr torch::cholesky")
	samples.None("eigenvectors are defined up to a factor; checked by their products", "_linalg_eigh")
	samples.None("no result", "_linalg_check_errors")
	for _, n := range strings.Fields("cholesky_inverse cholesky_solve linalg_cholesky linalg_cholesky_ex " +
		"linalg_eigvalsh " +
		"_lu_with_info geqrf inverse linalg_cond linalg_cond.p_str linalg_eig linalg_eigh linalg_eigvals " +
		"linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank " +
		"linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor " +
		"linalg_matrix_sqrth linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve " +
		"lu_solve orgqr ormqr pinverse svd triangular_solve") {
		tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::"+n)
	}
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::linalg_matrix_sqrth", "aten::nuclear_norm",
		"aten::nuclear_norm.dim")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32OptDType, "aten::linalg_matrix_norm",
		"aten::linalg_matrix_norm.str_ord")
}
