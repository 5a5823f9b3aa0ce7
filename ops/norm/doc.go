// Package norm holds the normalisations: batch, layer, group and instance norm and their relatives.
package norm

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
