package transforms

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// NewResize scales to size: height and width, or one number for the shorter side.
func NewResize(size []int, opts ...F.ResizeOptions) *Op {
	return always("Resize", func(x any) any { return F.Resize(x, size, opts...) }).as(resizing{size, opts})
}

// NewCenterCrop cuts the middle out.
func NewCenterCrop(size []int) *Op {
	return always("CenterCrop", func(x any) any { return F.CenterCrop(x, size) }).as(centerCropping{size})
}

// NewPad adds borders; see F.Pad.
func NewPad(padding []int, opts ...F.PadOptions) *Op {
	return always("Pad", func(x any) any { return F.Pad(x, padding, opts...) })
}

// NewFiveCrop replaces each image by a []any of five: the corners and the middle.
func NewFiveCrop(size []int) *Op {
	return always("FiveCrop", onImages(func(x any) any { v := F.FiveCrop(x, size); return v[:] }))
}

// NewTenCrop replaces each image by a []any of ten: FiveCrop of the image and of its mirror image.
func NewTenCrop(size []int, verticalFlip ...bool) *Op {
	return always("TenCrop", onImages(func(x any) any { v := F.TenCrop(x, size, verticalFlip...); return v[:] }))
}

// NewRandomHorizontalFlip mirrors with probability p, 0.5 unless given.
func NewRandomHorizontalFlip(p ...float64) *Op {
	return sometimes("RandomHorizontalFlip", chance(p, 0.5), func(x any) any { return F.HorizontalFlip(x) })
}

// NewRandomVerticalFlip turns upside down with probability p, 0.5 unless given.
func NewRandomVerticalFlip(p ...float64) *Op {
	return sometimes("RandomVerticalFlip", chance(p, 0.5), func(x any) any { return F.VerticalFlip(x) })
}

// RandomCropOptions are the options of NewRandomCrop.
type RandomCropOptions struct {
	Padding     []int // added first; see F.Pad
	PadIfNeeded bool  // images smaller than the crop are padded
	Fill        []float64
	PaddingMode F.PadMode
}

// NewRandomCrop cuts out a rectangle at a place that is drawn.
func NewRandomCrop(size []int, opts ...RandomCropOptions) *Op {
	o := firstOf(opts)
	return drawn("RandomCrop", func(in []any) func(x any) any {
		ch, cw := size[0], size[len(size)-1]
		h, w := QuerySize(in)
		pad := [4]int{} // left, top, right, bottom
		switch len(o.Padding) {
		case 1:
			pad = [4]int{o.Padding[0], o.Padding[0], o.Padding[0], o.Padding[0]}
		case 2:
			pad = [4]int{o.Padding[0], o.Padding[1], o.Padding[0], o.Padding[1]}
		case 4:
			pad = [4]int(o.Padding)
		}
		h, w = h+pad[1]+pad[3], w+pad[0]+pad[2]
		if o.PadIfNeeded {
			if d := max(ch-h, 0); d > 0 {
				pad[1], pad[3], h = pad[1]+d, pad[3]+d, h+2*d
			}
			if d := max(cw-w, 0); d > 0 {
				pad[0], pad[2], w = pad[0]+d, pad[2]+d, w+2*d
			}
		}
		if h < ch || w < cw {
			tensor.Fail(tensor.ErrValue, "Required crop size (%d, %d) is larger than padded input image size (%d, %d).",
				ch,
				cw, h, w)
		}
		top, left := 0, 0
		if h > ch {
			top = randint(0, h-ch+1)
		}
		if w > cw {
			left = randint(0, w-cw+1)
		}
		return func(x any) any {
			if pad != [4]int{} {
				x = F.Pad(x, pad[:], F.PadOptions{Fill: o.Fill, Mode: o.PaddingMode})
			}
			if h > ch || w > cw {
				x = F.Crop(x, top, left, ch, cw)
			}
			return x
		}
	})
}

// RandomResizedCropOptions are the options of NewRandomResizedCrop; the zero value is torchvision's default.
type RandomResizedCropOptions struct {
	Scale, Ratio *[2]float64 // share of the area, width by height; default 0.08 to 1, 3/4 to 4/3
	Resize       F.ResizeOptions
}

