package sort

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	tensor.RegisterStorage(tensor.TakesUnsigned|tensor.Orders, "sort", "_unique2", "unique_consecutive", "unique_dim",
		"searchsorted")
}
