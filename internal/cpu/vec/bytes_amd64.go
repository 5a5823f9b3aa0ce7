//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// hasBytes reports whether bytes_amd64.s may be used: kernels that move and multiply what the generator's language has
// no lanes for.
func hasBytes() bool { return cpu.HasAVX2FMA }

// reverseRows handles rows of n >= 8 bytes.
//
//go:noescape
func reverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int, mask *[16]uint8)

// mulC64 handles n groups of four numbers.
//
//go:noescape
func mulC64(dst, a, b *complex64, n int)

// mulC128 handles n groups of two.
//
//go:noescape
func mulC128(dst, a, b *complex128, n int)
