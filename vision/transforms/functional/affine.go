package functional

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/linalg"
	NF "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

func stackLast(ts []*tensor.Tensor) *tensor.Tensor {
	return torch.Stack(ts, torch.StackOptions{Dim: -1})
}

func catAt(ts []*tensor.Tensor, dim int) *tensor.Tensor {
	return torch.Cat(ts, torch.CatOptions{Dim: dim})
}

// WarpOptions are the options of Rotate, Affine, Perspective and Elastic; the zero value is torchvision's default.
type WarpOptions struct {
	Interpolation InterpolationMode // default Nearest for Rotate and Affine, Bilinear for the others
	// of what lies outside: one number, or one for each channel; default none, which is black
	Fill   []float64
	Center []float64 // x, y; default the middle
	Expand bool      // Rotate: enlarge the result, so that it holds all of the image
}

// bytes are the fill values of an image.
func (o *WarpOptions) bytes() []uint8 {
	var out []uint8
	for _, v := range o.Fill {
		out = append(out, uint8(min(max(v, 0), 255)))
	}
	return out
}

// matrix maps (x, y) to (m0·x + m1·y + m2, m3·x + m4·y + m5).
type matrix [6]float64

// affineMatrix turns by degrees, shears by degrees, scales and moves, about a centre; inverted is the way back.
func affineMatrix(cx, cy, angle float64, translate [2]float64, scale float64, shear [2]float64, inverted bool) matrix {
	rad := func(d float64) float64 { return d * (math.Pi / 180) } // as Python rounds it
	rot, sx, sy := rad(angle), rad(shear[0]), rad(shear[1])
	sinRot, cosRot := rng.SinCos(rot)
	sin, cos := rng.SinCos(rot - sy)
	_, cosY := rng.SinCos(sy)
	tan := rng.Tan(sx)
	a, c := cos/cosY, sin/cosY
	b, d := -(a*tan + sinRot), cosRot-c*tan // in the order of torchvision's operations
	tx, ty := cx+translate[0], cy+translate[1]
	if inverted {
		m := matrix{d / scale, -b / scale, 0, -c / scale, a / scale, 0}
		m[2] = cx - m[0]*tx - m[1]*ty
		m[5] = cy - m[3]*tx - m[4]*ty
		return m
	}
	m := matrix{a * scale, b * scale, 0, c * scale, d * scale, 0}
	m[2] = tx - m[0]*cx - m[1]*cy
	m[5] = ty - m[3]*cx - m[4]*cy
	return m
}

// expandedSize is the width and height that hold an image of w x h pixels that m, about its middle, has turned.
func (m matrix) expandedSize(w, h int) (ow, oh int) {
	lo, hi := [2]float32{}, [2]float32{}
	for i, s := range [][2]float32{{-0.5, -0.5}, {-0.5, 0.5}, {0.5, 0.5}, {0.5, -0.5}} {
		x, y := s[0]*float32(w), s[1]*float32(h)
		p := [2]float32{x*float32(m[0]) + y*float32(m[1]) + float32(m[2]), x*float32(m[3]) + y*float32(m[4]) +
			float32(m[5])}
		for k := range p {
			if i == 0 {
				lo[k], hi[k] = p[k], p[k]
			}
			lo[k], hi[k] = min(lo[k], p[k]), max(hi[k], p[k])
		}
	}
	size := func(k, n int) int {
		const tol = 1e-3
		half := float32(n) * 0.5
		top := math.Ceil(math.Trunc(float64(float32((hi[k]+half)*(1/tol)))) * tol)
		bottom := math.Floor(math.Trunc(float64(float32((lo[k]+half)*(1/tol)))) * tol)
		return int(top - bottom)
	}
	return size(0, w), size(1, h)
}

// grid is where the pixels of a result of ow x oh are read in an image of w x h, for grid_sample.
func (m matrix) grid(w, h, ow, oh int, dt tensor.DType) *tensor.Tensor {
	theta := tensor.FromSlice([]float64{m[0], m[1], m[2], m[3], m[4], m[5]}, 2, 3).To(dt)
	theta = theta.T().Div(tensor.FromSlice([]float64{0.5 * float64(w), 0.5 * float64(h)}).To(dt))
	base := baseGrid(-0.5*float64(ow)+0.5, -0.5*float64(oh)+0.5, ow, oh, dt)
	return product(base, theta).View([]int{1, oh, ow, 2})
}

