package reduce

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"sum mean prod all any max min median nanmedian :: 3x4 ; 2x3x5 ; 7 ; s",
		"hash_tensor :: 3x4 ; 2x3x5 [0,2] ; 3x4:i9 [1] keepdim=true ; s",
		"sum.dim_IntList mean.dim :: 3x4 [0] ; 2x3x5 [0,2] ; 2x3x5 [1] true ; 3x4 None ; s [0]",
		"nansum nanmean :: 3x4 ; 2x3x5 [0,2] ; 2x3x5 [1] true ; {1.5,nan,2}  | nograd",
		"prod.dim_int :: 3x4 0 ; 2x3x5 1 true",
		"amax amin :: 3x4 ; 2x3x5 [0,2] ; 2x3x5 [1] true",
		"max.dim min.dim median.dim nanmedian.dim :: 3x4 0 ; 2x3x5 1 true ; 3x4 -1",
		"mode :: {1,2,2;3,3,1} ; 2x3x5 1 true ; 3x4",
		"aminmax :: 3x4 ; 3x4 dim=1 keepdim=true",
		"argmax argmin :: 3x4 ; 3x4 0 ; 2x3x5 1 true",
		"all.dim any.dim :: 3x4:b 0 ; 3x4 1 true",
		"all.dims any.dims :: 3x4:b [0] ; 2x3x4:b [0,2] true ; 3x4:b",
		"count_nonzero :: 3x4 ; 3x4:i2 0",
		"count_nonzero.dim_IntList :: 3x4:i2 [0] ; 2x3x4:b [0,2]",
		"std var std_mean var_mean :: 3x4 ; 3x4 false",
		"std.dim var.dim std_mean.dim var_mean.dim :: 3x4 [0] ; 2x3x5 [0,2] false true",
		"std.correction var.correction std_mean.correction var_mean.correction :: 3x4 ; 2x3x5 [0,2] correction=0 ; "+
			"3x4 [1] keepdim=true",
		"logsumexp :: 3x4 [0] ; 2x3x5 [0,2] true",
		"cov :: 3x5 ; 5 ; 3x4:c ; 3x5 correction=0 fweights={1,2,3,1,2} ; 3x5 aweights=5@0.1..2 | const=2 ; "+
			"2x4 correction=2 fweights={1,2,3,1} aweights=4@0.1..2 | const=2",
		"corrcoef :: 3x5 ; 3x4:c",
		"segment_reduce :: 5 sum lengths={2,0,3} | nogradgrad ; 5x2 mean lengths={2,3} | nogradgrad ; "+
			"2x5 max lengths={2,3;4,1} axis=1 | nogradgrad ; 6 min offsets={0,2,6} | nogradgrad ; "+
			"6x2 prod offsets={0,2,6} initial=1.5 | nogradgrad",
		"_segment_reduce_backward :: 2 2 5 sum lengths={2,3} ; 2 2 5 mean offsets={0,2,5}",
		"norm.Scalar :: 3x4 ; 3x4 1 ; 3x4 3",
		"norm.ScalarOpt_dim :: 3x4 2 [0] ; 2x3x5 3 [0,2] true",
		"norm.ScalarOpt_dim_dtype :: 3x4 2 [0] false dtype=f32",
		"norm.ScalarOpt_dtype :: 3x4 2 dtype=f32",
		"torch::norm.name :: 3x4 fro",
		"torch::norm.number :: 3x4 ; 3x4 3 [1]",
		"frobenius_norm.dim :: 3x4 [0,1]",
		"linalg_vector_norm :: 3x4 ; 3x4 3 [1] ; 2x3x5 1 [0,2] true ; 3x4 0 | nograd",
		"dist :: 3x4 3x4 ; 3x4 3x4 1 ; 3x4 3x4 3",
		"cdist torch::cdist :: 3x4 5x4 ; 2x3x4 5x4 1 ; 3x4 5x4 3 ; 3x4 27x4", "pdist F::pdist :: 4x3 ; 4x3 3 ; 4x3 1.5",
		"_euclidean_dist :: 3x4 5x4 ; 2x3x4 2x5x4", "_cdist_forward :: 3x4 5x4 1 None ; 2x3x4 2x5x4 2 None",
		"_pdist_forward :: 4x3 ; 4x3 1",
		"trace :: 4x4 ; 3x5", "gotorch::expand_dense :: 3x1 [3,4] ; s [2,3]",
		"gotorch::logsumexp_backward :: 3x1 3x4 3x1@2..3 ; 4 3x4 4@2..3",
		"gotorch::norm2_backward :: 3x1 3x4 3x1@1..2 ; 1x4 3x4 1x4@1..2 ; s 3x4 s@1..2",
		"value_selecting_reduction_backward :: 3 1 {0,2,1} [3,4] false",
		"renorm :: 3x4 2 0 1 ; 3x4x2 1 1 0.5",
		"F::pairwise_distance pairwise_distance :: 3x4 3x4 ; 3x4 3x4 1 keepdim=true",
		"F::cosine_similarity cosine_similarity :: 3x4 3x4 ; 3x4x2 3x4x2 dim=2",
		"F::normalize :: 3x4 ; 3x4 1 0", "F::normalize.out :: 3x4 out=3x4 | nograd nolayout",
	)
	samples.None("the gradient's step of a distance, whose arguments are its results; the family's tests compare it "+
		"with the composed form", "_cdist_backward _pdist_backward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::prod", "aten::sum", "aten::norm",
		"aten::linalg_vector_norm", "aten::logsumexp", "aten::frobenius_norm",
		"aten::dist", "aten::cdist", "aten::pdist", "aten::renorm", "aten::cosine_similarity")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::prod", "aten::trace", "aten::cdist")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::sum", "aten::norm", "aten::linalg_vector_norm",
		"aten::logsumexp")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32OptDType, "aten::linalg_vector_norm", "aten::prod",
		"aten::sum")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32AppendDType, "aten::norm.Scalar",
		"aten::norm.ScalarOpt_dim")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::norm.ScalarOpt_dim_dtype",
		"aten::norm.ScalarOpt_dtype")
}
