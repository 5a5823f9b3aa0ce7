package loss

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"binary_cross_entropy F::binary_cross_entropy :: 3x4@0.1..0.9 3x4@0..1 ; 3x4@0.1..0.9 3x4@0..1 4@0.5..2",
		"binary_cross_entropy_with_logits F::binary_cross_entropy_with_logits :: 3x4 3x4@0..1 ; 3x4 3x4@0..1 4@0.5..2",
		"mse_loss l1_loss huber_loss smooth_l1_loss F::mse_loss F::l1_loss F::huber_loss F::smooth_l1_loss :: 3x4 "+
			"3x4 ; 7 7",
		"soft_margin_loss F::soft_margin_loss hinge_embedding_loss F::hinge_embedding_loss :: 3x4 "+
			"{1,-1,1,1;-1,1,-1,1;1,1,-1,-1} | nograd",
		"kl_div F::kl_div :: 3x4 3x4@0.1..1 ; 3x4 3x4 log_target=true",
		"poisson_nll_loss :: 3x4 3x4@1.1..3 true true 1e-8 1",
		"F::poisson_nll_loss :: 3x4 3x4@1.1..3 ; 3x4@0.1..2 3x4@1.1..3 false true",
		"F::linear_cross_entropy F::linear_cross_entropy.options :: 3x4 5x4 {0,2,1} ; 3x4 5x2x4 3x2:i5 linear_bias=5x2 "+
			"label_smoothing=0.1",
		"F::gaussian_nll_loss :: 3x4 3x4 3x4@0.3..2 ; 3x4 3x4 3x4@0.3..2 true",
		"margin_ranking_loss F::margin_ranking_loss :: 4 4 {1.0,-1,1,-1} 0.1",
		"cosine_embedding_loss F::cosine_embedding_loss :: 4x3 4x3 {1,-1,1,-1} 0.1",
		"triplet_margin_loss F::triplet_margin_loss F::triplet_margin_with_distance_loss :: 3x4 3x4 3x4 ; 3x4 3x4 "+
			"3x4 swap=true",
		"multi_margin_loss F::multi_margin_loss :: 3x4 {0,2,1} ; 3x4 {0,2,1} p=2",
		"multilabel_margin_loss F::multilabel_margin_loss :: 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3}",
		"multilabel_margin_loss_forward :: 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3} 0 | first",
		"multilabel_margin_loss_backward :: 3 3x4 {0,2,-1,1;3,-1,0,1;1,0,2,3} 0 {1.0,0,1,0;0,0,0,1;1,1,1,1} | nograd",
		"multi_margin_loss_backward :: s 3x4 {0,2,1} 2 1 | nograd",
		"mse_loss_backward soft_margin_loss_backward :: s 3x4 3x4 1 ; 3x4 3x4 3x4 0",
		"smooth_l1_loss_backward huber_loss_backward :: s 3x4 3x4 1 0.5 ; 3x4 3x4 3x4 0 0.5",
		"binary_cross_entropy_backward :: s 3x4@0.1..0.9 3x4@0..1 ; 3x4 3x4@0.1..0.9 3x4@0..1 4@0.5..2 0 | const=3",
		"gotorch::any_below :: 3x4 0.0 ; 3x4@1..2 0.0", "gotorch::list_tensor :: 3 [3,1,2]",
		"F::multilabel_soft_margin_loss :: 3x4 {0,1,1,0;1,0,1,0;0,0,0,1} | nograd",
		"nll_loss nll_loss_nd F::nll_loss cross_entropy_loss F::cross_entropy :: 3x4 {0,2,1} ; 3x4 {0,2,1} 4@0.5..2 "+
			"| const=2 ; 3x4 {0,-100,1}",
		"nll_loss_forward :: 3x4 {0,2,1} None 1 -100 ; 3x4 {0,2,1} 4@0.5..2 0 -100 | const=2 first "+
			"; 4 s:i3 4@0.5..2 1 -100 | const=2 first ; 4 s:i3 None 0 -100",
		"nll_loss_backward :: s 3x4 {0,2,1} None 1 -100 s | nograd ; s 4 s:i3 4@0.5..2 1 -100 s | nograd",
		"nll_loss2d :: 2x3x2x2 2x2x2:i3", "nll_loss2d_forward :: 2x3x2x2 2x2x2:i3 None 1 -100",
		"nll_loss2d_backward :: s 2x3x2x2 2x2x2:i3 None 1 -100 s | nograd",
		"ctc_loss.IntList F::ctc_loss.IntList _ctc_loss :: 6x2x4 {1,2,3;2,2,1} [6,5] [3,2] | nograd",
		"miopen_ctc_loss :: 6x2x4 {1,2,3;2,2,1} [6,5] [3,2] 0 false false | nograd",
		"ctc_loss.Tensor F::ctc_loss _ctc_loss.Tensor :: 6x2x4 {1,2,3;2,2,1} {6,5} {3,2} | nograd",
	)
	samples.None("the gradient of a loss in one pass; the family's tests compare it with the composed form",
		"gotorch::cross_entropy_backward gotorch::cosine_similarity_backward "+
			"gotorch::l1_loss_backward gotorch::binary_cross_entropy_with_logits_backward gotorch::kl_div_backward "+
			"gotorch::kl_div_log_target_backward gotorch::hinge_embedding_loss_backward "+
			"gotorch::poisson_nll_loss_backward gotorch::poisson_nll_loss_log_input_backward")
	samples.None("an inner step of ctc_loss whose arguments are its results",
		"_ctc_loss_backward _ctc_loss_backward.Tensor")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		for _, n := range strings.Fields("mse_loss l1_loss huber_loss smooth_l1_loss soft_margin_loss " +
			"hinge_embedding_loss kl_div poisson_nll_loss margin_ranking_loss cosine_embedding_loss " +
			"triplet_margin_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d " +
			"binary_cross_entropy_with_logits ctc_loss") {
			tensor.RegisterAMP(d, tensor.AMPFP32, "aten::"+n)
		}
	}
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPFP32, "aten::binary_cross_entropy", "aten::cross_entropy_loss",
		"aten::multilabel_margin_loss_forward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPBanned, "aten::binary_cross_entropy")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::ctc_loss")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::nll_loss_forward", "aten::nll_loss2d_forward")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPKeep, "aten::nll_loss_forward", "aten::nll_loss2d_forward")
}
