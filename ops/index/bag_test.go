package index_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

func indices(n, rows int) *tensor.Tensor {
	ix := make([]int64, n)
	for i := range ix {
		ix[i] = int64(i*i*7+3*i) % int64(rows)
	}
	return tensor.FromSlice(ix)
}

// TestBagGradient compares the gradient that is written row by row with the one of the recorded rule, which is made of
// other operators.
func TestBagGradient(t *testing.T) {
	for _, mode := range []string{"sum", "mean", "max"} {
		for _, d := range []int{1, 5, 130} {
			for _, pad := range []tensor.Opt[int]{{}, tensor.Some(3)} {
				for _, freq := range []bool{false, mode != "max"} {
					name := fmt.Sprint(mode, d, pad, freq)
					ix, off := indices(40, 17), tensor.FromSlice([]int64{0, 4, 4, 19, 30})
					g := opstest.Fill(tensor.Float64, 2, 5, d)
					var grads []*tensor.Tensor
					for _, create := range []bool{false, true} {
						w := opstest.Fill(tensor.Float64, 1, 17, d).SetRequiresGrad(true)
						o := F.EmbeddingBagOptions{Offsets: off, Mode: mode, ScaleGradByFreq: freq, PaddingIdx: pad}
						if mode == "sum" {
							o.PerSampleWeights = opstest.Fill(tensor.Float64, 3, 40)
						}
						y := F.EmbeddingBag(ix, w, o)
						grads = append(grads,
							tensor.Grad([]*tensor.Tensor{y}, []*tensor.Tensor{w},
								tensor.GradOptions{GradOutputs: []*tensor.Tensor{g}, CreateGraph: create})[0])
					}
					a, b := tensor.Data[float64](grads[0]), tensor.Data[float64](grads[1].Detach())
					for i := range a {
						if math.Abs(a[i]-b[i]) > 1e-12 {
							t.Fatalf("%s: element %d is %g, want %g", name, i, a[i], b[i])
						}
					}
				}
			}
		}
	}
}

func TestTableThreads(t *testing.T) {
	opstest.SameBits(t, "embedding", func() []*tensor.Tensor {
		w := opstest.Fill(tensor.Float32, 1, 3000, 40).SetRequiresGrad(true)
		y := F.Embedding(indices(5000, 2900), w)
		y.Mul(y).Sum().Backward()
		v := opstest.Fill(tensor.Float32, 2, 3000, 40).SetRequiresGrad(true)
		z := F.EmbeddingBag(indices(5000, 2900).View([]int{500, 10}), v)
		z.Mul(z).Sum().Backward()
		return []*tensor.Tensor{y.Detach(), w.Grad(), z.Detach(), v.Grad()}
	})
}
