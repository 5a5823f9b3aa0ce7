//go:build !amd64 || purego

package gemm

import "unsafe"

// lanes is about the kernels that move whole vectors: there are none, nor any
// that take dot products, read B in 16 bits, or pack.
func lanes[T element](path) int { return 0 }

func dotRows(path) int { return 1 }

func dotFast[T element](_ path, out *[dotSums]T, a, b unsafe.Pointer, rsA, rsB, k, rows, groups int, _ bool) {
	genericDots(out, a, b, rsB, k, groups)
}

func copyFast[T element](path, unsafe.Pointer, unsafe.Pointer, int, int, int, int, int) bool {
	return false
}

func hasHalfKernels() bool { return false }

func bf16Kernel() (lowPrecisionKernel, bool) { return lowPrecisionKernel{}, false }

func int8Kernel() lowPrecisionKernel { return genericPairsKernel(packSigned) }

func pairsKernel(pack elementFormat) lowPrecisionKernel { return genericPairsKernel(pack) }

// The functions below are never reached without such kernels.

func transposeFast[T element](path, unsafe.Pointer, unsafe.Pointer, int, int, int) {
	panic("gemm: no transposing kernel")
}

func transposeFew[T element](unsafe.Pointer, unsafe.Pointer, int, int, int, int) {
	panic("gemm: no transposing kernel")
}

func (Half) runHalf(*args) {}

func (Half) dotHalf(*[dotSums]float32, unsafe.Pointer, unsafe.Pointer, int, int, int, int, int, bool) {
}

func interleaveWidth(elementFormat) int { return 1 }

func interleave(elementFormat, unsafe.Pointer, unsafe.Pointer, int, int, int, int) {
	panic("gemm: no interleaving kernel")
}

func flipSignBits(path, unsafe.Pointer, int) bool { return false }

func widenBytes(elementFormat, unsafe.Pointer, unsafe.Pointer, int) {
	panic("gemm: no widening kernel")
}

func addEightRows[N any](*int16, *[8]int16, *N, int, int) {}

func dotFourColumns[N any](*[4]int32, *int16, *N, int, int) {}
