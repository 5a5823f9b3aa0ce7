package pointwise

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("abs", "ceil", "conj_physical", "floor", "frac", "frexp.Tensor", "gelu", "hardshrink",
		"log_sigmoid", "nan_to_num", "neg", "round", "sgn", "sign", "softplus", "softshrink", "trunc", "where.self")
}
