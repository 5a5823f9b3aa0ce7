// Package plotpng draws PNG pictures: the course of a training run, and measured ratios.
package plotpng

import (
	"fmt"
	"image/color"
	"math"
)

// Options are the optional parts of a loss curve.
type Options struct {
	// Title stands above the picture; the default is "Training loss".
	Title string
	// Smoothed is a second, stronger line through the same steps. The default is
	// Smooth(loss, w) with a weight that fits the number of points.
	Smoothed []float64
	// AccuracySteps and Accuracy, in [0, 1], add a second panel with one point per
	// evaluation.
	AccuracySteps []int
	Accuracy      []float64
}

var (
	rawColor    = color.NRGBA{0x1f, 0x77, 0xb4, 0x60}
	smoothColor = color.NRGBA{0x12, 0x4b, 0x7a, 0xff}
	accColor    = color.NRGBA{0xc4, 0x5a, 0x11, 0xff}
)

// LossCurve draws loss against steps, lightly as it is and strongly smoothed, and
// writes the picture to path by way of a temporary file, so that a viewer never sees
// half of it. Losses that are NaN or infinite leave a gap in the line. Slices that
// belong together must be equally long, and there must be at least one step.
func LossCurve(path string, steps []int, loss []float64, o Options) error {
	if o.Title == "" {
		o.Title = "Training loss"
	}
	if o.Smoothed == nil {
		// Averaging over about a fortieth of the run keeps the shape and loses the noise.
		o.Smoothed = Smooth(loss, 1-1/math.Max(float64(len(loss))/40, 1))
	}
	switch {
	case len(steps) == 0:
		return fmt.Errorf("plotpng: LossCurve: no steps to draw")
	case len(steps) != len(loss) || len(steps) != len(o.Smoothed):
		return fmt.Errorf("plotpng: LossCurve: %d steps, %d losses and %d smoothed losses, want equally many",
			len(steps), len(loss), len(o.Smoothed))
	case len(o.AccuracySteps) != len(o.Accuracy):
		return fmt.Errorf("plotpng: LossCurve: %d steps with %d accuracies, want equally many",
			len(o.AccuracySteps), len(o.Accuracy))
	}

	height := 4.5
	if len(o.Accuracy) > 0 {
		height = 7
	}
	c, err := newCanvas(8, height)
	if err != nil {
		return err
	}
	top := newPanel(c, o.Title, "loss")
	raw := top.curve("loss", rawColor, steps, loss)
	smooth := top.curve("smoothed", smoothColor, steps, o.Smoothed)
	// Most losses end near 0: an axis from 0 shows how much of the way is done.
	if top.y.min > 0 {
		top.y.min = 0
	}
	panels := []*panel{top}
	var accuracy [][]xy
	if len(o.Accuracy) > 0 {
		bottom := newPanel(c, "", "accuracy")
		accuracy = bottom.curve("accuracy", accColor, o.AccuracySteps, o.Accuracy)
		bottom.y.max = 1
		bottom.x.min, bottom.x.max = min(bottom.x.min, top.x.min), max(bottom.x.max, top.x.max)
		top.x.min, top.x.max = bottom.x.min, bottom.x.max
		panels = append(panels, bottom)
	}
	panels[len(panels)-1].x.label = "step"

	left := 0.0
	for _, p := range panels {
		p.x.widen()
		p.y.widen()
		left = max(left, p.labelWidth())
	}
	y := points(10)
	each := float64(c.img.Bounds().Dy()) / float64(len(panels))
	for i, p := range panels {
		p.left, p.right = points(8)+left, float64(c.img.Bounds().Dx())-points(18)
		p.top, p.bottom = y+points(titleSize+8), each*float64(i+1)-points(tickSize+12)
		if p.x.label != "" {
			p.bottom -= points(labelSize + 8)
		}
		y = each * float64(i+1)
		p.frame()
	}
	top.draw(raw, rawColor, 1, false)
	top.draw(smooth, smoothColor, 2, false)
	if len(panels) > 1 {
		panels[1].draw(accuracy, accColor, 1.5, true)
	}
	for _, p := range panels {
		p.names()
	}
	return c.write(path)
}

// Smooth returns the exponential moving average of v, where weight in [0, 1) is that
// of the past. It corrects for the missing past as Adam does, so the first value is
// v[0] and not a fraction of it. Values that are not finite do not enter; they are
// NaN in the result.
func Smooth(v []float64, weight float64) []float64 {
	out := make([]float64, len(v))
	var mean, mass float64
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			out[i] = math.NaN()
			continue
		}
		mean = weight*mean + (1-weight)*x
		mass = weight*mass + (1 - weight)
		out[i] = mean / mass
	}
	return out
}

func newPanel(c *canvas, title, y string) *panel {
	empty := axis{min: math.Inf(1), max: math.Inf(-1)}
	p := &panel{c: c, title: title, x: empty, y: empty}
	p.y.label = y
	return p
}

// curve cuts values into the runs of finite ones, widens the panel's axes to hold them, and puts the curve into the
// legend if there is anything of it.
func (p *panel) curve(name string, col color.Color, steps []int, v []float64) (runs [][]xy) {
	open := false
	for i, y := range v {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			open = false
			continue
		}
		if !open {
			runs, open = append(runs, nil), true
		}
		x := float64(steps[i])
		runs[len(runs)-1] = append(runs[len(runs)-1], xy{x, y})
		p.x.min, p.x.max = min(p.x.min, x), max(p.x.max, x)
		p.y.min, p.y.max = min(p.y.min, y), max(p.y.max, y)
	}
	if len(runs) > 0 {
		p.legend = append(p.legend, entry{name, col})
	}
	return runs
}

// draw draws the runs of a curve. A run of one value has no line to be seen by and becomes a dot.
func (p *panel) draw(runs [][]xy, col color.Color, width float64, dots bool) {
	for _, run := range runs {
		at := make([]xy, len(run))
		for i, v := range run {
			at[i] = p.place(v.x, v.y)
		}
		if len(at) > 1 {
			p.c.line(col, width, at...)
		}
		if dots || len(at) == 1 {
			p.c.dots(col, 2.5, at...)
		}
	}
}
