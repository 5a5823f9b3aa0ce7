package loss

import (
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"_binary_cross_entropy :: 3x4@0.1..0.9 3x4@0..1", "binary_cross_entropy F::binary_cross_entropy :: 3x4@0.1..0.9 3x4@0..1 ; 3x4@0.1..0.9 3x4@0..1 4@0.5..2",
		"binary_cross_entropy_with_logits F::binary_cross_entropy_with_logits :: 3x4 3x4@0..1 ; 3x4 3x4@0..1 4@0.5..2",
		"mse_loss l1_loss huber_loss smooth_l1_loss F::mse_loss F::l1_loss F::huber_loss F::smooth_l1_loss :: 3x4 3x4 ; 7 7",
		"soft_margin_loss F::soft_margin_loss hinge_embedding_loss F::hinge_embedding_loss :: 3x4 {1,-1,1,1;-1,1,-1,1;1,1,-1,-1} | nograd",
		"kl_div F::kl_div :: 3x4 3x4@0.1..1 ; 3x4 3x4 log_target=true",
		"poisson_nll_loss :: 3x4 3x4@1.1..3 true true 1e-8 1", "F::poisson_nll_loss :: 3x4 3x4@1.1..3 ; 3x4@0.1..2 3x4@1.1..3 false true",
		"F::gaussian_nll_loss :: 3x4 3x4 3x4@0.3..2 ; 3x4 3x4 3x4@0.3..2 true",
		"margin_ranking_loss F::margin_ranking_loss :: 4 4 {1.0,-1,1,-1} 0.1",
		"cosine_embedding_loss F::cosine_embedding_loss :: 4x3 4x3 {1,-1,1,-1} 0.1",
		"triplet_margin_loss F::triplet_margin_loss F::triplet_margin_with_distance_loss :: 3x4 3x4 3x4 ; 3x4 3x4 3x4 swap=true",
		"multi_margin_loss F::multi_margin_loss :: 3x4 {0,2,1} ; 3x4 {0,2,1} p=2",
		"multilabel_margin_loss F::multilabel_margin_loss :: 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3}",
		"_multilabel_margin :: 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3}", "_multilabel_margin_backward :: 3 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3}",
		"_cosine_similarity :: 3x4 3x4 1e-8",
		"F::multilabel_soft_margin_loss :: 3x4 {0,1,1,0;1,0,1,0;0,0,0,1} | nograd",
		"nll_loss nll_loss_nd F::nll_loss cross_entropy_loss F::cross_entropy :: 3x4 {0,2,1} ; 3x4 {0,2,1} 4@0.5..2 | const=2 ; 3x4 {0,-100,1}",
		"nll_loss_forward :: 3x4 {0,2,1} None 1 -100 ; 3x4 {0,2,1} 4@0.5..2 0 -100 | const=2 first", "nll_loss_backward :: s 3x4 {0,2,1} None 1 -100 s | nograd",
		"nll_loss2d :: 2x3x2x2 2x2x2:i3", "nll_loss2d_forward :: 2x3x2x2 2x2x2:i3 None 1 -100", "nll_loss2d_backward :: s 2x3x2x2 2x2x2:i3 None 1 -100 s | nograd",
		"ctc_loss.IntList F::ctc_loss.IntList _ctc_loss :: 6x2x4 {1,2,3;2,2,1} [6,5] [3,2] | nograd",
		"ctc_loss.Tensor F::ctc_loss _ctc_loss.Tensor :: 6x2x4 {1,2,3;2,2,1} {6,5} {3,2} | nograd",
	)
	samples.None("a fused step of cross_entropy, whose arguments are its results; the family's tests compare it with the composed form", "_cross_entropy _cross_entropy2d _cross_entropy_backward")
	for _, l := range pairLosses {
		samples.None("the one-pass form of a loss; the family's tests compare it with the composed form", strings.Join(slices.Sorted(maps.Keys(l.ops())), " ")+" "+l.name+"_backward")
	}
	samples.None("the gradient's step of cosine_similarity, whose results are as many as are asked for; the family's tests compare it with the composed form", "_cosine_similarity_backward")
	samples.None("an inner step of ctc_loss whose arguments are its results", "_ctc_loss_backward")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		for _, n := range strings.Fields("mse_loss l1_loss huber_loss smooth_l1_loss soft_margin_loss hinge_embedding_loss kl_div poisson_nll_loss margin_ranking_loss cosine_embedding_loss " +
			"triplet_margin_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d binary_cross_entropy_with_logits ctc_loss") {
			tensor.RegisterAMP(d, tensor.AMPFP32, "aten::"+n)
		}
	}
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::binary_cross_entropy", "aten::cross_entropy_loss")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPBanned, "aten::binary_cross_entropy")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::ctc_loss")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::nll_loss_forward", "aten::nll_loss2d_forward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::nll_loss_forward", "aten::nll_loss2d_forward")
}
