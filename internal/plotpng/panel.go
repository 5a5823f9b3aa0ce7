package plotpng

import (
	"image/color"
	"math"
	"strconv"
)

const (
	titleSize = 14.0
	labelSize = 12.0
	tickSize  = 10.0
)

var (
	gridColor = color.NRGBA{0, 0, 0, 0x18}
	axisColor = color.NRGBA{0, 0, 0, 0xff}
)

// tick is a place on an axis; without a label it is only a line.
type tick struct {
	value float64
	label string
}

// axis is a range of values and its ticks.
type axis struct {
	label    string
	min, max float64
	log      bool
	ticks    []tick
}

// widen stretches an axis so that it has a length, and makes its ticks: at multiples of 1, 2 or 5 times a power of ten.
func (a *axis) widen() {
	if !(a.min <= a.max) { // there were no values
		a.min, a.max = 0, 1
	}
	if a.min == a.max {
		a.min, a.max = a.min-1, a.max+1
	}
	step := math.Pow(10, math.Floor(math.Log10((a.max-a.min)/4)))
	for _, m := range []float64{5, 2} {
		if (a.max-a.min)/(m*step) >= 4 {
			step *= m
			break
		}
	}
	digits := max(0, int(-math.Floor(math.Log10(step))))
	for i := math.Ceil(a.min / step); i*step <= a.max && len(a.ticks) < 20; i++ {
		label := strconv.FormatFloat(i*step, 'f', digits, 64)
		if digits > 6 || step >= 1e6 {
			label = strconv.FormatFloat(i*step, 'g', 4, 64)
		}
		a.ticks = append(a.ticks, tick{i * step, label})
	}
}

// at maps a value to 0 … 1.
func (a *axis) at(v float64) float64 {
	if a.log {
		return math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return (v - a.min) / (a.max - a.min)
}

// entry is a line of a legend.
type entry struct {
	name string
	col  color.Color
}

// panel is a rectangle with two axes; left to bottom are the edges of its inner part, in pixels.
type panel struct {
	c                        *canvas
	title                    string
	x, y                     axis
	legend                   []entry
	left, right, top, bottom float64
}

// place maps values to a point of the picture.
func (p *panel) place(x, y float64) xy {
	return xy{p.left + p.x.at(x)*(p.right-p.left), p.bottom - p.y.at(y)*(p.bottom-p.top)}
}

// labelWidth is the room that the labels of the y axis take on the left.
func (p *panel) labelWidth() float64 {
	w := 0.0
	for _, t := range p.y.ticks {
		w = max(w, p.c.width(t.label, tickSize))
	}
	if p.y.label != "" {
		w += points(labelSize + 6)
	}
	return w + points(8)
}

// frame draws the axes, their ticks, the grid and the words.
func (p *panel) frame() {
	c := p.c
	for _, t := range p.x.ticks {
		at := p.place(t.value, p.y.min)
		if t.label == "" {
			continue
		}
		c.line(gridColor, 0.6, xy{at.x, p.top}, xy{at.x, p.bottom})
		c.line(axisColor, 0.5, at, xy{at.x, at.y + points(4)})
		c.text(xy{at.x, at.y + points(6+tickSize)}, t.label, tickSize, middle)
	}
	for _, t := range p.y.ticks {
		at := p.place(p.x.min, t.value)
		c.line(gridColor, 0.6, xy{p.left, at.y}, xy{p.right, at.y})
		c.text(xy{at.x - points(6), at.y + points(0.35*tickSize)}, t.label, tickSize, end)
	}
	c.line(axisColor, 0.5, xy{p.left, p.top}, xy{p.left, p.bottom}, xy{p.right, p.bottom})
	c.text(xy{(p.left + p.right) / 2, p.top - points(8)}, p.title, titleSize, middle)
	if p.x.label != "" {
		c.text(xy{(p.left + p.right) / 2, p.bottom + points(10+tickSize+labelSize)}, p.x.label, labelSize, middle)
	}
	if p.y.label != "" {
		c.upright(xy{p.left - p.labelWidth() + points(labelSize), (p.top + p.bottom) / 2}, p.y.label, labelSize)
	}
}

// names draws the legend, at the upper right.
func (p *panel) names() {
	y := p.top + points(labelSize)
	for _, e := range p.legend {
		right := p.right - points(6)
		p.c.line(e.col, 2, xy{right - points(20), y - points(4)}, xy{right, y - points(4)})
		p.c.text(xy{right - points(26), y}, e.name, tickSize, end)
		y += points(tickSize + 4)
	}
}
