package loss

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("binary_cross_entropy_with_logits", "nll_loss")
	tensor.RegisterOutType("Found dtype {got} but expected {want}", "binary_cross_entropy", "soft_margin_loss")
	tensor.RegisterOutType("expected scalar type {want} but found {got}", "multi_margin_loss", "multilabel_margin_loss",
		"nll_loss2d")
}
