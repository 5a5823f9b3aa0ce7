package functional

import "github.com/gotorch-dev/torch/tensor"

// HasTorchFunction reports that calls of operators in this goroutine are taken over: by a layer of rank
// tensor.RankTrace, which records or replaces them. In Python the recorders of torch.fx and the modes of
// torch.overrides stand on __torch_function__. Subclasses of Tensor with that method, for which Python looks among the
// relevant tensors, do not exist in Go, so the tensors make no difference.
// https://pytorch.org/docs/stable/torch.overrides.html#torch.overrides.has_torch_function
func HasTorchFunction(relevant []*Tensor) bool { return tensor.LayerOf(tensor.RankTrace) != nil }

// HasTorchFunctionUnary is HasTorchFunction of a single tensor.
func HasTorchFunctionUnary(x *Tensor) bool { return HasTorchFunction([]*Tensor{x}) }

// HasTorchFunctionVariadic is HasTorchFunction of the tensors that it is given.
func HasTorchFunctionVariadic(relevant ...*Tensor) bool { return HasTorchFunction(relevant) }
