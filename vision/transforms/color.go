package transforms

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// Range is from where a factor is drawn; nil leaves the step out.
type Range *[2]float64

// around is 1-v to 1+v, not below 0; nil for 0.
func around(v float64) Range {
	if v == 0 {
		return nil
	}
	return &[2]float64{max(0, 1-v), 1 + v}
}

// NewColorJitter changes brightness, contrast, saturation and hue in an order that is drawn, by factors from 1-v to
// 1+v, and of the hue by -hue to hue turns.
func NewColorJitter(brightness, contrast, saturation, hue float64) *Op {
	return NewColorJitterIn(around(brightness), around(contrast), around(saturation), &[2]float64{-hue, hue})
}

// NewColorJitterIn is NewColorJitter with the ranges of the factors and of the turns of the hue.
func NewColorJitterIn(brightness, contrast, saturation, hue Range) *Op {
	ranges := [4]Range{brightness, contrast, saturation, hue}
	for i, r := range ranges {
		nothing, least, most := 1.0, 0.0, math.Inf(1)
		if i == 3 {
			nothing, least, most = 0, -0.5, 0.5
		}
		switch {
		case r == nil:
		case !(least <= r[0] && r[0] <= r[1] && r[1] <= most):
			tensor.Fail(tensor.ErrValue, "ColorJitter: the range %v should be increasing and between %v and %v", *r,
				least, most)
		case r[0] == nothing && r[1] == nothing:
			ranges[i] = nil
		}
	}
	return drawn("ColorJitter", func([]any) func(x any) any {
		order := randperm(4)
		var by [4]float64
		for i, r := range ranges {
			if r != nil {
				by[i] = uniform(r[0], r[1])
			}
		}
		return onImages(func(x any) any {
			for _, i := range order {
				if ranges[i] != nil {
					x = jitter[i](x, by[i])
				}
			}
			return x
		})
	})
}

// jitter are the steps of ColorJitter.
var jitter = [4]func(x any, by float64) any{
	func(x any, by float64) any { return F.AdjustBrightness(x, by) },
	func(x any, by float64) any { return F.AdjustContrast(x, by) },
	func(x any, by float64) any { return F.AdjustSaturation(x, by) },
	func(x any, by float64) any { return F.AdjustHue(x, by) },
}

// RandomPhotometricDistortOptions are the options of NewRandomPhotometricDistort; the zero value is torchvision's
// default.
type RandomPhotometricDistortOptions struct {
	Brightness, Contrast, Saturation Range               // default 0.875 to 1.125, 0.5 to 1.5, 0.5 to 1.5
	Hue                              Range               // default -0.05 to 0.05
	P                                tensor.Opt[float64] // default 0.5
}

// NewRandomPhotometricDistort is the color distortion of SSD: each step with probability P.
func NewRandomPhotometricDistort(opts ...RandomPhotometricDistortOptions) *Op {
	o := firstOf(opts)
	q := o.P.Or(0.5)
	ranges := [4][2]float64{{0.875, 1.125}, {0.5, 1.5}, {0.5, 1.5}, {-0.05, 0.05}}
	for i, r := range []Range{o.Brightness, o.Contrast, o.Saturation, o.Hue} {
		if r != nil {
			ranges[i] = *r
		}
	}
	return drawn("RandomPhotometricDistort", func(in []any) func(x any) any {
		channels, _, _ := QueryCHW(in)
		var by [4]float64
		var has [4]bool
		for i, r := range ranges {
			if rand() < q {
				by[i], has[i] = uniform(r[0], r[1]), true
			}
		}
		contrastFirst := torch.Rand([]int{}).Item() < 0.5
		var order []int
		if rand() < q {
			order = randperm(channels)
		}
		step := func(x any, i int, now bool) any {
			if has[i] && now {
				return jitter[i](x, by[i])
			}
			return x
		}
		return onImages(func(x any) any {
			x = step(x, 0, true)
			x = step(x, 1, contrastFirst)
			x = step(x, 2, true)
			x = step(x, 3, true)
			x = step(x, 1, !contrastFirst)
			if order != nil {
				x = F.PermuteChannels(x, order)
			}
			return x
		})
	})
}

