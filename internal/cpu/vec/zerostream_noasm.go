//go:build !amd64 || purego

package vec

import "unsafe"

func zeroStream(p unsafe.Pointer, lines int) { clear(unsafe.Slice((*[64]byte)(p), lines)) }

func zeroFence() {}
