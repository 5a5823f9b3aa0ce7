package conv

import (
	"github.com/gotorch-dev/torch/internal/cpu"
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/tensor"
)

// packedFor finds what was kept for the weight of a fused convolution. A change in place, which raises its version,
// starts anew. Weights whose memory the program holds as a slice, and might write to unseen, do not come here: fused
// operators run on weights that were folded for them.
func packedFor(w *T) *cpuconv.PackedWeights { return keepPacked(w, true) }

// fewPositions is the number of output positions up to which laying out the weights takes a good part of a
// convolution's time.
const fewPositions = 1024

// packedAgain is packedFor for convolutions that are not fused: it keeps parameters that have not changed between two
// calls with few positions, as in inference. For others, such as those of a training step, it is nil.
func packedAgain(w *T, positions int) *cpuconv.PackedWeights {
	if positions > fewPositions || !w.IsParameter() || w.Storage().Shown() || w.DType() != tensor.Float32 &&
		w.DType() != tensor.Float64 && (w.DType() != tensor.BFloat16 || !cpu.HasBF16) {
		return nil
	}
	return keepPacked(w, false)
}

// keepPacked returns what is kept for the version of the weight that there is now: from its first call on or from its
// second.
func keepPacked(w *T, first bool) *cpuconv.PackedWeights {
	return packed.For(w, convWeights{}, first, func() *cpuconv.PackedWeights { return &cpuconv.PackedWeights{} })
}

// convWeights is the kind of what is kept here. PackedWeights fills itself, for the part of the storage that is used.
type convWeights struct{}
