package norm_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/par"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestRMSNormGradients compares the fused gradients of float32 with the composed ones of float64, also where they are
// recorded, and their bits across numbers of threads.
func TestRMSNormGradients(t *testing.T) {
	before := par.NumThreads()
	defer par.SetNumThreads(before)
	torch.ManualSeed(6)
	for _, n := range []int{1, 7, 64, 1000} {
		x0, w0, g0 := torch.Randn([]int{50, n}), torch.Randn([]int{n}), torch.Randn([]int{50, n})
		for _, scaled := range []bool{true, false} {
			grads := func(dt tensor.DType, threads int, record bool) []*tensor.Tensor {
				par.SetNumThreads(threads)
				x, w := x0.To(dt).Detach().SetRequiresGrad(true), w0.To(dt).Detach().SetRequiresGrad(true)
				in, opts := []*tensor.Tensor{x}, F.RMSNormOptions{Eps: tensor.Some(1e-5)}
				if scaled {
					in, opts.Weight = append(in, w), w
				}
				y := F.RMSNorm(x, []int{n}, opts)
				g := torch.Grad([]*tensor.Tensor{y}, in,
					torch.GradOptions{GradOutputs: []*tensor.Tensor{g0.To(dt)}, CreateGraph: record})
				if record {
					g = torch.Grad([]*tensor.Tensor{g[0].Square().Sum()}, in[:1])
				}
				return g
			}
			want, twice := grads(tensor.Float64, 1, false), grads(tensor.Float64, 1, true)
			got, gotTwice := grads(tensor.Float32, 1, false), grads(tensor.Float32, 1, true)
			near := func(name string, got, want *tensor.Tensor) {
				if d := got.To(tensor.Float64).Sub(want).Abs().Max().Num().F; d > 1e-4*(1+want.Abs().Max().Num().F) {
					t.Errorf("n=%d, scaled %v: %s is off by %g", n, scaled, name, d)
				}
			}
			for i := range got {
				near([]string{"the input's gradient", "the weight's gradient"}[i], got[i], want[i])
				for _, threads := range []int{2, 3, 8} {
					if !grads(tensor.Float32, threads, false)[i].Equal(got[i]) {
						t.Errorf("n=%d: gradient %d depends on the number of threads", n, i)
					}
				}
			}
			near("the gradient of the gradient", gotTwice[0], twice[0])
		}
	}
}
