package functional

import (
	NF "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// ResizeOptions are the options of Resize; the zero value is torchvision's default.
type ResizeOptions struct {
	Interpolation InterpolationMode // default Bilinear
	// MaxSize: the longer side is not larger, where size is one number, or gets it, where size is empty; default no
	// limit
	MaxSize     int
	NoAntialias bool // tensors: no wider filter where the image shrinks
}

// ResizedSize is the size that Resize gives an image of height and width: size itself, or, where it is one number, that
// of the shorter side, so that the ratio stays.
func ResizedSize(height, width int, size []int, maxSize int) (h, w int) {
	switch {
	case len(size) == 0 && maxSize > 0:
		if height > width {
			return maxSize, int(float64(maxSize) * float64(width) / float64(height))
		}
		return int(float64(maxSize) * float64(height) / float64(width)), maxSize
	case len(size) == 2:
		return size[0], size[1]
	case len(size) != 1:
		tensor.Fail(tensor.ErrValue, "resize: size should have one or two numbers, got %v", size)
	}
	short, long := min(height, width), max(height, width)
	s := size[0]
	l := int(float64(s) * float64(long) / float64(short))
	if maxSize > 0 {
		if maxSize <= s {
			tensor.Fail(tensor.ErrValue,
				"max_size = %d must be strictly greater than the requested size for the smaller "+
					"edge size = %d", maxSize, s)
		}
		if l > maxSize {
			s, l = int(float64(maxSize)*float64(s)/float64(l)), maxSize
		}
	}
	if width <= height {
		return l, s
	}
	return s, l
}

// Resize scales to size: height and width, or one number for the shorter side.
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.resize.html
func Resize[T Input](x T, size []int, opts ...ResizeOptions) T {
	o := firstOf(opts)
	height, width := GetSize(x)
	if height == 0 || width == 0 {
		return x
	}
	h, w := ResizedSize(height, width, size, o.MaxSize)
	if h <= 0 || w <= 0 || h > 1<<20 || w > 1<<20 {
		tensor.Fail(tensor.ErrValue, "resize: cannot make an image of %d x %d pixels", h, w)
	}
	mode := o.Interpolation.or(Bilinear)
	sy, sx := float64(h)/float64(height), float64(w)/float64(width)
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor { return resizeTensor(x, h, w, mode, !o.NoAntialias) },
		pil:    func(im *pil.Image) *pil.Image { return im.Resize(w, h, mode.pil()) },
		mask:   func(x *tensor.Tensor) *tensor.Tensor { return resizeTensor(x, h, w, Nearest, false) },
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return scaleBoxes(b, sx, sy, [2]int{h, w})
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			return tvtensors.NewKeyPoints(p.Mul(p.NewTensor([]float64{sx, sy}).To(p.DType())), [2]int{h, w})
		}})
}

func resizeTensor(x *tensor.Tensor, h, w int, mode InterpolationMode, antialias bool) *tensor.Tensor {
	if oh, ow := hw(x); oh == h && ow == w {
		return x
	}
	lead := x.Shape()[:x.Dim()-2]
	c := 1
	if len(lead) > 0 {
		c = lead[len(lead)-1]
	}
	y := x.Reshape([]int{-1, c, x.Size(-2), x.Size(-1)})
	dt := x.DType()
	smooth := mode == Bilinear || mode == Bicubic || mode == Lanczos
	native := dt == tensor.Float32 || dt == tensor.Float64 || dt == tensor.Uint8
	if !native {
		y = y.Float()
	}
	io := NF.InterpolateOptions{Size: []int{h, w}, Mode: string(mode)}
	if smooth {
		io.Antialias = antialias || mode == Lanczos
		if mode != Lanczos {
			io.AlignCorners = tensor.Some(false)
		}
	}
	y = NF.Interpolate(y, io)
	if !native {
		if mode == Bicubic && dt == tensor.Uint8 {
			y = y.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255})
		}
		y = rounded(y, dt)
	}
	return y.Reshape(append(append([]int(nil), lead...), h, w))
}

// scaleBoxes multiplies places and sizes.
func scaleBoxes(b *tvtensors.BoundingBoxes, sx, sy float64, canvas [2]int) *tvtensors.BoundingBoxes {
	if b.Format == "xywhr" || b.Format == "cxcywhr" {
		tensor.Fail(tensor.ErrNotImpl, "resize of boxes in format %s", b.Format)
	}
	n := b.Size(-1)
	f := make([]float64, n)
	for i := range f {
		f[i] = []float64{sx, sy}[i%2]
	}
	return b.With(b.Mul(b.NewTensor(f).To(tensor.Float32)).To(b.DType()), canvas)
}

