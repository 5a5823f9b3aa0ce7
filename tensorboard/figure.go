package tensorboard

import (
	"fmt"
	"image"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// FigureOptions are the options of [SummaryWriter.AddFigure].
type FigureOptions struct {
	Width, Height vg.Length // 0: 6.4 and 4.8 inches
	DPI           int       // 0: 100
	WallTime      float64   // seconds since 1970; 0: now
}

// AddFigure renders a plot and writes it as an image.
func (w *SummaryWriter) AddFigure(tag string, fig *plot.Plot, step int64, options ...FigureOptions) error {
	return w.AddFigures(tag, []*plot.Plot{fig}, step, options...)
}

// AddFigures renders several plots of one size; more than one go into a grid.
func (w *SummaryWriter) AddFigures(tag string, figs []*plot.Plot, step int64, options ...FigureOptions) error {
	o := opt(options)
	if o.Width == 0 {
		o.Width = 6.4 * vg.Inch
	}
	if o.Height == 0 {
		o.Height = 4.8 * vg.Inch
	}
	if o.DPI == 0 {
		o.DPI = 100
	}
	if len(figs) == 0 || !(o.Width > 0 && o.Height > 0 && o.DPI > 0) {
		return fmt.Errorf("tensorboard: AddFigure: %d plots of %v by %v at %d dpi", len(figs), o.Width, o.Height, o.DPI)
	}
	all := &array{kind: Uint8}
	for _, f := range figs {
		if f == nil {
			return fmt.Errorf("tensorboard: AddFigure: no plot")
		}
		c := vgimg.NewWith(vgimg.UseWH(o.Width, o.Height), vgimg.UseDPI(o.DPI))
		f.Draw(draw.New(c))
		m := c.Image()
		b := m.Bounds()
		all.shape = []int{len(figs), b.Dy(), b.Dx(), 3}
		all.data = append(all.data, rgb(m)...)
	}
	if len(figs) == 1 {
		all.shape = all.shape[1:]
		return w.AddImage(tag, all, step, ImageOptions{DataFormats: "HWC", WallTime: o.WallTime})
	}
	return w.AddImages(tag, all, step, ImageOptions{DataFormats: "NHWC", WallTime: o.WallTime})
}

func rgb(m image.Image) []float64 {
	b := m.Bounds()
	out := make([]float64, 0, 3*b.Dx()*b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := m.At(x, y).RGBA()
			out = append(out, float64(r>>8), float64(g>>8), float64(bl>>8))
		}
	}
	return out
}
