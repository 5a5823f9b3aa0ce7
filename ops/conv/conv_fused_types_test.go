package conv_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// The fused convolution leaves to the convolution what its kernel does not compute: tensors of two dtypes are an error,
// integers give integers.
func TestFusedDTypes(t *testing.T) {
	ones := func(dt tensor.DType, shape ...int) *T {
		n := 1
		for _, s := range shape {
			n *= s
		}
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i%5 - 2)
		}
		return tensor.FromSlice(v, shape...).ToDType(dt)
	}
	fused := func(in, w, bias *T) ([]tensor.Value, error) {
		b := tensor.Value{}
		if bias != nil {
			b = tensor.TensorValue(bias)
		}
		return tensor.CallOp("gotorch::conv_fused", tensor.TensorValue(in), tensor.TensorValue(w), b, tensor.Value{},
			tensor.Box([]int{1, 1}), tensor.Box([]int{1, 1}), tensor.Box([]int{1, 1}), tensor.Box(1),
			tensor.Box(math.Inf(-1)), tensor.Box(math.Inf(1)))
	}
	types := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.Int64}
	for _, a := range types {
		for _, b := range types {
			x, w := ones(a, 2, 2, 5, 5), ones(b, 3, 2, 3, 3)
			for _, bias := range []*T{nil, ones(b, 3), ones(a, 3)} {
				var plain *T
				wrong := tensor.Try(func() {
					plain = F.Conv2d(x, w, F.Conv2dOptions{Bias: bias, Padding: []int{1, 1}})
				})
				r, err := fused(x, w, bias)
				if e := (*tensor.Error)(nil); (err == nil) != (wrong == nil) || err != nil && !errors.As(err, &e) {
					t.Errorf("input %v, weight %v: %v, the convolution: %v", a, b, err, wrong)
					continue
				}
				if err != nil {
					continue
				}
				got, want := r[0].T.ToDType(tensor.Float64), plain.ToDType(tensor.Float64)
				if r[0].T.DType() != plain.DType() || !slices.Equal(tensor.Data[float64](got), tensor.Data[float64](want)) {
					t.Errorf("input %v, weight %v: the fused convolution differs", a, b)
				}
			}
		}
	}
}
