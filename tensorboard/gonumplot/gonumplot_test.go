package gonumplot_test

import (
	"image"
	"testing"

	"gonum.org/v1/plot"

	"github.com/gotorch-dev/torch/tensorboard"
	"github.com/gotorch-dev/torch/tensorboard/gonumplot"
)

func TestFigure(t *testing.T) {
	p := plot.New()
	p.Title.Text = "A plot"
	f := gonumplot.Figure(p)
	m := f.Render(2, 1, 50)
	if got, want := m.Bounds().Size(), image.Pt(100, 50); got != want {
		t.Errorf("%v pixels, want %v", got, want)
	}
	dark := 0
	for y := range 50 {
		for x := range 100 {
			if r, _, _, _ := m.At(x, y).RGBA(); r < 0x8000 {
				dark++
			}
		}
	}
	if dark == 0 {
		t.Error("nothing is drawn")
	}
	if gonumplot.Figure(nil) != nil {
		t.Error("a figure of no plot")
	}

	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.AddFigures("f", []tensorboard.Figure{f, f}, 1); err != nil {
		t.Error(err)
	}
	if err := w.AddFigure("f", gonumplot.Figure(nil), 1); err == nil {
		t.Error("no figure is accepted")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tensorboard.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.ImageAt(".", "f", 0); err != nil {
		t.Error(err)
	}
}
