package visioncheck

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/transforms/functional"
)

func reduction(s string) F.Reduction {
	switch s {
	case "mean":
		return F.Mean
	case "sum":
		return F.Sum
	}
	return F.None
}

// input is the input as a tensor.
func (c *call) input() *tensor.Tensor { t, _ := c.x.(*tensor.Tensor); return t }

// regions are regions (K, 5), or those of the boxes of each image.
func (c *call) regions() *tensor.Tensor {
	l, ok := c.get(0, "boxes").(golden.List)
	if !ok {
		return c.tensor(0, "boxes")
	}
	var boxes []*tensor.Tensor
	for _, b := range l {
		boxes = append(boxes, b.(*tensor.Tensor))
	}
	return ops.RoIs(boxes)
}

func (c *call) roi(i int) ops.RoIOptions {
	return ops.RoIOptions{SpatialScale: tensor.Some(c.num(i, "spatial_scale", 1)),
		SamplingRatio: c.int(i+1, "sampling_ratio", -1), Aligned: c.bool(i+2, "aligned", false)}
}

// boxFormat is the format in which boxes are given.
func (c *call) boxFormat(i int) ops.BoxFormat { return ops.BoxFormat(c.str(i, "fmt", "xyxy")) }

func (c *call) boxLoss() ops.BoxLossOptions {
	return ops.BoxLossOptions{Reduction: reduction(c.str(1, "reduction", "none")),
		Eps: tensor.Some(c.num(2, "eps", 1e-7))}
}

func (c *call) dropBlock() ops.DropBlockOptions {
	return ops.DropBlockOptions{Eps: tensor.Some(c.num(3, "eps", 1e-6)), NoTraining: !c.bool(4, "training", true)}
}

