// Package plotpng draws PNG pictures: the course of a training run, and measured ratios.
package plotpng

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gotorch-dev/torch/internal/atomicfile"
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
	gridColor   = color.NRGBA{0, 0, 0, 0x18}
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

	top := newPlot(o.Title, "loss")
	if err := addLine(top, "loss", steps, loss, rawColor, 1, false); err != nil {
		return err
	}
	if err := addLine(top, "smoothed", steps, o.Smoothed, smoothColor, 2, false); err != nil {
		return err
	}
	top.Legend.Top = true
	// Most losses end near 0: an axis from 0 shows how much of the way is done.
	if top.Y.Min > 0 {
		top.Y.Min = 0
	}
	panels := [][]*plot.Plot{{top}}
	height := 4.5 * vg.Inch

	if len(o.Accuracy) > 0 {
		bottom := newPlot("", "accuracy")
		if err := addLine(bottom, "accuracy", o.AccuracySteps, o.Accuracy, accColor, 1.5, true); err != nil {
			return err
		}
		bottom.Y.Max = 1
		bottom.X.Min, bottom.X.Max = min(bottom.X.Min, top.X.Min), max(bottom.X.Max, top.X.Max)
		top.X.Min, top.X.Max = bottom.X.Min, bottom.X.Max
		panels = append(panels, []*plot.Plot{bottom})
		height = 7 * vg.Inch
	}
	panels[len(panels)-1][0].X.Label.Text = "step"

	img := vgimg.NewWith(vgimg.UseWH(8*vg.Inch, height), vgimg.UseDPI(120))
	tiles := draw.Tiles{
		Rows: len(panels), Cols: 1, PadY: vg.Points(10),
		PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(14),
	}
	for i, row := range plot.Align(panels, tiles, draw.New(img)) {
		panels[i][0].Draw(row[0])
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
		return err
	})
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

func newPlot(title, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = vg.Points(14)
	p.Title.Padding = vg.Points(6)
	p.Y.Label.Text = y
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gridColor, gridColor
	p.Add(grid)
	return p
}

// addLine adds a line through the finite values, broken at the others.
func addLine(p *plot.Plot, name string, steps []int, v []float64, c color.Color, width float64, dots bool) error {
	inLegend := false
	for i := 0; i < len(v); {
		var run plotter.XYs
		for ; i < len(v) && !math.IsNaN(v[i]) && !math.IsInf(v[i], 0); i++ {
			run = append(run, plotter.XY{X: float64(steps[i]), Y: v[i]})
		}
		i++ // over the value that ended the run
		if len(run) == 0 {
			continue
		}
		line, points, err := plotter.NewLinePoints(run)
		if err != nil {
			return fmt.Errorf("plotpng: %s: %w", name, err)
		}
		line.Color, line.Width = c, vg.Points(width)
		points.Color, points.Shape, points.Radius = c, draw.CircleGlyph{}, vg.Points(2.5)
		p.Add(line)
		// A run of one value has no line to be seen by.
		if dots || len(run) == 1 {
			p.Add(points)
		}
		if !inLegend {
			p.Legend.Add(name, line)
			inLegend = true
		}
	}
	return nil
}
