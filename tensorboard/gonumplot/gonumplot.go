// Package gonumplot writes plots of gonum.org/v1/plot into TensorBoard logs. It stands apart from package tensorboard
// because Gonum's fonts and back ends would make every program that writes logs some megabytes larger.
//
//	w.AddFigure("residuals", gonumplot.Figure(p), step)
package gonumplot

import (
	"image"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gotorch-dev/torch/tensorboard"
)

type figure struct{ p *plot.Plot }

// Figure is a plot as a figure for [tensorboard.SummaryWriter.AddFigure]; of no plot it is no figure.
func Figure(p *plot.Plot) tensorboard.Figure {
	if p == nil {
		return nil
	}
	return figure{p}
}

// Render draws the plot.
func (f figure) Render(width, height float64, dpi int) image.Image {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(width)*vg.Inch, vg.Length(height)*vg.Inch), vgimg.UseDPI(dpi))
	f.p.Draw(draw.New(c))
	return c.Image()
}