// baseGrid is (oh·ow, 3): x and y from the given numbers on, and 1.
func baseGrid(x, y float64, ow, oh int, dt tensor.DType) *tensor.Tensor {
	lo := torch.LinspaceOptions{DType: dt}
	xs := torch.Linspace(x, x+float64(ow)-1, ow, lo).Unsqueeze(0).Expand([]int{oh, ow})
	ys := torch.Linspace(y, y+float64(oh)-1, oh, lo).Unsqueeze(1).Expand([]int{oh, ow})
	return stackLast([]*tensor.Tensor{xs, ys, xs.OnesLike()}).Reshape([]int{-1, 3})
}

// product is base (N, 3) times m (3, 2), each product and sum rounded, as PyTorch's product of such matrices has it: it
// decides which pixel is the nearest one where two are equally near.
func product(base, m *tensor.Tensor) *tensor.Tensor {
	term := func(i int) *tensor.Tensor { return base.Narrow(1, i, 1).Mul(m.Select(0, i)) }
	return term(0).Add(term(1)).Add(term(2))
}

// sampleGrid reads an image at the places of a grid (1, oh, ow, 2).
func sampleGrid(x, grid *tensor.Tensor, mode InterpolationMode, fill []float64) *tensor.Tensor {
	lead, dt := x.Shape()[:x.Dim()-2], x.DType()
	c := 1
	if len(lead) > 0 {
		c = lead[len(lead)-1]
	}
	y := x.Reshape([]int{-1, c, x.Size(-2), x.Size(-1)}).To(floatOf(x))
	n := y.Size(0)
	if len(fill) > 0 { // a channel of ones shows what lies in the image
		y = catAt([]*tensor.Tensor{y, y.NewOnes([]int{n, 1, y.Size(2), y.Size(3)})}, 1)
	}
	grid = grid.To(y.DType()).Expand([]int{n, -1, -1, -1})
	y = NF.GridSample(y, grid, NF.GridSampleOptions{Mode: string(mode), PaddingMode: "zeros",
		AlignCorners: tensor.Some(false)})
	if len(fill) > 0 {
		inside := y.Narrow(1, c, 1)
		f := tensor.FromSlice(fill).To(y.DType()).Reshape([]int{1, -1, 1, 1})
		y = y.Narrow(1, 0, c)
		if mode == Nearest {
			y = f.Expand(y.Shape()).Where(inside.LtScalar(0.5).Expand(y.Shape()), y)
		} else {
			y = y.Sub(f).Mul(inside).Add(f)
		}
	}
	return rounded(y, dt).Reshape(append(append([]int(nil), lead...), grid.Size(1), grid.Size(2)))
}

// center is the centre that was given, or the image's.
func (o *WarpOptions) center(h, w int) (cx, cy float64) {
	if len(o.Center) == 2 {
		return o.Center[0], o.Center[1]
	}
	return float64(w) * 0.5, float64(h) * 0.5
}

// quarter is the number of quarter turns that an angle is, if it is one that needs no interpolation.
func quarter(angle float64, h, w int, o WarpOptions) (turns int, ok bool) {
	a := math.Mod(math.Mod(angle, 360)+360, 360)
	if len(o.Center) > 0 || a != math.Trunc(a) || int(a)%90 != 0 {
		return 0, false
	}
	turns = int(a) / 90
	return turns, turns%2 == 0 || o.Expand || h == w
}

// Rotate turns by degrees counterclockwise.
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.rotate.html
func Rotate[T Input](x T, angle float64, opts ...WarpOptions) T {
	o := firstOf(opts)
	h, w := GetSize(x)
	mode := o.Interpolation.or(Nearest)
	turn := func(mode InterpolationMode, fill []float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			if turns, ok := quarter(angle, h, w, o); ok {
				if turns == 0 {
					return x.Clone()
				}
				return x.Rot90(tensor.Rot90Options{K: tensor.Some(turns), Dims: []int{-2, -1}})
			}
			cx, cy := 0.0, 0.0
			if len(o.Center) == 2 {
				cx, cy = o.Center[0]-float64(w)*0.5, o.Center[1]-float64(h)*0.5
			}
			m := affineMatrix(cx, cy, -angle, [2]float64{}, 1, [2]float64{}, true)
			ow, oh := w, h
			if o.Expand {
				ow, oh = m.expandedSize(w, h)
			}
			return sampleGrid(x, m.grid(w, h, ow, oh, floatOf(x)), mode, fill)
		}
	}
	return apply(x, kernels{
		tensor: turn(mode, o.Fill), mask: turn(Nearest, nil),
		pil: func(im *pil.Image) *pil.Image {
			po := pil.RotateOptions{Filter: mode.pil(), Expand: o.Expand, Fill: o.bytes()}
			if len(o.Center) == 2 {
				po.Center = &[2]float64{o.Center[0], o.Center[1]}
			}
			return im.Rotate(angle, po)
		},
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return warpBoxes(b, -angle, [2]float64{}, 1, [2]float64{}, o)
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			return warpPoints(p, -angle, [2]float64{}, 1, [2]float64{}, o)
		}})
}

