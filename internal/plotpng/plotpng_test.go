package plotpng

import (
	"flag"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var keep = flag.String("keep", "", "folder to keep the drawn pictures in")

// course is a loss that falls with noise, the same one each time.
func course(n int) (steps []int, loss []float64) {
	for i := range n {
		steps = append(steps, i*10)
		loss = append(loss, 0.05+2.3*math.Exp(-float64(i)/120)*(1+0.25*math.Sin(float64(i*i))))
	}
	return steps, loss
}

func decode(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestLossCurve(t *testing.T) {
	dir := t.TempDir()
	if *keep != "" {
		dir = *keep
	}
	steps, loss := course(600)
	holed := append([]float64(nil), loss...)
	holed[300], holed[301], holed[302] = math.NaN(), 1, math.Inf(1)
	for _, c := range []struct {
		name   string
		steps  []int
		loss   []float64
		o      Options
		height int
	}{
		{"loss.png", steps, loss, Options{}, 540},
		{"acc.png", steps, loss, Options{
			Title: "LeNet on digits", AccuracySteps: []int{1500, 3000, 4500, 6000},
			Accuracy: []float64{0.91, 0.965, 0.98, 0.987},
		}, 840},
		{"nan.png", steps, holed, Options{}, 540},
		{"one.png", []int{0}, []float64{2.3}, Options{}, 540},
		{"allnan.png", []int{0, 1}, []float64{math.NaN(), math.NaN()}, Options{}, 540},
	} {
		path := filepath.Join(dir, c.name)
		if err := LossCurve(path, c.steps, c.loss, c.o); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		img := decode(t, path)
		if s := img.Bounds().Size(); s.X != 960 || s.Y != c.height {
			t.Errorf("%s: %v, want 960x%d", c.name, s, c.height)
		}
		// Something blue must be drawn wherever there is a finite loss.
		blue := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if r, _, b, _ := img.At(x, y).RGBA(); b > r+0x2000 {
					blue++
				}
			}
		}
		if (blue > 0) != (c.name != "allnan.png") {
			t.Errorf("%s: %d blue pixels", c.name, blue)
		}
	}
}

func TestLossCurveErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.png")
	for name, f := range map[string]func() error{
		"empty":    func() error { return LossCurve(path, nil, nil, Options{}) },
		"lengths":  func() error { return LossCurve(path, []int{1, 2}, []float64{1}, Options{}) },
		"smoothed": func() error { return LossCurve(path, []int{1}, []float64{1}, Options{Smoothed: []float64{1, 2}}) },
		"accuracy": func() error { return LossCurve(path, []int{1}, []float64{1}, Options{Accuracy: []float64{1}}) },
		"folder": func() error {
			return LossCurve(filepath.Join(path, "none", "x.png"), []int{1}, []float64{1}, Options{})
		},
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a failed call left a file")
	}
}

func TestSmooth(t *testing.T) {
	got := Smooth([]float64{4, 2, math.NaN(), 0}, 0.5)
	// (4), (4/4+2/2)/(3/4), NaN, (4/8+2/4+0)/(7/8)
	want := []float64{4, 8.0 / 3, math.NaN(), 8.0 / 7}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want[i]) {
			t.Errorf("Smooth: %v, want %v", got, want)
			break
		}
	}
}

func TestRatios(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.png")
	groups := []string{"gemm", "conv"}
	draw := func(values ...[][]float64) error {
		var s []RatioSeries
		for _, v := range values {
			s = append(s, RatioSeries{Name: "s", Values: v})
		}
		return Ratios(path, "title", "times as fast", groups, s)
	}
	// Every further series brings its colour into the picture, also with a group left empty.
	colours := func() int {
		img, seen := decode(t, path), map[[3]uint32]bool{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				if max(r, g, b)-min(r, g, b) > 0x6000 {
					seen[[3]uint32{r, g, b}] = true
				}
			}
		}
		return len(seen)
	}
	last := 0
	for _, v := range [][][][]float64{
		{{{1, 2}, {}}},
		{{{1, 2}, {}}, {{0.1}, {30, 40, 500}}},
	} {
		if err := draw(v...); err != nil {
			t.Fatal(err)
		}
		n := colours()
		if n <= last {
			t.Errorf("%d series: %d colours after %d", len(v), n, last)
		}
		last = n
	}
	for _, v := range [][][]float64{{{1}}, {{1}, {0}}, {{1}, {math.NaN()}}, {{-1}, {}}, {{math.Inf(1)}, {}}} {
		if err := draw(v); err == nil {
			t.Errorf("%v: no error", v)
		}
	}
}

func TestDoublings(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		ticks  int
		labels []string
	}{
		{0.4, 2.1, 3, []string{"1/2x", "1x", "2x"}},
		{1.0 / 4096, 4096, 25, []string{"1/4096x", "1/512x", "1/64x", "1/8x", "1x", "8x", "64x", "512x", "4096x"}},
	} {
		got := doublings(c.lo, c.hi)
		var labels []string
		for _, x := range got {
			if x.label != "" {
				labels = append(labels, x.label)
			}
		}
		if len(got) != c.ticks || !slices.Equal(labels, c.labels) {
			t.Errorf("%g … %g: %d ticks with %q", c.lo, c.hi, len(got), labels)
		}
	}
}
