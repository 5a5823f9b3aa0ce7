package norm_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestStatistics16 compares batch norm's 16-bit statistics with PyTorch's formulas: those of bfloat16 round at each
// step, those of float16 at the end.
func TestStatistics16(t *testing.T) {
	const channels, momentum, eps = 7, 0.3, 1e-3
	for _, dt := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
		r := func(x float64) float64 { return half.Round(x, dt) }
		step := func(x float64) float64 { return x }
		if dt == tensor.BFloat16 {
			step = r
		}
		x := opstest.Fill(tensor.Float64, 1, 3, channels, 10).MulScalar(3).AddScalar(5).ToDType(dt)
		rm, rv := opstest.Fill(tensor.Float64, 2, channels).ToDType(dt),
			opstest.Fill(tensor.Float64, 3, channels).Abs().ToDType(dt)
		m0, v0 := tensor.CloneRaw(rm), tensor.CloneRaw(rv)
		res := op.Call("aten::native_batch_norm", x, nil, nil, rm, rv, true, momentum, eps)
		numbers := func(v *tensor.Tensor) []float64 { return tensor.Data[float64](v.ToDType(tensor.Float64).Contiguous()) }
		for c := range channels {
			v := numbers(x.Select(1, c))
			n, mean, sum := float64(len(v)), 0.0, 0.0
			for _, e := range v {
				mean += e / n
			}
			for _, e := range v {
				sum += (e - r(mean)) * (e - r(mean))
			}
			sum = step(sum)
			move := func(old, to float64) float64 { return r(step(momentum)*step(to) + step(step(1-momentum)*old)) }
			for name, p := range map[string][2]float64{
				"mean":              {numbers(res[1])[c], r(mean)},
				"inverse deviation": {numbers(res[2])[c], r(1 / math.Sqrt(step(sum/n)+eps))},
				"running mean":      {numbers(rm)[c], move(numbers(m0)[c], mean)},
				"running variance":  {numbers(rv)[c], move(numbers(v0)[c], sum/(n-1))},
			} {
				if p[0] != p[1] {
					t.Errorf("%v: %s of channel %d is %v, want %v", dt, name, c, p[0], p[1])
				}
			}
		}
	}
}
