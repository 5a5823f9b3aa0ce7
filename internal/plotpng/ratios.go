package plotpng

import (
	"fmt"
	"image/color"
	"math"
	"slices"
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
func Ratios(path, title, axisLabel string, groups []string, series []RatioSeries) error {
	c, err := newCanvas(8, 1.2+0.42*float64(len(groups)))
	if err != nil {
		return err
	}
	n := len(groups)
	p := &panel{c: c, title: title}
	for i, g := range groups { // the first on top
		p.y.ticks = append(p.y.ticks, tick{float64(n - 1 - i), g})
	}
	lo, hi := 0.5, 2.0
	row := func(i, k int) float64 { // of a group and a series
		return float64(n-1-i) + 0.36*(0.5-(float64(k)+0.5)/float64(len(series)))*2
	}
	for k, s := range series {
		if len(s.Values) != n {
			return fmt.Errorf("plotpng: Ratios: series %q has %d groups, want %d", s.Name, len(s.Values), n)
		}
		for i, v := range s.Values {
			for _, r := range v {
				if !(r > 0) || math.IsInf(r, 0) {
					return fmt.Errorf("plotpng: Ratios: %s, %s: ratio %g, want a finite positive number", s.Name,
						groups[i], r)
				}
				lo, hi = min(lo, r), max(hi, r)
			}
		}
		p.legend = append(p.legend, entry{s.Name, seriesColors[k%len(seriesColors)]})
	}
	p.x = axis{label: axisLabel, min: lo / 1.1, max: hi * 1.1, log: true, ticks: doublings(lo/1.1, hi*1.1)}
	p.y.min, p.y.max = -0.5, float64(n)-0.5
	p.left, p.right = points(8)+p.labelWidth(), float64(c.img.Bounds().Dx())-points(18)
	p.top, p.bottom = points(titleSize+16), float64(c.img.Bounds().Dy())-points(tickSize+labelSize+20)
	p.frame()
	c.line(axisColor, 1.2, p.place(1, p.y.min), p.place(1, p.y.max))
	for k, s := range series {
		for i, v := range s.Values {
			if len(v) == 0 {
				continue
			}
			col, y := seriesColors[k%len(seriesColors)], row(i, k)
			for _, r := range v {
				c.dots(col, 3.2, p.place(r, y))
			}
			col.A = 0xff
			at := p.place(geometricMedian(v), y)
			c.line(col, 2, xy{at.x, at.y - points(6)}, xy{at.x, at.y + points(6)})
		}
	}
	p.names()
	return c.write(path)
}

// doublings are the ticks ⅛x, ¼x, ½x, 1x, 2x … between lo and hi, at most ten or so with a label.
func doublings(lo, hi float64) []tick {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	every := 1 + (last-first)/10
	var ticks []tick
	for e := first; e <= last; e++ {
		t := tick{value: math.Exp2(float64(e))}
		switch {
		case e%every != 0:
		case e < 0:
			t.label = fmt.Sprintf("1/%.0fx", 1/t.value)
		default:
			t.label = fmt.Sprintf("%.0fx", t.value)
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
