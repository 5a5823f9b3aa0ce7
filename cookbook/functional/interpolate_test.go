package functional

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

func small() *torch.Tensor { return torch.ArangeStart(1.0, 5).View([]int{1, 1, 2, 2}) }

func twice(mode string) F.InterpolateOptions {
	return F.InterpolateOptions{ScaleFactor: []float64{2}, Mode: mode}
}

// The default is to repeat the nearest element.
func Example_interpolate() {
	x := small()
	fmt.Println(x)
	fmt.Println(F.Interpolate(x, F.InterpolateOptions{ScaleFactor: []float64{2}, Mode: "nearest"}))
	// Output:
	// tensor([[[[1., 2.],
	//           [3., 4.]]]])
	// tensor([[[[1., 1., 2., 2.],
	//           [1., 1., 2., 2.],
	//           [3., 3., 4., 4.],
	//           [3., 3., 4., 4.]]]])
}

// Bilinear interpolation with the corners' centres kept in place.
func Example_interpolateAlignCorners() {
	fmt.Println(F.Interpolate(small(), F.InterpolateOptions{ScaleFactor: []float64{2}, Mode: "bilinear",
		AlignCorners: torch.Some(true)}))
	// Output:
	// tensor([[[[1.0000, 1.3333, 1.6667, 2.0000],
	//           [1.6667, 2.0000, 2.3333, 2.6667],
	//           [2.3333, 2.6667, 3.0000, 3.3333],
	//           [3.0000, 3.3333, 3.6667, 4.0000]]]])
}

// Without that the picture's edges are kept in place.
func TestBilinear(t *testing.T) {
	near(t, F.Interpolate(small(), twice("bilinear")), 1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3,
		3.25, 3.75, 4)
}

// The other modes.
func TestInterpolateModes(t *testing.T) {
	line := torch.FromSlice([]float32{1, 2}, 1, 1, 2)
	near(t, F.Interpolate(line, F.InterpolateOptions{Size: []int{4}, Mode: "linear"}), 1, 1.25, 1.75, 2)
	near(t, F.Interpolate(small(), F.InterpolateOptions{Size: []int{1, 4}, Mode: "area"}), 2, 2, 3, 3)
	near(t, F.Interpolate(small(), F.InterpolateOptions{Size: []int{3, 3}}), 1, 1, 2, 1, 1, 2, 3, 3, 4)
	near(t, F.Interpolate(small(), F.InterpolateOptions{Size: []int{3, 3}, Mode: "nearest-exact"}), 1, 2, 2, 3, 4, 4, 3,
		4, 4)
	volume := torch.Stack([]*torch.Tensor{small(), small()}, torch.StackOptions{Dim: 2})
	shaped(t, F.Interpolate(volume, F.InterpolateOptions{ScaleFactor: []float64{1, 2, 2}, Mode: "trilinear"}), 1, 1, 2,
		4, 4)
}

// Bicubic interpolation may align corners too, and overshoots: clamp it.
func TestBicubic(t *testing.T) {
	y := F.Interpolate(small(), F.InterpolateOptions{ScaleFactor: []float64{2}, Mode: "bicubic",
		AlignCorners: torch.Some(true)})
	near(t, y.Index(0, 0, 0), 1, 1.3148, 1.6852, 2)

	row := torch.FromSlice([]float32{0, 0, 255, 255}, 1, 1, 1, 4)
	y = F.Interpolate(row, F.InterpolateOptions{ScaleFactor: []float64{1, 2}, Mode: "bicubic"})
	near(t, y, 0, -8.9648, -26.8945, 57.7734, 197.2266, 281.8945, 263.9648, 255)
	near(t, y.ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255}), 0, 0, 0, 57.7734, 197.2266, 255, 255, 255)
}

// A size or a factor, not both; the mode must fit the number of dimensions.
func TestInterpolateErrors(t *testing.T) {
	fails(t, "either size or scale_factor should be defined", func() { F.Interpolate(small()) })
	fails(t, "only one of size or scale_factor should be defined", func() {
		F.Interpolate(small(), F.InterpolateOptions{Size: []int{2}, ScaleFactor: []float64{2}})
	})
	fails(t, "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "+
		"trilinear", func() {
		F.Interpolate(small(), F.InterpolateOptions{Size: []int{2}, AlignCorners: torch.Some(true)})
	})
	fails(t, "Got 4D input, but linear mode needs 3D input", func() { F.Interpolate(small(), twice("linear")) })
	// rounded down
	shaped(t, F.Interpolate(image(1, 5, 5), F.InterpolateOptions{ScaleFactor: []float64{1.5}}), 1, 1, 7, 7)
}
