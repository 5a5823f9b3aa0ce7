package vision

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// region is the geometry of a call: input [n, channels, h, w], k regions, results [k, outChannels, ph, pw].
type region struct {
	n, channels, h, w int
	k, ph, pw         int
	scale             float64
	sampling          int
	aligned           bool
	ps                bool // position-sensitive: each cell has channels of its own
}

func (r *region) outChannels() int {
	if r.ps {
		return r.channels / (r.ph * r.pw)
	}
	return r.channels
}

func (r *region) outShape() []int { return []int{r.k, r.outChannels(), r.ph, r.pw} }

// inChannel is the channel that output channel c reads in cell (y, x).
func (r *region) inChannel(c, y, x int) int {
	if r.ps {
		return (c*r.ph+y)*r.pw + x
	}
	return c
}

// readRegion checks the arguments from at on: input, rois, spatial_scale, pooled_height, pooled_width.
func readRegion(c *Ctx, ps bool) *region {
	x, rois := c.Shape(0), c.Shape(1)
	switch {
	case len(x) != 4:
		c.Fail(tensor.ErrShape, "%s: input should be a tensor of 4 dimensions, got %s", c.Op().Sch.Name,
			tensor.ShapeString(x))
	case len(rois) != 2 || rois[1] != 5:
		c.Fail(tensor.ErrShape, "rois must have shape as Tensor[K, 5], got %s", tensor.ShapeString(rois))
	case c.ArgDType(0) != c.ArgDType(1):
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'input' to have the same type as tensor for argument "+
			"#2 'rois'; but type %s does not equal %s", c.ArgDType(0), c.ArgDType(1))
	}
	needFloat(c, 0)
	r := &region{n: x[0], channels: x[1], h: x[2], w: x[3], k: rois[0], scale: c.Float(2), ph: c.Int(3), pw: c.Int(4),
		ps: ps}
	r.checkCells(c)
	return r
}

// checkCells refuses cells that cannot be.
func (r *region) checkCells(c *Ctx) {
	if r.ph <= 0 || r.pw <= 0 || r.ph > math.MaxInt32 || r.pw > math.MaxInt32 {
		c.Fail(tensor.ErrValue, "%s: pooled size must be positive, got %d x %d", c.Op().Sch.Name, r.ph, r.pw)
	}
	if r.ps && r.channels%(r.ph*r.pw) != 0 {
		c.Fail(tensor.ErrShape, "input channels must be a multiple of pooling height * pooling width, got %d channels "+
			"for %d x %d", r.channels, r.ph, r.pw)
	}
}

// readGradient is readRegion for a backward operator, whose arguments are grad, rois, (channels or positions at
// from-3,) and from from on spatial_scale, pooled_height, pooled_width, and at size batch_size, channels, height,
// width.
func readGradient(c *Ctx, from, size int, ps bool) *region {
	rois := c.Shape(1)
	if len(rois) != 2 || rois[1] != 5 {
		c.Fail(tensor.ErrShape, "rois must have shape as Tensor[K, 5], got %s", tensor.ShapeString(rois))
	}
	needFloat(c, 0)
	r := &region{n: c.Int(size), channels: c.Int(size + 1), h: c.Int(size + 2), w: c.Int(size + 3), k: rois[0],
		scale: c.Float(from), ph: c.Int(from + 1), pw: c.Int(from + 2), ps: ps}
	if r.n < 0 || r.channels < 0 || r.h < 0 || r.w < 0 {
		c.Fail(tensor.ErrShape, "%s: sizes must not be negative", c.Op().Sch.Name)
	}
	r.checkCells(c)
	if !tensor.SameShape(c.Shape(0), r.outShape()) {
		c.Fail(tensor.ErrShape, "%s: grad has shape %s, want %s", c.Op().Sch.Name, tensor.ShapeString(c.Shape(0)),
			tensor.ShapeString(r.outShape()))
	}
	return r
}

// images are the numbers of the images of the regions; numbers that are not there are refused.
func images[E float](c *Ctx, r *region, rois []E) []int {
	out := make([]int, r.k)
	for i := range out {
		b := rois[5*i]
		if !(b >= 0 && b < E(r.n)) {
			c.Fail(tensor.ErrIndex, "%s: region %d belongs to image %v, but there are %d images", c.Op().Sch.Name, i, b,
				r.n)
		}
		out[i] = int(b)
	}
	return out
}

// pool is one region of roi_pool or ps_roi_pool: where cell i of a dimension begins and ends.
type pool[E float] struct {
	y, x       E
	binH, binW E
}

// round is C's, away from zero at halves.
func round[E float](v E) E { return E(math.Round(float64(v))) }

func newPool[E float](r *region, roi []E) pool[E] {
	scale := E(r.scale)
	x, y, x2, y2 := round(roi[1]*scale), round(roi[2]*scale), round(roi[3]*scale), round(roi[4]*scale)
	extra := E(1)
	if r.ps {
		extra = 0
	}
	h, w := max(y2-y+extra, 1), max(x2-x+extra, 1)
	return pool[E]{y: y, x: x, binH: h / E(r.ph), binW: w / E(r.pw)}
}

