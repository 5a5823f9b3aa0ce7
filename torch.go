// Package torch is the front door: tensors and their creation, operators as functions, modes, random seeds.
//
//go:generate go run ./internal/gen
package torch

import (
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a strided array with a dtype and a place on the tape.
type Tensor = tensor.Tensor
