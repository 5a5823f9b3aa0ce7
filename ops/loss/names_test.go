package loss_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeen compares what a tracer sees of the functions with the operators that PyTorch 2.15 lists for its own (make_fx
// with pre_dispatch).
func TestSeen(t *testing.T) {
	x, y := opstest.Fill(tensor.Float32, 1, 3, 4), opstest.Fill(tensor.Float32, 2, 3, 4)
	p := opstest.Fill(tensor.Float32, 3, 3, 4).Sigmoid()
	s, w := y.Sign(), opstest.Fill(tensor.Float32, 4, 4).Abs()
	k := tensor.FromSlice([]int64{0, 2, 1})
	lists := tensor.FromSlice([]int64{0, 2, -1, 1, 0, 2, -1, 1, 0, 2, -1, 1}, 3, 4)
	lp, labels := opstest.Fill(tensor.Float32, 5, 6, 2, 4), tensor.FromSlice([]int64{1, 2, 3, 2, 2, 1}, 2, 3)
	in, out := tensor.FromSlice([]int64{6, 5}), tensor.FromSlice([]int64{3, 2})
	row := func(x *T) *T { return x.Select(0, 0) }
	xr, yr, sr, sc := row(x), row(y), row(s), s.Select(1, 0)
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"mse_loss", func() { F.MSELoss(x, y) }, "broadcast_tensors mse_loss"},
		{"mse_loss with weights", func() { F.MSELoss(x, y, F.MSELossOptions{Weight: p}) },
			"broadcast_tensors sub.Tensor pow.Tensor_Scalar mul.Tensor sum sum div.Tensor"},
		{"mse_loss that broadcasts", func() { F.MSELoss(x, yr) }, "broadcast_tensors mse_loss"},
		{"l1_loss", func() { F.L1Loss(x, y) }, "broadcast_tensors l1_loss"},
		{"smooth_l1_loss", func() { F.SmoothL1Loss(x, y) }, "broadcast_tensors smooth_l1_loss"},
		{"smooth_l1_loss without beta", func() { F.SmoothL1Loss(x, y, F.SmoothL1LossOptions{Beta: tensor.Some(0.0)}) },
			"broadcast_tensors l1_loss"},
		{"huber_loss", func() { F.HuberLoss(x, y) }, "broadcast_tensors huber_loss"},
		{"huber_loss with weights", func() { F.HuberLoss(x, y, F.HuberLossOptions{Weight: p}) },
			"broadcast_tensors huber_loss mul.Tensor mean"},
		{"binary_cross_entropy", func() { F.BinaryCrossEntropy(p, p) }, "binary_cross_entropy"},
		{"binary_cross_entropy with weights",
			func() { F.BinaryCrossEntropy(p, p, F.BinaryCrossEntropyOptions{Weight: w}) },
			"expand binary_cross_entropy"},
		{"binary_cross_entropy_with_logits", func() { F.BinaryCrossEntropyWithLogits(x, p) },
			"binary_cross_entropy_with_logits"},
		{"kl_div", func() { F.KLDiv(x, p) }, "kl_div"},
		{"kl_div by batch", func() { F.KLDiv(x, p, F.KLDivOptions{Reduction: F.BatchMean}) }, "kl_div div.Tensor"},
		{"soft_margin_loss", func() { F.SoftMarginLoss(x, s) }, "soft_margin_loss"},
		{"hinge_embedding_loss", func() { F.HingeEmbeddingLoss(x, s) }, "hinge_embedding_loss"},
		{"poisson_nll_loss", func() { F.PoissonNLLLoss(x, p) }, "poisson_nll_loss"},
		{"margin_ranking_loss", func() { F.MarginRankingLoss(xr, yr, sr) }, "margin_ranking_loss"},
		{"cosine_embedding_loss", func() { F.CosineEmbeddingLoss(x, y, sc) }, "cosine_embedding_loss"},
		{"triplet_margin_loss", func() { F.TripletMarginLoss(x, y, p) }, "triplet_margin_loss"},
		{"triplet_margin_with_distance_loss", func() { F.TripletMarginWithDistanceLoss(x, y, p) },
			"pairwise_distance pairwise_distance add.Tensor sub.Tensor clamp_min mean"},
		{"multi_margin_loss", func() { F.MultiMarginLoss(x, k) }, "multi_margin_loss"},
		{"multilabel_margin_loss", func() { F.MultilabelMarginLoss(x, lists) }, "multilabel_margin_loss"},
		{"multilabel_soft_margin_loss", func() { F.MultilabelSoftMarginLoss(x, p) },
			"log_sigmoid mul.Tensor rsub.Scalar neg log_sigmoid mul.Tensor add.Tensor neg sum.dim_IntList div.Tensor " +
				"mean"},
		{"nll_loss", func() { F.NLLLoss(x, k) }, "nll_loss_nd"},
		{"cross_entropy", func() { F.CrossEntropy(x, k) }, "cross_entropy_loss"},
		{"cross_entropy with smoothing",
			func() { F.CrossEntropy(x, k, F.CrossEntropyOptions{LabelSmoothing: tensor.Some(0.1)}) },
			"cross_entropy_loss"},
		{"ctc_loss", func() { F.CTCLoss(lp, labels, in, out) }, "ctc_loss.Tensor"},
		{"cosine_similarity", func() { F.CosineSimilarity(x, y) }, "cosine_similarity"},
		{"pairwise_distance", func() { F.PairwiseDistance(x, y) }, "pairwise_distance"},
	} {
		opstest.Seen(t, c.name, c.f, c.want)
	}
}
