package loss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestCosineSimilarity compares rows in one pass with the definition, values and gradients, rows of zeros among them.
func TestCosineSimilarity(t *testing.T) {
	const eps = 0.1
	tols := map[tensor.DType]float64{tensor.Float64: 1e-13, tensor.Float32: 2e-6}
	for dt, tol := range tols {
		for _, sh := range [][]int{{1, 1}, {5, 3}, {33, 67}, {9, 1300}} {
			for _, transposed := range []bool{false, true} {
				x, y := opstest.Fill(tensor.Float64, 1, sh...), opstest.Fill(tensor.Float64, 2, sh...)
				x.Select(0, 0).MulScalarInPlace(1e-3) // shorter than eps
				if sh[0] > 2 {
					x.Select(0, 1).ZeroInPlace()
				}
				x, y = x.ToDType(dt), y.ToDType(dt)
				if transposed {
					x, y = x.T().Contiguous().T(), y.T().Contiguous().T()
				}
				a, b := tensor.Data[float64](x.ToDType(tensor.Float64).Contiguous()),
					tensor.Data[float64](y.ToDType(tensor.Float64).Contiguous())
				n := sh[1]
				want, da, db := make([]float64, sh[0]), make([]float64, len(a)), make([]float64, len(a))
				for r := range want {
					dot, na, nb := 0.0, 0.0, 0.0
					for i := r * n; i < r*n+n; i++ {
						dot += a[i] * b[i]
						na += a[i] * a[i]
						nb += b[i] * b[i]
					}
					na, nb = math.Sqrt(na), math.Sqrt(nb)
					la, lb := math.Max(na, eps), math.Max(nb, eps)
					want[r] = dot / (la * lb)
					for i := r * n; i < r*n+n; i++ {
						da[i], db[i] = b[i]/(la*lb), a[i]/(la*lb)
						if na > 0 {
							da[i] -= want[r] / la * a[i] / na
						}
						if nb > 0 {
							db[i] -= want[r] / lb * b[i] / nb
						}
					}
				}
				x, y = x.Detach().SetRequiresGrad(true), y.Detach().SetRequiresGrad(true)
				z := F.CosineSimilarity(x, y, F.CosineSimilarityOptions{Eps: tensor.Some(eps)})
				z.Sum().Backward()
				name := fmt.Sprintf("%v of %v (transposed: %v)", dt, sh, transposed)
				closeTo(t, name, z, want, tol)
				closeTo(t, name+", gradient of x1", x.Grad(), da, tol)
				closeTo(t, name+", gradient of x2", y.Grad(), db, tol)
			}
		}
	}
	opstest.GradCheck(t, "cosine_similarity", func(x []*T) *T { return F.CosineSimilarity(x[0], x[1]) },
		opstest.Fill(tensor.Float64, 1, 3, 5), opstest.Fill(tensor.Float64, 2, 3, 5))
}
