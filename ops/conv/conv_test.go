package conv_test

import (
	"math"
	"slices"
	"testing"

	_ "github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

func TestConv2dByHand(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3).SetRequiresGrad(true)
	w := tensor.FromSlice([]float32{1, 0, 0, -1}, 1, 1, 2, 2).SetRequiresGrad(true)
	b := tensor.FromSlice([]float32{0.5}).SetRequiresGrad(true)
	y := F.Conv2d(x, w, F.Conv2dOptions{Bias: b})
	want := []float32{-3.5, -3.5, -3.5, -3.5}
	for i, v := range tensor.Data[float32](y) {
		if math.Abs(float64(v-want[i])) > 1e-6 {
			t.Fatalf("element %d is %g, want %g", i, v, want[i])
		}
	}
	y.SumDim(nil).Backward()
	if g := tensor.Data[float32](w.Grad()); g[0] != 12 || g[1] != 16 || g[2] != 24 || g[3] != 28 {
		t.Fatalf("weight gradient %v", g)
	}
	if g := tensor.Data[float32](b.Grad()); g[0] != 4 {
		t.Fatalf("bias gradient %v", g)
	}
	if g := tensor.Data[float32](x.Grad()); g[0] != 1 || g[4] != 0 || g[8] != -1 {
		t.Fatalf("input gradient %v", g)
	}
}

// Without input channels the result has none, and what it was made of gets gradients of zero.
func TestNoChannels(t *testing.T) {
	for _, n := range []int{0, 2} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			for nd := 1; nd <= 3; nd++ {
				sh := func(a, b, k int) *tensor.Tensor {
					return tensor.FromSlice([]float64{},
						append([]int{a, b}, slices.Repeat([]int{k}, nd)...)...).To(dt).SetRequiresGrad(true)
				}
				x, w, b := sh(n, 0, 7), sh(8, 0, 3), tensor.FromSlice(make([]float64, 8)).To(dt).SetRequiresGrad(true)
				one := slices.Repeat([]int{1}, nd)
				y := [](func() *tensor.Tensor){
					func() *tensor.Tensor {
						return F.Conv1d(x, w, F.Conv1dOptions{Bias: b, Groups: tensor.Some(4), Padding: one})
					},
					func() *tensor.Tensor {
						return F.Conv2d(x, w, F.Conv2dOptions{Bias: b, Groups: tensor.Some(4), Padding: one})
					},
					func() *tensor.Tensor {
						return F.Conv3d(x, w, F.Conv3dOptions{Bias: b, Groups: tensor.Some(4), Padding: one})
					},
				}[nd-1]()
				if want := append([]int{n, 0}, slices.Repeat([]int{7}, nd)...); !slices.Equal(y.Shape(), want) {
					t.Errorf("%s: the result has shape %v, want %v", dt, y.Shape(), want)
				}
				y.SumDim(nil).Backward()
				if !slices.Equal(w.Grad().Shape(), w.Shape()) || !slices.Equal(b.Grad().Shape(), b.Shape()) ||
					!slices.Equal(x.Grad().Shape(), x.Shape()) {
					t.Errorf("%s: gradients of shapes %v, %v and %v", dt, x.Grad().Shape(), w.Grad().Shape(),
						b.Grad().Shape())
				}
				if v := b.Grad().Abs().SumDim(nil).Item(); v != 0 {
					t.Errorf("%s: the bias has a gradient of %g", dt, v)
				}
			}
		}
	}
}