// Crop is the rectangle of height x width pixels at (top, left); what lies outside of the image is black.
func Crop[T Input](x T, top, left, height, width int) T {
	if height < 0 || width < 0 || height > 1<<24 || width > 1<<24 {
		tensor.Fail(tensor.ErrValue, "crop: cannot make an image of %d x %d pixels", height, width)
	}
	crop := func(x *tensor.Tensor) *tensor.Tensor { return cropTensor(x, top, left, height, width) }
	return apply(x, kernels{
		tensor: crop, mask: crop,
		pil: func(im *pil.Image) *pil.Image { return im.Crop(left, top, left+width, top+height) },
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return ClampBoundingBoxes(shiftBoxes(b, -left, -top, [2]int{height, width}))
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			return ClampKeyPoints(shiftPoints(p, -left, -top, [2]int{height, width}))
		}})
}

func cropTensor(x *tensor.Tensor, top, left, height, width int) *tensor.Tensor {
	h, w := hw(x)
	y0, x0 := min(max(top, 0), h), min(max(left, 0), w)
	y1, x1 := min(max(top+height, y0), h), min(max(left+width, x0), w)
	x = x.Narrow(-2, y0, y1-y0).Narrow(-1, x0, x1-x0)
	if y1-y0 == height && x1-x0 == width {
		return x
	}
	up, before := min(max(-top, 0), height), min(max(-left, 0), width)
	return NF.Pad(x, []int{before, width - before - (x1 - x0), up, height - up - (y1 - y0)})
}

// shiftBoxes moves boxes onto another canvas.
func shiftBoxes(b *tvtensors.BoundingBoxes, dx, dy int, canvas [2]int) *tvtensors.BoundingBoxes {
	t := b.Clone()
	n := 2
	switch b.Format {
	case "xyxy":
		n = 4
	case "xyxyxyxy":
		n = 8
	}
	for i := range n {
		t.Narrow(-1, i, 1).AddScalarInPlace([2]int{dx, dy}[i%2])
	}
	return b.With(t, canvas)
}

func shiftPoints(p *tvtensors.KeyPoints, dx, dy int, canvas [2]int) *tvtensors.KeyPoints {
	return tvtensors.NewKeyPoints(p.Add(p.NewTensor([]int64{int64(dx), int64(dy)}).To(p.DType())), canvas)
}

// CenterCrop is the middle of the image: size is height and width, or one number for both. A smaller image is padded
// with black.
func CenterCrop[T Input](x T, size []int) T {
	ch, cw := pair("center_crop", size)
	h, w := GetSize(x)
	boxes := false // and points, which torchvision moves without padding
	switch any(x).(type) {
	case *tvtensors.BoundingBoxes, *tvtensors.KeyPoints:
		boxes = true
	}
	if !boxes && (cw > w || ch > h) {
		l, t := max(cw-w, 0), max(ch-h, 0)
		x = Pad(x, []int{l / 2, t / 2, (l + 1) / 2, (t + 1) / 2})
		h, w = max(h, ch), max(w, cw)
		if ch == h && cw == w {
			return x
		}
	}
	return Crop(x, roundHalfEven(float64(h-ch)/2), roundHalfEven(float64(w-cw)/2), ch, cw)
}

// ResizeCenterCrop is CenterCrop(Resize(x, size, opts...), crop), without the work for the pixels that are cut off
// where x is a *pil.Image.
func ResizeCenterCrop[T Input](x T, size, crop []int, opts ...ResizeOptions) T {
	im, ok := any(x).(*pil.Image)
	if !ok || im.Width == 0 || im.Height == 0 {
		return CenterCrop(Resize(x, size, opts...), crop)
	}
	o := firstOf(opts)
	h, w := ResizedSize(im.Height, im.Width, size, o.MaxSize)
	ch, cw := pair("center_crop", crop)
	if h > 1<<20 || w > 1<<20 || ch < 0 || cw < 0 || ch > h || cw > w {
		return CenterCrop(Resize(x, size, opts...), crop) // pads, or refuses the sizes
	}
	top, left := roundHalfEven(float64(h-ch)/2), roundHalfEven(float64(w-cw)/2)
	var out any = im.ResizeRegion(w, h, o.Interpolation.or(Bilinear).pil(), left, top, left+cw, top+ch)
	return out.(T)
}