// NewRandomChannelPermutation reorders the channels.
func NewRandomChannelPermutation() *Op {
	return drawn("RandomChannelPermutation", func(in []any) func(x any) any {
		channels, _, _ := QueryCHW(in)
		order := randperm(channels)
		return onImages(func(x any) any { return F.PermuteChannels(x, order) })
	})
}

// NewGrayscale makes images grey, of 1 or 3 channels.
func NewGrayscale(channels int) *Op {
	return always("Grayscale", onImages(func(x any) any { return F.RGBToGrayscale(x, channels) }))
}

// NewRandomGrayscale makes images grey with probability p, 0.1 unless given.
func NewRandomGrayscale(p ...float64) *Op {
	return perhaps("RandomGrayscale", chance(p, 0.1), func(in []any) func(x any) any {
		channels, _, _ := QueryCHW(in)
		if channels != 3 {
			channels = 1
		}
		return onImages(func(x any) any { return F.RGBToGrayscale(x, channels) })
	})
}

// NewRGB makes grey images ones of three channels.
func NewRGB() *Op { return always("RGB", onImages(func(x any) any { return F.GrayscaleToRGB(x) })) }

// NewRandomInvert inverts with probability p, 0.5 unless given.
func NewRandomInvert(p ...float64) *Op {
	return sometimes("RandomInvert", chance(p, 0.5), onImages(func(x any) any { return F.Invert(x) }))
}

// NewRandomPosterize keeps the highest bits with probability p, 0.5 unless given.
func NewRandomPosterize(bits int, p ...float64) *Op {
	return sometimes("RandomPosterize", chance(p, 0.5), onImages(func(x any) any { return F.Posterize(x, bits) }))
}

// NewRandomSolarize inverts what is not below a threshold, with probability p, 0.5 unless given.
func NewRandomSolarize(threshold float64, p ...float64) *Op {
	return sometimes("RandomSolarize", chance(p, 0.5), onImages(func(x any) any { return F.Solarize(x, threshold) }))
}

// NewRandomAutocontrast stretches the contrast with probability p, 0.5 unless given.
func NewRandomAutocontrast(p ...float64) *Op {
	return sometimes("RandomAutocontrast", chance(p, 0.5), onImages(func(x any) any { return F.AutoContrast(x) }))
}

// NewRandomEqualize spreads the values evenly with probability p, 0.5 unless given.
func NewRandomEqualize(p ...float64) *Op {
	return sometimes("RandomEqualize", chance(p, 0.5), onImages(func(x any) any { return F.Equalize(x) }))
}

// NewRandomAdjustSharpness sharpens by a factor with probability p, 0.5 unless given.
func NewRandomAdjustSharpness(factor float64, p ...float64) *Op {
	return sometimes("RandomAdjustSharpness", chance(p, 0.5),
		onImages(func(x any) any { return F.AdjustSharpness(x, factor) }))
}

// NewGaussianBlur smooths by a sigma that is drawn from lo to hi, 0.1 to 2 unless given.
func NewGaussianBlur(kernelSize []int, sigma ...float64) *Op {
	lo, hi := 0.1, 2.0
	switch len(sigma) {
	case 1:
		lo, hi = sigma[0], sigma[0]
	case 2:
		lo, hi = sigma[0], sigma[1]
	}
	return drawn("GaussianBlur", func([]any) func(x any) any {
		s := uniform(lo, hi)
		return onImages(func(x any) any { return F.GaussianBlur(x, kernelSize, s, s) })
	})
}

// NewJPEG gives an image, uint8 with one or three channels, the faults of a JPEG whose quality, 1 to 100, is drawn from
// quality[0] to quality[1], or is the one that is given.
func NewJPEG(quality ...int) *Op {
	if len(quality) == 1 {
		quality = []int{quality[0], quality[0]}
	}
	if len(quality) != 2 || quality[0] < 1 || quality[0] > quality[1] || quality[1] > 100 {
		tensor.Fail(tensor.ErrValue, "quality must be an integer from 1 to 100, or a sequence of two such integers in "+
			"non-decreasing order, got %v", quality)
	}
	return drawn("JPEG", func([]any) func(x any) any {
		q := randint(quality[0], quality[1]+1)
		return onImages(func(x any) any { return F.JPEG(x, q) })
	})
}

