package utils

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// ParametersToVector joins tensors into one vector.
func ParametersToVector(params []*Tensor) *Tensor {
	flat := make([]*Tensor, len(params))
	for i, p := range params {
		flat[i] = p.Reshape([]int{-1})
	}
	return torch.Cat(flat)
}

// VectorToParameters copies the parts of a vector into the tensors; its length must be that of all of them together.
func VectorToParameters(vec *Tensor, params []*Tensor) {
	total := 0
	for _, p := range params {
		total += p.Numel()
	}
	if vec.Dim() != 1 || vec.Numel() != total {
		tensor.Fail(tensor.ErrShape, "VectorToParameters: the parameters have %d elements, the vector has shape %s",
			total, tensor.ShapeString(vec.Shape()))
	}
	tensor.NoGrad(func() {
		at := 0
		for _, p := range params {
			p.CopyInPlace(vec.Narrow(0, at, p.Numel()).Reshape(p.Shape()))
			at += p.Numel()
		}
	})
}
