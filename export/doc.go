// Package export loads and runs the programs of torch.export: the archives (.pt2) that torch.export.save writes.
package export

import (
	_ "github.com/gotorch-dev/torch/ops/all" // links the operators
)
