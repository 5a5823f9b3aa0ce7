// Package conv holds convolutions, transposed convolutions and the sliding windows (unfold, fold) that they are made of.
//
// A convolution is a matrix product: windows of the input, written as columns (im2col), times the kernels. The columns are made and
// multiplied block by block, so that they stay in cache; blocks are the units of parallel work. Nothing is summed across blocks whose
// number depends on the threads.
package conv

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
