package reduce_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

func TestGradients(t *testing.T) {
	type T = tensor.Tensor
	x := opstest.Fill(tensor.Float64, 1, 3, 4, 5)
	for _, dims := range [][]int{{0}, {1}, {2}, {0, 2}, {0, 1, 2}} {
		for name, f := range map[string]func(x []*T) *T{
			"sum":  func(x []*T) *T { return x[0].SumDim(dims) },
			"mean": func(x []*T) *T { return x[0].MeanDim(dims) },
			"var":  func(x []*T) *T { return x[0].VarCorrection(tensor.VarCorrectionOptions{Dim: dims}) },
			"max":  func(x []*T) *T { return x[0].Amax(tensor.AmaxOptions{Dim: dims}) },
		} {
			opstest.GradCheck(t, fmt.Sprintf("%s over %v", name, dims), f, x)
		}
	}
}

// A dimension that is reduced disappears.
func Example() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(tensor.Data[float32](x.SumDim([]int{0})), tensor.Data[float32](x.MeanDim([]int{1})))
	// Output: [5 7 9] [2 5]
}
