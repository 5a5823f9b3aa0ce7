// Package conv holds convolutions, transposed convolutions and the sliding windows (unfold, fold) that they are made of.
//
// Floats run on the direct kernels of internal/cpu/conv, in either memory layout; what a convolution makes is channels last when its
// input or weight is, as in PyTorch. Integers and complex numbers go the simple way: windows of the input, written as columns
// (im2col), times the kernels, block by block.
package conv

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