// opCalls are the functions of torchvision.ops.
var opCalls = map[string]func(c *call) any{
	"nms": func(c *call) any { return ops.NMS(c.input(), c.tensor(0, "scores"), c.num(1, "iou_threshold", 0)) },
	"batched_nms": func(c *call) any {
		return ops.BatchedNMS(c.input(), c.tensor(0, "scores"), c.tensor(1, "idxs"), c.num(2, "iou_threshold", 0))
	},
	"roi_align": func(c *call) any {
		return ops.RoIAlignFn(c.input(), c.regions(), nn.Size(c.ints(1, "output_size")), c.roi(2))
	},
	"roi_pool": func(c *call) any {
		return ops.RoIPoolFn(c.input(), c.regions(), nn.Size(c.ints(1, "output_size")), c.roi(2))
	},
	"ps_roi_align": func(c *call) any {
		return ops.PSRoIAlignFn(c.input(), c.regions(), nn.Size(c.ints(1, "output_size")), c.roi(2))
	},
	"ps_roi_pool": func(c *call) any {
		return ops.PSRoIPoolFn(c.input(), c.regions(), nn.Size(c.ints(1, "output_size")), c.roi(2))
	},
	"box_convert": func(c *call) any {
		return ops.BoxConvert(c.input(), ops.BoxFormat(c.str(0, "in_fmt", "")), ops.BoxFormat(c.str(1, "out_fmt", "")))
	},
	"box_area": func(c *call) any { return ops.BoxArea(c.input(), c.boxFormat(0)) },
	"box_iou":  func(c *call) any { return ops.BoxIoU(c.input(), c.tensor(0, "boxes2"), c.boxFormat(1)) },
	"generalized_box_iou": func(c *call) any {
		return ops.GeneralizedBoxIoU(c.input(), c.tensor(0, "boxes2"))
	},
	"distance_box_iou": func(c *call) any { return ops.DistanceBoxIoU(c.input(), c.tensor(0, "boxes2")) },
	"complete_box_iou": func(c *call) any { return ops.CompleteBoxIoU(c.input(), c.tensor(0, "boxes2")) },
	"generalized_box_iou_loss": func(c *call) any {
		return ops.GeneralizedBoxIoULoss(c.input(), c.tensor(0, "boxes2"), c.boxLoss())
	},
	"distance_box_iou_loss": func(c *call) any {
		return ops.DistanceBoxIoULoss(c.input(), c.tensor(0, "boxes2"), c.boxLoss())
	},
	"complete_box_iou_loss": func(c *call) any {
		return ops.CompleteBoxIoULoss(c.input(), c.tensor(0, "boxes2"), c.boxLoss())
	},
	"sigmoid_focal_loss": func(c *call) any {
		return ops.SigmoidFocalLoss(c.input(), c.tensor(0, "targets"), ops.FocalLossOptions{
			Alpha: tensor.Some(c.num(1, "alpha", 0.25)), Gamma: tensor.Some(c.num(2, "gamma", 2)),
			Reduction: reduction(c.str(3, "reduction", "none"))})
	},
	"deform_conv2d": func(c *call) any {
		return ops.DeformConv2dFn(c.input(), c.tensor(0, "offset"), c.tensor(1, "weight"), ops.DeformConv2dOptions{
			Bias: c.tensor(2, "bias"), Stride: c.ints(3, "stride"), Padding: c.ints(4, "padding"),
			Dilation: c.ints(5, "dilation"), Mask: c.tensor(6, "mask")})
	},
	"clip_boxes_to_image": func(c *call) any {
		s := c.ints(0, "size")
		return ops.ClipBoxesToImage(c.input(), [2]int{s[0], s[1]})
	},
	"remove_small_boxes": func(c *call) any { return ops.RemoveSmallBoxes(c.input(), c.num(0, "min_size", 0)) },
	"masks_to_boxes":     func(c *call) any { return ops.MasksToBoxes(c.input()) },
	"stochastic_depth": func(c *call) any {
		return ops.StochasticDepthFn(c.input(), c.num(0, "p", 0), ops.StochasticMode(c.str(1, "mode", "")),
			c.bool(2, "training", true))
	},
	"drop_block2d": func(c *call) any {
		return ops.DropBlock2dFn(c.input(), c.num(0, "p", 0), c.int(1, "block_size", 0), c.dropBlock())
	},
	"drop_block3d": func(c *call) any {
		return ops.DropBlock3dFn(c.input(), c.num(0, "p", 0), c.int(1, "block_size", 0), c.dropBlock())
	},
	"FrozenBatchNorm2d": func(c *call) any {
		m := ops.NewFrozenBatchNorm2d(c.input().Size(1), c.num(-1, "eps", 1e-5))
		m.Weight.CopyInPlace(c.tensor(-1, "weight"))
		m.Bias.CopyInPlace(c.tensor(-1, "bias"))
		m.RunningMean.CopyInPlace(c.tensor(-1, "running_mean"))
		m.RunningVar.CopyInPlace(c.tensor(-1, "running_var"))
		return m.Forward(c.input())
	},
}

// mode is the interpolation of a case.
func (c *call) mode() functional.InterpolationMode {
	return functional.InterpolationMode(strings.ToLower(c.str(-1, "interpolation", "")))
}

func (c *call) resize() functional.ResizeOptions {
	return functional.ResizeOptions{Interpolation: c.mode(), MaxSize: c.int(-1, "max_size", 0),
		NoAntialias: !c.bool(-1, "antialias", true)}
}

func (c *call) warp() functional.WarpOptions {
	return functional.WarpOptions{Interpolation: c.mode(), Fill: c.floats(-1, "fill"), Center: c.floats(-1, "center"),
		Expand: c.bool(-1, "expand", false)}
}

func corners(v any) (out [4][2]float64) {
	for i, f := range numbers(v) {
		out[i/2][i%2] = f
	}
	return out
}

func list[T any](items []T) (out []any) {
	for _, i := range items {
		out = append(out, i)
	}
	return out
}

