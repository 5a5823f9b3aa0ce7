package webp_test

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/webp"
)

// The range of luma is 16 to 235, and chroma is enlarged by the triangle filter.
func TestRGB(t *testing.T) {
	for _, c := range []struct {
		y, u, v uint8
		want    color.NRGBA
	}{{16, 128, 128, color.NRGBA{0, 0, 0, 255}}, {235, 128, 128, color.NRGBA{255, 255, 255, 255}},
		{81, 90, 240, color.NRGBA{254, 0, 0, 255}}, {145, 54, 34, color.NRGBA{0, 255, 1, 255}}} {
		x := image.NewYCbCr(image.Rect(0, 0, 3, 2), image.YCbCrSubsampleRatio420)
		for i := range x.Y {
			x.Y[i] = c.y
		}
		for i := range x.Cb {
			x.Cb[i], x.Cr[i] = c.u, c.v
		}
		for _, at := range []image.Point{{}, {X: 1, Y: 1}, {X: 2, Y: 1}} {
			if got := webp.RGB(x).At(at.X, at.Y); got != c.want {
				t.Errorf("%d %d %d at %v is %v, want %v", c.y, c.u, c.v, at, got, c.want)
			}
		}
	}
	x := image.NewYCbCr(image.Rect(0, 0, 4, 4), image.YCbCrSubsampleRatio420)
	for i := range x.Y {
		x.Y[i] = 128
	}
	for i := range x.Cb {
		x.Cb[i], x.Cr[i] = 128, 160
	}
	x.Cr[0] = 0
	var reds []uint8
	for i := range 4 {
		reds = append(reds, webp.RGB(x).At(i, 1).(color.NRGBA).R)
	}
	// The chroma of the second line, by weights of 9, 3, 3 and 1 sixteenths: 40, 70, 130, 160.
	if want := []uint8{0, 38, 134, 181}; !slices.Equal(reds, want) {
		t.Errorf("red along a line is %v, want %v", reds, want)
	}
	if g := image.NewGray(image.Rect(0, 0, 1, 1)); webp.RGB(g) != image.Image(g) {
		t.Error("another image does not stay as it is")
	}
}
