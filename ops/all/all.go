// Package all links every operator family into a program.
package all

import (
	_ "github.com/gotorch-dev/torch/ops/pointwise"
)
