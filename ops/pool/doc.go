// Package pool holds the poolings: maximum, average and power means over windows, fixed or adaptive, and their reverses.
package pool

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
