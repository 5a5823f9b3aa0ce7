// Package resize holds interpolation of images and volumes, and the shuffles between channels and pixels.
//
// Every mode is separable: one table of taps per dimension says which input elements, with which weights, make an
// output element. The gradient runs the same tables backwards.
//
// interpolate.go defines PyTorch's operators, taps.go makes the tables, passes.go applies them to one dimension after
// the other, pick.go copies where each output has one tap of weight 1 (the nearest modes), plan.go chooses between
// these and keeps the last tables. shuffle.go has pixel_shuffle and its like.
package resize

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
