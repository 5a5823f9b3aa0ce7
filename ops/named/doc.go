// Package named has the operators of tensors whose dimensions have names, and the rules by which other operators pass
// names on.
//
//	methods.go     rename, refine_names, align_to, flatten and unflatten by name
//	overloads.go   operators that take a name where others take the number of a dimension
//	rules.go       names of results
//
// The names themselves are in package tensor (names.go). PyTorch had named tensors from release 1.3 to 2.4
// (https://pytorch.org/docs/1.13/named_tensor.html); since PyTorch 2.15 has none of these operators, they are functions
// in the namespaces torch and Tensor, which call the operators that it has.
package named

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// T and Ctx are short for this package.
type (
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

var call = op.Call
