// Package softmax holds softmax and log_softmax over one dimension, forward and backward.
package softmax

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
