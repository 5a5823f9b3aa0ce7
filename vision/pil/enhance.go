package pil

import "math"

// Blend is a + factor·(b - a) in float32, cut to bytes; both images have the same mode and size.
func Blend(a, b *Image, factor float64) *Image {
	if factor == 0 {
		return a.Clone()
	}
	if factor == 1 {
		return b.Clone()
	}
	out, f := a.Clone(), float32(factor)
	for i, v := range a.Pix {
		t := float32(v) + float32(f*float32(int(b.Pix[i])-int(v)))
		out.Pix[i] = uint8(min(max(t, 0), 255))
	}
	return out
}

// keepAlpha gives an image the alpha band of another one.
func (im *Image) keepAlpha(of *Image) *Image {
	if n := of.Bands(); n == 2 || n == 4 {
		for i := n - 1; i < len(of.Pix); i += n {
			im.Pix[i] = of.Pix[i]
		}
	}
	return im
}

// Brightness multiplies: 0 is black, 1 the image.
func (im *Image) Brightness(factor float64) *Image {
	return Blend(im.like(im.Width, im.Height).keepAlpha(im), im, factor)
}

// Contrast blends with the mean of the image as grey: 0 is grey, 1 the image.
func (im *Image) Contrast(factor float64) *Image {
	sum := 0
	for _, v := range im.Convert("L").Pix {
		sum += int(v)
	}
	mean := uint8(0)
	if n := im.Width * im.Height; n > 0 {
		mean = uint8(float64(sum)/float64(n) + 0.5)
	}
	return Blend(New("L", im.Width, im.Height, mean).Convert(im.Mode).keepAlpha(im), im, factor)
}

// Color blends with the image as grey: 0 is grey, 1 the image.
func (im *Image) Color(factor float64) *Image {
	return Blend(im.Convert("L").Convert(im.Mode).keepAlpha(im), im, factor)
}

// Sharpness blends with the smoothed image: 0 is smooth, 1 the image.
func (im *Image) Sharpness(factor float64) *Image {
	return Blend(im.Smooth().keepAlpha(im), im, factor)
}

// Smooth is the mean of the 3x3 pixels around each, which counts five times; the border stays.
func (im *Image) Smooth() *Image {
	out, n := im.Clone(), im.Bands()
	const one, five = float32(1) / 13, float32(5) / 13
	line := im.Width * n
	for y := 1; y < im.Height-1; y++ {
		for i := y*line + n; i < (y+1)*line-n; i++ {
			row := func(at int, k float32) float32 {
				return float32(im.Pix[at-n])*one + float32(im.Pix[at])*k + float32(im.Pix[at+n])*one
			}
			out.Pix[i] = uint8(min(max(row(i+line, one)+row(i, five)+row(i-line, one)+0.5, 0), 255))
		}
	}
	return out
}

// Hue adds to the hue of each pixel, in turns; the mode has to be RGB, others stay as they are.
func (im *Image) Hue(turns float64) *Image {
	switch im.Mode {
	case "L":
		return im.Clone()
	case "LA", "RGBA": // loses the alpha band, as in torchvision
		return im.Convert("RGB").Hue(turns).Convert(im.Mode)
	}
	out := im.Clone()
	shift := uint8(int32(turns * 255))
	for i := 0; i < len(out.Pix); i += 3 {
		p := out.Pix[i:][:3]
		h, s, v := toHSV(p[0], p[1], p[2])
		p[0], p[1], p[2] = fromHSV(h+shift, s, v)
	}
	return out
}

func toHSV(r, g, b uint8) (h, s, v uint8) {
	hi, lo := max(r, g, b), min(r, g, b)
	if hi == lo {
		return 0, 0, hi
	}
	span := float32(hi - lo)
	rc, gc, bc := float32(hi-r)/span, float32(hi-g)/span, float32(hi-b)/span
	var f float32
	switch hi {
	case r:
		f = bc - gc
	case g:
		f = float32(2.0 + float64(rc) - float64(bc))
	default:
		f = float32(4.0 + float64(gc) - float64(rc))
	}
	f = float32(math.Mod(float64(f)/6+1, 1))
	return uint8(min(max(int(float64(f)*255), 0), 255)), uint8(float64(span/float32(hi)) * 255), hi
}

func fromHSV(h, s, v uint8) (r, g, b uint8) {
	if s == 0 {
		return v, v, v
	}
	turn := float64(float32(h)) * 6 / 255
	i := math.Floor(turn)
	f := float64(float32(turn - float64(float32(i))))
	fs := float64(float32(float64(float32(s)) / 255))
	level := func(x float64) uint8 { return uint8(min(max(math.Round(float64(v)*x), 0), 255)) }
	p, q, t := level(1-fs), level(1-fs*f), level(1-fs*(1-f))
	switch int(i) % 6 {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}

// table makes a table of bytes.
func table(f func(v int) int) (t [256]uint8) {
	for i := range t {
		t[i] = uint8(min(max(f(i), 0), 255))
	}
	return t
}

// Gamma maps v to gain·v^gamma, where v is between 0 and 1.
func (im *Image) Gamma(gamma, gain float64) *Image {
	return im.Convert("RGB").Point(table(func(v int) int {
		return int((255 + 1 - 1e-3) * gain * math.Pow(float64(v)/255, gamma))
	})).Convert(im.Mode)
}

// Posterize keeps the highest bits of each byte.
func (im *Image) Posterize(bits int) *Image {
	mask := ^(1<<(8-bits) - 1)
	return im.Point(table(func(v int) int { return v & mask }))
}

// Solarize inverts the bytes that are not below a threshold.
func (im *Image) Solarize(threshold float64) *Image {
	return im.Point(table(func(v int) int {
		if float64(v) < threshold {
			return v
		}
		return 255 - v
	}))
}

// Invert inverts each byte.
func (im *Image) Invert() *Image { return im.Point(table(func(v int) int { return 255 - v })) }

// AutoContrast stretches each band so that it goes from 0 to 255.
func (im *Image) AutoContrast() *Image {
	var luts [][256]uint8
	for _, h := range im.Histogram() {
		lo, hi := 0, 255
		for lo < 255 && h[lo] == 0 {
			lo++
		}
		for hi > 0 && h[hi] == 0 {
			hi--
		}
		luts = append(luts, table(func(v int) int {
			if hi <= lo {
				return v
			}
			scale := 255.0 / float64(hi-lo)
			return int(float64(v)*scale + -float64(lo)*scale)
		}))
	}
	return im.Point(luts...)
}

// Equalize maps each band so that its values are spread evenly.
func (im *Image) Equalize() *Image {
	var luts [][256]uint8
	for _, h := range im.Histogram() {
		total, last := 0, 0
		for _, n := range h {
			if total += n; n > 0 {
				last = n
			}
		}
		step := (total - last) / 255
		n := step / 2
		luts = append(luts, table(func(v int) int {
			if step == 0 {
				return v
			}
			at := n / step
			n += h[v]
			return at
		}))
	}
	return im.Point(luts...)
}
