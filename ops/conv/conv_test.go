package conv_test

import (
	"math"
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