// NewGaussianNoise adds noise to tensor images; see F.GaussianNoise.
func NewGaussianNoise(mean, sigma float64, noClip ...bool) *Op {
	return always("GaussianNoise", func(x any) any {
		if t, ok := x.(*tensor.Tensor); ok {
			return F.GaussianNoise(t, mean, sigma, noClip...)
		}
		return x
	})
}

// NewNormalize subtracts mean and divides by std, of tensor images.
func NewNormalize(mean, std []float64) *Op {
	return always("Normalize", func(x any) any {
		if t, ok := x.(*tensor.Tensor); ok {
			return F.Normalize(t, mean, std)
		}
		return x
	}).as(normalizing{mean, std})
}

// RandomErasingOptions are the options of NewRandomErasing; the zero value is torchvision's default.
type RandomErasingOptions struct {
	Scale, Ratio *[2]float64 // share of the area, width by height; default 0.02 to 0.33, 0.3 to 3.3
	Value        []float64   // one number, or one for each channel; default 0
	Random       bool        // normal noise instead
}

// NewRandomErasing overwrites a rectangle of tensor images with probability p, 0.5 in torchvision (Zhong et al., Random
// Erasing Data Augmentation, 2017).
func NewRandomErasing(p float64, opts ...RandomErasingOptions) *Op {
	o := firstOf(opts)
	scale, ratio := [2]float64{0.02, 0.33}, [2]float64{0.3, 3.3}
	if o.Scale != nil {
		scale = *o.Scale
	}
	if o.Ratio != nil {
		ratio = *o.Ratio
	}
	return perhaps("RandomErasing", p, func(in []any) func(x any) any {
		c, h, w := QueryCHW(in)
		rh, rw, ok := rectangle(h, w, scale, ratio, func(rh, rw int) bool { return rh < h && rw < w })
		if !ok {
			return func(x any) any { return x }
		}
		var v *tensor.Tensor
		switch {
		case o.Random:
			v = torch.Randn([]int{c, rh, rw})
		case len(o.Value) > 0:
			v = tensor.FromSlice(o.Value).Float().Reshape([]int{-1, 1, 1})
		default:
			v = torch.Zeros([]int{1, 1, 1})
		}
		i := randint(0, h-rh+1)
		j := randint(0, w-rw+1)
		return onImages(func(x any) any { return F.Erase(x, i, j, rh, rw, v) })
	})
}

// NewToTensor converts images to float32 tensors between 0 and 1.
func NewToTensor() *Op {
	return always("ToTensor", func(x any) any {
		if im, ok := x.(*pil.Image); ok {
			return F.ToTensor(im)
		}
		return x
	}).as(toTensor{})
}

// NewPILToTensor converts images to uint8 tensors.
func NewPILToTensor() *Op {
	return always("PILToTensor", func(x any) any {
		if im, ok := x.(*pil.Image); ok {
			return F.PILToTensor(im)
		}
		return x
	})
}

// NewToImage converts images to tensors without changing the values.
func NewToImage() *Op { return always("ToImage", onImages(func(x any) any { return F.ToImage(x) })) }

// NewToPILImage converts tensors to images.
func NewToPILImage() *Op {
	return always("ToPILImage", func(x any) any {
		if t, ok := x.(*tensor.Tensor); ok {
			return F.ToPILImage(t)
		}
		return x
	})
}

// NewToPureTensor takes the marks off boxes, masks and points.
func NewToPureTensor() *Op {
	return always("ToPureTensor", func(x any) any {
		switch v := x.(type) {
		case *tvtensors.BoundingBoxes:
			return v.Tensor
		case *tvtensors.Mask:
			return v.Tensor
		case *tvtensors.KeyPoints:
			return v.Tensor
		}
		return x
	})
}

// NewToDtype converts tensor images; with scale the values keep their meaning between black and white.
func NewToDtype(dt tensor.DType, scale bool) *Op {
	return always("ToDtype", func(x any) any {
		if t, ok := x.(*tensor.Tensor); ok {
			return F.ToDType(t, dt, scale)
		}
		return x
	})
}

// NewConvertImageDtype is NewToDtype with scale.
func NewConvertImageDtype(dt tensor.DType) *Op { return NewToDtype(dt, true) }
