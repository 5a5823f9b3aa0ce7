package reduce

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	tensor.RegisterStorage(tensor.TakesStorage, "all", "any")
	tensor.RegisterStorage(tensor.TakesUnsigned, "sum", "prod", "nansum")
	tensor.RegisterStorage(tensor.TakesComplexHalf, "std", "std_mean", "var", "var_mean", "count_nonzero",
		"linalg_vector_norm", "norm", "frobenius_norm", "dist")
}
