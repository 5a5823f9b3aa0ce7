// Package functional transforms images, boxes, masks and key points: PyTorch's torchvision.transforms.v2.functional. By
// convention it is imported as F.
//
// Every function takes any of the types of [Input] and returns the same type: tensors (…, C, H, W), uint8 or
// floating-point between 0 and 1, *pil.Image (computed as Pillow does), and the marked tensors of package tvtensors. A
// function that changes colors returns boxes, masks and points as they are.
package functional

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// PILImage is an image of bytes.
type PILImage = pil.Image

// Input is what can be transformed: *tensor.Tensor, *pil.Image, *tvtensors.BoundingBoxes, *tvtensors.Mask and
// *tvtensors.KeyPoints. A value of another type, such as a label, is returned as it is; T may be any itself.
type Input = any

// Picture is an image: *tensor.Tensor or *pil.Image.
type Picture = any

// InterpolationMode says how pixels between pixels are found.
type InterpolationMode string

// The interpolation modes; Box, Hamming and Lanczos are for images of package pil.
const (
	Nearest      InterpolationMode = "nearest"
	NearestExact InterpolationMode = "nearest-exact"
	Bilinear     InterpolationMode = "bilinear"
	Bicubic      InterpolationMode = "bicubic"
	Box          InterpolationMode = "box"
	Hamming      InterpolationMode = "hamming"
	Lanczos      InterpolationMode = "lanczos"
)

// or is the mode, or a default.
func (m InterpolationMode) or(def InterpolationMode) InterpolationMode {
	if m == "" {
		return def
	}
	return m
}

// pil is the filter of that name.
func (m InterpolationMode) pil() pil.Resampling {
	switch m {
	case Nearest, NearestExact:
		return pil.Nearest
	case Bilinear:
		return pil.Bilinear
	case Bicubic:
		return pil.Bicubic
	case Box:
		return pil.Box
	case Hamming:
		return pil.Hamming
	case Lanczos:
		return pil.Lanczos
	}
	tensor.Fail(tensor.ErrValue, "transforms: unknown interpolation %q", string(m))
	return 0
}

func firstOf[T any](opts []T) (o T) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// kernels are what a function does with each type of input; a nil one leaves its input as it is.
type kernels struct {
	tensor func(x *tensor.Tensor) *tensor.Tensor
	pil    func(im *pil.Image) *pil.Image
	boxes  func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes
	mask   func(x *tensor.Tensor) *tensor.Tensor
	points func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints
}

// apply runs the kernel for the type of x.
func apply[T Input](x T, k kernels) T {
	var out any = x
	switch v := any(x).(type) {
	case *tensor.Tensor:
		if k.tensor != nil {
			out = k.tensor(v)
		}
	case *pil.Image:
		if k.pil != nil {
			out = k.pil(v)
		} else if k.tensor != nil {
			out = ToPILImage(k.tensor(PILToTensor(v)))
		}
	case *tvtensors.BoundingBoxes:
		if k.boxes != nil {
			out = k.boxes(v)
		}
	case *tvtensors.Mask:
		if k.mask != nil {
			out = tvtensors.NewMask(k.mask(v.Tensor))
		}
	case *tvtensors.KeyPoints:
		if k.points != nil {
			out = k.points(v)
		}
	}
	return out.(T)
}

// GetSize is the height and width of an input, those of the canvas for boxes and points.
func GetSize[T Input](x T) (height, width int) {
	switch v := any(x).(type) {
	case *pil.Image:
		return v.Height, v.Width
	case *tvtensors.BoundingBoxes:
		return v.CanvasSize[0], v.CanvasSize[1]
	case *tvtensors.KeyPoints:
		return v.CanvasSize[0], v.CanvasSize[1]
	case *tvtensors.Mask:
		return hw(v.Tensor)
	case *tensor.Tensor:
		return hw(v)
	}
	tensor.Fail(tensor.ErrType, "transforms: %T has no size", x)
	return 0, 0
}

func hw(x *tensor.Tensor) (h, w int) {
	if x.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "transforms: an image has at least 2 dimensions, got shape %s",
			tensor.ShapeString(x.Shape()))
	}
	return x.Size(-2), x.Size(-1)
}

// GetDimensions is channels, height and width of an image.
func GetDimensions[T Picture](x T) (channels, height, width int) {
	height, width = GetSize(x)
	return GetImageNumChannels(x), height, width
}

// GetImageSize is width and height of an image, in Pillow's order.
func GetImageSize[T Picture](x T) (width, height int) {
	height, width = GetSize(x)
	return width, height
}

// GetImageNumChannels is the number of channels of an image.
func GetImageNumChannels[T Picture](x T) int {
	switch v := any(x).(type) {
	case *pil.Image:
		return v.Bands()
	case *tensor.Tensor:
		if v.Dim() == 2 {
			return 1
		}
		hw(v)
		return v.Size(-3)
	}
	tensor.Fail(tensor.ErrType, "transforms: %T has no channels", x)
	return 0
}

// bound is the value of white.
func bound(x *tensor.Tensor) float64 { return maxValue(x.DType()) }

func maxValue(dt tensor.DType) float64 {
	switch dt {
	case tensor.Uint8:
		return 255
	case tensor.Int8:
		return 127
	case tensor.Int16:
		return math.MaxInt16
	case tensor.Uint16:
		return math.MaxUint16
	case tensor.Int32:
		return math.MaxInt32
	case tensor.Int64:
		return math.MaxInt64
	}
	return 1
}

// clamped cuts x to the values of an image of a dtype, and converts to it.
func clamped(x *tensor.Tensor, dt tensor.DType) *tensor.Tensor {
	x = x.ClampScalarInPlace(tensor.ClampScalarInPlaceOptions{Min: 0, Max: maxValue(dt)})
	if dt.IsFloat() {
		return x
	}
	return x.To(dt)
}

// rounded converts to a dtype, rounding where it is one of integers.
func rounded(x *tensor.Tensor, dt tensor.DType) *tensor.Tensor {
	if !dt.IsFloat() {
		x = x.Round()
	}
	return x.To(dt)
}

// roundHalfEven is Python's round.
func roundHalfEven(v float64) int { return int(math.RoundToEven(v)) }
