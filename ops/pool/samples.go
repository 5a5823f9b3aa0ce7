package pool

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"adaptive_avg_pool1d F::adaptive_avg_pool1d adaptive_max_pool1d F::adaptive_max_pool1d "+
			"F::adaptive_max_pool1d_with_indices :: 2x3x7 [3] ; 3x7 [2]",
		"adaptive_avg_pool2d _adaptive_avg_pool2d F::adaptive_avg_pool2d adaptive_max_pool2d F::adaptive_max_pool2d "+
			"F::adaptive_max_pool2d_with_indices :: 2x3x5x6 [3,2] ; 3x5x6 [1,1] ; 3x1x2 [5,4]",
		"adaptive_avg_pool3d _adaptive_avg_pool3d F::adaptive_avg_pool3d adaptive_max_pool3d F::adaptive_max_pool3d "+
			"F::adaptive_max_pool3d_with_indices :: 1x2x3x4x5 [2,2,3]",
		"F::adaptive_avg_pool1d.any F::adaptive_max_pool1d.any F::adaptive_max_pool1d_with_indices.any :: 2x3x7 3",
		"F::adaptive_avg_pool2d.any F::adaptive_max_pool2d.any F::adaptive_max_pool2d_with_indices.any :: 2x3x5x6 2",
		"F::adaptive_avg_pool3d.any F::adaptive_max_pool3d.any F::adaptive_max_pool3d_with_indices.any :: 1x2x3x4x5 2",
		"gotorch::adaptive_avg_pool1d_backward :: 2x3x3 [2,3,7]",
		"gotorch::adaptive_avg_pool2d_backward :: 2x3x3x2 [2,3,5,6]",
		"gotorch::adaptive_avg_pool3d_backward :: 1x2x2x2x3 [1,2,3,4,5]",
		"_adaptive_avg_pool2d_backward :: 2x3x3x2 2x3x5x6 | const=1",
		"_adaptive_avg_pool3d_backward :: 1x2x2x2x3 1x2x3x4x5 | const=1",
		"avg_pool1d F::avg_pool1d :: 2x3x7 [3] ; 2x3x7 [3] [2] [1] true false",
		"avg_pool2d F::avg_pool2d :: 2x3x5x6 [3,2] ; 2x3x5x6 [3,3] [2,1] [1,1] true false",
		"avg_pool3d F::avg_pool3d :: 1x2x4x4x5 [2,2,3] ; 1x2x4x4x5 [2,2,2] [2,1,2] [1,1,1]",
		"gotorch::avg_pool1d_backward :: 2x3x3 [2,3,7] [3] [2] [0] false true",
		"gotorch::avg_pool2d_backward :: 2x3x2x3 [2,3,5,6] [3,2] [2,2] [0,0] false true None",
		"gotorch::avg_pool3d_backward :: 1x2x1x2x2 [1,2,4,4,5] [2,2,3] [3,2,2] [0,0,0] false true None",
		"avg_pool2d_backward :: 2x3x2x3 2x3x5x6 [3,2] [2,2] [0,0] false true None | const=1",
		"avg_pool3d_backward :: 1x2x1x2x2 1x2x4x4x5 [2,2,3] [3,2,2] [0,0,0] false true None | const=1",
		"max_pool1d F::max_pool1d max_pool1d_with_indices F::max_pool1d_with_indices :: 2x3x7 [3] ; 2x3x7 [3] [2] "+
			"[1] [1] true",
		"mkldnn_max_pool2d :: 2x3x5x6 [3,2] ; 2x3x5x6 [2,2] [2,1] [1,0]", "mkldnn_max_pool3d :: 1x2x4x5x6 [2,3,2]",
		"mkldnn_adaptive_avg_pool2d :: 2x3x5x6 [3,2]",
		"max_pool2d F::max_pool2d max_pool2d_with_indices F::max_pool2d_with_indices :: 2x3x5x6 [3,2] ; 2x3x5x6 "+
			"[3,3] [2,1] [1,1] [1,1] true ; 2x3x5x6 [2,2] [1,1] [0,0] [2,2]",
		"max_pool3d F::max_pool3d max_pool3d_with_indices F::max_pool3d_with_indices :: 1x2x4x4x5 [2,2,3] ; "+
			"1x2x4x4x5 [2,2,2] [2,1,2] [1,1,1]",
		"gotorch::relu_max_pool :: 2x9x7 [3] [] [0] [1] false 1 false ; 2x3x5x6 [3,2] [] [0] [1] false 2 false ; "+
			"2x9x5x6 [3,3] [2,1] [1,1] [1,1] true 2 false",
		"max_pool2d_with_indices_backward :: 1x1x2x2 1x1x4x4 [2,2] [2,2] [0,0] [1,1] false 1x1x2x2:i16 | nograd",
		"max_pool3d_with_indices_backward :: 1x1x1x1x2 1x1x2x2x4 [2,2,2] [2,2,2] [0,0,0] [1,1,1] false 1x1x1x1x2:i16 "+
			"| nograd",
		"adaptive_max_pool2d_backward :: 1x1x2x2 1x1x4x4 1x1x2x2:i16 | const=1",
		"adaptive_max_pool3d_backward :: 1x1x1x1x2 1x1x2x2x4 1x1x1x1x2:i16 | const=1",
		"fractional_max_pool2d_backward :: 1x1x2x2 1x1x4x4 [2,2] [2,2] 1x1x2x2:i16 | const=1",
		"fractional_max_pool3d_backward :: 1x1x1x1x2 1x1x2x2x4 [2,2,2] [1,1,2] 1x1x1x1x2:i16 | const=1",
		"gotorch::pool_gather :: 1x2x4x4 1x2x2x2:i16 2", "gotorch::pool_scatter_add :: 1x2x2x2 1x2x2x2:i16 [1,2,4,4] 2",
		"max_unpool2d :: 1x2x2x2 1x2x2x2:i16 [4,4]", "max_unpool3d :: 1x1x1x2x2 1x1x1x2x2:i16 [2,4,4] [2,2,2] [0,0,0]",
		"F::max_unpool1d :: 1x2x3 1x2x3:i6 [2]", "F::max_unpool2d :: 1x2x2x2 1x2x2x2:i16 [2,2]",
		"F::max_unpool3d :: 1x1x1x2x2 1x1x1x2x2:i16 [2,2,2]",
		"fractional_max_pool2d :: 1x2x5x6 [2,2] [3,3] 1x2x2@0..1",
		"F::fractional_max_pool2d F::fractional_max_pool2d_with_indices :: 1x2x5x6 [2,2] [3,3] "+
			"_random_samples=1x2x2@0..1",
		"fractional_max_pool3d :: 1x2x4x5x6 [2,2,2] [2,3,4] 1x2x3@0..1",
		"F::fractional_max_pool3d F::fractional_max_pool3d_with_indices :: 1x2x4x5x6 [2,2,2] [2,3,4] "+
			"_random_samples=1x2x3@0..1",
		"F::lp_pool1d :: 2x3x7@0.2..2 2 [3]", "F::lp_pool2d :: 2x3x5x6@0.2..2 2 [3,2]",
		"F::lp_pool3d :: 1x2x4x4x5@0.2..2 2 [2,2,3]",
	)
	samples.None("the gradients of maximum pooling without indices, whose argument is what the pooling noted; "+
		"exercised by the pooling's own gradients",
		"gotorch::max_pool_codes_backward gotorch::max_pool_codes_gather")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::avg_pool3d", "aten::max_pool3d", "aten::max_unpool2d",
		"aten::max_unpool3d", "aten::adaptive_avg_pool3d")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::adaptive_max_pool3d", "aten::fractional_max_pool2d",
		"aten::fractional_max_pool3d")
}
