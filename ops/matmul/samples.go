package matmul

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"mkldnn_linear_backward_weights :: 4x3 4x2 3x2 true",
		"_grouped_mm F::grouped_mm :: 2x3x4 2x4x5",
		"mm :: 3x4 4x5 ; 1x4 4x1 ; 0x4 4x3 ; 3x0 0x2 ; 17x33 33x19",
		"bmm :: 2x3x4 2x4x5 ; 2x1x4 2x4x1 ; 0x3x4 0x4x2",
		"mv :: 3x4 4 ; 3x0 0",
		"dot vdot :: 5 5 ; 0 0",
		"addmm :: 3x5 3x4 4x5 ; 5 3x4 4x5 beta=0.5 alpha=2 ; 3x5 3x4 4x5 beta=0",
		"addmv :: 3 3x4 4 ; s 3x4 4 beta=0.5 alpha=2",
		"addr :: 3x4 3 4 ; 4 3 4 beta=0.5 alpha=2",
		"addbmm :: 3x5 2x3x4 2x4x5 ; 3x5 2x3x4 2x4x5 beta=0.5 alpha=2",
		"baddbmm :: 2x3x5 2x3x4 2x4x5 ; 3x5 2x3x4 2x4x5 beta=0.5 alpha=2",
		"matmul Tensor::__matmul__ :: 3x4 4x5 ; 4 4 ; 3x4 4 ; 4 4x5 ; 2x1x3x4 3x4x5 ; 2x3x4 4x5",
		"Tensor::__rmatmul__ :: 4x5 3x4 ; 4 4",
		"linear F::linear :: 3x4 5x4 5 ; 2x3x4 5x4 ; 4 5x4 5 ; 0x4 5x4 5 ; 3x4 4",
		"gotorch::linear_fused :: 3x4 5x4 5 none ; 2x3x4 5x4 None relu ; 3x4 5x4 5 gelu ; 3x4 5x4 5 gelu_tanh ; 0x4 "+
			"5x4 5 gelu_tanh",
		"gotorch::linear_backward :: 3x5 3x4 5x4 True True True ; 2x3x5 2x3x4 5x4 True False True ; 3 3x4 4 True "+
			"True False ; 0x5 0x4 5x4 True True True",
		"_trilinear :: 3x4 2x4x5 3x5 [1,3] [0] [1,2] [2,3]",
		"bilinear F::bilinear :: 3x4 3x5 2x4x5 2 ; 3x4 3x5 2x4x5",
		"inner :: 3x4 5x4 ; 4 4",
		"outer :: 3 4",
		"kron :: 2x3 3x2",
		"tensordot :: 2x3x4 4x3x5 [1,2] [1,0]",
		"torch::tensordot :: 2x3x4 3x4x5 2",
		"linalg_multi_dot chain_matmul :: [2x3,3x4,4x2]",
		"linalg_vecdot :: 3x4 3x4 ; 3x4 4 dim=-1",
		"matrix_power linalg_matrix_power :: 3x3 2 ; 2x3x3 3 ; 3x3 0 ; 3x3 1 ; 3x3 -2 | tol=1e-3",
	)
	samples.None("what they hold depends on the processor; the family's tests compare them with linear",
		"gotorch::linear_pack gotorch::linear_packed")
	tensor.RegisterSamples("aten::einsum", func(s *tensor.Sampler) {
		f := func(eq string, shapes ...string) {
			var l []*tensor.Tensor
			for i, sh := range shapes {
				t, _ := samples.Tensor(sh, i)
				l = append(l, t)
			}
			s.Add(eq, l, nil)
		}
		f("ij,jk->ik", "3x4", "4x5")
		f("bij,bjk->bik", "2x3x4", "2x4x5")
		f("ij->ji", "3x4")
		f("ii->i", "3x3")
		f("i,j->ij", "3", "4")
		f("bij,bj->b", "2x3x4", "2x4")
		f("ij,jk,kl->il", "2x3", "3x4", "4x2")
	})
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		tensor.RegisterAMP(d, tensor.AMPLower, "aten::mm", "aten::bmm", "aten::addmm", "aten::addbmm", "aten::baddbmm",
			"aten::linear", "aten::matmul",
			"aten::linalg_multi_dot", "aten::chain_matmul")
	}
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPLower, "aten::addmv", "aten::addr", "aten::mv", "aten::einsum",
		"aten::linalg_vecdot")
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPPromote, "aten::bilinear", "aten::dot", "aten::vdot",
		"aten::tensordot")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::addmv", "aten::addr", "aten::mv", "aten::dot",
		"aten::vdot", "aten::einsum")
}

// What autocast does where it is not the AMP field of the Def: PyTorch has lists for each device, and AMPKeep stands
// for "not in the list".
func init() {
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPLower, "aten::linalg_vecdot")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPKeep, "aten::chain_matmul", "aten::linalg_multi_dot")
}
