package pool_test

import (
	"fmt"
	"runtime"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func fill(seed int, sh ...int) *T { return opstest.Fill(tensor.Float64, seed, sh...) }

func TestGradients(t *testing.T) {
	opstest.GradCheck(t, "max_pool2d", func(x []*T) *T {
		y := F.MaxPool2d(x[0], []int{3, 2},
			F.MaxPool2dOptions{Stride: []int{2, 1}, Padding: []int{1, 0}, Dilation: []int{1, 2}, CeilMode: true})
		return y.Mul(y)
	}, fill(1, 2, 3, 6, 7))
	opstest.GradCheck(t, "avg_pool2d", func(x []*T) *T {
		y := F.AvgPool2d(x[0], []int{3, 2},
			F.AvgPool2dOptions{Stride: []int{2, 1}, Padding: []int{1, 1}, CeilMode: true, NoCountIncludePad: true})
		return y.Mul(y)
	}, fill(1, 2, 3, 6, 7))
	opstest.GradCheck(t, "avg_pool3d", func(x []*T) *T {
		y := F.AvgPool3d(x[0], []int{2, 2, 2}, F.AvgPool3dOptions{DivisorOverride: tensor.Some(3)})
		return y.Mul(y)
	}, fill(1, 3, 4, 5, 4))
	opstest.GradCheck(t, "adaptive_avg_pool2d", func(x []*T) *T {
		y := F.AdaptiveAvgPool2d(x[0], []int{2, 3})
		return y.Mul(y)
	}, fill(1, 3, 5, 7))
	opstest.GradCheck(t, "adaptive_max_pool3d", func(x []*T) *T {
		y := F.AdaptiveMaxPool3d(x[0], []int{2, 1, 2})
		return y.Mul(y)
	}, fill(1, 3, 5, 3, 4))
	opstest.GradCheck(t, "max_unpool2d", func(x []*T) *T {
		y, ix := F.MaxPool2dWithIndices(x[0], []int{2, 2})
		return F.MaxUnpool2d(y.Mul(y), ix, []int{2, 2})
	}, fill(1, 2, 4, 6))
}

func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for name, f := range map[string]func(x *T) *T{
		"max_pool2d": func(x *T) *T {
			return F.MaxPool2d(x, []int{3, 3}, F.MaxPool2dOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
		},
		"avg_pool2d": func(x *T) *T {
			return F.AvgPool2d(x, []int{3, 3},
				F.AvgPool2dOptions{Stride: []int{2, 2}})
		},
		"adaptive_avg_pool2d": func(x *T) *T { return F.AdaptiveAvgPool2d(x, []int{7, 7}) },
	} {
		opstest.SameBits(t, name, func() []*T {
			x := opstest.Fill(tensor.Float32, 1, 8, 32, 25, 31).SetRequiresGrad(true)
			y := f(x)
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad()}
		})
	}
}

func Example() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 4)
	fmt.Println(tensor.Data[float32](F.MaxPool2d(x, []int{2, 2})))
	// Output: [6 8]
}
