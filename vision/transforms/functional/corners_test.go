package functional_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

// Boxes and points move by the rounded half of the difference in either direction: a picture of 7 x 5 in the middle of
// 17 x 24 by int(round(-9.5)) = -10 in width, as torchvision has it, not by the 9 columns of padding before an image.
func TestCenterCropOfBoxes(t *testing.T) {
	b := tvtensors.NewBoundingBoxes(torch.FromSlice([]float32{0, 1, 3, 4}, 1, 4), "xyxy", [2]int{7, 5})
	got := F.CenterCrop(b, []int{17, 24})
	if want := torch.FromSlice([]float32{10, 6, 13, 9}, 1, 4); !got.Equal(want) || got.CanvasSize != [2]int{17, 24} {
		t.Errorf("boxes %v on %v, want %v", got.Tensor, got.CanvasSize, want)
	}
	p := tvtensors.NewKeyPoints(torch.FromSlice([]float32{0, 1}, 1, 2), [2]int{7, 5})
	if got, want := F.CenterCrop(p, []int{17, 24}), torch.FromSlice([]float32{10, 6}, 1, 2); !got.Equal(want) {
		t.Errorf("points %v, want %v", got.Tensor, want)
	}
}

// Points that coincide give a picture, not an error.
func TestPerspectiveOfCoincidingPoints(t *testing.T) {
	x := torch.Ones([]int{3, 2, 3})
	start := [4][2]float64{{0, 0}, {2, 0}, {2, 1}, {0, 1}}
	for _, end := range [][4][2]float64{{{1, 0}, {1, 0}, {2, 1}, {0, 1}}, {{1, 0}, {1, 0}, {1, 1}, {1, 1}},
		{{0, 0}, {0, 0}, {0, 0}, {0, 0}}} {
		var y *torch.Tensor
		if err := torch.Try(func() { y = F.Perspective(x, start, end) }); err != nil {
			t.Errorf("%v: %v", end, err)
		} else if y.IsFinite().All().Item() == 0 {
			t.Errorf("%v: %v", end, y)
		}
	}
}
