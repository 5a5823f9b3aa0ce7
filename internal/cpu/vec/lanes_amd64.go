//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// laneFunc returns the assembly of an operation for an element type, nil if there is none, and whether it takes any length.
func laneFunc(op, kind int) (f func(dst, a, b unsafe.Pointer, n int), whole bool) {
	switch {
	case cpu.HasAVX512:
		return lanesAVX512[op][kind], true
	case cpu.HasAVX2FMA:
		return lanesAVX2[op][kind], false
	}
	return nil, false
}
