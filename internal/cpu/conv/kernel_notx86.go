//go:build !amd64 || purego

package conv

import "unsafe"

// This file stands in for the kernels that only amd64 has.

// lanes returns the elements of half a panel: 32 bytes, in Go as in two registers of NEON.
func lanes[T Float](path) int {
	var z T
	return 32 / int(unsafe.Sizeof(z))
}

func laneMask[T Float](int) unsafe.Pointer { return nil }

func copyRows[T Float](dst []T, ldd int, src []T, lds, n, rows int) {
	copyLines(dst, ldd, src, lds, n, rows)
}

func hasScatter[T Float](path) bool { return false }

func scatter16(unsafe.Pointer, []int, unsafe.Pointer, int, int, int) {
	panic("conv: no transposing kernel")
}

func winTransform(winKind, *winArgs) { panic("conv: no Winograd kernel") }

func mixes[T Float](path, int, int) bool { return false }

func mixTile(path, *args, bool) { panic("conv: no kernel for groups") }

func depth3Rows(path, int) int { return 0 }

func depth3Tile[T Float](*args, int, int) { panic("conv: no kernel for three taps") }
