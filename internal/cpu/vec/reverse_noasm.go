//go:build !amd64 || purego

package vec

import "unsafe"

func hasReverse() bool { return false }

func reverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int, mask *[16]uint8) {
	panic("vec: no assembly")
}
