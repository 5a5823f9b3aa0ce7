package dataloading_test

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/utils"
)

// A colour picture read as grey values, which are 0.299 R + 0.587 G + 0.114 B, and written as a file to look at.
func TestReadGray(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "colours.png")
	im := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	want := make([]float64, 0, 256)
	for y := range 16 {
		for x := range 16 {
			r, g, b := uint8(17*x), uint8(17*y), uint8(255-8*(x+y))
			im.SetNRGBA(x, y, color.NRGBA{R: r, G: g, B: b, A: 255})
			want = append(want, math.Round(0.299*float64(r)+0.587*float64(g)+0.114*float64(b)))
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, im); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	grey, err := visionio.ReadImage(path, visionio.DecodeOptions{Mode: visionio.Gray})
	if err != nil {
		t.Fatal(err)
	}
	if s := torch.Size(grey.Shape()).String(); s != "torch.Size([1, 16, 16])" || grey.DType() != torch.Uint8 {
		t.Fatalf("an image of %s, %s", s, grey.DType())
	}
	for i, v := range torch.Data[uint8](grey) {
		if float64(v) != want[i] {
			t.Errorf("pixel %d is %d, want %v", i, v, want[i])
		}
	}
	shown := filepath.Join(dir, "grey.png")
	if err := utils.SaveImage(grey.Float().DivScalar(255), shown); err != nil {
		t.Fatal(err)
	}
	if again, err := visionio.ReadImage(shown, visionio.DecodeOptions{Mode: visionio.Gray}); err != nil ||
		!again.Equal(grey) {
		t.Errorf("the file that was written holds %v, %v", again, err)
	}
}
