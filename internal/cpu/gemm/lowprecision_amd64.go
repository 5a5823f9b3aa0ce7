//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func bf16AVX512(a *lowPrecisionArgs)

//go:noescape
func u8s8AVX512(a *lowPrecisionArgs)

//go:noescape
func i16AVX512(a *lowPrecisionArgs)

//go:noescape
func i16AVX2(a *lowPrecisionArgs)

//go:noescape
func interleave16(dst, src unsafe.Pointer, dstStride, srcStride, width, steps int)

//go:noescape
func interleave16S8(dst, src unsafe.Pointer, dstStride, srcStride, width, steps int)

//go:noescape
func interleave16U8(dst, src unsafe.Pointer, dstStride, srcStride, width, steps int)

//go:noescape
func interleave8(dst, src unsafe.Pointer, dstStride, srcStride, width, steps int)

//go:noescape
func widenS8(dst, src unsafe.Pointer, n int)

//go:noescape
func widenU8(dst, src unsafe.Pointer, n int)

//go:noescape
func rows8AVX2(c, a, b unsafe.Pointer, ldb, n int)

//go:noescape
func rows16AVX2(c, a, b unsafe.Pointer, ldb, n int)

//go:noescape
func dots8AVX2(out, a, b unsafe.Pointer, ldb, k int)

//go:noescape
func dots16AVX2(out, a, b unsafe.Pointer, ldb, k int)

//go:noescape
func flipBytes(dst unsafe.Pointer, n int)

// bf16Kernel returns the kernel for bfloat16, if there is one.
func bf16Kernel() (lowPrecisionKernel, bool) {
	if !cpu.HasBF16 {
		return lowPrecisionKernel{}, false
	}
	return lowPrecisionKernel{path: pathAVX512, mr: 14, packedRows: 16, nr: 32, pack: packWords, run: runBF16,
		rounds: true}, true
}

// int8Kernel returns the kernel for bytes. Its pack format is packBytes where A must be unsigned, or
// packSigned: then both operands are widened to int16.
func int8Kernel() lowPrecisionKernel {
	if cpu.HasVNNI {
		return lowPrecisionKernel{path: pathAVX512, mr: 14, packedRows: 16, nr: 32, pack: packBytes, run: runU8S8}
	}
	return pairsKernel(packSigned)
}

// pairsKernel returns the kernel for pairs of int16, which pack makes of the elements.
func pairsKernel(pack elementFormat) lowPrecisionKernel {
	switch {
	case cpu.HasAVX512:
		return lowPrecisionKernel{path: pathAVX512, mr: 12, packedRows: 16, nr: 32, pack: pack, run: runI16AVX512}
	case cpu.HasAVX2FMA:
		return lowPrecisionKernel{path: pathAVX2, mr: 6, packedRows: 8, nr: 16, pack: pack, run: runI16AVX2}
	}
	return genericPairsKernel(pack)
}

// These must stay real calls: their stack check is where the scheduler can stop
// a goroutine that otherwise lives in assembly.

//go:noinline
func runBF16(p *lowPrecisionArgs) { bf16AVX512(p) }

//go:noinline
func runU8S8(p *lowPrecisionArgs) { u8s8AVX512(p) }

//go:noinline
func runI16AVX512(p *lowPrecisionArgs) { i16AVX512(p) }

//go:noinline
func runI16AVX2(p *lowPrecisionArgs) { i16AVX2(p) }

// interleaveWidth is the number of positions that interleave takes at a time.
func interleaveWidth(p elementFormat) int {
	if p == packBytes {
		return 32
	}
	return 16
}

// interleave packs groups of positions that are adjacent in memory; the width is a multiple of
// interleaveWidth.
//
//go:noinline
func interleave(p elementFormat, dst, src unsafe.Pointer, dstStride, srcStride, width, steps int) {
	switch p {
	case packWords:
		interleave16(dst, src, dstStride, srcStride, width, steps)
	case packSigned:
		interleave16S8(dst, src, dstStride, srcStride, width, steps)
	case packUnsigned:
		interleave16U8(dst, src, dstStride, srcStride, width, steps)
	default:
		interleave8(dst, src, dstStride, srcStride, width, steps)
	}
}

// widenBytes widens n bytes, a multiple of 16.
func widenBytes(p elementFormat, dst, src unsafe.Pointer, n int) {
	if p == packSigned {
		widenS8(dst, src, n)
	} else {
		widenU8(dst, src, n)
	}
}

// flipSignBits adds 128 to n bytes, a multiple of 64, and returns false where there is no kernel.
//
//go:noinline
func flipSignBits(pt path, dst unsafe.Pointer, n int) bool {
	if pt != pathAVX512 {
		return false
	}
	flipBytes(dst, n)
	return true
}

// addEightRows computes c[j] += the sum over i < 8 of a[i]·b[i, j], for j < n, a multiple of 16. The rows of
// b lie ldb bytes apart.
//
//go:noinline
func addEightRows[N any](c *int16, a *[8]int16, b *N, ldb, n int) {
	if size[N]() == 1 {
		rows8AVX2(unsafe.Pointer(c), unsafe.Pointer(a), unsafe.Pointer(b), ldb, n)
	} else {
		rows16AVX2(unsafe.Pointer(c), unsafe.Pointer(a), unsafe.Pointer(b), ldb, n)
	}
}

// dotFourColumns computes out[j] += the sum over i < k of a[i]·b[j, i], for the 4 rows j of b, which lie ldb
// bytes apart; k is a multiple of 16.
//
//go:noinline
func dotFourColumns[N any](out *[4]int32, a *int16, b *N, ldb, k int) {
	if size[N]() == 1 {
		dots8AVX2(unsafe.Pointer(out), unsafe.Pointer(a), unsafe.Pointer(b), ldb, k)
	} else {
		dots16AVX2(unsafe.Pointer(out), unsafe.Pointer(a), unsafe.Pointer(b), ldb, k)
	}
}