// rectangle draws the sides of a rectangle that covers a share of the image, and whose first side is aspect times the
// second: up to ten tries.
func rectangle(h, w int, scale, ratio [2]float64, fits func(a, b int) bool) (a, b int, ok bool) {
	lo, hi := float64(float32(math.Log(float64(float32(ratio[0]))))),
		float64(float32(math.Log(float64(float32(ratio[1])))))
	for range 10 {
		area := float64(h*w) * uniform(scale[0], scale[1])
		t := torch.Empty([]int{1}).UniformInPlace(tensor.UniformInPlaceOptions{From: lo, To: tensor.Some(hi)})
		aspect := t.Exp().Item()
		a, b = int(math.RoundToEven(math.Sqrt(area*aspect))), int(math.RoundToEven(math.Sqrt(area/aspect)))
		if fits(a, b) {
			return a, b, true
		}
	}
	return 0, 0, false
}

// NewRandomResizedCrop cuts out a rectangle of a share and a ratio that are drawn, and scales it to size.
func NewRandomResizedCrop(size []int, opts ...RandomResizedCropOptions) *Op {
	o := firstOf(opts)
	scale, ratio := [2]float64{0.08, 1}, [2]float64{3.0 / 4, 4.0 / 3}
	if o.Scale != nil {
		scale = *o.Scale
	}
	if o.Ratio != nil {
		ratio = *o.Ratio
	}
	if len(size) == 1 {
		size = []int{size[0], size[0]}
	}
	return drawn("RandomResizedCrop", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		top, left := 0, 0
		rw, rh, ok := rectangle(h, w, scale, ratio, func(rw, rh int) bool {
			return 0 < rw && rw <= w && 0 < rh && rh <= h
		})
		if ok {
			top = randint(0, h-rh+1)
			left = randint(0, w-rw+1)
		} else { // the largest in the middle that has the ratio
			rh, rw = h, w
			if r := float64(w) / float64(h); r < ratio[0] {
				rh = int(math.RoundToEven(float64(w) / ratio[0]))
			} else if r > ratio[1] {
				rw = int(math.RoundToEven(float64(h) * ratio[1]))
			}
			top, left = (h-rh)/2, (w-rw)/2
		}
		return func(x any) any { return F.ResizedCrop(x, top, left, rh, rw, size, o.Resize) }
	})
}

// NewRandomRotation turns by degrees between degrees[0] and degrees[1], or -d and d for one number.
func NewRandomRotation(degrees []float64, opts ...F.WarpOptions) *Op {
	o := filled(opts)
	return drawn("RandomRotation", func([]any) func(x any) any {
		angle := uniform(span(degrees))
		return func(x any) any { return F.Rotate(x, angle, o) }
	})
}

// filled is the options, black where no fill was given, as the classes have it.
func filled(opts []F.WarpOptions) F.WarpOptions {
	o := firstOf(opts)
	if o.Fill == nil {
		o.Fill = []float64{0}
	}
	return o
}

// span is from -d to d for one number.
func span(v []float64) (lo, hi float64) {
	switch len(v) {
	case 1:
		return -v[0], v[0]
	case 2:
		return v[0], v[1]
	}
	tensor.Fail(tensor.ErrValue, "transforms: want one or two numbers, got %v", v)
	return 0, 0
}

// RandomAffineOptions are the options of NewRandomAffine.
type RandomAffineOptions struct {
	Translate *[2]float64 // largest shares of width and height to move by; default not
	Scale     *[2]float64 // default not
	Shear     []float64   // degrees: d for -d to d in x; two numbers for x; four for x and y; default not
	Warp      F.WarpOptions
}

// NewRandomAffine turns, moves, scales and shears by numbers that are drawn.
func NewRandomAffine(degrees []float64, opts ...RandomAffineOptions) *Op {
	o := firstOf(opts)
	warp := filled([]F.WarpOptions{o.Warp})
	return drawn("RandomAffine", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		angle := uniform(span(degrees))
		var move, shear [2]float64
		if o.Translate != nil {
			dx, dy := o.Translate[0]*float64(w), o.Translate[1]*float64(h)
			move[0] = math.RoundToEven(uniform(-dx, dx))
			move[1] = math.RoundToEven(uniform(-dy, dy))
		}
		scale := 1.0
		if o.Scale != nil {
			scale = uniform(o.Scale[0], o.Scale[1])
		}
		if len(o.Shear) > 0 {
			shear[0] = uniform(span(o.Shear[:min(len(o.Shear), 2)]))
			if len(o.Shear) == 4 {
				shear[1] = uniform(o.Shear[2], o.Shear[3])
			}
		}
		return func(x any) any { return F.Affine(x, angle, move, scale, shear, warp) }
	})
}

