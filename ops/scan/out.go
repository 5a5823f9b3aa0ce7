package scan

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("cummax", "cummin", "logcumsumexp")
}
