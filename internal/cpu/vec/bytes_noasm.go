//go:build !amd64 || purego

package vec

import "unsafe"

func hasBytes() bool { return false }

func reverseRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int, mask *[16]uint8) {
	panic("vec: no assembly")
}

func mulC64(dst, a, b *complex64, n int) { panic("vec: no assembly") }

func mulC128(dst, a, b *complex128, n int) { panic("vec: no assembly") }
