package functional

import (
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// PILToTensor converts an image to a uint8 tensor (C, H, W).
func PILToTensor(im *pil.Image) *tensor.Tensor {
	t := tensor.FromSlice(im.Pix, im.Height, im.Width, im.Bands())
	return t.Permute([]int{2, 0, 1})
}

// ToImage is PILToTensor for an image; a tensor stays as it is.
func ToImage[T Picture](x T) *tensor.Tensor {
	switch v := any(x).(type) {
	case *pil.Image:
		return PILToTensor(v)
	case *tensor.Tensor:
		return v
	}
	return nil
}

// ToTensor converts an image to a float32 tensor (C, H, W) between 0 and 1.
func ToTensor(im *pil.Image) *tensor.Tensor { return planes(im, make([]float32, im.Bands()), nil) }

// ToNormalizedTensor is Normalize(ToTensor(im), mean, std) in one pass.
func ToNormalizedTensor(im *pil.Image, mean, std []float64) *tensor.Tensor {
	bands := im.Bands()
	if len(mean) != 1 && len(mean) != bands || len(std) != 1 && len(std) != bands {
		return Normalize(ToTensor(im), mean, std) // broadcasts, or refuses them
	}
	m, s := make([]float32, bands), make([]float32, bands)
	for b := range bands {
		m[b], s[b] = float32(mean[b%len(mean)]), float32(std[b%len(std)])
	}
	checkStd(tensor.FromSlice(s))
	return planes(im, m, s)
}

// planes is an image as float32 planes, between 0 and 1, less mean and, where there is one, divided by std: the values
// of the 256 bytes are computed once.
func planes(im *pil.Image, mean, std []float32) *tensor.Tensor {
	bands, n := im.Bands(), im.Width*im.Height
	t := tensor.New([]int{bands, im.Height, im.Width}, tensor.Float32)
	out := tensor.Data[float32](t)
	for b := range bands {
		var of [256]float32
		for i := range of {
			if of[i] = float32(i)/255 - mean[b]; std != nil {
				of[i] /= std[b]
			}
		}
		p, pix := out[b*n:][:n], im.Pix
		for i := range p {
			p[i] = of[pix[i*bands+b]]
		}
	}
	return t
}

// ToPILImage converts a tensor (C, H, W) or (H, W) of 1 to 4 channels, uint8 or floating-point between 0 and 1, to an
// image.
func ToPILImage(x *tensor.Tensor) *pil.Image {
	if x.Dim() == 2 {
		x = x.Unsqueeze(0)
	}
	if x.Dim() != 3 || x.Size(0) < 1 || x.Size(0) > 4 {
		tensor.Fail(tensor.ErrShape, "ToPILImage: want a tensor (C, H, W) of 1 to 4 channels, got shape %s",
			tensor.ShapeString(x.Shape()))
	}
	if x.DType().IsFloat() {
		x = x.MulScalar(255)
	}
	x = x.Detach().CPU().To(tensor.Uint8).Permute([]int{1, 2, 0}).Contiguous()
	im := pil.New([]string{1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[x.Size(2)], x.Size(1), x.Size(0))
	copy(im.Pix, tensor.Data[uint8](x))
	return im
}

// bits are the bits of the values of an integer dtype.
func bits(dt tensor.DType) int {
	switch dt {
	case tensor.Uint8:
		return 8
	case tensor.Int8:
		return 7
	case tensor.Int16:
		return 15
	case tensor.Uint16:
		return 16
	case tensor.Int32:
		return 31
	}
	return 63
}

// ToDType converts an image; with scale the values keep their meaning between black and white.
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.to_dtype.html
func ToDType(x *tensor.Tensor, dt tensor.DType, scale bool) *tensor.Tensor {
	from := x.DType()
	switch {
	case from == dt:
		return x
	case !scale || from.IsFloat() && dt.IsFloat():
		return x.To(dt)
	case from.IsFloat():
		if from == tensor.Float32 && (dt == tensor.Int32 || dt == tensor.Int64) || from == tensor.Float64 &&
			dt == tensor.Int64 {
			tensor.Fail(tensor.ErrDType, "to_dtype: the conversion from %s to %s cannot be performed safely", from, dt)
		}
		return x.MulScalar(maxValue(dt) + 1 - 1e-3).To(dt)
	case dt.IsFloat():
		return x.To(dt).MulScalar(1 / maxValue(from))
	}
	d := bits(from) - bits(dt)
	if from == tensor.Uint16 || dt == tensor.Uint16 { // which cannot be shifted
		x = x.Long()
		if d > 0 {
			return x.BitwiseRightShift(x.FullLike(d)).To(dt)
		}
		return x.BitwiseLeftShift(x.FullLike(-d)).To(dt)
	}
	if d > 0 {
		return x.BitwiseRightShift(x.FullLike(d)).To(dt)
	}
	y := x.To(dt)
	return y.BitwiseLeftShift(y.FullLike(-d))
}

// ConvertImageDtype is ToDType with scale.
func ConvertImageDtype(x *tensor.Tensor, dt tensor.DType) *tensor.Tensor { return ToDType(x, dt, true) }

// RGBToGrayscale makes an image of 1 or 3 equal channels from one of three.
func RGBToGrayscale[T Input](x T, channels int) T {
	if channels != 1 && channels != 3 {
		tensor.Fail(tensor.ErrValue, "rgb_to_grayscale: num_output_channels must be 1 or 3, got %d.", channels)
	}
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if c := x.Size(-3); c == 1 && channels == 3 {
				return expandChannels(x)
			} else if c == 1 {
				return x.Clone()
			}
			y := grey(x).To(x.DType())
			if channels == 3 {
				y = expandChannels(y)
			}
			return y
		},
		pil: func(im *pil.Image) *pil.Image {
			g := im.Convert("L")
			if channels == 3 {
				return g.Convert("RGB")
			}
			return g
		}})
}

