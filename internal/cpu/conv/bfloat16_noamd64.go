//go:build !amd64 || purego

package conv

import "unsafe"

// These are for processors that multiply bfloat16, which the others are not.

func interleavePairsOnce(unsafe.Pointer, int, unsafe.Pointer, unsafe.Pointer, int, int, int) {
	panic("conv: no kernels for bfloat16")
}

func copyRowsPaddedOnce(unsafe.Pointer, int, unsafe.Pointer, int, int, int) {
	panic("conv: no kernels for bfloat16")
}
