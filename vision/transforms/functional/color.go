package functional

import (
	"math"

	"github.com/gotorch-dev/torch"
	NF "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// notNegative refuses factors below 0.
func notNegative(name string, f float64) {
	if !(f >= 0) {
		tensor.Fail(tensor.ErrValue, "%s_factor (%v) is not non-negative.", name, f)
	}
}

// blend is factor·a + (1-factor)·b in the values of images of a's dtype.
func blend(a, b *tensor.Tensor, factor float64) *tensor.Tensor {
	return clamped(a.MulScalar(factor).Add(b, tensor.AddOptions{Alpha: 1 - factor}), a.DType())
}

// AdjustBrightness multiplies by factor: 0 is black, 1 the image.
func AdjustBrightness[T Input](x T, factor float64) T {
	notNegative("brightness", factor)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor { return clamped(x.MulScalar(factor), x.DType()) },
		pil:    func(im *pil.Image) *pil.Image { return im.Brightness(factor) }})
}

// floorInts rounds down where the image has integers.
func floorInts(y, x *tensor.Tensor) *tensor.Tensor {
	if !x.DType().IsFloat() {
		return y.FloorInPlace()
	}
	return y
}

// AdjustContrast blends with the image's mean: 0 is grey, 1 the image.
func AdjustContrast[T Input](x T, factor float64) T {
	notNegative("contrast", factor)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			g := x
			if x.Size(-3) == 3 {
				g = floorInts(grey(x), x)
			} else if !x.DType().IsFloat() {
				g = x.Float()
			}
			return blend(x, g.MeanDim([]int{-3, -2, -1}, tensor.MeanDimOptions{KeepDim: true}), factor)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Contrast(factor) }})
}

// AdjustSaturation blends with the image as grey: 0 is grey, 1 the image.
func AdjustSaturation[T Input](x T, factor float64) T {
	notNegative("saturation", factor)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.Size(-3) == 1 {
				return x
			}
			return blend(x, floorInts(grey(x), x), factor)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Color(factor) }})
}

// AdjustSharpness blends with the smoothed image: 0 is smooth, 1 the image.
func AdjustSharpness[T Input](x T, factor float64) T {
	notNegative("sharpness", factor)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			h, w := hw(x)
			if h <= 2 || w <= 2 {
				return x
			}
			c, shape := x.Size(-3), x.Shape()
			y := x
			if !y.DType().IsFloat() {
				y = y.Float()
			}
			y = y.Reshape([]int{-1, c, h, w}).Clone()
			kernel := y.NewFull([]int{c, 1, 3, 3}, 1.0/13)
			kernel.Select(2, 1).Select(2, 1).FillScalarInPlace(5.0 / 13)
			blurred := NF.Conv2d(y, kernel, NF.Conv2dOptions{Groups: tensor.Some(c)})
			if !x.DType().IsFloat() {
				blurred = blurred.Round()
			}
			view := y.Narrow(2, 1, h-2).Narrow(3, 1, w-2)
			view.AddInPlace(blurred.Sub(view), tensor.AddInPlaceOptions{Alpha: 1 - factor})
			return clamped(y, x.DType()).Reshape(shape)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Sharpness(factor) }})
}

// AdjustHue adds to the hue, in turns between -0.5 and 0.5.
func AdjustHue[T Input](x T, factor float64) T {
	if !(-0.5 <= factor && factor <= 0.5) {
		tensor.Fail(tensor.ErrValue, "hue_factor (%v) is not in [-0.5, 0.5].", factor)
	}
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.Size(-3) == 1 || x.Numel() == 0 || factor == 0 {
				return x
			}
			h, s, v := toHSV(ToDType(x, floatOf(x), true))
			h = h.AddScalar(factor).RemainderScalar(1.0)
			return ToDType(fromHSV(h, s, v), x.DType(), true)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Hue(factor) }})
}

// floatOf is the dtype to compute an image in.
func floatOf(x *tensor.Tensor) tensor.DType {
	if x.DType().IsFloat() {
		return x.DType()
	}
	return tensor.Float32
}

