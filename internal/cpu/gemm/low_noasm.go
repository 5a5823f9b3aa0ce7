//go:build !amd64 || purego

package gemm

import "unsafe"

func bf16Kernel() (lowKernel, bool) { return lowKernel{}, false }

func int8Kernel() lowKernel {
	return lowKernel{path: pathGeneric, mr: lowPairsRows, aw: lowPairsRows, nr: lowPairsCols, pack: packSigned, run: lowPairs}
}

// The functions below are never reached on the generic path.

func acrossWidth(packer) int { return 1 }

func across(packer, unsafe.Pointer, unsafe.Pointer, int, int, int, int) {
	panic("gemm: no interleaving kernel")
}

func widenFast(packer, unsafe.Pointer, unsafe.Pointer, int) { panic("gemm: no widening kernel") }