// pair is one number for both, or height and width.
func pair(name string, size []int) (h, w int) {
	switch len(size) {
	case 1:
		return size[0], size[0]
	case 2:
		return size[0], size[1]
	}
	tensor.Fail(tensor.ErrValue, "%s: size should have one or two numbers, got %v", name, size)
	return 0, 0
}

// ResizedCrop crops and then resizes.
func ResizedCrop[T Input](x T, top, left, height, width int, size []int, opts ...ResizeOptions) T {
	return Resize(Crop(x, top, left, height, width), size, opts...)
}

// FiveCrop gives the four corners (top left, top right, bottom left, bottom right) and the middle.
func FiveCrop[T Picture](x T, size []int) [5]T {
	ch, cw := pair("five_crop", size)
	h, w := GetSize(x)
	if cw > w || ch > h {
		tensor.Fail(tensor.ErrValue, "Requested crop size %v is bigger than input size (%d, %d)", size, h, w)
	}
	return [5]T{Crop(x, 0, 0, ch, cw), Crop(x, 0, w-cw, ch, cw), Crop(x, h-ch, 0, ch, cw), Crop(x, h-ch, w-cw, ch, cw),
		CenterCrop(x, []int{ch, cw})}
}

// TenCrop gives FiveCrop of the image and of its mirror image, or with verticalFlip that upside down.
func TenCrop[T Picture](x T, size []int, verticalFlip ...bool) (out [10]T) {
	first := FiveCrop(x, size)
	if len(verticalFlip) > 0 && verticalFlip[0] {
		x = VerticalFlip(x)
	} else {
		x = HorizontalFlip(x)
	}
	second := FiveCrop(x, size)
	copy(out[:5], first[:])
	copy(out[5:], second[:])
	return out
}

// PadMode says what borders are filled with.
type PadMode string

// The modes of Pad.
const (
	PadConstant  PadMode = "constant"
	PadEdge      PadMode = "edge"
	PadReflect   PadMode = "reflect"
	PadSymmetric PadMode = "symmetric"
)

// PadOptions are the options of Pad.
type PadOptions struct {
	Fill []float64 // one number, or one for each channel; default 0
	Mode PadMode   // default PadConstant
}

// sides reads left, top, right and bottom.
func sides(p []int) (l, t, r, b int) {
	switch len(p) {
	case 1:
		return p[0], p[0], p[0], p[0]
	case 2:
		return p[0], p[1], p[0], p[1]
	case 4:
		return p[0], p[1], p[2], p[3]
	}
	tensor.Fail(tensor.ErrValue, "Padding must be an int or a 1, 2, or 4 element tuple, not a %d element tuple", len(p))
	return 0, 0, 0, 0
}

// Pad adds borders: padding is one number for all sides, two for left and right, top and bottom, or four for left, top,
// right, bottom. Negative numbers cut.
func Pad[T Input](x T, padding []int, opts ...PadOptions) T {
	o := firstOf(opts)
	if o.Mode == "" {
		o.Mode = PadConstant
	}
	l, t, r, b := sides(padding)
	for _, n := range []int{l, t, r, b} {
		if n > 1<<20 || n < -1<<20 {
			tensor.Fail(tensor.ErrValue, "pad: %d pixels", n)
		}
	}
	h, w := GetSize(x)
	canvas := [2]int{h + t + b, w + l + r}
	pad := func(fill []float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor { return padTensor(x, l, t, r, b, fill, o.Mode) }
	}
	return apply(x, kernels{
		tensor: pad(o.Fill), mask: pad(nil),
		boxes: func(x *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return ClampBoundingBoxes(shiftBoxes(x, l, t, canvas))
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			return ClampKeyPoints(shiftPoints(p, l, t, canvas))
		}})
}

