//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

func hasReverse() bool { return cpu.HasAVX2FMA }

// reverseRows handles rows of n >= 8 bytes.
//
//go:noescape
func reverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int, mask *[16]uint8)