// NewRandomPerspective moves each corner by up to half of distortionScale of the image, with probability p.
func NewRandomPerspective(distortionScale, p float64, opts ...F.WarpOptions) *Op {
	warp := filled(opts)
	return perhaps("RandomPerspective", p, func(in []any) func(x any) any {
		h, w := QuerySize(in)
		bh, bw := int(distortionScale*float64(h/2))+1, int(distortionScale*float64(w/2))+1
		at := func(x0, x1, y0, y1 int) [2]float64 {
			x := randint(x0, x1)
			return [2]float64{float64(x), float64(randint(y0, y1))}
		}
		end := [4][2]float64{at(0, bw, 0, bh), at(w-bw, w, 0, bh), at(w-bw, w, h-bh, h), at(0, bw, h-bh, h)}
		x1, y1 := float64(w-1), float64(h-1)
		start := [4][2]float64{{0, 0}, {x1, 0}, {x1, y1}, {0, y1}}
		return func(x any) any { return F.Perspective(x, start, end, warp) }
	})
}

// NewElasticTransform moves each pixel by smooth noise: alpha is how far, sigma how smooth (one number, or two for x
// and y).
func NewElasticTransform(alpha, sigma []float64, opts ...F.WarpOptions) *Op {
	warp := filled(opts)
	if len(alpha) < 1 || len(alpha) > 2 || len(sigma) < 1 || len(sigma) > 2 {
		tensor.Fail(tensor.ErrValue, "ElasticTransform: alpha and sigma should have one or two numbers, got %v and %v",
			alpha, sigma)
	}
	return drawn("ElasticTransform", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		noise := func(i, n int) *tensor.Tensor {
			d := torch.Rand([]int{1, 1, h, w}).MulScalar(2).SubScalar(1)
			if s := sigma[i%len(sigma)]; s > 0 {
				k := int(8*s + 1)
				k += 1 - k%2
				d = F.GaussianBlur(d, []int{k, k}, sigma...)
			}
			return d.MulScalar(alpha[i%len(alpha)]).DivScalar(n)
		}
		dx := noise(0, w)
		dy := noise(1, h)
		d := torch.Cat([]*tensor.Tensor{dx, dy}, torch.CatOptions{Dim: 1}).Permute([]int{0, 2, 3, 1})
		return func(x any) any { return F.Elastic(x, d, warp) }
	})
}

// RandomZoomOutOptions are the options of NewRandomZoomOut.
type RandomZoomOutOptions struct {
	Fill      []float64
	SideRange *[2]float64         // how many times the canvas is as wide and as high; default 1 to 4
	P         tensor.Opt[float64] // default 0.5
}

// NewRandomZoomOut puts the image on a larger canvas at a place that is drawn.
func NewRandomZoomOut(opts ...RandomZoomOutOptions) *Op {
	o := firstOf(opts)
	side := [2]float64{1, 4}
	if o.SideRange != nil {
		side = *o.SideRange
	}
	return perhaps("RandomZoomOut", o.P.Or(0.5), func(in []any) func(x any) any {
		h, w := QuerySize(in)
		r := float32(side[0]) + float32(rand())*float32(side[1]-side[0])
		cw, ch := int(float32(w)*r), int(float32(h)*r)
		at := tensor.Data[float32](torch.Rand([]int{2}))
		left, top := int(float32(cw-w)*at[0]), int(float32(ch-h)*at[1])
		return func(x any) any {
			return F.Pad(x, []int{left, top, cw - left - w, ch - top - h}, F.PadOptions{Fill: o.Fill})
		}
	})
}

// NewRandomShortestSize scales so that the shorter side has one of the sizes, and the longer one at most maxSize (0: no
// limit).
func NewRandomShortestSize(minSizes []int, maxSize int, opts ...F.ResizeOptions) *Op {
	return drawn("RandomShortestSize", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		r := float64(minSizes[randint(0, len(minSizes))]) / float64(min(h, w))
		if maxSize > 0 {
			r = min(r, float64(maxSize)/float64(max(h, w)))
		}
		size := []int{int(float64(h) * r), int(float64(w) * r)}
		return func(x any) any { return F.Resize(x, size, opts...) }
	})
}

// NewScaleJitter scales the image to fit into target size times a factor that is drawn from scaleRange, 0.1 to 2 unless
// given.
func NewScaleJitter(target [2]int, scaleRange ...float64) *Op {
	lo, hi := 0.1, 2.0
	if len(scaleRange) == 2 {
		lo, hi = scaleRange[0], scaleRange[1]
	}
	return drawn("ScaleJitter", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		scale := float32(lo) + float32(rand())*float32(hi-lo)
		r := float32(min(float64(target[1])/float64(h), float64(target[0])/float64(w))) * scale
		size := []int{int(float32(h) * r), int(float32(w) * r)}
		return func(x any) any { return F.Resize(x, size) }
	})
}

