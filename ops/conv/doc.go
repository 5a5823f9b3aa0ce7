// Package conv holds convolutions, transposed convolutions and the sliding windows (unfold, fold) that they are made
// of.
//
// Floats run on the direct kernels of internal/cpu/conv, in either memory layout; what a convolution makes is
// channels last when its input or weight is, as in PyTorch. Floats of 16 bits are summed in float32 and rounded once.
// Where the processor multiplies bfloat16 itself, numbers of it too small to be normal count as zero, be they
// elements or sums, as in oneDNN. Integers and complex numbers go the simple way: windows of the input, written as
// columns (im2col), times the kernels, block by block.
//
// The files: convolution.go defines PyTorch's operators, unfold.go im2col and col2im. layout.go finds out memory
// layouts and calls the direct kernels, float16.go and bfloat16.go those of 16 bits; im2col_gemm.go is the simple
// way. packed_weights.go keeps weights in the kernels' order. conv_fused.go, conv_pool_fused.go and
// conv_depthwise_fused.go are fused operators for inference, and so is squeeze.go, a gate of channels; conv_tail.go is
// one with a gradient, for convolution, ReLU and pooling in training; the bodies of all of them are PyTorch's
// operators, which is what layers see.
package conv

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
