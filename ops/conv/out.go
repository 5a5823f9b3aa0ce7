package conv

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("conv_tbc")
	tensor.RegisterOutType("expected scalar type {want} but found {got}", "col2im", "im2col")
}
