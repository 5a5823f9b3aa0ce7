// Package foreach holds PyTorch's operators on lists of tensors: one elementary operator for each element of a list
// (aten::_foreach_add_ and its like), and the steps of optimizers (aten::_fused_adam_ and its like), which update all
// parameters of a list in one parallel loop.
//
// PyTorch gives no documentation of these operators, only their schemas; torch.optim and torch.nn.utils.clip_grad_norm_
// are their users. See https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/ForeachOpsKernels.cpp and
// FusedAdam.cpp beside it.
package foreach

import "github.com/gotorch-dev/torch/tensor"

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)
