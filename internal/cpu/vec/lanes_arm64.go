//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// laneFunc returns the assembly of an operation for an element type, nil if there is none, and the number of elements of which it
// takes multiples only.
func laneFunc(op, kind, _ int) (f func(dst, a, b unsafe.Pointer, n int), unit int) {
	if !cpu.HasNEON {
		return nil, 1
	}
	return lanesNEON[op][kind], 16
}

func foldsNow(op, kind, bytes int) (rows, columns foldFunc) { return nil, nil }