// Affine turns by degrees clockwise, moves by pixels (x, y), scales, and shears by degrees (x, y).
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.affine.html
func Affine[T Input](x T, angle float64, translate [2]float64, scale float64, shear [2]float64, opts ...WarpOptions) T {
	o := firstOf(opts)
	if !(scale > 0) {
		tensor.Fail(tensor.ErrValue, "affine: scale should be positive, got %v", scale)
	}
	h, w := GetSize(x)
	mode := o.Interpolation.or(Nearest)
	warp := func(mode InterpolationMode, fill []float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			cx, cy := 0.0, 0.0
			if len(o.Center) == 2 {
				cx, cy = o.Center[0]-float64(w)*0.5, o.Center[1]-float64(h)*0.5
			}
			m := affineMatrix(cx, cy, angle, translate, scale, shear, true)
			return sampleGrid(x, m.grid(w, h, w, h, floatOf(x)), mode, fill)
		}
	}
	return apply(x, kernels{
		tensor: warp(mode, o.Fill), mask: warp(Nearest, nil),
		pil: func(im *pil.Image) *pil.Image {
			cx, cy := o.center(h, w)
			m := affineMatrix(cx, cy, angle, translate, scale, shear, true)
			return im.Affine(w, h, m, mode.pil(), o.bytes()...)
		},
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return warpBoxes(b, angle, translate, scale, shear, o)
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			return warpPoints(p, angle, translate, scale, shear, o)
		}})
}

// warped maps points (N, 2) by the matrix, and gives the canvas and what the result's origin is moved by.
func warped(points *tensor.Tensor, canvas [2]int, angle float64, translate [2]float64, scale float64, shear [2]float64,
	o WarpOptions) (*tensor.Tensor, [2]int) {
	h, w := canvas[0], canvas[1]
	cx, cy := o.center(h, w)
	m := affineMatrix(cx, cy, angle, translate, scale, shear, false)
	dt := points.DType()
	theta := tensor.FromSlice([]float64{m[0], m[3], m[1], m[4], m[2], m[5]}, 3, 2).To(dt)
	ones := points.NewOnes([]int{points.Size(0), 1})
	out := catAt([]*tensor.Tensor{points, ones}, 1).MatMul(theta)
	if !o.Expand {
		return out, canvas
	}
	corners := tensor.FromSlice([]float64{0, 0, 1, 0, float64(h), 1, float64(w), float64(h), 1, float64(w), 0, 1}, 4,
		3).
		To(dt).MatMul(theta)
	low := corners.Amin(tensor.AminOptions{Dim: []int{0}, KeepDim: true})
	im := affineMatrix(0, 0, angle, [2]float64{}, 1, shear, true)
	ow, oh := im.expandedSize(w, h)
	return out.Sub(low), [2]int{oh, ow}
}

// warpBoxes gives the boxes around the corners of the warped ones.
func warpBoxes(b *tvtensors.BoundingBoxes, angle float64, translate [2]float64, scale float64, shear [2]float64,
	o WarpOptions) *tvtensors.BoundingBoxes {
	return aroundCorners(b, func(points *tensor.Tensor) (*tensor.Tensor, [2]int) {
		return warped(points, b.CanvasSize, angle, translate, scale, shear, o)
	})
}

// aroundCorners maps the corners of boxes, and gives the boxes around them.
func aroundCorners(b *tvtensors.BoundingBoxes,
	f func(points *tensor.Tensor) (*tensor.Tensor, [2]int)) *tvtensors.BoundingBoxes {
	if b.Format != ops.XYXY && b.Format != ops.XYWH && b.Format != ops.CXCYWH {
		tensor.Fail(tensor.ErrNotImpl, "transforms of boxes in format %s", b.Format)
	}
	t := b.To(floatOf(b.Tensor))
	c := ops.BoxConvert(t, b.Format, ops.XYXY).Reshape([]int{-1, 4}).Unbind(tensor.UnbindOptions{Dim: -1})
	corners := torch.Stack([]*tensor.Tensor{c[0], c[1], c[2], c[1], c[2], c[3], c[0], c[3]},
		torch.StackOptions{Dim: -1})
	points, canvas := f(corners.Reshape([]int{-1, 2}))
	points = points.Reshape([]int{-1, 4, 2})
	lo, hi := points.Amin(tensor.AminOptions{Dim: []int{1}}), points.Amax(tensor.AmaxOptions{Dim: []int{1}})
	out := b.With(catAt([]*tensor.Tensor{lo, hi}, 1), canvas)
	out.Format = ops.XYXY
	out = ClampBoundingBoxes(out)
	t = ops.BoxConvert(out.Tensor, ops.XYXY, b.Format).Reshape(b.Shape())
	return b.With(t.To(b.DType()), canvas)
}