// toHSV gives hue, saturation and value of (…, 3, H, W), each (…, H, W).
func toHSV(x *tensor.Tensor) (h, s, v *tensor.Tensor) {
	c := x.Unbind(tensor.UnbindOptions{Dim: -3})
	r, g, b := c[0], c[1], c[2]
	lo, hi := x.Aminmax(tensor.AminmaxOptions{Dim: tensor.Some(-3)})
	same, one := hi.Eq(lo), hi.OnesLike()
	span := hi.Sub(lo)
	s = span.Div(one.Where(same, hi))
	divisor := one.Where(same, span)
	rc, gc, bc := hi.Sub(r).Div(divisor), hi.Sub(g).Div(divisor), hi.Sub(b).Div(divisor)
	isR := hi.Eq(r)
	isG := hi.Eq(g).LogicalAnd(isR.LogicalNot())
	isB := isR.LogicalOr(isG).LogicalNot()
	h = bc.Sub(gc).Mul(isR.To(x.DType()))
	h = h.Add(rc.AddScalar(2.0).Sub(bc).Mul(isG.To(x.DType())))
	h = h.Add(gc.AddScalar(4.0).Sub(rc).Mul(isB.To(x.DType())))
	return h.MulScalar(1.0 / 6).AddScalar(1.0).FmodScalar(1.0), s, hi
}

// fromHSV is the reverse of toHSV.
func fromHSV(h, s, v *tensor.Tensor) *tensor.Tensor {
	h6 := h.MulScalar(6)
	sector := h6.Floor()
	f := h6.Sub(sector)
	unit := tensor.ClampScalarOptions{Min: 0, Max: 1}
	sxf, rest := s.Mul(f), s.RsubScalar(1)
	q := sxf.RsubScalar(1).Mul(v).ClampScalar(unit)
	t := sxf.Add(rest).Mul(v).ClampScalar(unit)
	p := rest.Mul(v).ClampScalar(unit)
	levels := torch.Stack([]*tensor.Tensor{v, p, q, t}, torch.StackOptions{Dim: -3})
	index := sector.Long().RemainderScalar(6)
	var out []*tensor.Tensor
	for _, row := range [][]int64{{0, 2, 1, 1, 3, 0}, {3, 0, 0, 2, 1, 1}, {1, 1, 3, 0, 0, 2}} {
		pick := tensor.FromSlice(row).Take(index).Unsqueeze(-3)
		out = append(out, levels.Gather(-3, pick))
	}
	return torch.Cat(out, torch.CatOptions{Dim: -3})
}

// AdjustGamma maps v to gain·v^gamma, where v is between 0 and 1.
func AdjustGamma[T Input](x T, gamma, gain float64) T {
	notNegative("gamma", gamma)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			y := ToDType(x, floatOf(x), true).PowScalar(gamma)
			if gain != 1 {
				y = y.MulScalar(gain).ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 1})
			}
			return ToDType(y, x.DType(), true)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Gamma(gamma, gain) }})
}

// Posterize keeps the highest bits of each byte.
func Posterize[T Input](x T, bits int) T {
	if bits < 0 || bits > 8 {
		tensor.Fail(tensor.ErrValue, "posterize: bits has to be between 0 and 8, got %d", bits)
	}
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.DType().IsFloat() {
				levels := 1 << bits
				return x.MulScalar(levels).Floor().ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: levels - 1}).
					MulScalar(1 / float64(levels))
			}
			n := 8
			if x.DType() != tensor.Uint8 {
				n = bits2(x.DType())
			}
			if bits >= n {
				return x
			}
			return x.BitwiseAndScalar((1<<bits - 1) << (n - bits))
		},
		pil: func(im *pil.Image) *pil.Image { return im.Posterize(bits) }})
}

// bits2 is bits where a parameter has that name.
func bits2(dt tensor.DType) int { return bits(dt) }

// Solarize inverts the pixels that are not below a threshold.
func Solarize[T Input](x T, threshold float64) T {
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if threshold > bound(x) {
				tensor.Fail(tensor.ErrValue,
					"Threshold should be less or equal the maximum value of the dtype, but got %v",
					threshold)
			}
			return Invert(x).Where(x.GeScalar(threshold), x)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Solarize(threshold) }})
}

// Invert turns black to white.
func Invert[T Input](x T) T {
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			switch {
			case x.DType().IsFloat():
				return x.RsubScalar(1)
			case x.DType() == tensor.Uint8:
				return x.BitwiseNot()
			}
			return x.BitwiseXorScalar(1<<bits(x.DType()) - 1)
		},
		pil: (*pil.Image).Invert})
}

// AutoContrast stretches each channel so that it goes from black to white.
func AutoContrast[T Input](x T) T {
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			y, b := x, bound(x)
			if !x.DType().IsFloat() {
				y = x.Float()
			}
			lo := y.Amin(tensor.AminOptions{Dim: []int{-2, -1}, KeepDim: true})
			hi := y.Amax(tensor.AmaxOptions{Dim: []int{-2, -1}, KeepDim: true})
			flat := hi.Eq(lo)
			scale := hi.Sub(lo).MulScalar(1 / b)
			lo, scale = lo.MaskedFillScalar(flat, 0), scale.MaskedFillScalar(flat, 1)
			return clamped(y.Sub(lo).Div(scale), x.DType())
		},
		pil: (*pil.Image).AutoContrast})
}

