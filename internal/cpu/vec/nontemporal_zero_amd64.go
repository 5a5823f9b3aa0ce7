//go:build !purego

package vec

import "unsafe"

//go:noescape
func zeroStream(p unsafe.Pointer, lines int)

//go:noescape
func copyStream(dst, src unsafe.Pointer, lines int)

func zeroFence()
