package linalg

import "github.com/gotorch-dev/torch/tensor"

func init() { tensor.RegisterONNX(`Det: det($0)`) }
