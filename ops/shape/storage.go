package shape

import "github.com/gotorch-dev/torch/tensor"

// The operators of the family that take the types made for storage: those for which PyTorch has kernels. Elementwise
// operators take them besides wherever a common type to compute in is found.
func init() {
	const all = tensor.TakesStorage
	tensor.RegisterStorage(all|tensor.Moves, "cat", "stack", "_chunk_cat", "block_diag", "flip", "roll",
		"constant_pad_nd", "repeat", "repeat_interleave", "as_strided_scatter", "diag_embed", "select_backward",
		"slice_backward", "diagonal_backward", "select_scatter", "slice_scatter", "diagonal_scatter")
	tensor.RegisterStorage(tensor.TakesComplexHalf|tensor.Moves, "tril", "triu")
	tensor.RegisterStorage(tensor.TakesFloat8|tensor.TakesScales, "eye")
}
