package softmax

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_log_softmax", "_softmax", "log_softmax.int", "softmax.int")
}
