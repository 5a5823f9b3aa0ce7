package pil

import (
	"math"
	"strconv"
)

// Affine transforms the image to a size: pixel (x, y) of the result is read at (m0·x + m1·y + m2, m3·x + m4·y + m5),
// by the filter Nearest, Bilinear or Bicubic; what lies outside has the color fill (default black).
func (im *Image) Affine(width, height int, m [6]float64, filter Resampling, fill ...uint8) *Image {
	out := New(im.Mode, width, height, fill...)
	if filter != Nearest {
		return im.generic(out, filter, func(x, y float64) (float64, float64) {
			return m[0]*x + m[1]*y + m[2], m[3]*x + m[4]*y + m[5]
		})
	}
	if m[1] == 0 && m[3] == 0 {
		xs, ys := nearestIndex(im.Width, width, m[2], m[0]), nearestIndex(im.Height, height, m[5], m[4])
		for y := range height {
			for x := range width {
				if xs[x] >= 0 && ys[y] >= 0 {
					copy(out.at(x, y), im.at(xs[x], ys[y]))
				}
			}
		}
		return out
	}
	fix := func(v float64) int64 { return int64(math.Floor(v*65536 + 0.5)) } // as Pillow, in 1/65536 of a pixel
	a0, a1, a3, a4 := fix(m[0]), fix(m[1]), fix(m[3]), fix(m[4])
	a2, a5 := fix(m[2]+m[0]*0.5+m[1]*0.5), fix(m[5]+m[3]*0.5+m[4]*0.5)
	for y := range height {
		xx, yy := a2, a5
		for x := range width {
			sx, sy := xx>>16, yy>>16
			if sx >= 0 && sx < int64(im.Width) && sy >= 0 && sy < int64(im.Height) {
				copy(out.at(x, y), im.at(int(sx), int(sy)))
			}
			xx, yy = xx+a0, yy+a3
		}
		a2, a5 = a2+a1, a5+a4
	}
	return out
}

// Perspective transforms the image: pixel (x, y) is read at ((c0·x + c1·y + c2) / d, (c3·x + c4·y + c5) / d) with
// d = c6·x + c7·y + 1.
func (im *Image) Perspective(width, height int, c [8]float64, filter Resampling, fill ...uint8) *Image {
	return im.generic(New(im.Mode, width, height, fill...), filter, func(x, y float64) (float64, float64) {
		d := c[6]*x + c[7]*y + 1
		return (c[0]*x + c[1]*y + c[2]) / d, (c[3]*x + c[4]*y + c[5]) / d
	})
}

// generic writes the pixels whose place, found by at from the pixel's centre, lies in the image. Images with an alpha
// band are premultiplied meanwhile, which out, with its color, is taken to be.
func (im *Image) generic(out *Image, filter Resampling, at func(x, y float64) (float64, float64)) *Image {
	n := im.Bands()
	if filter != Nearest && n%2 == 0 {
		im = im.premultiply()
		defer out.unpremultiply()
	}
	for y := range out.Height {
		for x := range out.Width {
			sx, sy := at(float64(x)+0.5, float64(y)+0.5)
			if !(sx >= 0 && sx < float64(im.Width) && sy >= 0 && sy < float64(im.Height)) {
				continue
			}
			p := out.at(x, y)
			switch filter {
			case Nearest:
				copy(p, im.at(int(sx), int(sy)))
			case Bicubic:
				for b := range n {
					p[b] = im.bicubic(sx-0.5, sy-0.5, b)
				}
			default:
				for b := range n {
					p[b] = im.bilinear(sx-0.5, sy-0.5, b)
				}
			}
		}
	}
	return out
}

func (im *Image) bilinear(sx, sy float64, band int) uint8 {
	x, y := int(math.Floor(sx)), int(math.Floor(sy))
	dx, dy := sx-float64(x), sy-float64(y)
	line := func(y int) float64 {
		a := float64(im.at(min(max(x, 0), im.Width-1), y)[band])
		b := float64(im.at(min(max(x+1, 0), im.Width-1), y)[band])
		return a + (b-a)*dx
	}
	v := line(min(max(y, 0), im.Height-1))
	if y+1 >= 0 && y+1 < im.Height {
		v += (line(y+1) - v) * dy
	}
	return uint8(v)
}

func cubic(v1, v2, v3, v4, d float64) float64 {
	p1, p2, p3, p4 := v2, -v1+v3, 2*(v1-v2)+v3-v4, -v1+v2-v3+v4
	return p1 + d*(p2+d*(p3+d*p4))
}

func (im *Image) bicubic(sx, sy float64, band int) uint8 {
	x, y := int(math.Floor(sx)), int(math.Floor(sy))
	dx, dy := sx-float64(x), sy-float64(y)
	line := func(y int) float64 {
		at := func(x int) float64 { return float64(im.at(min(max(x, 0), im.Width-1), y)[band]) }
		return cubic(at(x-1), at(x), at(x+1), at(x+2), dx)
	}
	v1 := line(min(max(y-1, 0), im.Height-1))
	v2, v3, v4 := v1, 0.0, 0.0
	inside := func(y int) bool { return y >= 0 && y < im.Height }
	if inside(y) {
		v2 = line(y)
	}
	if v3 = v2; inside(y + 1) {
		v3 = line(y + 1)
	}
	if v4 = v3; inside(y + 2) {
		v4 = line(y + 2)
	}
	return uint8(min(max(cubic(v1, v2, v3, v4, dy), 0), 255))
}

// round15 rounds to 15 digits behind the point.
func round15(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 15, 64), 64) // cannot fail
	return r
}

// RotateOptions are the options of Rotate.
type RotateOptions struct {
	Filter Resampling
	Expand bool        // enlarge the result, so that it holds all of the image
	Center *[2]float64 // default the image's
	Fill   []uint8     // default black
}

// Rotate turns the image by degrees counterclockwise.
func (im *Image) Rotate(angle float64, o RotateOptions) *Image {
	angle = math.Mod(angle, 360)
	if angle < 0 {
		angle += 360
	}
	if o.Center == nil {
		switch {
		case angle == 0 || angle == 180:
			return im.Rotate90(int(angle) / 90)
		case (angle == 90 || angle == 270) && (o.Expand || im.Width == im.Height):
			return im.Rotate90(int(angle) / 90)
		}
	}
	w, h := float64(im.Width), float64(im.Height)
	cx, cy := w/2, h/2
	if o.Center != nil {
		cx, cy = o.Center[0], o.Center[1]
	}
	rad := -angle * (math.Pi / 180)
	m := [6]float64{round15(math.Cos(rad)), round15(math.Sin(rad)), 0, round15(-math.Sin(rad)), round15(math.Cos(rad)),
		0}
	apply := func(x, y float64) (float64, float64) {
		return m[0]*x + m[1]*y + m[2], m[3]*x + m[4]*y + m[5]
	}
	m[2], m[5] = apply(-cx, -cy)
	m[2] += cx
	m[5] += cy
	width, height := im.Width, im.Height
	if o.Expand {
		x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
		for _, p := range [][2]float64{{0, 0}, {w, 0}, {w, h}, {0, h}} {
			x, y := apply(p[0], p[1])
			x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
		}
		width, height = int(math.Ceil(x1)-math.Floor(x0)), int(math.Ceil(y1)-math.Floor(y0))
		m[2], m[5] = apply(-(float64(width)-w)/2, -(float64(height)-h)/2)
	}
	return im.Affine(width, height, m, o.Filter, o.Fill...)
}
