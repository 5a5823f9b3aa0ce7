package linalg

import (
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
	)
	samples.None("eigenvectors are defined up to a factor; checked by their products", "_linalg_eigh")
	samples.None("no result", "_linalg_check_errors")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::cholesky_inverse", "aten::cholesky_solve",
		"aten::linalg_cholesky", "aten::linalg_cholesky_ex", "aten::linalg_eigvalsh")
}
