package matmul

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	tensor.RegisterStorage(tensor.TakesFloat8|tensor.TakesScales, "mm", "addmm")
}
