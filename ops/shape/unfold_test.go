package shape_test

import (
	"slices"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// The windows of a dimension lie last, with that dimension's own stride.
func TestUnfoldStrides(t *testing.T) {
	v := make([]float32, 12)
	for i := range v {
		v[i] = float32(i)
	}
	got := tensor.FromSlice(v, 4, 3).Unfold(0, 2, 2)
	if !slices.Equal(got.Shape(), []int{2, 3, 2}) || !slices.Equal(got.Strides(), []int{6, 1, 3}) {
		t.Errorf("shape %v, strides %v, want [2 3 2] and [6 1 3]", got.Shape(), got.Strides())
	}
	want := []float32{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}
	if l := tensor.Data[float32](got.Contiguous()); !slices.Equal(l, want) {
		t.Errorf("got %v, want %v", l, want)
	}
}
