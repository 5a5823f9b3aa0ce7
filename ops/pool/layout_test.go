package pool_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestLayouts compares poolings of channels-last memory with those of planes, and those of 16-bit floats with float32
// of the same values: results, positions and gradients, with NaN among the maxima.
func TestLayouts(t *testing.T) {
	pools := map[string]func(x *T) []*T{
		"max": func(x *T) []*T {
			return []*T{F.MaxPool2d(x, []int{3, 2},
				F.MaxPool2dOptions{Stride: []int{2, 1}, Padding: []int{1, 1}, Dilation: []int{1, 2}})}
		},
		"max indices": func(x *T) []*T {
			y, ix := F.MaxPool2dWithIndices(x, []int{3, 3},
				F.MaxPool2dWithIndicesOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
			return []*T{y, ix}
		},
		"adaptive max": func(x *T) []*T { y, ix := F.AdaptiveMaxPool2dWithIndices(x, []int{4, 3}); return []*T{y, ix} },
		"adaptive max, equal windows": func(x *T) []*T {
			y, ix := F.AdaptiveMaxPool2dWithIndices(x, []int{3, 5})
			return []*T{y, ix}
		},
		"adaptive mean": func(x *T) []*T { return []*T{F.AdaptiveAvgPool2d(x, []int{4, 3})} },
		"mean": func(x *T) []*T {
			return []*T{F.AvgPool2d(x, []int{3, 2}, F.AvgPool2dOptions{Stride: []int{3, 2}, Padding: []int{1, 1}})}
		},
	}
	for name, f := range pools {
		for _, channels := range []int{1, 3, 70} {
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16} {
				// sums are exact, winners often tie
				x := opstest.Fill(tensor.Float64, 7, 2, channels, 9, 10).MulScalar(8).RoundDecimals(0)
				if strings.Contains(name, "max") {
					d := tensor.Data[float64](x)
					d[len(d)/3], d[len(d)/3+1], d[0] = math.NaN(), math.NaN(), math.Inf(-1)
				}
				x = x.ToDType(dt)
				run := func(x *T) []*T {
					x = x.Detach().SetRequiresGrad(true)
					r := f(x)
					r[0].SumDim(nil).Backward()
					return append(r, x.Grad())
				}
				want := run(x)
				got := run(x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast}))
				wide := run(x.ToDType(tensor.Float64))
				for i := range want {
					a := tensor.Data[float64](want[i].ToDType(tensor.Float64).Contiguous())
					b := tensor.Data[float64](got[i].ToDType(tensor.Float64).Contiguous())
					c := tensor.Data[float64](wide[i].ToDType(tensor.Float64).Contiguous())
					for j := range a {
						if a[j] != b[j] && (a[j] == a[j] || b[j] == b[j]) {
							t.Fatalf("%s of %d channels of %s: result %d, element %d is %v, in planes %v", name,
								channels, dt, i, j, b[j], a[j])
						}
						if d := math.Abs(a[j] - c[j]); d > 0.02*math.Abs(c[j])+1e-6 ||
							(a[j] == a[j]) != (c[j] == c[j]) {
							t.Fatalf("%s of %d channels of %s: result %d, element %d is %v, in float64 %v", name,
								channels, dt, i, j, a[j], c[j])
						}
					}
				}
			}
		}
	}
}
