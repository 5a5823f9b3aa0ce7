package tensorboard

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// pixels is an image of interleaved bytes.
type pixels struct {
	h, w, c int
	pix     []uint8
}

// toByte turns an element into a pixel: uint8 as it is, anything else times 255
// in single precision, cut off to 0…255 and truncated.
func toByte(k Kind, v float64) uint8 {
	if k == Uint8 {
		return uint8(v)
	}
	f := float32(v) * 255
	switch {
	case !(f > 0): // NaN too
		return 0
	case f >= 255:
		return 255
	}
	return uint8(f)
}

// maxPixels bounds an image: larger ones are a mistake in a shape.
const maxPixels = 1 << 30

// toPixels brings an array of a format such as "CHW" into order HWC. Grey images
// become colour images, a batch (with N) becomes a grid of 8 columns.
func toPixels(op string, a Array, format string) (*pixels, error) {
	format = strings.ToUpper(format)
	if err := check(op, a, -1); err != nil {
		return nil, err
	}
	var want string
	switch len(format) {
	case 2:
		want = "HW"
	case 3:
		want = "HWC"
	case 4:
		want = "NHWC"
	}
	at := map[rune]int{}
	for _, r := range want {
		at[r] = strings.IndexRune(format, r)
		if at[r] < 0 {
			want = ""
			break
		}
	}
	if want == "" {
		return nil, fmt.Errorf("tensorboard: %s: format %q is no order of NCHW, CHW or HW", op, format)
	}
	shape := a.Shape()
	if len(shape) != len(format) {
		return nil, fmt.Errorf("tensorboard: %s: shape %v has %d dimensions, format %q names %d", op, shape, len(shape),
			format, len(format))
	}
	stride := make([]int, len(shape))
	for i, s := len(shape)-1, 1; i >= 0; i-- {
		stride[i] = s
		s *= shape[i]
	}
	dim := func(r rune) (n, step int) {
		if i, ok := at[r]; ok {
			return shape[i], stride[i]
		}
		return 1, 0
	}
	n, sn := dim('N')
	h, sh := dim('H')
	w, sw := dim('W')
	c, sc := dim('C')
	if n == 0 || h == 0 || w == 0 || c == 0 {
		return nil, fmt.Errorf("tensorboard: %s: empty image of shape %v", op, shape)
	}
	oc := c
	if c == 1 {
		oc = 3 // the three channels repeat the one
	}
	if oc > 4 || len(format) == 4 && oc != 3 {
		return nil, fmt.Errorf("tensorboard: %s: shape %v has %d channels in format %q, want 1 or 3 (single images: "+
			"up to 4)", op, shape, c, format)
	}
	cols := min(n, 8)
	rows := (n + cols - 1) / cols
	if rows*h > maxPixels/(cols*w*oc) {
		return nil, fmt.Errorf("tensorboard: %s: shape %v is too large for an image", op, shape)
	}
	p := &pixels{h: rows * h, w: cols * w, c: oc, pix: make([]uint8, rows*h*cols*w*oc)}
	data, kind := a.Float64s(), a.Kind()
	for i := range n {
		for y := range h {
			out := p.pix[((i/cols*h+y)*p.w+i%cols*w)*oc:]
			for x := range w {
				for k := range oc {
					out[x*oc+k] = toByte(kind, data[i*sn+y*sh+x*sw+min(k, c-1)*sc])
				}
			}
		}
	}
	return p, nil
}

// nrgba gives the pixels as an image; two channels are grey and alpha.
func (p *pixels) nrgba() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, p.w, p.h))
	for i := range p.h * p.w {
		s, d := p.pix[i*p.c:], m.Pix[i*4:i*4+4]
		switch p.c {
		case 2:
			d[0], d[1], d[2], d[3] = s[0], s[0], s[0], s[1]
		case 3:
			d[0], d[1], d[2], d[3] = s[0], s[1], s[2], 255
		default:
			copy(d, s[:4])
		}
	}
	return m
}

// encode makes the image value. As in Python's writer the size is that before
// rescaling.
func (p *pixels) encode(m *image.NRGBA, rescale float64) (*Image, error) {
	if rescale != 0 && rescale != 1 {
		w, h := int(float64(p.w)*rescale), int(float64(p.h)*rescale)
		if w < 1 || h < 1 || w > maxPixels/4/h {
			return nil, fmt.Errorf("tensorboard: an image of %dx%d cannot be scaled by %v", p.w, p.h, rescale)
		}
		m = resample(m, w, h)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("tensorboard: encoding an image: %w", err)
	}
	return &Image{Height: int32(p.h), Width: int32(p.w), Colorspace: int32(p.c), Encoded: b.Bytes()}, nil
}

// drawBox draws the outline of a box, two pixels wide, and a label in its lower
// left corner.
func drawBox(m *image.NRGBA, x0, y0, x1, y1 int, label string) {
	red := image.NewUniform(color.NRGBA{255, 0, 0, 255})
	bar := func(x0, y0, x1, y1 int) {
		draw.Draw(m, image.Rect(min(x0, x1), min(y0, y1), max(x0, x1)+1, max(y0, y1)+1), red, image.Point{}, draw.Src)
	}
	// Down the left side, to the right, up and back: the second pixel of the width
	// lies to the left of a line's direction. A side without length is a point.
	side := func(ax, ay, bx, by int) {
		bar(ax, ay, bx+cmp.Compare(by, ay), by+cmp.Compare(bx, ax))
	}
	side(x0, y0, x0, y1)
	side(x0, y1, x1, y1)
	side(x1, y1, x1, y0)
	side(x1, y0, x0, y0)
	if label == "" {
		return
	}
	d := font.Drawer{Dst: m, Src: image.Black, Face: basicfont.Face7x13}
	box, _ := d.BoundString(label)
	w, h := d.MeasureString(label).Ceil(), (box.Max.Y - box.Min.Y).Ceil()
	margin := int(math.Ceil(0.05 * float64(h)))
	bar(x0, y1-h-2*margin, x0+w, y1)
	d.Dot = fixed.P(x0+margin, y1-margin-box.Max.Y.Ceil())
	d.DrawString(label)
}
