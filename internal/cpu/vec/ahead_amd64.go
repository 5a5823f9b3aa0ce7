//go:build !purego

package vec

import "unsafe"

//go:noescape
func ahead(p unsafe.Pointer, lines int)
