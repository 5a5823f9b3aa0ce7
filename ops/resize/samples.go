package resize

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"upsample_nearest1d _upsample_nearest_exact1d :: 1x2x4 [7]",
		"upsample_nearest2d _upsample_nearest_exact2d :: 1x2x3x4 [5,7]",
		"upsample_nearest3d _upsample_nearest_exact3d :: 1x2x2x3x4 [3,5,7]",
		"upsample_nearest1d.vec _upsample_nearest_exact1d.vec :: 1x2x4 [7] None",
		"upsample_nearest2d.vec _upsample_nearest_exact2d.vec :: 1x2x3x4 [5,7] None",
		"upsample_nearest3d.vec _upsample_nearest_exact3d.vec :: 1x2x2x3x4 [3,5,7] None",
		"upsample_linear1d :: 1x2x4 [7] false ; 1x2x4 [7] true", "upsample_linear1d.vec :: 1x2x4 [7] false None",
		"upsample_bilinear2d upsample_bicubic2d :: 1x2x3x4 [5,7] false ; 1x2x3x4 [5,7] true ; 1x2x5x7 [3,4] false",
		"_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa :: 1x2x3x4 [5,7] false ; 1x2x5x7 "+
			"[3,4] false",
		"upsample_bilinear2d.vec upsample_bicubic2d.vec _upsample_bilinear2d_aa.vec _upsample_bicubic2d_aa.vec "+
			"_upsample_lanczos2d_aa.vec :: 1x2x3x4 [5,7] false None",
		"upsample_trilinear3d :: 1x2x2x3x4 [3,5,7] false", "upsample_trilinear3d.vec :: 1x2x2x3x4 [3,5,7] false None",
		"upsample_nearest1d_backward _upsample_nearest_exact1d_backward :: 1x2x7 [7] [1,2,4]",
		"upsample_nearest2d_backward _upsample_nearest_exact2d_backward :: 1x2x5x7 [5,7] [1,2,3,4]",
		"upsample_nearest3d_backward _upsample_nearest_exact3d_backward :: 1x2x3x5x7 [3,5,7] [1,2,2,3,4]",
		"upsample_linear1d_backward :: 1x2x7 [7] [1,2,4] false ; 1x2x7 [7] [1,2,4] true",
		"upsample_trilinear3d_backward :: 1x2x3x5x7 [3,5,7] [1,2,2,3,4] false",
		"upsample_bilinear2d_backward upsample_bicubic2d_backward :: 1x2x5x7 [5,7] [1,2,3,4] false ; 1x2x5x7 [5,7] "+
			"[1,2,3,4] true 1.7 1.8",
		"_upsample_bilinear2d_aa_backward _upsample_bicubic2d_aa_backward _upsample_lanczos2d_aa_backward :: 1x2x3x4 "+
			"[3,4] [1,2,5,7] false",
		"grid_sampler_2d grid_sampler :: 1x2x3x4 1x2x5x2 0 0 false | nogradgrad ; 2x2x3x4 2x3x2x2 0 1 true | "+
			"nogradgrad ; 1x2x3x4 1x2x5x2 2 2 false | nogradgrad ; 1x2x3x4 1x2x5x2 1 0 false | nograd",
		"grid_sampler_3d :: 1x2x3x4x2 1x2x2x3x3 0 0 false | nogradgrad ; 1x2x3x4x2 1x2x2x3x3 0 2 true | nogradgrad ; "+
			"1x2x3x4x2 1x2x2x3x3 1 1 false | nograd",
		"grid_sampler_2d_backward :: 1x2x2x5 1x2x3x4 1x2x5x2 0 0 false [true,true] | nograd ; 1x2x2x5 1x2x3x4 "+
			"1x2x5x2 2 "+
			"1 true [true,true] | nograd",
		"grid_sampler_3d_backward :: 1x2x2x2x3 1x2x3x4x2 1x2x2x3x3 0 0 false [true,true] | nograd",
		"F::grid_sample :: 1x2x3x4 1x2x5x2 bilinear zeros false | nogradgrad ; 1x2x3x4x2 1x2x2x3x3 bilinear border "+
			"true "+
			"| nogradgrad ; 1x2x3x4 1x2x5x2 bicubic reflection false | nogradgrad",
		"affine_grid_generator F::affine_grid :: 2x2x3 [2,3,4,5] false ; 2x2x3 [2,3,4,5] true ; 1x3x4 [1,2,3,2,4] false",
		"cudnn_grid_sampler :: 1x2x3x4 1x2x5x2 | nogradgrad", "cudnn_affine_grid_generator :: 2x2x3 2 3 4 5",
		"affine_grid_generator_backward :: 2x4x5x2 [2,3,4,5] false ; 1x3x2x4x3 [1,2,3,2,4] true",
		"F::interpolate :: 1x2x3x4 [5,7] ; 1x2x3x4 None [2.0,1.5] bilinear ; 1x2x3x4 None [2.0,1.5] bicubic true "+
			"true ; 1x2x3x4 [2,3] None area ; 1x2x5x7 [3,4] None lanczos antialias=true",
		"F::interpolate.any :: 1x2x3x4 6 ; 1x2x3x4 None 2.0 bilinear",
		"F::upsample F::upsample_nearest F::upsample_bilinear :: 1x2x3x4 6",
		"pixel_shuffle F::pixel_shuffle :: 1x8x2x3 2", "pixel_unshuffle F::pixel_unshuffle :: 1x2x4x6 2",
	)
	for _, n := range strings.Fields("nearest1d nearest2d nearest3d linear1d bilinear2d bicubic2d trilinear3d") {
		tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::upsample_"+n)
	}
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::grid_sampler", "aten::grid_sampler_2d",
		"aten::grid_sampler_3d")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPPromote, "aten::grid_sampler")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPFP32, "aten::_upsample_bicubic2d_aa",
		"aten::_upsample_bilinear2d_aa", "aten::_upsample_nearest_exact1d", "aten::_upsample_nearest_exact2d",
		"aten::_upsample_nearest_exact3d")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::upsample_bicubic2d.vec",
		"aten::upsample_bilinear2d.vec", "aten::upsample_linear1d.vec", "aten::upsample_nearest1d.vec",
		"aten::upsample_nearest2d.vec", "aten::upsample_nearest3d.vec", "aten::upsample_trilinear3d.vec")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::_upsample_bicubic2d_aa.vec",
		"aten::_upsample_bilinear2d_aa.vec",
		"aten::_upsample_nearest_exact1d.vec", "aten::_upsample_nearest_exact2d.vec",
		"aten::_upsample_nearest_exact3d.vec")
}
