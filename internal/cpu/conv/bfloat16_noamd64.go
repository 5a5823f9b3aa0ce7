//go:build !amd64 || purego

package conv

import "unsafe"

// These functions are for processors that multiply bfloat16, of which only amd64 has kernels here.

func interleavePairsOnce(unsafe.Pointer, int, unsafe.Pointer, unsafe.Pointer, int, int, int) {
	panic("conv: no kernels for bfloat16")
}

func copyRowsPaddedOnce(unsafe.Pointer, int, unsafe.Pointer, int, int, int) {
	panic("conv: no kernels for bfloat16")
}
