// Package masked holds PyTorch's torch.masked: reductions and normalisations that leave out the elements where a mask,
// broadcast to the input, is false.
//
//	m := masked.Mean(x, masked.MeanOptions{Dim: []int{1}, Mask: x.GtScalar(0)})
//
// What is left of a masked row is the value of the reduction of nothing: 0 for a sum, -Inf for a maximum, NaN for a
// mean. The functions are generated from the operators' schemas: required arguments are positional, the others are
// fields of one trailing options struct whose zero value is PyTorch's default. Gradients follow from the operators that
// the functions are composed of. Masked tensors, torch.masked.MaskedTensor, are not there.
//
// https://pytorch.org/docs/stable/masked.html
package masked

import "github.com/gotorch-dev/torch" // links the operators that the functions call

// Tensor is torch.Tensor.
type Tensor = torch.Tensor
