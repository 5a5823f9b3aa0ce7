package fft

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps.
func init() {
	dims := batching.Dims("dim")
	batching.Rule(func(b *tensor.Batched) []tensor.Value {
		if len(b.C.Ints(1)) == 0 { // along no dimension, where other operators take that for all
			return b.Call(b.Args())
		}
		return dims(b)
	}, "_fft_c2c", "_fft_c2r", "_fft_r2c")
}