// pictureCall runs a function of transforms.v2.functional on a tensor or an image; nil if there is none of that name.
func pictureCall[T functional.Picture](name string, x T, c *call) any {
	switch name {
	case "resize":
		return functional.Resize(x, c.ints(0, "size"), c.resize())
	case "center_crop":
		return functional.CenterCrop(x, c.ints(0, "output_size"))
	case "crop":
		return functional.Crop(x, c.int(0, "top", 0), c.int(1, "left", 0), c.int(2, "height", 0), c.int(3, "width", 0))
	case "resized_crop":
		return functional.ResizedCrop(x, c.int(0, "top", 0), c.int(1, "left", 0), c.int(2, "height", 0),
			c.int(3, "width", 0), c.ints(4, "size"), c.resize())
	case "five_crop":
		five := functional.FiveCrop(x, c.ints(0, "size"))
		return list(five[:])
	case "ten_crop":
		ten := functional.TenCrop(x, c.ints(0, "size"), c.bool(1, "vertical_flip", false))
		return list(ten[:])
	case "pad":
		return functional.Pad(x, c.ints(0, "padding"), functional.PadOptions{Fill: c.floats(-1, "fill"),
			Mode: functional.PadMode(c.str(-1, "padding_mode", ""))})
	case "horizontal_flip":
		return functional.HorizontalFlip(x)
	case "vertical_flip":
		return functional.VerticalFlip(x)
	case "rotate":
		return functional.Rotate(x, c.num(0, "angle", 0), c.warp())
	case "affine":
		return functional.Affine(x, c.num(0, "angle", 0), pairOf(c.floats(1, "translate")), c.num(2, "scale", 1),
			pairOf(c.floats(3, "shear")), c.warp())
	case "perspective":
		return functional.Perspective(x, corners(c.get(0, "startpoints")), corners(c.get(1, "endpoints")), c.warp())
	case "elastic":
		return functional.Elastic(x, c.tensor(0, "displacement"), c.warp())
	case "adjust_brightness":
		return functional.AdjustBrightness(x, c.num(0, "brightness_factor", 0))
	case "adjust_contrast":
		return functional.AdjustContrast(x, c.num(0, "contrast_factor", 0))
	case "adjust_saturation":
		return functional.AdjustSaturation(x, c.num(0, "saturation_factor", 0))
	case "adjust_sharpness":
		return functional.AdjustSharpness(x, c.num(0, "sharpness_factor", 0))
	case "adjust_hue":
		return functional.AdjustHue(x, c.num(0, "hue_factor", 0))
	case "adjust_gamma":
		return functional.AdjustGamma(x, c.num(0, "gamma", 1), c.num(1, "gain", 1))
	case "gaussian_blur":
		return functional.GaussianBlur(x, c.ints(0, "kernel_size"), c.floats(1, "sigma")...)
	case "equalize":
		return functional.Equalize(x)
	case "posterize":
		return functional.Posterize(x, c.int(0, "bits", 0))
	case "solarize":
		return functional.Solarize(x, c.num(0, "threshold", 0))
	case "autocontrast":
		return functional.AutoContrast(x)
	case "invert":
		return functional.Invert(x)
	case "rgb_to_grayscale":
		return functional.RGBToGrayscale(x, c.int(0, "num_output_channels", 1))
	case "grayscale_to_rgb":
		return functional.GrayscaleToRGB(x)
	case "erase":
		return functional.Erase(x, c.int(0, "i", 0), c.int(1, "j", 0), c.int(2, "h", 0), c.int(3, "w", 0),
			c.tensor(4, "v"))
	case "permute_channels":
		return functional.PermuteChannels(x, c.ints(0, "permutation"))
	case "to_image":
		return functional.ToImage(x)
	}
	if im, ok := any(x).(*pil.Image); ok && name == "pil_to_tensor" {
		return functional.PILToTensor(im)
	}
	t, ok := any(x).(*tensor.Tensor)
	if !ok {
		return nil
	}
	switch name {
	case "normalize":
		return functional.Normalize(t, c.floats(0, "mean"), c.floats(1, "std"))
	case "gaussian_noise":
		return functional.GaussianNoise(t, c.num(0, "mean", 0), c.num(1, "sigma", 0.1), !c.bool(2, "clip", true))
	case "to_dtype":
		dt, _ := c.get(0, "dtype").(tensor.DType)
		return functional.ToDType(t, dt, c.bool(1, "scale", false))
	}
	return nil
}
