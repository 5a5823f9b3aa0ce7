package tensorboard

import (
	"fmt"
	"image"
	"slices"
)

// Figure is what [SummaryWriter.AddFigure] can draw. Package tensorboard/gonumplot makes one of a plot of Gonum.
type Figure interface {
	// Render draws the figure. Its size is given in inches, its resolution in dots per inch.
	Render(width, height float64, dpi int) image.Image
}

// FigureOptions are the options of [SummaryWriter.AddFigure].
type FigureOptions struct {
	Width, Height float64 // in inches; 0: 6.4 and 4.8
	DPI           int     // 0: 100
	WallTime      float64 // seconds since 1970; 0: now
}

// maxFigure bounds the pixels of a figure, which are all held in memory.
const maxFigure = 1 << 26

// AddFigure renders a figure and writes it as an image.
func (w *SummaryWriter) AddFigure(tag string, fig Figure, step int64, options ...FigureOptions) error {
	return w.AddFigures(tag, []Figure{fig}, step, options...)
}

// AddFigures renders several figures of one size; more than one go into a grid.
func (w *SummaryWriter) AddFigures(tag string, figs []Figure, step int64, options ...FigureOptions) error {
	o := opt(options)
	if o.Width == 0 {
		o.Width = 6.4
	}
	if o.Height == 0 {
		o.Height = 4.8
	}
	if o.DPI == 0 {
		o.DPI = 100
	}
	if d := float64(o.DPI); len(figs) == 0 || !(o.Width > 0 && o.Height > 0 && o.DPI > 0) ||
		!(o.Width*d*o.Height*d <= maxFigure) {
		return fmt.Errorf("tensorboard: AddFigure: %d figures of %g by %g inches at %d dpi", len(figs), o.Width, o.Height,
			o.DPI)
	}
	all := &array{kind: Uint8}
	for _, f := range figs {
		if f == nil {
			return fmt.Errorf("tensorboard: AddFigure: no figure")
		}
		m := f.Render(o.Width, o.Height, o.DPI)
		b := m.Bounds()
		shape := []int{len(figs), b.Dy(), b.Dx(), 3}
		if all.shape != nil && !slices.Equal(shape, all.shape) {
			return fmt.Errorf("tensorboard: AddFigure: figures of %d by %d and %d by %d pixels, want one size",
				all.shape[2], all.shape[1], shape[2], shape[1])
		}
		all.shape = shape
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
