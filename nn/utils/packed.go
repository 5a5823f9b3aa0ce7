package utils

import (
	"github.com/gotorch-dev/torch/internal/fused"
	"github.com/gotorch-dev/torch/internal/packed"
)

// linearPanels is the kind of a linear layer's packed weight: which part of its storage, read how.
type linearPanels struct{ off, rows, cols, rowStride, colStride int }

// packedLinear is a linear layer's weight in the order in which the kernels read it. All plans of all prepared modules
// share it.
func packedLinear(w *Tensor) *Tensor {
	k := linearPanels{w.StorageOffset(), w.Size(0), w.Size(1), w.Stride(0), w.Stride(1)}
	return packed.For(w, k, true, func() *Tensor { return fused.LinearPack(w).Keep() })
}
