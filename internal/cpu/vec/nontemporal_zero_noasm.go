//go:build !amd64 || purego

package vec

import "unsafe"

func zeroStream(p unsafe.Pointer, lines int) { clear(unsafe.Slice((*[64]byte)(p), lines)) }

func copyStream(dst, src unsafe.Pointer, lines int) {
	copy(unsafe.Slice((*[64]byte)(dst), lines), unsafe.Slice((*[64]byte)(src), lines))
}

func zeroFence() {}
