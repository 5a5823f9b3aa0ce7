package sort

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"sort argsort :: 3x4 ; 2x3x5 1 true ; s",
		"sort.stable argsort.stable :: 3x4 stable=true ; {1,0,1;0,0,1} stable=true dim=1 descending=true",
		"msort :: 3x4 ; 7",
		"topk :: 3x4 2 ; 2x3x5 2 1 false ; 7 7",
		"kthvalue :: 3x4 2 ; 2x3x5 2 1 true",
		"searchsorted.Tensor :: {0.5,1.5,2.5} 3x4 ; {0.5,1.5;1,2} 2x3 right=true ; {0.5,1.5} 5 out_int32=true",
		"searchsorted.Scalar :: {0.5,1.5,2.5} 1.2",
		"bucketize.Tensor :: 3x4 {-0.5,0.5,1.5} ; 3x4 {-0.5,0.5} right=true",
		"_unique2 unique_consecutive torch::unique torch::unique_consecutive :: {2,0,2,2,1} ; {2,0;0,2} "+
			"return_inverse=true return_counts=true",
		"unique_dim :: {1,0;0,2;1,0} 0 ; {1,0;0,2;1,0} 1 return_inverse=true return_counts=true",
		"bincount :: 7:i5 ; 7:i5 7 ; 7:i5 minlength=9", "histc :: 3x4 5 ; 3x4 4 -1 1",
		"isin.Tensor_Tensor :: 3x4:i5 4:i5 ; 3x4:i5 3:i5 invert=true ; 3x4 {0.5,1.5}", "isin.Tensor_Scalar :: 3x4:i5 2",
		"histogram.bin_ct :: 3x4 5 ; 3x4 4 range=[-1,1.5] weight=3x4@0..1 density=true",
		"histogram.bins_tensor :: 3x4 {-1.0,0.0,1.5} ; 3x4 {-1.0,0.0,0.5,2.0} weight=3x4@0..1 density=true",
		"_histogramdd_bin_edges _histogramdd_from_bin_cts :: 7x2 [2,3] ; 4x3x2 [3,2] range=[-1,1,-2,2] "+
			"weight=4x3@0..1 density=true",
		"_histogramdd_from_bin_tensors :: 7x2 [{-1.0,0.0,1.5},{-2.0,0.5,1.0,2.0}] ; 4x3x1 [{-1.0,0.0,1.5}] "+
			"weight=4x3@0..1 density=true",
		"histogramdd :: 7x2 [2,3] ; 4x3x2 [3,2] [-1,1,-2,2] 4x3@0..1 true", "histogramdd.int_bins :: 7x2 3",
		"histogramdd.TensorList_bins :: 7x2 [{-1.0,0.0,1.5},{-2.0,0.5,1.0,2.0}]",
		"isin.Scalar_Tensor :: 2 4:i5",
		"quantile nanquantile :: 3x4 s@0.1..0.9 ; 3x4 2@0.1..0.9 1 ; 3x4 3@0.1..0.9 1 ; 2x3x5 2@0.1..0.9 1 true "+
			"interpolation=midpoint ; 3x4 s@0.1..0.9 0 interpolation=lower | const=1",
		"quantile.scalar nanquantile.scalar :: 3x4 0.3 ; 3x4 0.6 1 true",
		"bucketize.Scalar :: 1.2 {0.5,1.5,2.5}",
	)
	samples.None("an inner step of quantile, whose ranks are in a range", "gotorch::order_statistic_indices")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::quantile", "aten::nanquantile")
}
