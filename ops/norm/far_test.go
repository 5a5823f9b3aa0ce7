package norm_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestBatchNormFar normalises images that the caches do not hold, whose results are stored around them, with planes
// on whole lines and not.
func TestBatchNormFar(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large images")
	}
	torch.ManualSeed(3)
	for _, shape := range [][]int{{4, 16, 256, 256}, {5, 24, 187, 191}} {
		ch := shape[1]
		x := torch.Randn(shape)
		mean, variance, w, b := torch.Randn([]int{ch}), torch.Rand([]int{ch}).AddScalar(0.5), torch.Randn([]int{ch}),
			torch.Randn([]int{ch})
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

// TestHardlyVarying normalises numbers that are all the same, or nearly: the deviations from their mean are blown up
// by 1/√eps, and with them what a mean summed in float32, or x·scale + shift instead of (x-mean)·scale, would lose.
func TestHardlyVarying(t *testing.T) {
	for i, n := range []int{1, 3, 16, 100, 2560, 20000, 1, 4, 60} {
		images := 2
		if i > 5 {
			images = 200
		}
		for _, offset := range []float64{0.37, 10.37, 1000.37} {
			v := make([]float32, images*4*n)
			for i := range v {
				v[i] = float32(offset)
				if i/n%4 != 1 { // that channel is constant
					v[i] *= 1 + 1e-4*float32(i%2)
				}
			}
			x := torch.FromSlice(v, images, 4, n, 1)
			for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
				x := x.To(f)
				for name, norm := range map[string]func(x *torch.Tensor) *torch.Tensor{
					"layer_norm": func(x *torch.Tensor) *torch.Tensor { return F.LayerNorm(x, []int{n, 1}) },
					"group_norm": func(x *torch.Tensor) *torch.Tensor { return F.GroupNorm(x, 4) },
					"batch_norm": func(x *torch.Tensor) *torch.Tensor {
						return F.BatchNorm(x, nil, nil, F.BatchNormOptions{Training: true})
					},
					"instance_norm": func(x *torch.Tensor) *torch.Tensor { return F.InstanceNorm(x) },
				} {
					if n == 1 && name != "layer_norm" && name != "group_norm" {
						continue
					}
					got, want := norm(x).Double(), norm(x.Double())
					// four units in the last place of x, and for batch norm of x/√eps
					limit := 3e-6 + 316*offset*2.4e-7
					if e := got.Sub(want).Abs().Max().Num().F; !(e <= limit) {
						t.Errorf("%s of %d numbers about %g, format %v: off by %g, want at most %g", name, n, offset, f,
							e, limit)
					}
				}
			}
		}
	}
}
