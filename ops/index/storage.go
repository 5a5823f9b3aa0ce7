package index

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	const all = tensor.TakesStorage
	tensor.RegisterStorage(all|tensor.Moves, "index_select", "index", "_unsafe_index", "embedding")
	tensor.RegisterStorage(all, "nonzero_static")
	tensor.RegisterStorage(tensor.TakesUnsigned|tensor.Moves, "gather", "scatter.src", "scatter.value")
	tensor.RegisterStorage(tensor.TakesUnsigned, "scatter_add")
	tensor.RegisterStorage(tensor.TakesFloat8|tensor.TakesScales|tensor.TakesComplexHalf|tensor.Moves, "masked_select")
	tensor.RegisterStorage(tensor.TakesComplexHalf|tensor.Moves, "masked_fill", "index_fill", "index_copy")
	tensor.RegisterStorage(tensor.TakesComplexHalf, "index_add", "nonzero", "_unsafe_masked_index",
		"_unsafe_masked_index_put_accumulate")
	tensor.RegisterStorage(tensor.TakesFloat8|tensor.TakesComplexHalf, "index_put", "_unsafe_index_put")
}
