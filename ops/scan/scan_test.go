package scan_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGolden(t *testing.T) {
	opstest.Conformance(t, `^(cum(sum|prod|max|min)|logcumsumexp|diff|trapz|trapezoid|cumulative_trapezoid)$`, 0.99)
}

func TestGradients(t *testing.T) {
	x := opstest.Fill(tensor.Float64, 1, 3, 4, 5)
	values := func(v, _ *T) *T { return v }
	for dim := range 3 {
		for name, f := range map[string]func(x []*T) *T{
			"cumsum":       func(x []*T) *T { return x[0].CumSum(dim) },
			"cumprod":      func(x []*T) *T { return x[0].CumProd(dim) },
			"cummax":       func(x []*T) *T { return values(x[0].CumMax(dim)) },
			"cummin":       func(x []*T) *T { return values(x[0].CumMin(dim)) },
			"logcumsumexp": func(x []*T) *T { return x[0].LogCumSumExp(dim) },
			"diff":         func(x []*T) *T { return x[0].Diff(tensor.DiffOptions{Dim: tensor.Some(dim), N: tensor.Some(2)}) },
		} {
			opstest.GradCheck(t, fmt.Sprintf("%s over %d", name, dim), f, x)
		}
	}
	// Dividing the running product by an element, the short way, fails where one is zero.
	for _, v := range [][]float64{{2, 0, 3, -1}, {0, 2, 0, 5}} {
		opstest.GradCheck(t, fmt.Sprintf("cumprod of %v", v), func(x []*T) *T { return x[0].CumProd(0) }, tensor.FromSlice(v, 4))
	}
}

func TestThreads(t *testing.T) {
	for dim := range 2 {
		opstest.SameBits(t, fmt.Sprintf("cumsum over %d", dim), func() []*T {
			x := opstest.Fill(tensor.Float32, 1, 311, 523).SetRequiresGrad(true)
			y := x.CumSum(dim)
			y.Mul(y).SumDim(nil).Backward()
			return []*T{y.Detach(), x.Grad()}
		})
	}
}

// A running sum keeps the shape.
func Example() {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 4)
	fmt.Println(tensor.Data[float32](x.CumSum(0)), tensor.Data[float32](x.CumProd(0)))
	// Output: [1 3 6 10] [1 2 6 24]
}
