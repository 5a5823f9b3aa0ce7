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

// corner is a sample of bilinear interpolation: up to four positions in a plane and their weights.
type corner[E float] struct {
	at [4]int
	w  [4]E
}

// bilinear finds the corners around (y, x); ok is false outside of the image.
func bilinear[E float](h, w int, y, x E) (c corner[E], ok bool) {
	if !(y >= -1 && y <= E(h) && x >= -1 && x <= E(w)) || h == 0 || w == 0 {
		return c, false
	}
	y, x = max(y, 0), max(x, 0)
	y0, x0 := int(y), int(x)
	y1, x1 := y0+1, x0+1
	if y0 >= h-1 {
		y0, y1, y = h-1, h-1, E(h-1)
	}
	if x0 >= w-1 {
		x0, x1, x = w-1, w-1, E(w-1)
	}
	ly, lx := y-E(y0), x-E(x0)
	hy, hx := 1-ly, 1-lx
	c.at = [4]int{y0*w + x0, y0*w + x1, y1*w + x0, y1*w + x1}
	c.w = [4]E{hy * hx, hy * lx, ly * hx, ly * lx}
	return c, true
}

// align is one region of roi_align or ps_roi_align.
type align[E float] struct {
	y, x         E // where the region begins
	binH, binW   E
	gridH, gridW int
	count        E
}

func newAlign[E float](r *region, roi []E) align[E] {
	scale, offset := E(r.scale), E(0)
	if r.aligned || r.ps {
		offset = 0.5
	}
	a := align[E]{x: roi[1]*scale - offset, y: roi[2]*scale - offset}
	w, h := roi[3]*scale-offset-a.x, roi[4]*scale-offset-a.y
	if !r.aligned && !r.ps {
		w, h = max(w, 1), max(h, 1)
	}
	a.binH, a.binW = h/E(r.ph), w/E(r.pw)
	a.gridH, a.gridW = r.sampling, r.sampling
	if r.sampling <= 0 {
		a.gridH, a.gridW = cells(a.binH), cells(a.binW)
	}
	a.count = E(a.gridH) * E(a.gridW)
	if !r.ps {
		a.count = max(a.count, 1)
	}
	return a
}

// cells is the number of samples for a cell of this size; not a number and infinity give none.
func cells[E float](bin E) int {
	f := math.Ceil(float64(bin))
	if !(f >= 0 && f <= math.MaxInt32) {
		return 0
	}
	return int(f)
}

// each calls f with the corners of the samples of cell (py, px). Of a region that is larger than the image only the
// samples in the image are looked at.
func (a *align[E]) each(r *region, py, px int, f func(c *corner[E])) {
	top, left := a.y+E(py)*a.binH, a.x+E(px)*a.binW
	y0, y1 := inImage(top, a.binH, a.gridH, r.h)
	x0, x1 := inImage(left, a.binW, a.gridW, r.w)
	for iy := y0; iy < y1; iy++ {
		y := top + (E(iy)+.5)*a.binH/E(a.gridH)
		for ix := x0; ix < x1; ix++ {
			if c, ok := bilinear(r.h, r.w, y, left+(E(ix)+.5)*a.binW/E(a.gridW)); ok {
				f(&c)
			}
		}
	}
}

// inImage are the first and the last but one of grid samples from begin on that may lie in an image of n elements.
func inImage[E float](begin, bin E, grid, n int) (lo, hi int) {
	step := float64(bin) / float64(grid)
	if grid <= 64 || !(step > 0) {
		return 0, min(grid, 1<<16)
	}
	first, last := (-2-float64(begin))/step-1, (float64(n)+1-float64(begin))/step+1
	lo = int(min(max(first, 0), float64(grid)))
	hi = int(min(max(last, 0), float64(grid)))
	return lo, max(lo, hi)
}

// alignForward computes roi_align and ps_roi_align.
func alignForward[E float](c *Ctx, r *region, in, rois, out []E, mapping []int32) {
	img, plane, oc := images(c, r, rois), r.h*r.w, r.outChannels()
	par.For(r.k, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			a := newAlign(r, rois[5*k:][:5])
			base := in[img[k]*r.channels*plane:][:r.channels*plane]
			dst := out[k*oc*r.ph*r.pw:][:oc*r.ph*r.pw]
			var corners []corner[E]
			for y := range r.ph {
				for x := range r.pw {
					corners = corners[:0]
					a.each(r, y, x, func(c *corner[E]) { corners = append(corners, *c) })
					for ch := range oc {
						from := r.inChannel(ch, y, x)
						p, sum := base[from*plane:][:plane], E(0)
						for i := range corners {
							q := &corners[i]
							sum += q.w[0]*p[q.at[0]] + q.w[1]*p[q.at[1]] + q.w[2]*p[q.at[2]] + q.w[3]*p[q.at[3]]
						}
						o := (ch*r.ph+y)*r.pw + x
						dst[o] = sum / a.count
						if mapping != nil {
							mapping[k*len(dst)+o] = int32(from)
						}
					}
				}
			}
		}
	})
}

// alignBackward adds the gradients to the input's. Each channel is written by one goroutine, in the order of the
// regions.
func alignBackward[E float](c *Ctx, r *region, grad, rois, out []E) {
	img, plane, oc := images(c, r, rois), r.h*r.w, r.outChannels()
	clear(out)
	par.For(oc, 1, func(lo, hi int) {
		for k := range r.k {
			a := newAlign(r, rois[5*k:][:5])
			base := out[img[k]*r.channels*plane:][:r.channels*plane]
			for y := range r.ph {
				for x := range r.pw {
					a.each(r, y, x, func(q *corner[E]) {
						for ch := lo; ch < hi; ch++ {
							p := base[r.inChannel(ch, y, x)*plane:][:plane]
							g := grad[((k*oc+ch)*r.ph+y)*r.pw+x] / a.count
							for i, at := range q.at {
								p[at] += g * q.w[i]
							}
						}
					})
				}
			}
		}
	})
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

// span is the pixels of cell i of a dimension of n pixels.
func span[E float](begin, bin E, i, n int, ps bool) (lo, hi int) {
	a, b := math.Floor(float64(E(i)*bin)), math.Ceil(float64(E(i+1)*bin))
	a, b = a+float64(begin), b+float64(begin)
	limit := float64(n)
	if ps {
		a, b = math.Floor(float64(E(i)*bin+begin)), math.Ceil(float64(E(i+1)*bin+begin))
		limit-- // as torchvision does
	}
	if a != a || b != b {
		return 0, 0
	}
	return int(min(max(a, 0), limit)), int(min(max(b, 0), limit))
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
				y0, y1 := span(a.y, a.binH, y, r.h, true)
				for x := range r.pw {
					x0, x1 := span(a.x, a.binW, x, r.w, true)
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
