package pool_test

import (
	"slices"
	"testing"

	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

// TestFractionalWindows follows the windows of a 1 × 5 row: their starts are known for each sample.
func TestFractionalWindows(t *testing.T) {
	x := tensor.FromSlice([]float64{0, 1, 2, 3, 4}).Reshape([]int{1, 1, 5})
	for _, c := range []struct {
		sample float64
		want   []int64 // last element of each window of 2: the values rise
	}{
		{0, []int64{1, 2, 4}},   // starts int(i·1.5): 0, 1, 3
		{0.5, []int64{1, 3, 4}}, // starts int((i+.5)·1.5) - 0: 0, 2, 3
		{0.9, []int64{1, 2, 4}}, // starts int((i+.9)·1.5) - 1: 0, 1, 3
		{7, []int64{1, 3, 4}},   // outside [0, 1): starts stay inside the input
	} {
		r := tensor.FromSlice([]float64{c.sample, 0}).Reshape([]int{1, 1, 2})
		out, err := tensor.CallOp("aten::fractional_max_pool2d", tensor.Box(x), tensor.Box([]int{1, 2}),
			tensor.Box([]int{1, 3}), tensor.Box(r))
		if err != nil {
			t.Fatal(err)
		}
		if got := tensor.Data[int64](out[1].T); !slices.Equal(got, c.want) {
			t.Errorf("sample %v: maxima at %v, want %v", c.sample, got, c.want)
		}
	}
	r := tensor.FromSlice([]float64{0, 0}).Reshape([]int{1, 1, 2})
	if _, err := tensor.CallOp("aten::fractional_max_pool2d", tensor.Box(x), tensor.Box([]int{1, 4}),
		tensor.Box([]int{1, 3}), tensor.Box(r)); err == nil {
		t.Error("a window too large for the output is accepted")
	}
}
