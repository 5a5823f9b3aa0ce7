package pil

import "math"

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

// precision is the number of fractional bits of weights.
const precision = 32 - 8 - 2

// taps are the weights of one result: of the elements from first on.
type taps struct {
	first   int
	weights []int32
}

// weigh computes the weights for resizing n elements to m: the filter is as wide as a result where the image shrinks.
func weigh(n, m int, filter Resampling) []taps {
	f := filters[filter]
	scale := float64(n) / float64(m)
	wide := max(scale, 1)
	support := f.radius * wide
	out := make([]taps, m)
	for i := range out {
		centre := (float64(i) + 0.5) * scale
		lo, hi := max(int(centre-support+0.5), 0), min(int(centre+support+0.5), n)
		w, sum := make([]float64, hi-lo), 0.0
		for j := range w {
			w[j] = f.f((float64(j+lo) - centre + 0.5) * (1 / wide))
			sum += w[j]
		}
		t := taps{lo, make([]int32, len(w))}
		for j := range w {
			v := w[j]
			if sum != 0 {
				v /= sum
			}
			t.weights[j] = int32(math.Trunc(v*(1<<precision) + math.Copysign(0.5, v)))
		}
		out[i] = t
	}
	return out
}

func clip(v int32) uint8 { return uint8(min(max(v>>precision, 0), 255)) }

// Resize scales the image to a size: by the filter in one direction after the other, rounding to bytes between, as
// Pillow does. Images with an alpha band are premultiplied meanwhile.
func (im *Image) Resize(width, height int, filter Resampling) *Image {
	if width == im.Width && height == im.Height {
		return im.Clone()
	}
	if width <= 0 || height <= 0 || im.Width == 0 || im.Height == 0 {
		return im.like(max(width, 0), max(height, 0))
	}
	if filter == Nearest {
		return im.resizeNearest(width, height)
	}
	if im.Mode == "RGBA" || im.Mode == "LA" {
		return im.premultiply().resize(width, height, filter).unpremultiply()
	}
	return im.resize(width, height, filter)
}

func (im *Image) resize(width, height int, filter Resampling) *Image {
	n := im.Bands()
	if width != im.Width {
		out := im.like(width, im.Height)
		ts := weigh(im.Width, width, filter)
		for y := range im.Height {
			row, to := im.Pix[y*im.Width*n:][:im.Width*n], out.Pix[y*width*n:][:width*n]
			if n == 3 {
				across3(to, row, ts)
				continue
			}
			for x, t := range ts {
				for b := range n {
					sum := int32(1 << (precision - 1))
					for k, w := range t.weights {
						sum += int32(row[(t.first+k)*n+b]) * w
					}
					to[x*n+b] = clip(sum)
				}
			}
		}
		im = out
	}
	if height != im.Height {
		out := im.like(width, height)
		line := width * n
		sums := make([]int32, line)
		for y, t := range weigh(im.Height, height, filter) {
			for x := range sums {
				sums[x] = 1 << (precision - 1)
			}
			for k, w := range t.weights { // row by row, which is faster than column by column
				row := im.Pix[(t.first+k)*line:][:len(sums)]
				for x, v := range row {
					sums[x] += int32(v) * w
				}
			}
			to := out.Pix[y*line:][:len(sums)]
			for x, sum := range sums {
				to[x] = clip(sum)
			}
		}
		im = out
	}
	return im
}

// across3 resizes a row of pixels of three bands.
func across3(to, row []uint8, ts []taps) {
	for x, t := range ts {
		r, g, b := int32(1<<(precision-1)), int32(1<<(precision-1)), int32(1<<(precision-1))
		p := row[3*t.first:][:3*len(t.weights)]
		for _, w := range t.weights {
			r += int32(p[0]) * w
			g += int32(p[1]) * w
			b += int32(p[2]) * w
			p = p[3:]
		}
		o := to[3*x:][:3:3]
		o[0], o[1], o[2] = clip(r), clip(g), clip(b)
	}
}

// nearestIndex are the elements that results read: the places are added up in float64, as Pillow does.
func nearestIndex(n, m int, from, step float64) []int {
	at, out := from+step*0.5, make([]int, m)
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
