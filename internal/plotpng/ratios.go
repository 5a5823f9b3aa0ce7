package plotpng

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// RatioSeries is one colour of a picture of ratios: for each group a list of ratios, dots in that group's row.
type RatioSeries struct {
	Name   string
	Values [][]float64
}

// seriesColors tell series apart, also in print and for eyes that see few colours.
var seriesColors = []color.NRGBA{{0x1f, 0x77, 0xb4, 0x90}, {0xd9, 0x6a, 0x0b, 0x90}, {0x2c, 0x8a, 0x3c, 0x90},
	{0x80, 0x40, 0x90, 0x90}}

// Ratios draws ratios on a logarithmic axis, a row of dots for each group and series, with a tick at their median and a
// line at 1, and writes the picture to path by way of a temporary file. Ratios must be finite and positive, and each
// series needs one (possibly empty) list for each group.
func Ratios(path, title, axis string, groups []string, series []RatioSeries) error {
	p := newPlot(title, "")
	p.X.Label.Text = axis
	p.X.Scale = plot.LogScale{}
	ticks := make([]plot.Tick, len(groups))
	for i, g := range groups {
		ticks[len(groups)-1-i] = plot.Tick{Value: float64(len(groups) - 1 - i), Label: g} // the first on top
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Tick.Length = 0
	lo, hi := 0.5, 2.0
	for k, s := range series {
		if len(s.Values) != len(groups) {
			return fmt.Errorf("plotpng: Ratios: series %q has %d groups, want %d", s.Name, len(s.Values), len(groups))
		}
		var dots, medians plotter.XYs
		for i, v := range s.Values {
			y := float64(len(groups)-1-i) + 0.36*(0.5-(float64(k)+0.5)/float64(len(series)))*2
			for _, r := range v {
				if !(r > 0) || math.IsInf(r, 0) {
					return fmt.Errorf("plotpng: Ratios: %s, %s: ratio %g, want a finite positive number", s.Name,
						groups[i], r)
				}
				lo, hi = min(lo, r), max(hi, r)
				dots = append(dots, plotter.XY{X: r, Y: y})
			}
			if len(v) > 0 {
				medians = append(medians, plotter.XY{X: geometricMedian(v), Y: y})
			}
		}
		if len(dots) == 0 {
			continue
		}
		c := seriesColors[k%len(seriesColors)]
		d, err := plotter.NewScatter(dots)
		if err != nil {
			return fmt.Errorf("plotpng: Ratios: %w", err)
		}
		d.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(3.2), Shape: draw.CircleGlyph{}}
		m, err := plotter.NewScatter(medians)
		if err != nil {
			return fmt.Errorf("plotpng: Ratios: %w", err)
		}
		c.A = 0xff
		m.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(6), Shape: bar{}}
		p.Add(d, m)
		p.Legend.Add(s.Name, d)
	}
	p.X.Min, p.X.Max = lo/1.1, hi*1.1
	p.Y.Min, p.Y.Max = -0.5, float64(len(groups))-0.5
	p.X.Tick.Marker = plot.ConstantTicks(doublings(lo/1.1, hi*1.1))
	even, err := plotter.NewLine(plotter.XYs{{X: 1, Y: p.Y.Min}, {X: 1, Y: p.Y.Max}})
	if err != nil {
		return fmt.Errorf("plotpng: Ratios: %w", err)
	}
	even.Width = vg.Points(1.2)
	p.Add(even)
	p.Legend.Top = true

	img := vgimg.NewWith(vgimg.UseWH(8*vg.Inch, vg.Length(1.2+0.42*float64(len(groups)))*vg.Inch), vgimg.UseDPI(120))
	c := draw.New(img)
	p.Draw(draw.Crop(c, vg.Points(8), -vg.Points(14), vg.Points(8), -vg.Points(8)))
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := vgimg.PngCanvas{Canvas: img}.WriteTo(w)
		return err
	})
}

// doublings are the ticks ⅛x, ¼x, ½x, 1x, 2x … between lo and hi, at most ten or so with a label.
func doublings(lo, hi float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	every := 1 + (last-first)/10
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		switch {
		case e%every != 0:
		case e < 0:
			t.Label = fmt.Sprintf("1/%.0fx", 1/t.Value)
		default:
			t.Label = fmt.Sprintf("%.0fx", t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// geometricMedian is the median, which for an even number lies half way on the logarithmic axis.
func geometricMedian(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return math.Sqrt(v[m-1] * v[m])
}

// bar is an upright stroke.
type bar struct{}

// DrawGlyph draws the stroke around pt, as high as the style's radius to both sides.
func (bar) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, pt vg.Point) {
	c.StrokeLine2(draw.LineStyle{Color: s.Color, Width: vg.Points(2)}, pt.X, pt.Y-s.Radius, pt.X, pt.Y+s.Radius)
}
