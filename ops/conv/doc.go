// Package conv holds convolutions, transposed convolutions and the sliding windows (unfold, fold) that they are made of.
//
// Floats run on the direct kernels of internal/cpu/conv, in either memory layout; what a convolution makes is channels last when its
// input or weight is, as in PyTorch. Floats of 16 bits are summed in float32 and rounded once. Where the processor multiplies bfloat16
// itself, numbers of it too small to be normal count as zero, be they elements or sums, as in oneDNN. Integers and complex numbers go the
// simple way: windows of the input, written as columns (im2col), times the kernels, block by block.
package conv

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
