package foreach_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestUnscale compares the kernel with the composition, for contiguous and strided gradients of every type, with and
// without infinities.
func TestUnscale(t *testing.T) {
	num := func(x float32) *tensor.Tensor { return tensor.FromSlice([]float32{x}).View([]int{}) }
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		for _, bad := range []float64{1, math.Inf(1), math.Inf(-1), math.NaN()} {
			data := make([]float64, 40000)
			for i := range data {
				data[i] = float64(i%13 - 6)
			}
			data[39999] = bad
			dense := tensor.FromSlice(data).ToDType(dt)
			strided := tensor.FromSlice(data).ToDType(dt).View([]int{200, 200}).T()
			want := dense.MulScalar(0.5)
			found := num(0)
			op.Call("aten::_amp_foreach_non_finite_check_and_unscale_", []*tensor.Tensor{dense, strided}, found, num(0.5))
			if got, infinite := found.Item() != 0, math.IsInf(bad, 0) || math.IsNaN(bad); got != infinite {
				t.Errorf("%v, %v: found_inf is %v", dt, bad, got)
			}
			for i, g := range []*tensor.Tensor{dense, strided.T().Reshape([]int{40000})} {
				if !g.Narrow(0, 0, 39999).Equal(want.Narrow(0, 0, 39999)) {
					t.Errorf("%v, %v: gradient %d is not halved", dt, bad, i)
				}
			}
		}
	}
}

// TestUpdateScale follows a scale through backoff, growth and the limit of float32.
func TestUpdateScale(t *testing.T) {
	for _, tc := range []struct {
		scale   float32
		tracker int32
		found   float32
		want    float32
		after   int32
	}{
		{8, 0, 0, 8, 1},
		{8, 1, 1, 2, 0},
		{8, 2, 0, 24, 0},
		{math.MaxFloat32, 2, 0, math.MaxFloat32, 0},
	} {
		scale := tensor.FromSlice([]float32{tc.scale}).View([]int{})
		tracker := tensor.FromSlice([]int32{tc.tracker}).View([]int{})
		found := tensor.FromSlice([]float32{tc.found}).View([]int{})
		op.Call("aten::_amp_update_scale_", scale, tracker, found, 3.0, 0.25, 3)
		if scale.Item() != float64(tc.want) || tracker.Item() != float64(tc.after) {
			t.Errorf("%+v: scale %v, tracker %v", tc, scale.Item(), tracker.Item())
		}
	}
}
