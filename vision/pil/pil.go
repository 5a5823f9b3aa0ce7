// Package pil is images of bytes and what Python's Pillow does with them, to the bit: torchvision's transforms of PIL
// images resize, turn and blend by Pillow's arithmetic, which differs from that of tensors.
//
// The type to know is [Image].
package pil

import (
	"image"
	"image/color"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/tensor"
)

// Image is rows of pixels of one to four bytes.
type Image struct {
	Mode   string // "L": grey, "LA", "RGB", "RGBA"
	Width  int
	Height int
	Pix    []uint8 // rows of pixels, the bands of a pixel side by side
}

// bands are the bytes of a pixel by mode.
var bands = map[string]int{"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}

// New makes an image with one color, a number for each band or for all; black unless given. It panics with
// ErrValue on an unknown mode and on negative sizes, and with ErrMemory where memory does not suffice.
func New(mode string, width, height int, fill ...uint8) *Image {
	n := bands[mode]
	if n == 0 || width < 0 || height < 0 {
		tensor.Fail(tensor.ErrValue, "pil.New: mode %q, size %d x %d", mode, width, height)
	}
	mem.Check(width, n) // so width*n is a number
	mem.Check(height, max(width*n, 1))
	im := &Image{Mode: mode, Width: width, Height: height, Pix: make([]uint8, width*height*n)}
	if len(fill) > 0 {
		for i := range im.Pix {
			im.Pix[i] = fill[i%n%len(fill)]
		}
	}
	return im
}

// Bands is the number of bytes of a pixel.
func (im *Image) Bands() int { return bands[im.Mode] }

// Clone copies the image.
func (im *Image) Clone() *Image {
	c := *im
	c.Pix = append([]uint8(nil), im.Pix...)
	return &c
}

// like is an image of the same mode and another size.
func (im *Image) like(width, height int) *Image { return New(im.Mode, width, height) }

// at is the pixel at (x, y).
func (im *Image) at(x, y int) []uint8 {
	n := im.Bands()
	return im.Pix[(y*im.Width+x)*n:][:n]
}

// Crop is the rectangle from (left, top) to (right, bottom); what lies outside of the image is black.
func (im *Image) Crop(left, top, right, bottom int) *Image {
	out := im.like(max(right-left, 0), max(bottom-top, 0))
	n := im.Bands()
	from, to := max(left, 0), min(right, im.Width)
	for y := max(top, 0); y < min(bottom, im.Height) && from < to; y++ {
		copy(out.Pix[((y-top)*out.Width+from-left)*n:][:(to-from)*n], im.Pix[(y*im.Width+from)*n:])
	}
	return out
}

// remap is an image whose pixel (x, y) is the one at f(x, y) of im.
func (im *Image) remap(width, height int, f func(x, y int) (int, int)) *Image {
	out := im.like(width, height)
	for y := range height {
		for x := range width {
			sx, sy := f(x, y)
			copy(out.at(x, y), im.at(sx, sy))
		}
	}
	return out
}

// FlipLeftRight mirrors the image.
func (im *Image) FlipLeftRight() *Image {
	return im.remap(im.Width, im.Height, func(x, y int) (int, int) { return im.Width - 1 - x, y })
}

// FlipTopBottom turns the image upside down.
func (im *Image) FlipTopBottom() *Image {
	return im.remap(im.Width, im.Height, func(x, y int) (int, int) { return x, im.Height - 1 - y })
}

// Rotate90 turns the image by quarter turns counterclockwise.
func (im *Image) Rotate90(turns int) *Image {
	w, h := im.Width, im.Height
	switch turns & 3 {
	case 1:
		return im.remap(h, w, func(x, y int) (int, int) { return w - 1 - y, x })
	case 2:
		return im.remap(w, h, func(x, y int) (int, int) { return w - 1 - x, h - 1 - y })
	case 3:
		return im.remap(h, w, func(x, y int) (int, int) { return y, h - 1 - x })
	}
	return im.Clone()
}

// Point maps each byte by a table of 256 entries, or one for each band.
func (im *Image) Point(luts ...[256]uint8) *Image {
	out, n := im.Clone(), im.Bands()
	for i, v := range out.Pix {
		out.Pix[i] = luts[i%n%len(luts)][v]
	}
	return out
}

// Histogram counts the bytes of each band.
func (im *Image) Histogram() [][256]int {
	n := im.Bands()
	h := make([][256]int, n)
	for i, v := range im.Pix {
		h[i%n][v]++
	}
	return h
}

// Convert changes the mode: colors become grey by the weights of ITU-R 601 in steps of 1/65536, grey becomes equal
// bands, and a new alpha band is opaque.
func (im *Image) Convert(mode string) *Image {
	if mode == im.Mode {
		return im.Clone()
	}
	out, n := New(mode, im.Width, im.Height), im.Bands()
	m := out.Bands()
	for i := range im.Width * im.Height {
		p, q := im.Pix[i*n:][:n], out.Pix[i*m:][:m]
		r, g, b, a := p[0], p[0], p[0], uint8(255)
		if n >= 3 {
			g, b = p[1], p[2]
		}
		if n == 2 || n == 4 {
			a = p[n-1]
		}
		if m >= 3 {
			q[0], q[1], q[2] = r, g, b
		} else if n >= 3 {
			q[0] = uint8((uint32(r)*19595 + uint32(g)*38470 + uint32(b)*7471 + 0x8000) >> 16)
		} else {
			q[0] = r
		}
		if m == 2 || m == 4 {
			q[m-1] = a
		}
	}
	return out
}

// FromImage converts an image of Go's package image: to "L" if it is grey, to "RGBA" if it has pixels that are not
// opaque, else to "RGB".
func FromImage(src image.Image) *Image {
	b := src.Bounds()
	mode := "RGB"
	switch src.ColorModel() {
	case color.GrayModel, color.Gray16Model:
		mode = "L"
	default:
		if o, ok := src.(interface{ Opaque() bool }); ok && !o.Opaque() {
			mode = "RGBA"
		}
	}
	im := New(mode, b.Dx(), b.Dy())
	if im.fromBytes(src) {
		return im
	}
	for y := range im.Height {
		for x := range im.Width {
			p := im.at(x, y)
			if mode == "L" {
				p[0] = color.GrayModel.Convert(src.At(b.Min.X+x, b.Min.Y+y)).(color.Gray).Y
				continue
			}
			c := color.NRGBAModel.Convert(src.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
			copy(p, []uint8{c.R, c.G, c.B, c.A})
		}
	}
	return im
}

// fromBytes copies images whose pixels are bytes of the same meaning, and reports whether src is one.
func (im *Image) fromBytes(src image.Image) bool {
	var pix []uint8
	var stride, bands int
	switch s := src.(type) {
	case *image.Gray:
		pix, stride, bands = s.Pix, s.Stride, 1
	case *image.NRGBA:
		pix, stride, bands = s.Pix, s.Stride, 4
	case *image.RGBA: // premultiplied: the same where it is opaque
		if im.Mode == "RGBA" {
			return false
		}
		pix, stride, bands = s.Pix, s.Stride, 4
	default:
		return false
	}
	n := im.Bands()
	for y := range im.Height {
		row, out := pix[y*stride:], im.Pix[y*im.Width*n:][:im.Width*n]
		for x := range im.Width {
			copy(out[x*n:][:n], row[x*bands:])
		}
	}
	return true
}

// Image converts to an image of Go's package image.
func (im *Image) Image() image.Image {
	r := image.Rect(0, 0, im.Width, im.Height)
	if im.Mode == "L" {
		g := image.NewGray(r)
		copy(g.Pix, im.Pix)
		return g
	}
	c, out := im.Convert("RGBA"), image.NewNRGBA(r)
	copy(out.Pix, c.Pix)
	return out
}
