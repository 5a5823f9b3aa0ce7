package resize

import "github.com/gotorch-dev/torch/tensor"

// The operators whose results are not converted to the dtype of a tensor given with out.
func init() {
	tensor.RegisterSameOut("_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "_upsample_lanczos2d_aa",
		"_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "affine_grid_generator",
		"grid_sampler_2d", "grid_sampler_3d", "pixel_shuffle", "pixel_unshuffle", "upsample_bicubic2d",
		"upsample_bilinear2d", "upsample_linear1d", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
		"upsample_trilinear3d")
}
