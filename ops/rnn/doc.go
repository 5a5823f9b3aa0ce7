// Package rnn holds the recurrent layers: one direction of one layer over a whole sequence is one operator, forward and
// backward through time.
package rnn

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