func padTensor(x *tensor.Tensor, l, t, r, b int, fill []float64, mode PadMode) *tensor.Tensor {
	switch mode {
	case PadConstant:
		if len(fill) > 1 {
			parts := x.Unbind(tensor.UnbindOptions{Dim: -3})
			if len(fill) != len(parts) {
				tensor.Fail(tensor.ErrValue, "pad: %d fill values for %d channels", len(fill), len(parts))
			}
			for i := range parts {
				parts[i] = padTensor(parts[i], l, t, r, b, fill[i:i+1], mode).Unsqueeze(-3)
			}
			return catAt(parts, -3)
		}
		v := 0.0
		if len(fill) == 1 {
			v = fill[0]
		}
		return NF.Pad(x, []int{l, r, t, b}, NF.PadOptions{Value: tensor.Some(v)})
	case PadEdge, PadReflect, PadSymmetric:
		h, w := hw(x)
		if dt := x.DType(); mode != PadSymmetric && (dt == tensor.Int32 || dt == tensor.Int64) { // as torchvision
			return padTensor(x.Float(), l, t, r, b, fill, mode).To(dt)
		}
		return x.IndexSelect(-2, borderIndex(h, t, b, mode)).IndexSelect(-1, borderIndex(w, l, r, mode))
	}
	tensor.Fail(tensor.ErrValue, "pad: unknown mode %q", string(mode))
	return nil
}

// borderIndex are the elements that a dimension of n has after padding.
func borderIndex(n, before, after int, mode PadMode) *tensor.Tensor {
	if n == 0 || mode == PadReflect && (before >= n || after >= n) || mode == PadSymmetric &&
		(before > n || after > n) {
		tensor.Fail(tensor.ErrShape, "pad: borders of %d and %d pixels are too wide for %d pixels in mode %s", before,
			after,
			n, mode)
	}
	var index []int64
	for i := -before; i < n+after; i++ {
		j := i
		switch {
		case mode == PadEdge:
			j = min(max(i, 0), n-1)
		case i < 0 && mode == PadReflect:
			j = -i
		case i < 0:
			j = -i - 1
		case i >= n && mode == PadReflect:
			j = 2*n - 2 - i
		case i >= n:
			j = 2*n - 1 - i
		}
		index = append(index, int64(j))
	}
	return tensor.FromSlice(index, len(index))
}

// HorizontalFlip mirrors.
func HorizontalFlip[T Input](x T) T {
	flip := func(x *tensor.Tensor) *tensor.Tensor { return x.Flip([]int{-1}) }
	return apply(x, kernels{tensor: flip, mask: flip, pil: (*pil.Image).FlipLeftRight,
		boxes:  func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes { return flipBoxes(b, 0, b.CanvasSize[1]) },
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints { return flipPoints(p, 0, p.CanvasSize[1]) }})
}

// VerticalFlip turns upside down.
func VerticalFlip[T Input](x T) T {
	flip := func(x *tensor.Tensor) *tensor.Tensor { return x.Flip([]int{-2}) }
	return apply(x, kernels{tensor: flip, mask: flip, pil: (*pil.Image).FlipTopBottom,
		boxes:  func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes { return flipBoxes(b, 1, b.CanvasSize[0]) },
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints { return flipPoints(p, 1, p.CanvasSize[0]) }})
}

// HFlip is HorizontalFlip, VFlip is VerticalFlip.
func HFlip[T Input](x T) T { return HorizontalFlip(x) }

// VFlip is VerticalFlip.
func VFlip[T Input](x T) T { return VerticalFlip(x) }

// flipBoxes mirrors boxes in one dimension of n pixels.
func flipBoxes(b *tvtensors.BoundingBoxes, dim, n int) *tvtensors.BoundingBoxes {
	c := b.Unbind(tensor.UnbindOptions{Dim: -1})
	switch b.Format {
	case "xyxy":
		c[dim], c[dim+2] = c[dim+2].RsubScalar(n), c[dim].RsubScalar(n)
	case "xywh":
		c[dim] = c[dim].Add(c[dim+2]).RsubScalar(n)
	case "cxcywh":
		c[dim] = c[dim].RsubScalar(n)
	default:
		tensor.Fail(tensor.ErrNotImpl, "flip of boxes in format %s", b.Format)
	}
	return b.With(stackLast(c), b.CanvasSize)
}

func flipPoints(p *tvtensors.KeyPoints, dim, n int) *tvtensors.KeyPoints {
	c := p.Unbind(tensor.UnbindOptions{Dim: -1})
	c[dim] = c[dim].RsubScalar(n - 1)
	return tvtensors.NewKeyPoints(stackLast(c), p.CanvasSize)
}
