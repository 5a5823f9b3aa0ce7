package norm_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestBatchNormFar normalises images that the caches do not hold, whose results are stored around them, with planes on whole lines and not.
func TestBatchNormFar(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large images")
	}
	torch.ManualSeed(3)
	for _, shape := range [][]int{{4, 16, 256, 256}, {5, 24, 187, 191}} {
		ch := shape[1]
		x := torch.Randn(shape)
		mean, variance, w, b := torch.Randn([]int{ch}), torch.Rand([]int{ch}).AddScalar(0.5), torch.Randn([]int{ch}), torch.Randn([]int{ch})
		at := func(v *torch.Tensor, i int) float64 { return float64(tensor.Data[float32](v)[i]) }
		want := func(v float64, c int) float64 {
			return (v-at(mean, c))/math.Sqrt(at(variance, c)+1e-5)*at(w, c) + at(b, c)
		}
		for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
			y := F.BatchNorm(x.To(f), mean, variance, F.BatchNormOptions{Weight: w, Bias: b})
			if !y.IsContiguousFormat(f) {
				t.Fatalf("%v: the result has another memory format", f)
			}
			in, out := tensor.Data[float32](x), tensor.Data[float32](y.Contiguous())
			plane := shape[2] * shape[3]
			for i, v := range in {
				if e := want(float64(v), i/plane%ch); !(math.Abs(float64(out[i])-e) <= 1e-5*(1+math.Abs(e))) {
					t.Fatalf("%v %v: element %d is %g, want %g", shape, f, i, out[i], e)
				}
			}
		}
	}
}
