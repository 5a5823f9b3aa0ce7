package sort

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors", "histc", "histogram", "isin",
		"kthvalue", "median", "mode", "msort", "nanmedian", "nanquantile", "quantile", "sort", "topk")
}