// Autocontrast is AutoContrast under its Python name.
func Autocontrast[T Input](x T) T { return AutoContrast(x) }

// Equalize maps each channel so that its values are spread evenly.
func Equalize[T Input](x T) T {
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.Numel() == 0 {
				return x
			}
			y, shape := ToDType(x, tensor.Uint8, true), x.Shape()
			h, w := hw(x)
			planes := tensor.Data[uint8](y.Reshape([]int{-1, h * w}).Contiguous())
			out := make([]uint8, len(planes))
			for i := 0; i < len(planes); i += h * w {
				im := pil.New("L", w, h)
				copy(im.Pix, planes[i:])
				copy(out[i:], im.Equalize().Pix)
			}
			return ToDType(tensor.FromSlice(out, shape...), x.DType(), true)
		},
		pil: (*pil.Image).Equalize})
}

// GaussianBlur smooths by a Gaussian of kernelSize (x, y; odd numbers) and sigma (default from the size); the borders
// are reflected.
func GaussianBlur[T Input](x T, kernelSize []int, sigma ...float64) T {
	k := kernelSize
	if len(k) == 1 {
		k = []int{k[0], k[0]}
	}
	if len(k) != 2 || k[0] <= 0 || k[1] <= 0 || k[0]%2 == 0 || k[1]%2 == 0 {
		tensor.Fail(tensor.ErrValue, "gaussian_blur: kernel_size should have odd and positive integers. Got %v",
			kernelSize)
	}
	s := [2]float64{float64(k[0])*0.15 + 0.35, float64(k[1])*0.15 + 0.35}
	for i := range s {
		if len(sigma) > 0 {
			s[i] = sigma[i%len(sigma)]
		}
		if !(s[i] > 0) {
			tensor.Fail(tensor.ErrValue, "gaussian_blur: sigma should have positive values. Got %v", sigma)
		}
	}
	return apply(x, kernels{tensor: func(x *tensor.Tensor) *tensor.Tensor {
		if x.Numel() == 0 {
			return x
		}
		h, w := hw(x)
		c, shape := x.Size(-3), x.Shape()
		y := x.Reshape([]int{-1, c, h, w})
		if !y.DType().IsFloat() {
			y = y.Float()
		}
		kernel := gaussian(k[1], s[1], y.DType()).Unsqueeze(-1).Mul(gaussian(k[0], s[0], y.DType()))
		y = NF.Pad(y, []int{k[0] / 2, k[0] / 2, k[1] / 2, k[1] / 2}, NF.PadOptions{Mode: "reflect"})
		y = NF.Conv2d(y, kernel.Expand([]int{c, 1, k[1], k[0]}), NF.Conv2dOptions{Groups: tensor.Some(c)})
		return rounded(y.Reshape(shape), x.DType())
	}})
}

// gaussian is a normalised window of n elements.
func gaussian(n int, sigma float64, dt tensor.DType) *tensor.Tensor {
	lim := float64(n-1) / (2 * math.Sqrt2)
	x := torch.Linspace(-lim, lim, n, torch.LinspaceOptions{DType: dt})
	return x.DivScalar(sigma).Square().Neg().Softmax(0)
}

// GaussianNoise adds normal noise of mean and sigma to a floating-point image, or to one of bytes in units of 255, and
// cuts to the values of an image unless noClip.
func GaussianNoise(x *tensor.Tensor, mean, sigma float64, noClip ...bool) *tensor.Tensor {
	if !(sigma >= 0) {
		tensor.Fail(tensor.ErrValue, "sigma shouldn't be negative. Got %v", sigma)
	}
	clip := len(noClip) == 0 || !noClip[0]
	switch {
	case x.DType().IsFloat():
		y := x.Add(x.RandnLike().MulScalar(sigma).AddScalar(mean))
		if clip {
			y = y.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 1})
		}
		return y
	case x.DType() == tensor.Uint8:
		noise := torch.Randn(x.Shape()).MulScalar(sigma * 255).AddScalar(mean * 255).To(tensor.Int16)
		y := x.To(tensor.Int16).Add(noise)
		if clip {
			y = y.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255})
		}
		return y.To(tensor.Uint8)
	}
	tensor.Fail(tensor.ErrDType, "Input tensor is expected to be in uint8 or float dtype, got dtype=%s", x.DType())
	return nil
}
