package loss_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestMultilabelMargin compares with the definition, of lists of any length and with a class twice.
func TestMultilabelMargin(t *testing.T) {
	const n, classes = 37, 11
	ix := make([]int64, n*classes)
	for i := range ix {
		ix[i] = int64(i*i+3*i) % classes
		if i%classes >= i/classes%5 {
			ix[i] = -1
		}
	}
	target := tensor.FromSlice(ix, n, classes)
	for dt, tol := range map[tensor.DType]float64{tensor.Float64: 1e-14, tensor.Float32: 1e-6, tensor.BFloat16: 1e-2} {
		x := opstest.Fill(tensor.Float64, 1, n, classes).ToDType(dt)
		want := make([]float64, n)
		v := tensor.Data[float64](x.ToDType(tensor.Float64))
		for r := range n {
			row, list := v[r*classes:][:classes], ix[r*classes:][:classes]
			listed := map[int]bool{}
			for _, k := range list {
				if k < 0 {
					break
				}
				listed[int(k)] = true
			}
			for _, k := range list {
				if k < 0 {
					break
				}
				for j := range row {
					if !listed[j] {
						want[r] += math.Max(0, 1-row[k]+row[j]) / classes
					}
				}
			}
		}
		y := F.MultilabelMarginLoss(x, target, F.MultilabelMarginLossOptions{Reduction: F.None})
		closeTo(t, fmt.Sprint(dt), y, want, tol)
	}
	opstest.GradCheck(t, "multilabel_margin_loss", func(x []*T) *T { return F.MultilabelMarginLoss(x[0], target) },
		opstest.Fill(tensor.Float64, 1, n, classes))
}
