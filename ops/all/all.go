// Package all links every operator family into a program.
package all

import (
	_ "github.com/gotorch-dev/torch/ops/attention"
	_ "github.com/gotorch-dev/torch/ops/conv"
	_ "github.com/gotorch-dev/torch/ops/fft"
	_ "github.com/gotorch-dev/torch/ops/foreach"
	_ "github.com/gotorch-dev/torch/ops/index"
	_ "github.com/gotorch-dev/torch/ops/linalg"
	_ "github.com/gotorch-dev/torch/ops/loss"
	_ "github.com/gotorch-dev/torch/ops/masked"
	_ "github.com/gotorch-dev/torch/ops/matmul"
	_ "github.com/gotorch-dev/torch/ops/named"
	_ "github.com/gotorch-dev/torch/ops/norm"
	_ "github.com/gotorch-dev/torch/ops/pointwise"
	_ "github.com/gotorch-dev/torch/ops/pool"
	_ "github.com/gotorch-dev/torch/ops/quantized"
	_ "github.com/gotorch-dev/torch/ops/random"
	_ "github.com/gotorch-dev/torch/ops/reduce"
	_ "github.com/gotorch-dev/torch/ops/resize"
	_ "github.com/gotorch-dev/torch/ops/rnn"
	_ "github.com/gotorch-dev/torch/ops/scan"
	_ "github.com/gotorch-dev/torch/ops/shape"
	_ "github.com/gotorch-dev/torch/ops/softmax"
	_ "github.com/gotorch-dev/torch/ops/sort"
	_ "github.com/gotorch-dev/torch/ops/sparse"
)