// NewRandomResize scales the shorter side to a size from minSize to maxSize-1.
func NewRandomResize(minSize, maxSize int, opts ...F.ResizeOptions) *Op {
	return drawn("RandomResize", func([]any) func(x any) any {
		size := []int{randint(minSize, maxSize)}
		return func(x any) any { return F.Resize(x, size, opts...) }
	})
}

// RandomIoUCropOptions are the options of NewRandomIoUCrop; the zero value is torchvision's default.
type RandomIoUCropOptions struct {
	MinScale, MaxScale             tensor.Opt[float64] // of width and height; default 0.3 and 1
	MinAspectRatio, MaxAspectRatio tensor.Opt[float64] // default 0.5 and 2
	// smallest overlaps; 1 or more leaves the image; default 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1
	SamplerOptions []float64
	Trials         tensor.Opt[int] // default 40
}

// NewRandomIoUCrop cuts out a rectangle that overlaps a box by a share that is drawn, and moves boxes whose centres lie
// outside to nothing, so that SanitizeBoundingBoxes removes them (Liu et al., SSD, 2016).
func NewRandomIoUCrop(opts ...RandomIoUCropOptions) *Op {
	o := firstOf(opts)
	minScale, maxScale := o.MinScale.Or(0.3), o.MaxScale.Or(1)
	minRatio, maxRatio := o.MinAspectRatio.Or(0.5), o.MaxAspectRatio.Or(2)
	overlaps, trials := o.SamplerOptions, o.Trials.Or(40)
	if overlaps == nil {
		overlaps = []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}
	}
	if len(overlaps) == 0 || trials < 1 {
		tensor.Fail(tensor.ErrValue, "RandomIoUCrop: %d overlaps and %d trials, expected one at least of each",
			len(overlaps), trials)
	}
	return drawn("RandomIoUCrop", func(in []any) func(x any) any {
		h, w := QuerySize(in)
		boxes := GetBoundingBoxes(in)
		corners := ops.BoxConvert(boxes.Tensor, boxes.Format, ops.XYXY)
		for {
			overlap := overlaps[randint(0, len(overlaps))]
			if overlap >= 1 {
				return func(x any) any { return x }
			}
			for range trials {
				r := tensor.Data[float32](torch.Rand([]int{2}))
				at := func(i int) float64 { return minScale + (maxScale-minScale)*float64(r[i]) }
				nw, nh := int(float64(w)*at(0)), int(float64(h)*at(1))
				if a := float64(nw) / float64(nh); nh == 0 || !(minRatio <= a && a <= maxRatio) {
					continue
				}
				r = tensor.Data[float32](torch.Rand([]int{2}))
				left, top := int(float32(w-nw)*r[0]), int(float32(h-nh)*r[1])
				if left+nw == left || top+nh == top {
					continue
				}
				inside := centresInside(corners, left, top, left+nw, top+nh)
				if !inside.Any().IsNonzero() {
					continue
				}
				crop := tensor.FromSlice([]float64{float64(left), float64(top), float64(left + nw), float64(top + nh)},
					1, 4)
				kept := corners.IndexSelect(0, inside.Nonzero().SqueezeDim(1))
				if ops.BoxIoU(kept.Double(), crop).Max().Item() < overlap {
					continue
				}
				return func(x any) any {
					y := F.Crop(x, top, left, nh, nw)
					if b, ok := y.(*tvtensors.BoundingBoxes); ok {
						t := b.MaskedFillScalar(inside.LogicalNot().Unsqueeze(1), 0)
						return b.With(t, b.CanvasSize)
					}
					return y
				}
			}
		}
	})
}

func centresInside(corners *tensor.Tensor, left, top, right, bottom int) *tensor.Tensor {
	c := corners.Unbind(tensor.UnbindOptions{Dim: 1})
	cx, cy := c[0].Add(c[2]).MulScalar(0.5), c[1].Add(c[3]).MulScalar(0.5)
	return cx.GtScalar(left).LogicalAnd(cx.LtScalar(right)).LogicalAnd(cy.GtScalar(top)).LogicalAnd(cy.LtScalar(bottom))
}

