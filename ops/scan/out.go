package scan

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("cummax", "cummin", "cumprod", "cumsum", "logcumsumexp")
	tensor.RegisterOutType("Bad in-place call: input tensor dtype {got c} and output tensor dtype {want c} should match",
		"cumprod_", "cumsum_")
}
