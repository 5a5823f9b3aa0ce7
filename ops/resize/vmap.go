package resize

import "github.com/gotorch-dev/torch/internal/batching"

// The batching rules of this family, for functions that vmap maps: images of all examples become one batch.
func init() {
	for nd, names := range map[int][]string{
		1: {"upsample_linear1d", "upsample_nearest1d", "_upsample_nearest_exact1d"},
		2: {"upsample_bilinear2d", "upsample_bicubic2d", "upsample_nearest2d", "_upsample_nearest_exact2d",
			"_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"},
		3: {"upsample_trilinear3d", "upsample_nearest3d", "_upsample_nearest_exact3d"},
	} {
		var back []string
		for _, n := range names {
			back = append(back, n+"_backward")
		}
		batching.Rule(batching.Fold(nd, ""), names...)
		batching.Rule(batching.Fold(nd, "input_size"), back...)
	}
	batching.Rule(batching.Images("", "input", "grid"), "grid_sampler_2d", "grid_sampler_3d")
	batching.Rule(batching.Images("", "grad_output", "input", "grid"), "grid_sampler_2d_backward",
		"grid_sampler_3d_backward")
	batching.Rule(batching.Images("size", "theta"), "affine_grid_generator")
	batching.Rule(batching.Images("", "self"), "channel_shuffle")
}