func warpPoints(p *tvtensors.KeyPoints, angle float64, translate [2]float64, scale float64, shear [2]float64,
	o WarpOptions) *tvtensors.KeyPoints {
	t, canvas := warped(p.To(floatOf(p.Tensor)).Reshape([]int{-1, 2}), p.CanvasSize, angle, translate, scale, shear, o)
	return ClampKeyPoints(tvtensors.NewKeyPoints(t.To(p.DType()).Reshape(p.Shape()), canvas))
}

// PerspectiveCoefficients find the perspective transform that maps each end point to its start point: c in
// x' = (c0·x + c1·y + c2) / (c6·x + c7·y + 1), y' = (c3·x + c4·y + c5) / (c6·x + c7·y + 1). Where points coincide, as
// they can in images of few pixels, no transform does so, and the least squares decide, as in torchvision.
func PerspectiveCoefficients(start, end [4][2]float64) (c [8]float64) {
	a, b := make([]float64, 0, 64), make([]float64, 0, 8)
	for i, p := range end {
		q := start[i]
		a = append(a, p[0], p[1], 1, 0, 0, 0, -q[0]*p[0], -q[0]*p[1], 0, 0, 0, p[0], p[1], 1, -q[1]*p[0], -q[1]*p[1])
		b = append(b, q[0], q[1])
	}
	m, y := tensor.FromSlice(a, 8, 8), tensor.FromSlice(b, 8)
	x, singular := linalg.SolveEx(m, y)
	if singular.Item() != 0 {
		x = linalg.Pinv(m).MatMul(y)
	}
	for i, v := range tensor.Data[float64](x) {
		c[i] = float64(float32(v)) // torchvision rounds to float32
	}
	return c
}

// Perspective maps the corner points start of the image to the points end.
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.perspective.html
func Perspective[T Input](x T, start, end [4][2]float64, opts ...WarpOptions) T {
	o := firstOf(opts)
	c := PerspectiveCoefficients(start, end)
	h, w := GetSize(x)
	mode := o.Interpolation.or(Bilinear)
	warp := func(mode InterpolationMode, fill []float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			dt := floatOf(x)
			top := tensor.FromSlice([]float64{c[0], c[3], c[1], c[4], c[2], c[5]}, 3, 2).To(dt).
				Div(tensor.FromSlice([]float64{0.5 * float64(w), 0.5 * float64(h)}).To(dt))
			bottom := tensor.FromSlice([]float64{c[6], c[6], c[7], c[7], 1, 1}, 3, 2).To(dt)
			base := baseGrid(0.5, 0.5, w, h, dt)
			grid := product(base, top).Div(product(base, bottom)).SubScalar(1).View([]int{1, h, w, 2})
			return sampleGrid(x, grid, mode, fill)
		}
	}
	back := func(points *tensor.Tensor) *tensor.Tensor { // the transform of points is the way back
		i := PerspectiveCoefficients(end, start)
		dt := points.DType()
		p := catAt([]*tensor.Tensor{points, points.NewOnes([]int{points.Size(0), 1})}, 1)
		top := tensor.FromSlice([]float64{i[0], i[3], i[1], i[4], i[2], i[5]}, 3, 2).To(dt)
		bottom := tensor.FromSlice([]float64{i[6], i[7], 1}, 3, 1).To(dt)
		return p.MatMul(top).Div(p.MatMul(bottom))
	}
	return apply(x, kernels{
		tensor: warp(mode, o.Fill), mask: warp(Nearest, nil),
		pil: func(im *pil.Image) *pil.Image { return im.Perspective(w, h, c, mode.pil(), o.bytes()...) },
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return aroundCorners(b, func(p *tensor.Tensor) (*tensor.Tensor, [2]int) { return back(p), b.CanvasSize })
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			t := back(p.To(floatOf(p.Tensor)).Reshape([]int{-1, 2}))
			return ClampKeyPoints(tvtensors.NewKeyPoints(t.To(p.DType()).Reshape(p.Shape()), p.CanvasSize))
		}})
}