// span is the pixels of cell i of a dimension, up to limit: that is its number of pixels, but in the forward pass of
// ps_roi_pool one less, as in torchvision, whose gradient there does not leave out the last row and column.
func span[E float](begin, bin E, i, limit int, ps bool) (lo, hi int) {
	a, b := math.Floor(float64(E(i)*bin)), math.Ceil(float64(E(i+1)*bin))
	a, b = a+float64(begin), b+float64(begin)
	if ps {
		a, b = math.Floor(float64(E(i)*bin+begin)), math.Ceil(float64(E(i+1)*bin+begin))
	}
	if a != a || b != b {
		return 0, 0
	}
	most := float64(limit)
	return int(min(max(a, 0), most)), int(min(max(b, 0), most))
}

// maxForward computes roi_pool: the maximum of each cell and its place in the plane, -1 for an empty cell.
func maxForward[E float](c *Ctx, r *region, in, rois, out []E, arg []int32) {
	img, plane := images(c, r, rois), r.h*r.w
	par.For(r.k, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			a := newPool(r, rois[5*k:][:5])
			for ch := range r.channels {
				p := in[(img[k]*r.channels+ch)*plane:][:plane]
				for y := range r.ph {
					y0, y1 := span(a.y, a.binH, y, r.h, false)
					for x := range r.pw {
						x0, x1 := span(a.x, a.binW, x, r.w, false)
						best, at := E(0), -1
						if y0 < y1 && x0 < x1 {
							best = E(-math.MaxFloat32)
						}
						for i := y0; i < y1; i++ {
							for j := x0; j < x1; j++ {
								if v := p[i*r.w+j]; v > best {
									best, at = v, i*r.w+j
								}
							}
						}
						o := ((k*r.channels+ch)*r.ph+y)*r.pw + x
						out[o], arg[o] = best, int32(at)
					}
				}
			}
		}
	})
}

func maxBackward[E float](c *Ctx, r *region, grad, rois []E, arg []int32, out []E) {
	img, plane, cells := images(c, r, rois), r.h*r.w, r.ph*r.pw
	clear(out)
	par.For(r.channels, 1, func(lo, hi int) {
		for k := range r.k {
			for ch := lo; ch < hi; ch++ {
				p, o := out[(img[k]*r.channels+ch)*plane:][:plane], (k*r.channels+ch)*cells
				for i := range cells {
					if at := int(arg[o+i]); at >= 0 && at < plane {
						p[at] += grad[o+i]
					}
				}
			}
		}
	})
}

// meanForward computes ps_roi_pool: the mean of each cell, 0 for an empty one.
func meanForward[E float](c *Ctx, r *region, in, rois, out []E, mapping []int32) {
	img, plane, oc := images(c, r, rois), r.h*r.w, r.outChannels()
	par.For(r.k, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			a := newPool(r, rois[5*k:][:5])
			for y := range r.ph {
				y0, y1 := span(a.y, a.binH, y, r.h-1, true)
				for x := range r.pw {
					x0, x1 := span(a.x, a.binW, x, r.w-1, true)
					for ch := range oc {
						from, sum := r.inChannel(ch, y, x), E(0)
						p := in[(img[k]*r.channels+from)*plane:][:plane]
						for i := y0; i < y1; i++ {
							for j := x0; j < x1; j++ {
								sum += p[i*r.w+j]
							}
						}
						if y1 > y0 && x1 > x0 {
							sum /= E((y1 - y0) * (x1 - x0))
						}
						o := ((k*oc+ch)*r.ph+y)*r.pw + x
						out[o], mapping[o] = sum, int32(from)
					}
				}
			}
		}
	})
}

func meanBackward[E float](c *Ctx, r *region, grad, rois, out []E) {
	img, plane, oc := images(c, r, rois), r.h*r.w, r.outChannels()
	clear(out)
	par.For(oc, 1, func(lo, hi int) {
		for k := range r.k {
			a := newPool(r, rois[5*k:][:5])
			for y := range r.ph {
				y0, y1 := span(a.y, a.binH, y, r.h, true)
				for x := range r.pw {
					x0, x1 := span(a.x, a.binW, x, r.w, true)
					if y1 <= y0 || x1 <= x0 {
						continue
					}
					for ch := lo; ch < hi; ch++ {
						p := out[(img[k]*r.channels+r.inChannel(ch, y, x))*plane:][:plane]
						g := grad[((k*oc+ch)*r.ph+y)*r.pw+x] / E((y1-y0)*(x1-x0))
						for i := y0; i < y1; i++ {
							for j := x0; j < x1; j++ {
								p[i*r.w+j] += g
							}
						}
					}
				}
			}
		}
	})
}
