package visioncheck

import (
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/transforms"
	"github.com/gotorch-dev/torch/vision/transforms/functional"
)

// random runs a transform, whose arguments are those of its constructor; MixUp and CutMix get the labels beside the
// images.
func (c *call) random(name string) (any, error) {
	make := makers[name]
	if make == nil {
		return nil, golden.Skip("transform not there yet: " + name)
	}
	if name == "MixUp" || name == "CutMix" {
		return make(c).Apply(c.x, c.args[0]), nil
	}
	return make(c).Apply(c.x)[0], nil
}

// rangeOf is a pair of numbers, nil for none.
func (c *call) rangeOf(i int, name string) *[2]float64 {
	v := c.floats(i, name)
	if len(v) == 1 {
		v = append(v, v[0])
	}
	if len(v) != 2 {
		return nil
	}
	return &[2]float64{v[0], v[1]}
}

func (c *call) augment() transforms.AugmentOptions {
	return transforms.AugmentOptions{Interpolation: c.mode(), Fill: c.floats(-1, "fill")}
}

// makers make the transforms of a case's arguments.
var makers = map[string]func(c *call) transforms.Transform{
	"RandomCrop": func(c *call) transforms.Transform {
		return transforms.NewRandomCrop(c.ints(0, "size"), transforms.RandomCropOptions{Padding: c.ints(1, "padding"),
			PadIfNeeded: c.bool(2, "pad_if_needed", false), Fill: c.floats(3, "fill"),
			PaddingMode: functional.PadMode(c.str(4, "padding_mode", ""))})
	},
	"RandomHorizontalFlip": func(c *call) transforms.Transform {
		return transforms.NewRandomHorizontalFlip(c.num(0, "p", 0.5))
	},
	"RandomVerticalFlip": func(c *call) transforms.Transform {
		return transforms.NewRandomVerticalFlip(c.num(0, "p", 0.5))
	},
	"RandomResizedCrop": func(c *call) transforms.Transform {
		return transforms.NewRandomResizedCrop(c.ints(0, "size"), transforms.RandomResizedCropOptions{
			Scale: c.rangeOf(1, "scale"), Ratio: c.rangeOf(2, "ratio"), Resize: c.resize()})
	},
	"ColorJitter": func(c *call) transforms.Transform {
		var ranges [4]transforms.Range
		for i, name := range []string{"brightness", "contrast", "saturation", "hue"} {
			nothing := 1.0
			if i == 3 {
				nothing = 0
			}
			if v := c.floats(i, name); len(v) == 1 { // around what does nothing
				ranges[i] = &[2]float64{nothing - v[0], nothing + v[0]}
				if i < 3 {
					ranges[i][0] = max(ranges[i][0], 0)
				}
			} else if len(v) == 2 {
				ranges[i] = (*[2]float64)(v)
			}
		}
		return transforms.NewColorJitterIn(ranges[0], ranges[1], ranges[2], ranges[3])
	},
	"RandomRotation": func(c *call) transforms.Transform {
		return transforms.NewRandomRotation(c.floats(0, "degrees"), c.warp())
	},
	"RandomAffine": func(c *call) transforms.Transform {
		return transforms.NewRandomAffine(c.floats(0, "degrees"), transforms.RandomAffineOptions{
			Translate: c.rangeOf(1, "translate"), Scale: c.rangeOf(2, "scale"), Shear: c.floats(3, "shear"),
			Warp: c.warp()})
	},
	"RandomPerspective": func(c *call) transforms.Transform {
		return transforms.NewRandomPerspective(c.num(0, "distortion_scale", 0.5), c.num(1, "p", 0.5), c.warp())
	},
	"RandomGrayscale": func(c *call) transforms.Transform { return transforms.NewRandomGrayscale(c.num(0, "p", 0.1)) },
	"RandomInvert":    func(c *call) transforms.Transform { return transforms.NewRandomInvert(c.num(0, "p", 0.5)) },
	"RandomPosterize": func(c *call) transforms.Transform {
		return transforms.NewRandomPosterize(c.int(0, "bits", 0), c.num(1, "p", 0.5))
	},
	"RandomSolarize": func(c *call) transforms.Transform {
		return transforms.NewRandomSolarize(c.num(0, "threshold", 0), c.num(1, "p", 0.5))
	},
	"RandomAutocontrast": func(c *call) transforms.Transform {
		return transforms.NewRandomAutocontrast(c.num(0, "p", 0.5))
	},
	"RandomEqualize": func(c *call) transforms.Transform { return transforms.NewRandomEqualize(c.num(0, "p", 0.5)) },
	"RandomAdjustSharpness": func(c *call) transforms.Transform {
		return transforms.NewRandomAdjustSharpness(c.num(0, "sharpness_factor", 0), c.num(1, "p", 0.5))
	},
	"GaussianBlur": func(c *call) transforms.Transform {
		return transforms.NewGaussianBlur(c.ints(0, "kernel_size"), c.floats(1, "sigma")...)
	},
	"RandomZoomOut": func(c *call) transforms.Transform {
		return transforms.NewRandomZoomOut(transforms.RandomZoomOutOptions{Fill: c.floats(0, "fill"),
			SideRange: c.rangeOf(1, "side_range"), P: tensor.Some(c.num(2, "p", 0.5))})
	},
	"RandomPhotometricDistort": func(c *call) transforms.Transform {
		return transforms.NewRandomPhotometricDistort(transforms.RandomPhotometricDistortOptions{
			Brightness: c.rangeOf(0, "brightness"), Contrast: c.rangeOf(1, "contrast"),
			Saturation: c.rangeOf(2, "saturation"), Hue: c.rangeOf(3, "hue"), P: tensor.Some(c.num(4, "p", 0.5))})
	},
	"RandomChannelPermutation": func(*call) transforms.Transform { return transforms.NewRandomChannelPermutation() },
	"AutoAugment": func(c *call) transforms.Transform {
		return transforms.NewAutoAugment(transforms.AutoAugmentPolicy(c.str(0, "policy", "imagenet")), c.augment())
	},
	"RandAugment": func(c *call) transforms.Transform {
		return transforms.NewRandAugment(transforms.RandAugmentOptions{
			NumOps:    tensor.Some(c.int(0, "num_ops", 2)),
			Magnitude: tensor.Some(c.int(1, "magnitude", 9)), Bins: c.int(2, "num_magnitude_bins", 31),
			AugmentOptions: c.augment()})
	},
	"TrivialAugmentWide": func(c *call) transforms.Transform {
		return transforms.NewTrivialAugmentWide(transforms.TrivialAugmentWideOptions{
			Bins: c.int(0, "num_magnitude_bins", 31), AugmentOptions: c.augment()})
	},
	"AugMix": func(c *call) transforms.Transform {
		return transforms.NewAugMix(transforms.AugMixOptions{Severity: c.int(0, "severity", 3),
			MixtureWidth: c.int(1, "mixture_width", 3), ChainDepth: c.int(2, "chain_depth", -1),
			Alpha: c.num(3, "alpha", 1), NoColors: !c.bool(4, "all_ops", true), AugmentOptions: c.augment()})
	},
	"RandomErasing": func(c *call) transforms.Transform {
		return transforms.NewRandomErasing(c.num(0, "p", 0.5), transforms.RandomErasingOptions{
			Scale: c.rangeOf(1, "scale"), Ratio: c.rangeOf(2, "ratio"), Value: c.floats(3, "value"),
			Random: c.str(3, "value", "") == "random"})
	},
	"ElasticTransform": func(c *call) transforms.Transform {
		alpha, sigma := c.floats(0, "alpha"), c.floats(1, "sigma")
		if alpha == nil {
			alpha = []float64{50}
		}
		if sigma == nil {
			sigma = []float64{5}
		}
		return transforms.NewElasticTransform(alpha, sigma, c.warp())
	},
	"RandomResize": func(c *call) transforms.Transform {
		return transforms.NewRandomResize(c.int(0, "min_size", 0), c.int(1, "max_size", 0), c.resize())
	},
	"GaussianNoise": func(c *call) transforms.Transform {
		return transforms.NewGaussianNoise(c.num(0, "mean", 0), c.num(1, "sigma", 0.1), !c.bool(2, "clip", true))
	},
	"RandomShortestSize": func(c *call) transforms.Transform {
		return transforms.NewRandomShortestSize(c.ints(0, "min_size"), c.int(1, "max_size", 0), c.resize())
	},
	"ScaleJitter": func(c *call) transforms.Transform {
		s := c.ints(0, "target_size")
		return transforms.NewScaleJitter([2]int{s[0], s[1]}, c.floats(1, "scale_range")...)
	},
	"MixUp": func(c *call) transforms.Transform {
		return transforms.NewMixUp(c.num(-1, "alpha", 1), c.int(-1, "num_classes", 0))
	},
	"CutMix": func(c *call) transforms.Transform {
		return transforms.NewCutMix(c.num(-1, "alpha", 1), c.int(-1, "num_classes", 0))
	},
}
