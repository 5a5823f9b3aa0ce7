package loss_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func TestGradients(t *testing.T) {
	fill := func(seed int, sh ...int) *T { return opstest.Fill(tensor.Float64, seed, sh...) }
	class := tensor.FromSlice([]int64{1, 0, 3, 2}, 4)
	ignored := tensor.FromSlice([]int64{1, 0, 3, 0}, 4)
	weight := fill(9, 5).Abs().AddScalar(0.5)
	for _, reduction := range []F.Reduction{F.Mean, F.Sum, F.None} {
		check := func(name string, f func(x []*T) *T, in ...*T) {
			t.Helper()
			opstest.GradCheck(t, name+", "+reduction.String(), f, in...)
		}
		check("mse_loss", func(x []*T) *T { return F.MSELoss(x[0], x[1], F.MSELossOptions{Reduction: reduction}) },
			fill(1, 4, 5), fill(2, 4, 5))
		check("huber_loss", func(x []*T) *T {
			return F.HuberLoss(x[0], x[1], F.HuberLossOptions{Reduction: reduction})
		}, fill(1, 4, 5), fill(2, 4, 5))
		check("smooth_l1_loss", func(x []*T) *T {
			return F.SmoothL1Loss(x[0], x[1], F.SmoothL1LossOptions{Reduction: reduction})
		}, fill(1, 4, 5), fill(2, 4, 5))
		check("l1_loss", func(x []*T) *T { return F.L1Loss(x[0], x[1], F.L1LossOptions{Reduction: reduction}) },
			fill(1, 4, 5), fill(2, 4, 5))
		check("cross_entropy", func(x []*T) *T {
			return F.CrossEntropy(x[0], class,
				F.CrossEntropyOptions{Reduction: reduction, Weight: weight, LabelSmoothing: tensor.Some(0.1)})
		}, fill(1, 4, 5))
		check("cross_entropy that ignores a class", func(x []*T) *T {
			return F.CrossEntropy(x[0], ignored,
				F.CrossEntropyOptions{Reduction: reduction, IgnoreIndex: tensor.Some(0)})
		}, fill(1, 4, 5))
		check("nll_loss", func(x []*T) *T {
			return F.NLLLoss(x[0], class, F.NLLLossOptions{Reduction: reduction, Weight: weight})
		}, fill(1, 4, 5))
		check("binary_cross_entropy_with_logits", func(x []*T) *T {
			return F.BinaryCrossEntropyWithLogits(x[0], x[1],
				F.BinaryCrossEntropyWithLogitsOptions{Reduction: reduction, PosWeight: weight})
		}, fill(1, 4, 5), fill(2, 4, 5).Sigmoid())
		check("binary_cross_entropy", func(x []*T) *T {
			return F.BinaryCrossEntropy(x[0].Sigmoid(), fill(2, 4, 5).Sigmoid(),
				F.BinaryCrossEntropyOptions{Reduction: reduction})
		}, fill(1, 4, 5))
		check("kl_div", func(x []*T) *T {
			return F.KLDiv(x[0], x[1], F.KLDivOptions{Reduction: reduction})
		}, fill(1, 4, 5), fill(2, 4, 5).Sigmoid())
		check("soft_margin_loss", func(x []*T) *T {
			return F.SoftMarginLoss(x[0], fill(2, 4, 5).Sign(), F.SoftMarginLossOptions{Reduction: reduction})
		}, fill(1, 4, 5))
		check("poisson_nll_loss", func(x []*T) *T {
			return F.PoissonNLLLoss(x[0], fill(2, 4, 5).Abs(), F.PoissonNLLLossOptions{Reduction: reduction})
		}, fill(1, 4, 5))
	}
}

func TestThreads(t *testing.T) {
	opstest.SameBits(t, "cross_entropy", func() []*T {
		const rows, classes = 1003, 97
		target := make([]int64, rows)
		for i := range target {
			target[i] = int64(i * 31 % classes)
		}
		x := opstest.Fill(tensor.Float32, 1, rows, classes).SetRequiresGrad(true)
		y := F.CrossEntropy(x, tensor.FromSlice(target, rows))
		y.Backward()
		return []*T{y.Detach(), x.Grad()}
	})
}

// The loss of a guess that gives two classes the same score is log 2.
func Example() {
	scores := tensor.FromSlice([]float32{3, 3}, 1, 2)
	fmt.Printf("%.4f\n", F.CrossEntropy(scores, tensor.FromSlice([]int64{1}, 1)).Num().F)
	// Output: 0.6931
}
