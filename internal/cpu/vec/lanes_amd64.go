//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// laneFunc returns the assembly of an operation for an element type of size bytes, nil if there is none, and the number of elements
// of which it takes multiples only.
func laneFunc(op, kind, size int) (f func(dst, a, b unsafe.Pointer, n int), unit int) {
	switch {
	case cpu.HasAVX512:
		return lanesAVX512[op][kind], 1
	case cpu.HasAVX2FMA:
		return lanesAVX2[op][kind], 32 / size
	}
	return nil, 1
}

// foldFunc returns the assembly that reduces rows of an element type, ld bytes apart, nil if there is none.
func foldFunc(op, kind int) func(dst, a unsafe.Pointer, n, rows, ld int) {
	if cpu.HasAVX512 {
		return foldsAVX512[op][kind]
	}
	return nil
}

// foldColumnsFunc returns the assembly that joins rows to a row of accumulators, nil if there is none.
func foldColumnsFunc(op, kind int) func(dst, a unsafe.Pointer, n, rows, ld int) {
	if cpu.HasAVX512 {
		return foldColumnsAVX512[op][kind]
	}
	return nil
}
