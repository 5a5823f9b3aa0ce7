// Package shape holds the operators that look at memory in another way (views) and those that copy, convert and join
// tensors.
package shape

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
