// Package mem allocates the memory of tensors: 64-byte aligned, followed by at least 64 readable bytes, not cleared unless asked.
package mem

import "unsafe"

const (
	align = 64
	pad   = 64
)

// Alloc returns n uninitialised bytes from the Go heap.
func Alloc(n int) unsafe.Pointer {
	b := make([]byte, n+align+pad)
	p := unsafe.Pointer(unsafe.SliceData(b))
	return unsafe.Add(p, -uintptr(p)&(align-1))
}
