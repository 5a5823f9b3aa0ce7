// Package matmul holds the matrix products and what is built on them: linear layers, einsum, outer and cross products,
// distances.
//
// Every product ends in one call of internal/cpu/gemm, which takes operands with any strides: transposed and expanded
// tensors are read in place.
package matmul

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
