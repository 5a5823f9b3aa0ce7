package plotpng

import (
	"fmt"
	"image/color"

	"golang.org/x/image/vector"
)

// Confusion writes a picture of a matrix whose rows are the true classes and whose columns are the predicted ones. A
// cell is the darker, the larger its share of its row.
func Confusion(path, title string, classes []string, counts [][]int) error {
	n := len(classes)
	if n == 0 || len(counts) != n {
		return fmt.Errorf("plotpng: %d rows of a confusion matrix of %d classes", len(counts), n)
	}
	for i, row := range counts {
		if len(row) != n {
			return fmt.Errorf("plotpng: row %d of a confusion matrix of %d classes has %d numbers", i, n, len(row))
		}
	}
	const large, margin, widest = 11, 12, 150 // size of the title; pixels
	size, cell := 8.0, 46.0
	if n > 16 { // then there is no room for numbers
		cell = max(4, 736/float64(n))
		size = min(size, cell*0.45)
	}
	c, err := newCanvas(1, 1)
	if err != nil {
		return err
	}
	names, room := make([]string, n), 0.0
	for i, name := range classes {
		names[i] = name
		for c.width(names[i], size) > widest && len(names[i]) > 4 {
			r := []rune(names[i])
			names[i] = string(r[:len(r)-2]) + "…"
		}
		room = max(room, c.width(names[i], size))
	}
	left, top := margin+points(large)+room+8, margin+2*points(large)
	side := cell * float64(n)
	width, height := left+side+margin, top+side+room+8+2*points(large)
	width = max(width, c.width(title, large)+2*margin)
	if c, err = newCanvas(width/dpi, height/dpi); err != nil {
		return err
	}
	c.text(xy{margin, margin + points(large)}, title, large, start)
	for i, row := range counts {
		total := 0
		for _, v := range row {
			total += v
		}
		y := top + cell*float64(i)
		if size >= 3 {
			c.text(xy{left - 6, y + cell/2 + points(size)*0.35}, names[i], size, end)
			c.upright(xy{left + cell*(float64(i)+0.5) + points(size)*0.35, top + side + 8 + c.width(names[i], size)/2},
				names[i], size)
		}
		for j, v := range row {
			x := left + cell*float64(j)
			share := float64(v) / float64(max(total, 1))
			shade := color.RGBA{uint8(255 - 190*share), uint8(255 - 125*share), uint8(255 - 55*share), 255}
			c.fill(shade, func(r *vector.Rasterizer) {
				polygon(r, xy{x, y}, xy{x + cell - 1, y}, xy{x + cell - 1, y + cell - 1}, xy{x, y + cell - 1})
			})
			if v > 0 && n <= 16 {
				c.text(xy{x + cell/2, y + cell/2 + points(size)*0.35}, fmt.Sprint(v), size, middle)
			}
		}
	}
	c.text(xy{left + side/2, height - 6}, "predicted", size+1, middle)
	c.upright(xy{margin + points(size), top + side/2}, "true class", size+1)
	return c.write(path)
}