// ToGrayscale is RGBToGrayscale.
func ToGrayscale[T Input](x T, channels int) T { return RGBToGrayscale(x, channels) }

// grey is the luminance (…, 1, H, W) in floating point.
func grey(x *tensor.Tensor) *tensor.Tensor {
	if x.Dim() < 3 || x.Size(-3) != 3 {
		tensor.Fail(tensor.ErrShape, "transforms: want an image of 3 channels, got shape %s",
			tensor.ShapeString(x.Shape()))
	}
	c := x.Unbind(tensor.UnbindOptions{Dim: -3})
	y := c[0].MulScalar(0.2989)
	y = y.Add(c[1], tensor.AddOptions{Alpha: 0.587}).Add(c[2], tensor.AddOptions{Alpha: 0.114})
	return y.Unsqueeze(-3)
}

func expandChannels(x *tensor.Tensor) *tensor.Tensor {
	s := append([]int(nil), x.Shape()...)
	s[len(s)-3] = 3
	return x.Expand(s)
}

// GrayscaleToRGB repeats the channel of a grey image.
func GrayscaleToRGB[T Input](x T) T {
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.Size(-3) >= 3 {
				return x
			}
			return expandChannels(x)
		},
		pil: func(im *pil.Image) *pil.Image { return im.Convert("RGB") }})
}

// PermuteChannels reorders the channels.
func PermuteChannels[T Input](x T, order []int) T {
	return apply(x, kernels{tensor: func(x *tensor.Tensor) *tensor.Tensor {
		if x.Size(-3) != len(order) {
			tensor.Fail(tensor.ErrValue, "permute_channels: length of permutation %d does not match %d channels",
				len(order), x.Size(-3))
		}
		index := make([]int64, len(order))
		for i, c := range order {
			index[i] = int64(c)
		}
		return x.IndexSelect(-3, tensor.FromSlice(index))
	}})
}

// Normalize subtracts mean and divides by std, one number for each channel or one for all, of a floating-point image.
func Normalize(x *tensor.Tensor, mean, std []float64) *tensor.Tensor {
	if !x.DType().IsFloat() {
		tensor.Fail(tensor.ErrDType, "Input tensor should be a float tensor. Got %s.", x.DType())
	}
	if x.Dim() < 3 {
		tensor.Fail(tensor.ErrShape, "Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.shape "+
			"= %s",
			tensor.ShapeString(x.Shape()))
	}
	column := func(v []float64) *tensor.Tensor {
		return tensor.FromSlice(v).To(x.DType(), x.Device()).Reshape([]int{-1, 1, 1})
	}
	s := column(std)
	checkStd(s)
	return x.Sub(column(mean)).Div(s)
}

// checkStd refuses standard deviations of 0.
func checkStd(s *tensor.Tensor) {
	if s.EqScalar(0).Any().Bool().Item() != 0 {
		tensor.Fail(tensor.ErrValue, "std evaluated to zero after conversion to %s, leading to division by zero.",
			s.DType())
	}
}

// Erase overwrites the rectangle of h x w pixels at (i, j) with v, whose shape broadcasts to it.
func Erase[T Input](x T, i, j, h, w int, v *tensor.Tensor) T {
	return apply(x, kernels{tensor: func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Clone()
		y.Narrow(-2, i, h).Narrow(-1, j, w).CopyInPlace(v)
		return y
	}})
}
