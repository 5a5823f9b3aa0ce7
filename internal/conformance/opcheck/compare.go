package opcheck

import (
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// Compare checks a result of any kind (tensors, tuples, numbers) with the dtype's tolerances.
func Compare(d *golden.Decoder, got, want any, dt tensor.DType) error {
	return compare(d, got, want, dt, golden.Tolerance{})
}

// Flatten lists the tensors of a result in order.
func Flatten(v any) []*tensor.Tensor {
	var out []*tensor.Tensor
	flatten(v, &out)
	return out
}
