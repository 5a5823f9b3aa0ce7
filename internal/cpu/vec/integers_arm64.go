//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// laneFunc returns the assembly of an operation for an element type, nil if there is none, the number of elements of
// which it takes multiples only, and what it knows.
func laneFunc(op, kind, _ int) (f func(dst, a, b unsafe.Pointer, n int), unit, how int) {
	if !cpu.HasNEON {
		return nil, 1, 0
	}
	return lanesNEON[op][kind], 16, 0
}

func laneNumbers() bool { return false }

func foldsNow(op, kind, bytes int) (rows, columns foldFunc) { return nil, nil }
