package torch

import (
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/packed"
	"github.com/gotorch-dev/torch/tensor"
)

// MemoryStatistics describes the memory of tensors on the CPU, in bytes and counts. Tensors below 4 KiB live on the Go
// heap and are not counted.
type MemoryStatistics struct {
	Allocated    int // in use, or not yet found to be unused by the garbage collector
	Reserved     int // Allocated and what is kept to be used again
	Peak         int // highest Allocated since the start or ResetPeakMemoryStats
	PeakReserved int // highest Reserved
	Allocations  int // blocks handed out so far
	FreedAtOnce  int // blocks returned by Tidy, Backward and optimizers
	FreedByGC    int // blocks returned by the garbage collector
}

// MemoryStats tells how much memory tensors use, as torch.cuda.memory_stats does for a GPU.
func MemoryStats() MemoryStatistics {
	s := mem.ReadStats()
	return MemoryStatistics{s.Allocated, s.Reserved, s.Peak, s.PeakReserved, s.Allocations, s.FreedAtOnce, s.FreedByGC}
}

// ResetPeakMemoryStats sets the peaks of MemoryStats to the current figures.
func ResetPeakMemoryStats() { mem.ResetPeak() }

// EmptyCache gives memory that is kept to be used again back to the system, together with that of tensors which nothing
// refers to any more, and drops what can be made again: weights that were packed for kernels, and what
// nn/utils.OptimizeForInference has recorded. It is seldom needed: what nobody has asked for during a quiet second goes
// back by itself, and all of it when the Go runtime comes near its memory limit (GOMEMLIMIT).
func EmptyCache() {
	packed.Drop()
	mem.EmptyCache()
}

// SetMemoryLimit sets how many bytes the tensors on the CPU may use together, and returns the former limit. An operator
// that needs more panics with ErrMemory, which [Try] returns as an ordinary error; before that, memory that is kept to
// be used again is given up, and the garbage collector looks for tensors that nothing refers to. A negative number
// changes nothing.
//
// The default is what there is: the memory and swap of the machine, or less if a control group (a container) or a
// resource limit of Linux allows less. What other programs use is not looked at, and tensors below 4 KiB are not
// counted. PyTorch's allocator for the CPU has no limit of its own. The limit of the Go runtime, debug.SetMemoryLimit,
// is another one: near it, the runtime collects garbage more often, and no allocation fails.
func SetMemoryLimit(bytes int) (old int) { return mem.SetLimit(bytes) }

// Tidy runs f and then frees the memory of all tensors that were made in it on this goroutine, except parameters and
// their gradients, what optimizers keep, and tensors on which Keep was called. Using any other tensor made in f
// afterwards panics with ErrReleased.
//
// It is never needed: without it the garbage collector finds unused tensors, only later. A training step inside Tidy
// stays at its own peak of memory.
func Tidy(f func()) { tensor.Tidy(f) }

// TidyReturn is Tidy for a function with a result, which lives on together with what its Backward needs.
func TidyReturn(f func() *Tensor) *Tensor { return tensor.TidyReturn(f) }

// TidyReturnN is TidyReturn for several results.
func TidyReturnN(f func() []*Tensor) []*Tensor { return tensor.TidyReturnN(f) }

// Handover is memory that one goroutine has made for another; see MakeFor.
type Handover = tensor.Handover

// MakeFor runs f, whose results are for another goroutine, such as a batch that is put together ahead of time. That
// goroutine calls Adopt, inside its own Tidy, which then frees the results with what it has made itself. What f keeps
// for later is left alone. The workers of a data.DataLoader do this by themselves.
func MakeFor(f func() []*Tensor) Handover { return tensor.MakeFor(f) }