// Elastic reads each pixel at a place that displacement (1, H, W, 2) moves, x before y, in units of half the image.
// https://pytorch.org/vision/stable/generated/torchvision.transforms.v2.functional.elastic.html
func Elastic[T Input](x T, displacement *tensor.Tensor, opts ...WarpOptions) T {
	o := firstOf(opts)
	h, w := GetSize(x)
	if want := []int{1, h, w, 2}; !tensor.SameShape(displacement.Shape(), want) {
		tensor.Fail(tensor.ErrShape, "Argument displacement shape should be %s, but given %s", tensor.ShapeString(want),
			tensor.ShapeString(displacement.Shape()))
	}
	identity := func(dt tensor.DType) *tensor.Tensor {
		axis := func(n int) *tensor.Tensor {
			edge := float64(n-1) / float64(n)
			return torch.Linspace(-edge, edge, n, torch.LinspaceOptions{DType: dt})
		}
		g := torch.MeshgridIndexing([]*tensor.Tensor{axis(h), axis(w)}, "ij")
		return stackLast([]*tensor.Tensor{g[1], g[0]}).Unsqueeze(0)
	}
	mode := o.Interpolation.or(Bilinear)
	warp := func(mode InterpolationMode, fill []float64) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			dt := floatOf(x)
			return sampleGrid(x, identity(dt).Add(displacement.To(dt)), mode, fill)
		}
	}
	move := func(points *tensor.Tensor) *tensor.Tensor { // approximately: each point by the displacement at its place
		at := points.Floor().Long()
		clip := func(t *tensor.Tensor, n int) *tensor.Tensor {
			return t.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: n - 1})
		}
		ix, iy := clip(at.Select(1, 0), w), clip(at.Select(1, 1), h)
		grid := identity(points.DType()).Sub(displacement.To(points.DType())).Select(0, 0)
		g := torch.IndexTensors(grid, []*tensor.Tensor{iy, ix})
		size := tensor.FromSlice([]float64{float64(w), float64(h)}).To(points.DType())
		return g.AddScalar(1).Mul(size.MulScalar(0.5)).SubScalar(0.5)
	}
	return apply(x, kernels{tensor: warp(mode, o.Fill), mask: warp(Nearest, nil),
		boxes: func(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
			return aroundCorners(b, func(p *tensor.Tensor) (*tensor.Tensor, [2]int) { return move(p), b.CanvasSize })
		},
		points: func(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
			t := move(p.To(floatOf(p.Tensor)).Reshape([]int{-1, 2}))
			return ClampKeyPoints(tvtensors.NewKeyPoints(t.To(p.DType()).Reshape(p.Shape()), p.CanvasSize))
		}})
}

// ElasticTransform is Elastic under its older name.
func ElasticTransform[T Input](x T, displacement *tensor.Tensor, opts ...WarpOptions) T {
	return Elastic(x, displacement, opts...)
}

// ClampBoundingBoxes cuts boxes at the edges of their canvas.
func ClampBoundingBoxes(b *tvtensors.BoundingBoxes) *tvtensors.BoundingBoxes {
	if b.Clamping == tvtensors.ClampNone || b.Format != ops.XYXY && b.Format != ops.XYWH && b.Format != ops.CXCYWH {
		return b
	}
	t := ops.ClipBoxesToImage(ops.BoxConvert(b.Tensor, b.Format, ops.XYXY), b.CanvasSize)
	return b.With(ops.BoxConvert(t, ops.XYXY, b.Format), b.CanvasSize)
}

// ClampKeyPoints moves points outside of their canvas to its edge.
func ClampKeyPoints(p *tvtensors.KeyPoints) *tvtensors.KeyPoints {
	c := p.Unbind(tensor.UnbindOptions{Dim: -1})
	for i := range c {
		c[i] = c[i].ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: p.CanvasSize[1-i] - 1})
	}
	return tvtensors.NewKeyPoints(stackLast(c), p.CanvasSize)
}

// ConvertBoundingBoxFormat converts boxes to another format.
func ConvertBoundingBoxFormat(b *tvtensors.BoundingBoxes, format ops.BoxFormat) *tvtensors.BoundingBoxes {
	out := b.With(ops.BoxConvert(b.Tensor, b.Format, format), b.CanvasSize)
	out.Format = format
	return out
}
