package functional

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// warp moves the pixels of an image as theta, two rows of three numbers, says: where a pixel of the result comes from,
// in coordinates from -1 to 1 around the centre.
func warp(img *torch.Tensor, corners bool, o F.GridSampleOptions, theta ...float32) *torch.Tensor {
	grid := F.AffineGrid(torch.FromSlice(theta, 1, 2, 3), img.Shape(),
		F.AffineGridOptions{AlignCorners: torch.Some(corners)})
	o.AlignCorners = torch.Some(corners)
	return F.GridSample(img, grid, o)
}

// A shift: pixels come from further left and further up, so the image moves to the right and down.
func Example_gridSample() {
	fmt.Println(warp(image(1, 4, 4), false, F.GridSampleOptions{}, 1, 0, -0.2, 0, 1, -0.4))
	// Output:
	// tensor([[[[ 0.0000,  0.1200,  0.3200,  0.5200],
	//           [ 0.4800,  1.4000,  2.4000,  3.4000],
	//           [ 2.8800,  5.4000,  6.4000,  7.4000],
	//           [ 5.2800,  9.4000, 10.4000, 11.4000]]]])
}

// The same shift with corners that are pixel centres, with other values beyond the border, and without interpolation.
func TestGridSampleOptions(t *testing.T) {
	shift := []float32{1, 0, -0.2, 0, 1, -0.4}
	near(t, warp(image(1, 4, 4), true, F.GridSampleOptions{}, shift...).View([]int{-1}), 0, 0.28, 0.68, 1.08, 1.12, 2.3,
		3.3,
		4.3, 3.92, 6.3, 7.3, 8.3, 6.72, 10.3, 11.3, 12.3)
	border := warp(image(1, 4, 4), false, F.GridSampleOptions{PaddingMode: "border"}, shift...)
	near(t, border.Select(2, 0).View([]int{-1}), 0, 0.6, 1.6, 2.6)
	nearest := warp(image(1, 4, 4), false, F.GridSampleOptions{Mode: "nearest"}, shift...)
	near(t, nearest.Select(2, 3).View([]int{-1}), 8, 9, 10, 11)
	bicubic := warp(image(1, 4, 4), false, F.GridSampleOptions{Mode: "bicubic", PaddingMode: "reflection"}, 1, 0, 0, 0,
		1, 0)
	near(t, bicubic.View([]int{-1}).Sub(image(1, 4, 4).View([]int{-1})).Abs().Max(), 0)
}

// A shift of 0.2 to the left, of the width of 2, is one pixel of ten: the image moves a pixel to the right.
func TestShiftByOnePixel(t *testing.T) {
	img := torch.FromSlice([]float32{0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, 1, 1, 1, 10)
	moved := warp(img, false, F.GridSampleOptions{}, 1, 0, -0.2, 0, 1, 0).View([]int{-1})
	near(t, moved, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
}

// The grid has, for each pixel of the result, the place in the image that it comes from: x, then y.
func TestAffineGrid(t *testing.T) {
	grid := F.AffineGrid(torch.FromSlice([]float32{1, 0, -0.2, 0, 1, -0.4}, 1, 2, 3), []int{1, 1, 4, 4})
	shaped(t, grid, 1, 4, 4, 2)
	near(t, grid.Select(1, 0).Select(2, 0).View([]int{-1}), -0.95, -0.45, 0.05, 0.55)
	near(t, grid.Select(1, 0).Select(2, 1).View([]int{-1}), -1.15, -1.15, -1.15, -1.15)
	still := torch.FromSlice([]float32{1, 0, 0, 0, 1, 0}, 1, 2, 3)
	near(t, F.AffineGrid(still, []int{1, 1, 2, 2}).View([]int{-1}), -0.5, -0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5)
	near(t, F.AffineGrid(still, []int{1, 1, 2, 2}, F.AffineGridOptions{AlignCorners: torch.Some(true)}).View([]int{-1}),
		-1, -1, 1, -1, -1,
		1, 1, 1)
}

// A rotation by 45° clockwise around the centre of the image, whose pixel stays where it is.
func TestRotation(t *testing.T) {
	turn := []float32{0.707, 0.707, 0, -0.707, 0.707, 0}
	img := image(1, 3, 3)
	got := warp(img, false, F.GridSampleOptions{}, turn...)
	near(t, got.View([]int{-1}), 1.7580, 1.1720, 0.5860, 5.4140, 4.0000, 2.5860, 4.1020, 6.8280, 2.9300)
}
