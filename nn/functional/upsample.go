package functional

import "github.com/gotorch-dev/torch/tensor"

// UpsampleOptions are the options of Upsample; the zero value is PyTorch's default. Give Size or ScaleFactor.
type UpsampleOptions struct {
	Size         []int     // of the spatial dimensions
	ScaleFactor  []float64 // one for all spatial dimensions, or one each
	Mode         string    // default "nearest"
	AlignCorners tensor.Opt[bool]
}

// Upsample is Interpolate under its older name.
// https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample.html
func Upsample(input *tensor.Tensor, opts ...UpsampleOptions) *tensor.Tensor {
	var o UpsampleOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	tensor.Warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
	return Interpolate(input, InterpolateOptions{Size: o.Size, ScaleFactor: o.ScaleFactor, Mode: o.Mode,
		AlignCorners: o.AlignCorners})
}

// UpsamplingOptions are the options of UpsampleNearest and UpsampleBilinear. Give Size or ScaleFactor.
type UpsamplingOptions struct {
	Size        []int     // of the spatial dimensions
	ScaleFactor []float64 // one for all spatial dimensions, or one each
}

// UpsampleNearest is Interpolate in the mode nearest under an older name.
// https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample_nearest.html
func UpsampleNearest(input *tensor.Tensor, opts ...UpsamplingOptions) *tensor.Tensor {
	return upsampled(input, "upsample_nearest", InterpolateOptions{Mode: "nearest"}, opts)
}

// UpsampleBilinear is Interpolate of images [n, c, H, W] in the mode bilinear, with align_corners, under an older name.
// https://pytorch.org/docs/stable/generated/torch.nn.functional.upsample_bilinear.html
func UpsampleBilinear(input *tensor.Tensor, opts ...UpsamplingOptions) *tensor.Tensor {
	return upsampled(input, "upsample_bilinear", InterpolateOptions{Mode: "bilinear", AlignCorners: tensor.Some(true)},
		opts)
}

func upsampled(input *tensor.Tensor, name string, o InterpolateOptions, opts []UpsamplingOptions) *tensor.Tensor {
	if len(opts) > 0 {
		o.Size, o.ScaleFactor = opts[0].Size, opts[0].ScaleFactor
	}
	tensor.Warn("`nn.functional.%s` is deprecated. Use `nn.functional.interpolate` instead.", name)
	return Interpolate(input, o)
}
