package utils

import (
	"fmt"
	"image"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/gotorch-dev/torch/tensor"
)

// goFont is the font of labels.
var goFont = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) })

// newFace is the font of labels in a size in pixels.
func newFace(size float64) font.Face {
	const largest = 1000
	if !(size > 0 && size <= largest) {
		tensor.Fail(tensor.ErrValue, "draw_bounding_boxes: a font of %v pixels, want more than 0 and at most %d", size,
			largest)
	}
	f, err := goFont()
	if err == nil {
		var face font.Face
		if face, err = opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72}); err == nil {
			return face
		}
	}
	panic(fmt.Sprintf("utils: the font of labels: %v", err)) // it is part of the program
}

// label writes a line of text with its upper left corner at (x, y), on a ground of a colour where there is one.
func (c *canvas) label(x, y int, text string, face font.Face, col [3]uint8, ground *[3]uint8) {
	const margin = 1 // between the text and the edge of the ground
	m := face.Metrics()
	width, height := min(font.MeasureString(face, text).Ceil(), c.w-x), (m.Ascent + m.Descent).Ceil()
	if width <= 0 || y >= c.h || y+height < 0 {
		return
	}
	if ground != nil {
		for dy := -margin; dy < height+margin; dy++ {
			for dx := -margin; dx < width+margin; dx++ {
				c.set(x+dx, y+dy, *ground, 1)
			}
		}
	}
	ink := image.NewAlpha(image.Rect(0, 0, width, height))
	d := font.Drawer{Dst: ink, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{Y: m.Ascent}}
	d.DrawString(text)
	for dy := range height {
		for dx := range width {
			if a := ink.AlphaAt(dx, dy).A; a > 0 {
				c.set(x+dx, y+dy, col, float64(a)/255)
			}
		}
	}
}
