package pil

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
)

// Resampling is a filter for Resize and Transform.
type Resampling uint8

// The filters.
const (
	Nearest Resampling = iota
	Box
	Bilinear
	Hamming
	Bicubic
	Lanczos
)

// filters are the kernels of Resize with their radii.
var filters = [...]struct {
	f      func(x float64) float64
	radius float64
}{
	Box: {func(x float64) float64 {
		if x > -0.5 && x <= 0.5 {
			return 1
		}
		return 0
	}, 0.5},
	Bilinear: {func(x float64) float64 { return max(0, 1-math.Abs(x)) }, 1},
	Hamming: {func(x float64) float64 {
		if x = math.Abs(x); x == 0 {
			return 1
		} else if x >= 1 {
			return 0
		}
		x *= math.Pi
		return math.Sin(x) / x * (0.54 + 0.46*math.Cos(x))
	}, 1},
	Bicubic: {func(x float64) float64 { // Keys, 1981, with a = -0.5
		const a = -0.5
		switch x = math.Abs(x); {
		case x < 1:
			return ((a+2)*x-(a+3))*x*x + 1
		case x < 2:
			return (((x-5)*x+8)*x - 4) * a
		}
		return 0
	}, 2},
	Lanczos: {func(x float64) float64 {
		if x >= -3 && x < 3 {
			return sinc(x) * sinc(x/3)
		}
		return 0
	}, 3},
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// taps are weights, and from where up to where elements have some.
type taps struct {
	vec.Taps
	from, to int
}

// moved is taps of what begins with the element from.
func (t *taps) moved() *taps {
	for i := range t.First {
		t.First[i] -= int32(t.from)
	}
	return t
}

// weigh computes the weights for resizing n elements to m, of which those from lo up to hi are wanted: the filter is as
// wide as a result where the image shrinks.
func weigh(n, m int, filter Resampling, lo, hi int) *taps {
	f := filters[filter]
	scale := float64(n) / float64(m)
	wide := max(scale, 1)
	mem.Check(hi-lo, 4*int(min(2*f.radius*wide+2, 1<<32))) // the weights
	support := f.radius * wide
	t := &taps{Taps: vec.Taps{First: make([]int32, hi-lo), Count: make([]int32, hi-lo)}, from: n}
	centre := func(i int) float64 { return (float64(lo+i) + 0.5) * scale }
	for i := range t.First {
		from, to := max(int(centre(i)-support+0.5), 0), min(int(centre(i)+support+0.5), n)
		t.First[i], t.Count[i] = int32(from), int32(to-from)
		t.N = max(t.N, to-from)
		t.from, t.to = min(t.from, from), max(t.to, to)
	}
	t.from = min(t.from, t.to)
	t.N += t.N & 1
	t.Weights = make([]int32, len(t.First)*t.N)
	all := make([]float64, t.N)
	for i, from := range t.First {
		w, sum := all[:t.Count[i]], 0.0
		for j := range w {
			w[j] = f.f((float64(j+int(from)) - centre(i) + 0.5) * (1 / wide))
			sum += w[j]
		}
		for j, v := range w {
			if sum != 0 {
				v /= sum
			}
			t.Weights[i*t.N+j] = int32(math.Trunc(v*(1<<vec.ResampleBits) + math.Copysign(0.5, v)))
		}
	}
	return t
}

// Resize scales the image to a size: by the filter in one direction after the other, rounding to bytes between, as
// Pillow does, in the order that Pillow chooses. Images with an alpha band are premultiplied meanwhile.
func (im *Image) Resize(width, height int, filter Resampling) *Image {
	return im.ResizeRegion(width, height, filter, 0, 0, max(width, 0), max(height, 0))
}

// ResizeRegion is the rectangle from (left, top) to (right, bottom) of what Resize gives, without the work for the
// other pixels.
func (im *Image) ResizeRegion(width, height int, filter Resampling, left, top, right, bottom int) *Image {
	if left < 0 || top < 0 || right > width || bottom > height || left > right || top > bottom {
		return im.Resize(width, height, filter).Crop(left, top, right, bottom)
	}
	if width == im.Width && height == im.Height {
		return im.Crop(left, top, right, bottom)
	}
	if width <= 0 || height <= 0 || im.Width == 0 || im.Height == 0 {
		return im.like(right-left, bottom-top)
	}
	if filter == Nearest {
		return im.resizeNearest(width, height).Crop(left, top, right, bottom)
	}
	if im.Mode == "RGBA" || im.Mode == "LA" {
		return im.premultiply().resize(width, height, filter, left, top, right, bottom).unpremultiply()
	}
	return im.resize(width, height, filter, left, top, right, bottom)
}

func (im *Image) resize(width, height int, filter Resampling, left, top, right, bottom int) *Image {
	across, down := weigh(im.Width, width, filter, left, right), weigh(im.Height, height, filter, top, bottom)
	switch {
	case height == im.Height:
		return im.resizeRows(across, top, bottom)
	case width == im.Width:
		return im.resizeColumns(down, left, right)
	case height < im.Height && im.Height-height > 2*(im.Width-width): // as Pillow 13 chooses
		return im.resizeColumns(down, across.from, across.to).resizeRows(across.moved(), 0, bottom-top)
	}
	return im.resizeRows(across, down.from, down.to).resizeColumns(down.moved(), 0, right-left)
}

// resizeRows is rows from top up to bottom, whose pixels are sums of the image's.
func (im *Image) resizeRows(t *taps, top, bottom int) *Image {
	n := im.Bands()
	out := im.like(len(t.First), bottom-top)
	t.Widen()
	for y := range out.Height {
		vec.ResampleAcrossU8(out.Pix[y*out.Width*n:], im.Pix[(top+y)*im.Width*n:], n, &t.Taps)
	}
	return out
}

// resizeColumns is columns from left up to right, whose pixels are sums of the image's.
func (im *Image) resizeColumns(t *taps, left, right int) *Image {
	n := im.Bands()
	out := im.like(right-left, len(t.First))
	line := out.Width * n
	if line == 0 {
		return out
	}
	for y, f := range t.First {
		vec.ResampleRowsU8(out.Pix[y*line:][:line], im.Pix[(int(f)*im.Width+left)*n:], im.Width*n,
			t.Weights[y*t.N:][:t.Count[y]])
	}
	return out
}

// nearestIndex are the elements that results read: the places are added up in float64, as Pillow does.
func nearestIndex(n, m int, from, step float64) []int {
	at, out := from+step*0.5, mem.Make[int](m)
	for i := range out {
		out[i] = -1
		if at >= 0 && at < float64(n) {
			out[i] = int(at)
		}
		at += step
	}
	return out
}

func (im *Image) resizeNearest(width, height int) *Image {
	xs := nearestIndex(im.Width, width, 0, float64(im.Width)/float64(width))
	ys := nearestIndex(im.Height, height, 0, float64(im.Height)/float64(height))
	out := im.like(width, height)
	for y := range height {
		for x := range width {
			if xs[x] >= 0 && ys[y] >= 0 {
				copy(out.at(x, y), im.at(xs[x], ys[y]))
			}
		}
	}
	return out
}

// mulDiv255 is a·b/255, rounded.
func mulDiv255(a, b uint8) uint8 {
	t := uint32(a)*uint32(b) + 128
	return uint8((t>>8 + t) >> 8)
}

func (im *Image) premultiply() *Image {
	out, n := im.Clone(), im.Bands()
	for i := 0; i < len(out.Pix); i += n {
		for b := range n - 1 {
			out.Pix[i+b] = mulDiv255(out.Pix[i+b], out.Pix[i+n-1])
		}
	}
	return out
}

func (im *Image) unpremultiply() *Image {
	n := im.Bands()
	for i := 0; i < len(im.Pix); i += n {
		if a := int(im.Pix[i+n-1]); a != 0 && a != 255 {
			for b := range n - 1 {
				im.Pix[i+b] = uint8(min(255*int(im.Pix[i+b])/a, 255))
			}
		}
	}
	return im
}
