package matmul

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("addbmm", "addmm", "addmv", "baddbmm", "bmm", "cross", "dot", "inner", "linalg_cross",
		"linalg_matrix_power", "linalg_multi_dot", "linalg_vecdot", "linear", "matmul", "matrix_power", "mm", "mv",
		"tensordot", "vdot")
}
