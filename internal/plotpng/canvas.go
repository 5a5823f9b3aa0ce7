package plotpng

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// dpi is the resolution of the pictures; sizes of fonts and lines are in points, 72 to an inch.
const dpi = 120

func points(p float64) float64 { return p * dpi / 72 }

// align says which part of a text lies at its place.
type align int

const (
	start align = iota
	middle
	end
)

// canvas is a picture that is drawn on; x grows to the right and y downwards, in pixels.
type canvas struct {
	img   *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face
}

func newCanvas(width, height float64) (*canvas, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("plotpng: the font: %w", err)
	}
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, int(width*dpi), int(height*dpi))), font: f,
		faces: map[float64]font.Face{}}
	for i := range c.img.Pix {
		c.img.Pix[i] = 0xff
	}
	return c, nil
}

// write writes the picture as PNG, by way of a temporary file.
func (c *canvas) write(path string) error {
	return atomicfile.Write(path, func(w io.Writer) error { return png.Encode(w, c.img) })
}

// xy is a point of a picture.
type xy struct{ x, y float64 }

// polygon adds a closed outline to a shape. Outlines that overlap must turn the same way: their areas are united.
func polygon(r *vector.Rasterizer, at ...xy) {
	r.MoveTo(float32(at[0].x), float32(at[0].y))
	for _, p := range at[1:] {
		r.LineTo(float32(p.x), float32(p.y))
	}
	r.ClosePath()
}

// fill draws what add puts together, as one shape in one colour.
func (c *canvas) fill(col color.Color, add func(r *vector.Rasterizer)) {
	b := c.img.Bounds()
	r := vector.NewRasterizer(b.Dx(), b.Dy())
	add(r)
	r.Draw(c.img, b, image.NewUniform(col), image.Point{})
}

// disc adds a circle to a shape.
func disc(r *vector.Rasterizer, p xy, radius float64) {
	const sides = 16
	var at [sides]xy
	for i := range at {
		s, k := math.Sincos(2 * math.Pi * float64(i) / sides)
		at[i] = xy{p.x + radius*k, p.y + radius*s}
	}
	polygon(r, at[:]...)
}

// line draws a line through points, with round corners. The width is in points.
func (c *canvas) line(col color.Color, width float64, at ...xy) {
	half := points(width) / 2
	c.fill(col, func(r *vector.Rasterizer) {
		for i := range at[1:] {
			a, b := at[i], at[i+1]
			dx, dy := b.x-a.x, b.y-a.y
			l := math.Hypot(dx, dy)
			if l == 0 {
				continue
			}
			nx, ny := half*dy/l, -half*dx/l
			polygon(r, xy{a.x + nx, a.y + ny}, xy{b.x + nx, b.y + ny}, xy{b.x - nx, b.y - ny}, xy{a.x - nx, a.y - ny})
			if i > 0 && half > 0.6 {
				disc(r, a, half)
			}
		}
	})
}

// dots draws a disc at each point. The radius is in points.
func (c *canvas) dots(col color.Color, radius float64, at ...xy) {
	for _, p := range at { // one by one: where half transparent dots overlap, it is darker
		c.fill(col, func(r *vector.Rasterizer) { disc(r, p, points(radius)) })
	}
}

func (c *canvas) face(size float64) font.Face {
	f := c.faces[size]
	if f == nil {
		f, _ = opentype.NewFace(c.font, &opentype.FaceOptions{Size: size, DPI: dpi}) // it never fails, says its source
		c.faces[size] = f
	}
	return f
}

// width is the width of a text in pixels.
func (c *canvas) width(s string, size float64) float64 {
	return float64(font.MeasureString(c.face(size), s)) / 64
}

// text writes a line of text with its base line at p.
func (c *canvas) text(p xy, s string, size float64, a align) {
	x := p.x - float64(a)*c.width(s, size)/2
	d := font.Drawer{Dst: c.img, Src: image.Black, Face: c.face(size),
		Dot: fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(p.y * 64)}}
	d.DrawString(s)
}

// upright writes a line of text from below upwards, with the middle of its base line at p.
func (c *canvas) upright(p xy, s string, size float64) {
	m := c.face(size).Metrics()
	w, h := int(math.Ceil(c.width(s, size))), (m.Ascent + m.Descent).Ceil()
	flat := image.NewAlpha(image.Rect(0, 0, w, h))
	d := font.Drawer{Dst: flat, Src: image.Opaque, Face: c.face(size), Dot: fixed.Point26_6{Y: m.Ascent}}
	d.DrawString(s)
	left, top := int(p.x)-m.Ascent.Ceil(), int(p.y)-w/2
	for y := range h {
		for x := range w {
			if a := flat.AlphaAt(x, y).A; a > 0 {
				c.img.Set(left+y, top+w-1-x, color.Gray{255 - a})
			}
		}
	}
}
