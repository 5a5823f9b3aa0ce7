package tensorboard

import (
	"image"
	"math"
)

// resample scales an image with a windowed sinc of three lobes, in the fixed-point
// arithmetic of the library that Python's writer uses: first along rows, then
// along columns, rounded to bytes and cut off after each pass. Colours are weighted
// with their opacity.
func resample(m *image.NRGBA, w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	sw, sh := m.Rect.Dx(), m.Rect.Dy()
	src := m.Pix
	clear := !m.Opaque()
	if clear {
		src = append([]uint8(nil), src...)
		for i := 0; i < len(src); i += 4 {
			a := uint32(src[i+3])
			for k := range 3 {
				p := uint32(src[i+k])*a + 128
				src[i+k] = uint8((p>>8 + p) >> 8)
			}
		}
	}
	if w != sw {
		mid := make([]uint8, 4*w*sh)
		for x, t := range lanczosTaps(sw, w) {
			for y := range sh {
				t.apply(mid[4*(y*w+x):], src[4*y*sw:], 4)
			}
		}
		src = mid
	}
	if h != sh {
		for y, t := range lanczosTaps(sh, h) {
			for x := range w {
				t.apply(out.Pix[4*(y*w+x):], src[4*x:], 4*w)
			}
		}
	} else {
		copy(out.Pix, src)
	}
	if clear {
		for i := 0; i < len(out.Pix); i += 4 {
			if a := int(out.Pix[i+3]); a != 0 {
				for k := range 3 {
					out.Pix[i+k] = uint8(min(255*int(out.Pix[i+k])/a, 255))
				}
			}
		}
	}
	return out
}

// taps is what one output pixel takes of the input: weights from pixel at on.
type taps struct {
	at      int
	weights []int
}

const tapBits = 22 // of the fraction of a weight

// apply weighs the four channels of pixels that lie step bytes apart.
func (t *taps) apply(dst, src []uint8, step int) {
	for k := range 4 {
		s := 1 << (tapBits - 1)
		for i, w := range t.weights {
			s += w * int(src[(t.at+i)*step+k])
		}
		dst[k] = uint8(min(max(s>>tapBits, 0), 255))
	}
}

func lanczosTaps(in, out int) []taps {
	sinc := func(x float64) float64 {
		if x == 0 {
			return 1
		}
		x *= math.Pi
		return math.Sin(x) / x
	}
	scale := float64(in) / float64(out)
	wide := max(scale, 1) // the filter is stretched when pixels are joined
	list := make([]taps, out)
	for i := range list {
		center := (float64(i) + 0.5) * scale
		lo := max(int(center-3*wide+0.5), 0)
		hi := min(int(center+3*wide+0.5), in)
		f, sum := make([]float64, hi-lo), 0.0
		for k := range f {
			if x := (float64(k+lo) - center + 0.5) / wide; x >= -3 && x < 3 {
				f[k] = sinc(x) * sinc(x/3)
			}
			sum += f[k]
		}
		list[i] = taps{at: lo, weights: make([]int, len(f))}
		for k, v := range f {
			list[i].weights[k] = int(math.Round(v / sum * (1 << tapBits)))
		}
	}
	return list
}
