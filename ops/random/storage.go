package random

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	tensor.RegisterStorage(tensor.TakesStorage, "randint")
	tensor.RegisterStorage(tensor.TakesUnsigned, "random_", "random")
	tensor.RegisterStorage(tensor.TakesComplexHalf, "normal_", "normal", "randn", "rand", "uniform_", "uniform")
}
