package sort

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps.
func init() {
	batching.Rule(batching.Dims("dim"), "sort", "sort.stable", "topk", "kthvalue", "median.dim", "nanmedian.dim", "mode")
	batching.Rule(batching.Flat("aten::median.dim"), "median")
	batching.Rule(batching.Flat("aten::nanmedian.dim"), "nanmedian")
	batching.Rule(batching.Leading("self"), "bucketize.Tensor")
	batching.Rule(batching.Leading("elements"), "isin.Tensor_Tensor", "isin.Tensor_Scalar")
	batching.Rule(batching.Leading("sorted_sequence", "self"), "searchsorted.Tensor")
}
