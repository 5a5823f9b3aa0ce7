package resize_test

import (
	"fmt"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	x := opstest.Fill(tensor.Float64, 1, 1, 2, 5, 4)
	for _, mode := range []string{"nearest", "nearest-exact", "bilinear", "bicubic", "area"} {
		opstest.GradCheck(t, mode, func(x []*T) *T {
			y := F.Interpolate(x[0], F.InterpolateOptions{Size: []int{3, 7}, Mode: mode})
			return y.Mul(y)
		}, x)
	}
	opstest.GradCheck(t, "antialiased", func(x []*T) *T {
		return F.Interpolate(x[0], F.InterpolateOptions{Size: []int{2, 3}, Mode: "bilinear", Antialias: true})
	}, x)
}

func Example() {
	x := tensor.FromSlice([]float32{0, 2}, 1, 1, 2)
	fmt.Println(tensor.Data[float32](F.Interpolate(x, F.InterpolateOptions{Size: []int{4}, Mode: "linear"})))
	// Output: [0 0.5 1.5 2]
}
