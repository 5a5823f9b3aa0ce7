package conv_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	fill := func(seed int, sh ...int) *T { return opstest.Fill(tensor.Float64, seed, sh...) }
	opstest.GradCheck(t, "conv2d", func(x []*T) *T {
		return F.Conv2d(x[0], x[1], F.Conv2dOptions{Bias: x[2], Stride: []int{2, 1}, Padding: []int{1, 2},
			Dilation: []int{1, 2}, Groups: tensor.Some(2)})
	}, fill(1, 2, 4, 6, 7), fill(2, 6, 2, 3, 2), fill(3, 6))
	opstest.GradCheck(t, "conv2d 1x1", func(x []*T) *T { return F.Conv2d(x[0], x[1]) }, fill(1, 2, 3, 4, 4),
		fill(2, 5, 3, 1, 1))
	opstest.GradCheck(t, "depthwise conv1d", func(x []*T) *T {
		return F.Conv1d(x[0], x[1], F.Conv1dOptions{Groups: tensor.Some(3), Padding: []int{1}})
	}, fill(1, 2, 3, 9), fill(2, 3, 1, 3))
	opstest.GradCheck(t, "conv3d same", func(x []*T) *T {
		return F.Conv3dPadding(x[0], x[1], F.Conv3dPaddingOptions{Padding: "same"})
	}, fill(1, 1, 2, 3, 4, 3), fill(2, 2, 2, 2, 3, 2))
	opstest.GradCheck(t, "conv_transpose2d", func(x []*T) *T {
		return F.ConvTranspose2d(x[0], x[1],
			F.ConvTranspose2dOptions{Bias: x[2], Stride: []int{2, 3}, Padding: []int{1, 0}, OutputPadding: []int{1, 2},
				Groups: tensor.Some(2)})
	}, fill(1, 2, 4, 3, 4), fill(2, 4, 2, 3, 3), fill(3, 4))
	opstest.GradCheck(t, "conv_transpose2d 1x1 with a padded output", func(x []*T) *T {
		return F.ConvTranspose2d(x[0], x[1],
			F.ConvTranspose2dOptions{OutputPadding: []int{1, 1}, Dilation: []int{2, 2}, Groups: tensor.Some(2)})
	}, fill(1, 2, 4, 3, 4), fill(2, 4, 3, 1, 1))
	opstest.GradCheck(t, "unfold and fold", func(x []*T) *T {
		u := F.Unfold(x[0], []int{2, 3}, F.UnfoldOptions{Padding: []int{1, 1}, Stride: []int{2, 1}})
		return F.Fold(u.Mul(u), []int{5, 6}, []int{2, 3}, F.FoldOptions{Padding: []int{1, 1}, Stride: []int{2, 1}})
	}, fill(1, 2, 3, 5, 6))
}

func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, groups := range []int{1, 4, 32} {
		opstest.SameBits(t, fmt.Sprintf("conv2d with %d groups", groups), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, 5, 32, 19, 23).SetRequiresGrad(true)
			w := opstest.Fill(tensor.Float32, 2, 64, 32/groups, 3, 3).SetRequiresGrad(true)
			b := opstest.Fill(tensor.Float32, 3, 64).SetRequiresGrad(true)
			y := F.Conv2d(x, w, F.Conv2dOptions{Bias: b, Padding: []int{1, 1}, Groups: tensor.Some(groups)})
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad(), w.Grad(), b.Grad()}
		})
	}
}

// A 2x2 kernel of ones sums each window.
func Example() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 3, 3)
	w := tensor.FromSlice([]float32{1, 1, 1, 1}, 1, 1, 2, 2)
	fmt.Println(tensor.Data[float32](F.Conv2d(x, w)))
	// Output: [12 16 24 28]
}

func BenchmarkConv2d(b *testing.B) {
	x := opstest.Fill(tensor.Float32, 1, 16, 64, 56, 56)
	w := opstest.Fill(tensor.Float32, 2, 64, 64, 3, 3)
	b.Run("forward", func(b *testing.B) {
		for b.Loop() {
			F.Conv2d(x, w, F.Conv2dOptions{Padding: []int{1, 1}})
		}
		b.ReportMetric(2*16*64*56*56*576/1e9*float64(b.N)/b.Elapsed().Seconds(), "GF/s")
	})
	b.Run("both", func(b *testing.B) {
		x.SetRequiresGrad(true)
		w.SetRequiresGrad(true)
		for b.Loop() {
			F.Conv2d(x, w, F.Conv2dOptions{Padding: []int{1, 1}}).SumDim(nil).Backward()
		}
	})
}
