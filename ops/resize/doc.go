// Package resize holds interpolation of images and volumes, and the shuffles between channels and pixels.
//
// Every mode is separable: one table of taps per dimension says which input elements, with which weights, make an output element. The
// gradient runs the same tables backwards.
package resize

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
