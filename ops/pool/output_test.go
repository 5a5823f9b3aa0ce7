package pool_test

import (
	"strings"
	"testing"

	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// A window larger than the image leaves no result.
func TestWindowLargerThanImage(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	for name, f := range map[string]func(){
		"avg_pool1d": func() { F.AvgPool1d(x.View([]int{1, 1, 4}), []int{5}) },
		"avg_pool2d": func() { F.AvgPool2d(x, []int{3, 3}) },
		"max_pool2d": func() { F.MaxPool2d(x, []int{3, 3}) },
	} {
		err := tensor.Try(f)
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), "output size") {
			t.Errorf("%s: %v, want an error about the output size", name, err)
		}
	}
}
