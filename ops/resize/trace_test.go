package resize_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// What layers see of interpolation and of the shuffles is what PyTorch 2.15 shows.
func TestTraces(t *testing.T) {
	one, two, three := []int{2, 4, 8}, []int{2, 4, 8, 8}, []int{2, 4, 8, 8, 8}
	to := func(mode string, antialias bool, size ...int) func(x *tensor.Tensor) {
		return func(x *tensor.Tensor) {
			F.Interpolate(x, F.InterpolateOptions{Size: size, Mode: mode, Antialias: antialias})
		}
	}
	by := func(mode string) func(x *tensor.Tensor) {
		return func(x *tensor.Tensor) {
			F.Interpolate(x, F.InterpolateOptions{ScaleFactor: []float64{1.5, 1.5}, Mode: mode})
		}
	}
	opstest.CheckTraces(t, []opstest.Traced{
		opstest.Shows("nearest 1d", to("nearest", false, 4), one, "upsample_nearest1d.vec", "upsample_nearest1d"),
		opstest.Shows("nearest-exact 1d", to("nearest-exact", false, 4), one, "_upsample_nearest_exact1d.vec",
			"_upsample_nearest_exact1d"),
		opstest.Shows("linear", to("linear", false, 4), one, "upsample_linear1d.vec", "upsample_linear1d"),
		opstest.Shows("area 1d", to("area", false, 4), one, "adaptive_avg_pool1d",
			"unsqueeze _adaptive_avg_pool2d squeeze.dim"),
		opstest.Shows("nearest 2d", to("nearest", false, 4, 4), two, "upsample_nearest2d.vec", "upsample_nearest2d"),
		opstest.Shows("nearest 2d by a factor", by("nearest"), two, "upsample_nearest2d.vec", "upsample_nearest2d"),
		opstest.Shows("nearest-exact 2d", to("nearest-exact", false, 4, 4), two, "_upsample_nearest_exact2d.vec",
			"_upsample_nearest_exact2d"),
		opstest.Shows("bilinear", to("bilinear", false, 4, 4), two, "upsample_bilinear2d.vec", "upsample_bilinear2d"),
		opstest.Shows("bilinear by a factor", by("bilinear"), two, "upsample_bilinear2d.vec", "upsample_bilinear2d"),
		opstest.Shows("bilinear, antialiased", to("bilinear", true, 4, 4), two, "_upsample_bilinear2d_aa.vec",
			"_upsample_bilinear2d_aa"),
		opstest.Shows("bicubic", to("bicubic", false, 4, 4), two, "upsample_bicubic2d.vec", "upsample_bicubic2d"),
		opstest.Shows("bicubic, antialiased", to("bicubic", true, 4, 4), two, "_upsample_bicubic2d_aa.vec",
			"_upsample_bicubic2d_aa"),
		opstest.Shows("lanczos", to("lanczos", true, 4, 4), two, "_upsample_lanczos2d_aa.vec",
			"_upsample_lanczos2d_aa"),
		opstest.Shows("area 2d", to("area", false, 4, 4), two, "adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
		opstest.Shows("area 2d by a factor", by("area"), two, "adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
		opstest.Shows("nearest 3d", to("nearest", false, 4, 4, 4), three, "upsample_nearest3d.vec",
			"upsample_nearest3d"),
		opstest.Shows("trilinear", to("trilinear", false, 4, 4, 4), three, "upsample_trilinear3d.vec",
			"upsample_trilinear3d"),
		opstest.Shows("pixel_shuffle", func(x *tensor.Tensor) { F.PixelShuffle(x, 2) }, two, "pixel_shuffle",
			"pixel_shuffle"),
		opstest.Shows("pixel_unshuffle", func(x *tensor.Tensor) { F.PixelUnshuffle(x, 2) }, two, "pixel_unshuffle",
			"pixel_unshuffle"),
		opstest.Shows("channel_shuffle", func(x *tensor.Tensor) { F.ChannelShuffle(x, 2) }, two, "channel_shuffle",
			"channel_shuffle"),
	})
}
