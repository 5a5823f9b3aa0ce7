package onnx

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// TestDeformConvPads: without offsets a deformable convolution is a plain one, with pads that differ on both sides, too.
func TestDeformConvPads(t *testing.T) {
	x := call("aten::arange", 2*3*5*6).ToDType(tensor.Float32).SinInPlace().Reshape([]int{2, 3, 5, 6})
	w := call("aten::arange", 4*3*3*2).ToDType(tensor.Float32).CosInPlace().Reshape([]int{4, 3, 3, 2})
	for _, pads := range [][]int{{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 0, 2, 1}} {
		want := call("aten::conv2d", padSpatial(x, pads, 0), w, nil, []int{1, 2}, []int{0, 0}, []int{1, 1}, 1)
		offset := x.NewZeros([]int{2, 12, want.Size(2), want.Size(3)})
		got := deformConvTensor(x, w, offset, nil, nil, []int{1, 2}, pads, []int{1, 1}, 1, 1)
		if !got.AllClose(want, tensor.AllCloseOptions{Atol: tensor.Some(1e-5)}) {
			t.Errorf("pads %v: got %v, want %v", pads, got, want)
		}
	}
}

// TestNMSLimits: boxes below the score's limit and beyond the number of boxes are left out, class by class.
func TestNMSLimits(t *testing.T) {
	boxes := tensor.FromSlice([]float32{0, 0, 1, 1, 0, 0.1, 1, 1.1, 2, 2, 3, 3, 5, 5, 4, 4}, 1, 4, 4)
	scores := tensor.FromSlice([]float32{0.9, 0.8, 0.7, 0.2, 0.1, 0.6, 0.5, 0.4}, 1, 2, 4)
	limit := 0.3
	for _, c := range []struct {
		most  int
		limit *float64
		want  []int
	}{
		{3, nil, []int{0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 1, 1, 0, 1, 2, 0, 1, 3}},
		{3, &limit, []int{0, 0, 0, 0, 0, 2, 0, 1, 1, 0, 1, 2, 0, 1, 3}},
		{1, &limit, []int{0, 0, 0, 0, 1, 1}},
		{0, nil, nil},
	} {
		got := nms(boxes, scores, c.most, 0.5, c.limit, false)
		if got.Size(1) != 3 || !slices.Equal(hostInts(got.Reshape([]int{-1})), c.want) && len(c.want)+got.Numel() > 0 {
			t.Errorf("at most %d: got %v, want %v", c.most, got, c.want)
		}
	}
}
