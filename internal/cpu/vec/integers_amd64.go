//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// laneFunc returns the assembly of an operation for an element type of size bytes, nil if there is none, the number of
// elements of which it takes multiples only, if it does not know laneAny, and what it knows.
func laneFunc(op, kind, size int) (f func(dst, a, b unsafe.Pointer, n int), unit, how int) {
	switch {
	case cpu.HasAVX512:
		return lanesAVX512[op][kind], 1, 0
	case cpu.HasAVX2FMA:
		if op >= laneEq && op <= laneLe {
			return lanesAVX2[op][kind], 32, laneAny
		}
		return lanesAVX2[op][kind], 32 / size, laneAny | lanePast
	}
	return nil, 1, 0
}

// laneNumbers reports that the assembly knows numberBit.
func laneNumbers() bool { return cpu.HasAVX2FMA }

// foldsNow returns the assembly that reduces rows of bytes bytes of an element type, and that which joins such rows to
// a row of accumulators; nil if there is none.
func foldsNow(op, kind, bytes int) (rows, columns foldFunc) {
	switch {
	case cpu.HasAVX512:
		return foldsAVX512[op][kind], foldColumnsAVX512[op][kind]
	case cpu.HasAVX2FMA && bytes >= 32: // it does whole vectors only
		return foldsAVX2[op][kind], foldColumnsAVX2[op][kind]
	}
	return nil, nil
}
