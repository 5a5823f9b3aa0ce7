package matmul

import "github.com/gotorch-dev/torch/tensor"

func init() { tensor.RegisterONNX(`MatMul: matmul($0, $1)`) }