// NewClampBoundingBoxes cuts boxes at the edges of their canvas.
func NewClampBoundingBoxes() *Op {
	return always("ClampBoundingBoxes", func(x any) any {
		if b, ok := x.(*tvtensors.BoundingBoxes); ok {
			return F.ClampBoundingBoxes(b)
		}
		return x
	})
}

// NewClampKeyPoints moves points outside of their canvas to its edge.
func NewClampKeyPoints() *Op {
	return always("ClampKeyPoints", func(x any) any {
		if p, ok := x.(*tvtensors.KeyPoints); ok {
			return F.ClampKeyPoints(p)
		}
		return x
	})
}

// NewConvertBoundingBoxFormat converts boxes to another format.
func NewConvertBoundingBoxFormat(format ops.BoxFormat) *Op {
	return always("ConvertBoundingBoxFormat", func(x any) any {
		if b, ok := x.(*tvtensors.BoundingBoxes); ok {
			return F.ConvertBoundingBoxFormat(b, format)
		}
		return x
	})
}

// NewSetClampingMode sets what happens to boxes that leave their canvas.
func NewSetClampingMode(mode tvtensors.ClampingMode) *Op {
	return always("SetClampingMode", func(x any) any {
		if b, ok := x.(*tvtensors.BoundingBoxes); ok {
			c := *b
			c.Clamping = mode
			return &c
		}
		return x
	})
}

// SanitizeOptions are the options of NewSanitizeBoundingBoxes.
type SanitizeOptions struct{ MinSize, MinArea float64 } // default 1 each

// NewSanitizeBoundingBoxes removes boxes that are too small or leave their canvas, and what belongs to them: the rows
// of masks (N, H, W), and of integer tensors (N), such as labels.
func NewSanitizeBoundingBoxes(opts ...SanitizeOptions) Transform {
	o := SanitizeOptions{1, 1}
	if len(opts) > 0 {
		o = SanitizeOptions{max(opts[0].MinSize, 1), max(opts[0].MinArea, 1)}
	}
	return everything(func(in []any) func(x any) any {
		b := GetBoundingBoxes(in)
		c := ops.BoxConvert(b.Tensor, b.Format, ops.XYXY).Unbind(tensor.UnbindOptions{Dim: -1})
		w, h := c[2].Sub(c[0]), c[3].Sub(c[1])
		ok := w.GeScalar(o.MinSize).LogicalAnd(h.GeScalar(o.MinSize)).LogicalAnd(w.Mul(h).GeScalar(o.MinArea))
		for i, t := range c {
			ok = ok.LogicalAnd(t.GeScalar(0)).LogicalAnd(t.LeScalar(b.CanvasSize[1-i%2]))
		}
		return keepRows(ok, b.Size(0))
	})
}

// NewSanitizeKeyPoints removes points that lie outside of their canvas, and what belongs to them.
func NewSanitizeKeyPoints() Transform {
	return everything(func(in []any) func(x any) any {
		p := GetKeyPoints(in)
		c := p.Unbind(tensor.UnbindOptions{Dim: -1})
		ok := c[0].GeScalar(0).LogicalAnd(c[0].LtScalar(p.CanvasSize[1])).LogicalAnd(c[1].GeScalar(0)).
			LogicalAnd(c[1].LtScalar(p.CanvasSize[0]))
		for ok.Dim() > 1 { // an object stays if all its points do
			ok = ok.AllDim(-1)
		}
		return keepRows(ok, p.Size(0))
	})
}

// everything is a transform that looks at all inputs, labels as well.
func everything(draw func(in []any) func(x any) any) Transform {
	return applied(func(in []any) []any {
		f, out := draw(in), make([]any, len(in))
		for i, x := range in {
			out[i] = f(x)
		}
		return out
	})
}

// keepRows takes the rows of what belongs to n objects.
func keepRows(ok *tensor.Tensor, n int) func(x any) any {
	rows := ok.Nonzero().SqueezeDim(1)
	return func(x any) any {
		switch v := x.(type) {
		case *tvtensors.BoundingBoxes:
			return v.With(v.IndexSelect(0, rows), v.CanvasSize)
		case *tvtensors.KeyPoints:
			return tvtensors.NewKeyPoints(v.IndexSelect(0, rows), v.CanvasSize)
		case *tvtensors.Mask:
			return tvtensors.NewMask(v.IndexSelect(0, rows))
		case *tensor.Tensor:
			if v.Dim() == 1 && v.Size(0) == n && v.DType().IsIntOrBool() {
				return v.IndexSelect(0, rows)
			}
		}
		return x
	}
}
