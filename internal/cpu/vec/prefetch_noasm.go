//go:build !amd64 || purego

package vec

import "unsafe"

func prefetchLines(unsafe.Pointer, int) {}
