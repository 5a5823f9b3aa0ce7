package fft

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "_fft_c2c", "_fft_c2r", "_fft_r2c")
}
