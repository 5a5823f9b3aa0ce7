package vision

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// line is what a cell reads in one dimension: pixels and their weights. The samples of a cell are a grid, and the
// weight of a pixel in bilinear interpolation is a product of one for each dimension, so that a cell's sum over its
// samples has as weights the products of those of two lines.
type line[E float] struct {
	at []int
	w  []E
}

// add adds a weight to that of a pixel.
func (l *line[E]) add(at int, w E) {
	for i := len(l.at) - 1; i >= max(len(l.at)-2, 0); i-- { // samples go forwards
		if l.at[i] == at {
			l.w[i] += w
			return
		}
	}
	l.at, l.w = append(l.at, at), append(l.w, w)
}

// read makes the line of a cell from begin on, of a length and with so many samples, in a dimension of n pixels. Of a
// cell that is larger than the image only the samples in the image are looked at.
func (l *line[E]) read(begin, bin E, grid, n int) {
	l.at, l.w = l.at[:0], l.w[:0]
	lo, hi := inImage(begin, bin, grid, n)
	for i := lo; i < hi; i++ {
		y := begin + (E(i)+.5)*bin/E(grid)
		if !(y >= -1 && y <= E(n)) || n == 0 {
			continue
		}
		y = max(y, 0)
		y0 := int(y)
		y1 := y0 + 1
		if y0 >= n-1 {
			y0, y1, y = n-1, n-1, E(n-1)
		}
		part := y - E(y0)
		l.add(y0, 1-part)
		l.add(y1, part)
	}
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

// taps are the pixels that the cells of a region read, by their places in the plane, and their weights; cell i has
// those from first[i] up to first[i+1].
type taps[E float] struct {
	first      []int
	at         []int64
	w          []E
	rows, cols []line[E]
}

// read finds the taps of a region.
func (t *taps[E]) read(r *region, a *align[E]) {
	t.rows, t.cols = slices.Grow(t.rows[:0], r.ph)[:r.ph], slices.Grow(t.cols[:0], r.pw)[:r.pw]
	for i := range t.rows {
		t.rows[i].read(a.y+E(i)*a.binH, a.binH, a.gridH, r.h)
	}
	for i := range t.cols {
		t.cols[i].read(a.x+E(i)*a.binW, a.binW, a.gridW, r.w)
	}
	t.first, t.at, t.w = append(t.first[:0], 0), t.at[:0], t.w[:0]
	for i := range t.rows {
		for j := range t.cols {
			y, x := &t.rows[i], &t.cols[j]
			for k, row := range y.at {
				for l, col := range x.at {
					t.at, t.w = append(t.at, int64(row*r.w+col)), append(t.w, y.w[k]*x.w[l])
				}
			}
			t.first = append(t.first, len(t.at))
		}
	}
}

// cell is the taps of a cell.
func (t *taps[E]) cell(i int) (at []int64, w []E) {
	return t.at[t.first[i]:t.first[i+1]], t.w[t.first[i]:t.first[i+1]]
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
	img, plane, oc, cells := images(c, r, rois), r.h*r.w, r.outChannels(), r.ph*r.pw
	if len(out) == 0 {
		return
	}
	if x, ok := any(in).([]float32); ok && !r.ps && r.k*cells*8 > r.n*plane {
		alignPixels(r, img, x, any(rois).([]float32), any(out).([]float32))
		return
	}
	par.For(r.k, 1, func(lo, hi int) {
		var t taps[E]
		for k := lo; k < hi; k++ {
			a := newAlign(r, rois[5*k:][:5])
			t.read(r, &a)
			base := in[img[k]*r.channels*plane:][:r.channels*plane]
			dst := out[k*oc*cells:][:oc*cells]
			for i := range cells {
				at, w := t.cell(i)
				for ch := range oc {
					from := r.inChannel(ch, i/r.pw, i%r.pw)
					p, sum := base[from*plane:][:plane], E(0)
					for j, q := range at {
						sum += w[j] * p[q]
					}
					dst[ch*cells+i] = sum / a.count
					if mapping != nil {
						mapping[k*len(dst)+ch*cells+i] = int32(from)
					}
				}
			}
		}
	})
}

// alignPixels is alignForward for many regions: the images are turned, so that the channels of a pixel lie side by side
// and are added together.
func alignPixels(r *region, img []int, in, rois, out []float32) {
	plane, cells := r.h*r.w, r.ph*r.pw
	size := r.channels * plane
	b := mem.Alloc(4 * r.n * size)
	defer mem.Free(b, 4*r.n*size)
	pixels := unsafe.Slice((*float32)(b), r.n*size)
	const rows = 64 // channels that one goroutine turns
	par.For(r.n*((r.channels+rows-1)/rows), 1, func(lo, hi int) {
		parts := (r.channels + rows - 1) / rows
		for k := lo; k < hi; k++ {
			i, ch := k/parts, k%parts*rows
			vec.TransposeF32(pixels[i*size+ch:(i+1)*size], r.channels, in[i*size+ch*plane:], plane,
				min(rows, r.channels-ch), plane)
		}
	})
	par.For(r.k, 1, func(lo, hi int) {
		var t taps[float32]
		sums := make([]float32, cells*r.channels)
		for k := lo; k < hi; k++ {
			a := newAlign(r, rois[5*k:][:5])
			t.read(r, &a)
			clear(sums)
			for i := range cells {
				at, w := t.cell(i)
				vec.GatherSumF32(sums[i*r.channels:][:r.channels], pixels[img[k]*size:][:size], at, w)
			}
			vec.MulScalarF32(sums, sums, 1/a.count)
			vec.TransposeF32(out[k*len(sums):][:len(sums)], cells, sums, r.channels, cells, r.channels)
		}
	})
}

// alignBackward adds the gradients to the input's. Each channel is written by one goroutine, in the order of the
// regions.
func alignBackward[E float](c *Ctx, r *region, grad, rois, out []E) {
	img, plane, oc, cells := images(c, r, rois), r.h*r.w, r.outChannels(), r.ph*r.pw
	clear(out)
	if len(grad) == 0 || len(out) == 0 {
		return
	}
	par.For(oc, 1, func(lo, hi int) {
		var t taps[E]
		for k := range r.k {
			a := newAlign(r, rois[5*k:][:5])
			t.read(r, &a)
			base := out[img[k]*r.channels*plane:][:r.channels*plane]
			for i := range cells {
				at, w := t.cell(i)
				for ch := lo; ch < hi; ch++ {
					p := base[r.inChannel(ch, i/r.pw, i%r.pw)*plane:][:plane]
					g := grad[(k*oc+ch)*cells+i] / a.count
					for j, q := range at {
						p[q] += g * w[j]
					}
				}
			}
		}
	})
}
