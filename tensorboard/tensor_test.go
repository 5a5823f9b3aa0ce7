package tensorboard_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/tensorboard"
)

func TestFromTensor(t *testing.T) {
	base := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	turned := tensor.FromStorage(base.Storage(), tensor.Float32, []int{3, 2}, []int{1, 3}, 0)
	for _, c := range []struct {
		name  string
		in    *tensor.Tensor
		kind  tensorboard.Kind
		shape []int
		want  []float64
	}{
		{"contiguous", base, tensorboard.Float32, []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		{"strided", turned, tensorboard.Float32, []int{3, 2}, []float64{1, 4, 2, 5, 3, 6}},
		{"uint8", tensor.FromSlice([]uint8{0, 255}, 2), tensorboard.Uint8, []int{2}, []float64{0, 255}},
		{"int64", tensor.FromSlice([]int64{math.MinInt32, 7}, 2), tensorboard.Int64, []int{2},
			[]float64{math.MinInt32, 7}},
		{"bool", tensor.FromSlice([]bool{true, false}, 2), tensorboard.Bool, []int{2}, []float64{1, 0}},
		{"bfloat16", tensor.DenseAs(base, tensor.BFloat16), tensorboard.BFloat16, []int{2, 3},
			[]float64{1, 2, 3, 4, 5, 6}},
		{"empty", tensor.New([]int{0, 3}, tensor.Float64), tensorboard.Float64, []int{0, 3}, nil},
	} {
		a := tensorboard.FromTensor(c.in)
		if a.Kind() != c.kind || !slices.Equal(a.Shape(), c.shape) || !slices.Equal(a.Float64s(), c.want) {
			t.Errorf("%s: %v %v %v, want %v %v %v", c.name, a.Kind(), a.Shape(), a.Float64s(), c.kind, c.shape, c.want)
		}
	}
	if err := tensor.Try(func() { tensorboard.FromTensor(tensor.New([]int{1}, tensor.Complex64)) }); err == nil {
		t.Error("a complex tensor is accepted")
	}
}
