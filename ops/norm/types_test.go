package norm_test

import (
	"fmt"
	"math"
	"testing"

	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestTypes compares the normalisations of every floating type and memory layout with those of contiguous float64,
// values and gradients.
func TestTypes(t *testing.T) {
	tols := map[tensor.DType]float64{tensor.Float64: 1e-11, tensor.Float32: 2e-5, tensor.BFloat16: 3e-2,
		tensor.Float16: 4e-3}
	type norm struct {
		name string
		f    func(x, w, b *T) *T
	}
	norms := []norm{
		{"batch_norm in training", func(x, w, b *T) *T {
			return F.BatchNorm(x, nil, nil, F.BatchNormOptions{Weight: w, Bias: b, Training: true})
		}},
		{"batch_norm in evaluation", func(x, w, b *T) *T {
			return F.BatchNorm(x, b.Detach(), b.Detach().Abs().AddScalar(0.5), F.BatchNormOptions{Weight: w, Bias: b})
		}},
		{"group_norm", func(x, w, b *T) *T { return F.GroupNorm(x, 3, F.GroupNormOptions{Weight: w, Bias: b}) }},
		{"instance_norm", func(x, w, b *T) *T { return F.InstanceNorm(x, F.InstanceNormOptions{Weight: w, Bias: b}) }},
		{"layer_norm", func(x, w, b *T) *T {
			return F.LayerNorm(x.Transpose(1, -1), []int{x.Size(1)}, F.LayerNormOptions{Weight: w, Bias: b})
		}},
		{"rms_norm", func(x, w, b *T) *T {
			return F.RMSNorm(x.Transpose(1, -1), []int{x.Size(1)}, F.RMSNormOptions{Weight: w}).Add(b)
		}},
	}
	for _, c := range norms {
		for _, sh := range [][]int{{2, 6, 5, 7}, {3, 9, 71, 59}, {1, 300, 4, 5}, {40, 6, 3}, {130, 6, 3, 3},
			{3, 201, 7, 7}, {2, 1500, 2, 2}, {16, 3, 4, 4}, {5, 12, 1, 3}} {
			for dt, tol := range tols {
				for _, last := range []bool{false, true} {
					if last && len(sh) != 4 {
						continue
					}
					// operands that the type holds, so that only the arithmetic differs
					x0, w0, b0, g0 := fill(1, sh...).ToDType(dt), fill(2, sh[1]).ToDType(dt),
						fill(3, sh[1]).ToDType(dt), fill(4, sh...).ToDType(dt)
					run := func(dt tensor.DType, last bool) (r []*T) {
						x, w, b, g := x0.ToDType(dt).Detach(), w0.ToDType(dt).Detach(), b0.ToDType(dt).Detach(),
							g0.ToDType(dt)
						if last {
							x = x.Contiguous(tensor.ContiguousOptions{MemoryFormat: tensor.ChannelsLast})
						}
						x.SetRequiresGrad(true)
						w.SetRequiresGrad(true)
						b.SetRequiresGrad(true)
						y := c.f(x, w, b)
						if !tensor.SameShape(y.Shape(), g.Shape()) {
							g = g.Transpose(1, -1)
						}
						y.Backward(tensor.BackwardOptions{Gradient: g})
						return []*T{y.Detach(), x.Grad(), w.Grad(), b.Grad()}
					}
					want, got := run(tensor.Float64, false), run(dt, last)
					for i := range want {
						same(t, fmt.Sprintf("%s, %v of %v (channels last: %v), result %d", c.name, dt, sh, last, i),
							got[i], want[i], tol)
					}
				}
			}
		}
	}
}

// same compares with a tolerance relative to the largest value.
func same(t *testing.T, name string, got, want *T, tol float64) {
	t.Helper()
	g, w := tensor.Data[float64](got.ToDType(tensor.Float64).Contiguous()), tensor.Data[float64](want.Contiguous())
	top := 1.0
	for _, v := range w {
		top = math.Max(top, math.Abs(v))
	}
	for i, v := range w {
		if !(math.Abs(g[i]-v) <= tol*top) {
			t.Fatalf("%s: element %d is %g, want %g", name, i, g[i], v)
		}
	}
}

// TestMixedTypes checks that a bias of float32 beside a 16-bit input gets a gradient that is not rounded to 16 bits,
// with a weight or without.
func TestMixedTypes(t *testing.T) {
	for _, stats := range []bool{false, true} {
		x, b := tensor.New([]int{1, 1, 2, 257}, tensor.BFloat16),
			tensor.New([]int{1}, tensor.Float32).SetRequiresGrad(true)
		var mean, variance *T
		if stats {
			mean, variance = tensor.New([]int{1}, tensor.Float32), tensor.FromSlice([]float32{1}, 1)
		}
		F.BatchNorm(x, mean, variance, F.BatchNormOptions{Bias: b,
			Training: true}).ToDType(tensor.Float32).Sum().Backward()
		if got := b.Grad().Item(); got != 514 {
			t.Errorf("running statistics %v: the gradient of the bias is %v, want 514", stats, got)
		}
	}
}

// TestOneValue checks that groups of one value are refused.
func TestOneValue(t *testing.T) {
	if err := tensor.Try(func() { F.GroupNorm(fill(1, 1, 4), 4) }); err == nil {
		t.Error("four groups of four values were normalised")
	}
	F.GroupNorm(fill(1, 2, 4), 4)
}
