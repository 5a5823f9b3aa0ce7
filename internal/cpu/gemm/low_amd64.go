//go:build !purego

package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

//go:noescape
func bf16AVX512(a *lowArgs)

//go:noescape
func u8s8AVX512(a *lowArgs)

//go:noescape
func i16AVX512(a *lowArgs)

//go:noescape
func i16AVX2(a *lowArgs)

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
func bf16Kernel() (lowKernel, bool) {
	if !cpu.HasBF16 {
		return lowKernel{}, false
	}
	return lowKernel{path: pathAVX512, mr: 14, aw: 16, nr: 32, pack: packWords, run: runBF16, rounds: true}, true
}

// int8Kernel returns the kernel for bytes. Its packer is packBytes where A must
// be unsigned, or packSigned: then both operands are widened.
func int8Kernel() lowKernel {
	if cpu.HasVNNI {
		return lowKernel{path: pathAVX512, mr: 14, aw: 16, nr: 32, pack: packBytes, run: runU8S8}
	}
	return pairsKernel(packSigned)
}

// pairsKernel returns the kernel for pairs of int16, which the packer makes.
func pairsKernel(pack packer) lowKernel {
	switch {
	case cpu.HasAVX512:
		return lowKernel{path: pathAVX512, mr: 12, aw: 16, nr: 32, pack: pack, run: runI16AVX512}
	case cpu.HasAVX2FMA:
		return lowKernel{path: pathAVX2, mr: 6, aw: 8, nr: 16, pack: pack, run: runI16AVX2}
	}
	return plainPairs(pack)
}

// These must stay real calls: their stack check is where the scheduler can stop
// a goroutine that otherwise lives in assembly.

//go:noinline
func runBF16(p *lowArgs) { bf16AVX512(p) }

//go:noinline
func runU8S8(p *lowArgs) { u8s8AVX512(p) }

//go:noinline
func runI16AVX512(p *lowArgs) { i16AVX512(p) }

//go:noinline
func runI16AVX2(p *lowArgs) { i16AVX2(p) }

// acrossWidth is the positions that across takes at a time.
func acrossWidth(p packer) int {
	if p == packBytes {
		return 32
	}
	return 16
}

// across packs groups of positions that are adjacent in memory; the width is a
// multiple of acrossWidth.
//
//go:noinline
func across(p packer, dst, src unsafe.Pointer, dstStride, srcStride, width, steps int) {
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

// widenFast widens n bytes, a multiple of 16.
func widenFast(p packer, dst, src unsafe.Pointer, n int) {
	if p == packSigned {
		widenS8(dst, src, n)
	} else {
		widenU8(dst, src, n)
	}
}

// flipFast adds 128 to n bytes, a multiple of 64, and returns false where there
// is no kernel.
//
//go:noinline
func flipFast(pt path, dst unsafe.Pointer, n int) bool {
	if pt != pathAVX512 {
		return false
	}
	flipBytes(dst, n)
	return true
}

// rowsFast computes c[j] += the sum of a[i]·b[i, j] for j < n, a multiple of 16,
// and 8 rows of b, ldb bytes apart.
//
//go:noinline
func rowsFast[N any](c *int16, a *[8]int16, b *N, ldb, n int) {
	if size[N]() == 1 {
		rows8AVX2(unsafe.Pointer(c), unsafe.Pointer(a), unsafe.Pointer(b), ldb, n)
	} else {
		rows16AVX2(unsafe.Pointer(c), unsafe.Pointer(a), unsafe.Pointer(b), ldb, n)
	}
}

// dotsFast computes out[j] += the sum of a[i]·b[j, i] for 4 rows of b, ldb bytes
// apart, and i < k, a multiple of 16.
//
//go:noinline
func dotsFast[N any](out *[4]int32, a *int16, b *N, ldb, k int) {
	if size[N]() == 1 {
		dots8AVX2(unsafe.Pointer(out), unsafe.Pointer(a), unsafe.Pointer(b), ldb, k)
	} else {
		dots16AVX2(unsafe.Pointer(out), unsafe.Pointer(a), unsafe.Pointer(b), ldb, k)
	}
}
