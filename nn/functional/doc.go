// Package functional holds PyTorch's torch.nn.functional: the layers of package nn as functions of their inputs and
// parameters. By convention it is imported as F:
//
//	import F "github.com/gotorch-dev/torch/nn/functional"
//
//	y := F.Dropout(x, F.DropoutOptions{P: torch.Some(0.1)})
//
// The functions are generated from the operators' schemas: required arguments are positional, the others are fields of
// one trailing options struct whose zero value is PyTorch's default. Functions that are also methods of tensors (ReLU,
// Softmax, …) are found there.
package functional
