package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
)

// TestClassify writes one network in all formats, and classifies a red and a blue picture with each of them.
func TestClassify(t *testing.T) {
	// The means of the channels are the scores, with one class more whose score is always -1.
	score := nn.NewConv2d(3, 4, 1)
	torch.NoGrad(func() {
		score.Weight.ZeroInPlace()
		for i := range 3 {
			score.Weight.Select(0, i).Select(0, i).FillScalarInPlace(1)
		}
		score.Bias.CopyInPlace(torch.TensorOf[float32](0, 0, 0, -9))
	})
	net := nn.NewSequential(score, nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten())
	net.Eval()
	x := torch.Zeros([]int{1, 3, 224, 224})
	dir := t.TempDir()
	if err := onnx.Export(filepath.Join(dir, "m.onnx"), net, []*torch.Tensor{x}); err != nil {
		t.Fatal(err)
	}
	script, err := jit.Trace(net, x)
	if err != nil {
		t.Fatal(err)
	}
	if err := script.Save(filepath.Join(dir, "m.pt")); err != nil {
		t.Fatal(err)
	}
	program, err := export.Export(net, []any{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Save(filepath.Join(dir, "m.pt2")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		color color.Color
		first string
	}{"red.png": {color.RGBA{255, 0, 0, 255}, "class 0: "}, "blue.png": {color.RGBA{0, 0, 255, 255}, "class 2: "}} {
		picture := filepath.Join(dir, name)
		writePNG(t, picture, c.color)
		for _, model := range []string{"m.onnx", "m.pt", "m.pt2"} {
			var out strings.Builder
			if err := classify(&out, filepath.Join(dir, model), picture); err != nil {
				t.Fatalf("%s: %v", model, err)
			}
			if got := out.String(); !strings.HasPrefix(got, c.first) || strings.Count(got, "\n") != 4 {
				t.Errorf("%s says of %s:\n%s", model, name, got)
			}
		}
	}
}

func writePNG(t *testing.T, path string, c color.Color) {
	t.Helper()
	im := image.NewRGBA(image.Rect(0, 0, 40, 30))
	for i := range 40 * 30 {
		im.Set(i%40, i/40, c)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, im); err != nil {
		t.Fatal(err)
	}
}
