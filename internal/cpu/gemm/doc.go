// Package gemm multiplies matrices on the CPU.
//
// C = act(alpha·A·B + beta·C + bias), for float32 and float64 in assembly (AVX-512, AVX2, NEON) with a portable
// fallback, for int32 and int64 on AVX-512 (int32 on AVX2, too) and in Go. Narrower types are widened to these or
// multiplied in groups, and complex products are made of real ones. A and B may have any strides, so transposed and
// sliced operands need no copy by the caller.
//
// # Map
//
//	file                             what it computes                                 chosen for
//	-------------------------------  -----------------------------------------------  ------------------------------
//	gemm.go, dispatch.go             entry points                                     every element type
//	outer.go                         column times row (ger)                           k = 1, wide C
//	smallmatrix.go                   small products without a plan                    some thousand multiply-adds
//	dot.go                           dot products                                     few rows, B contiguous along k
//	skinny.go                        one tile of rows times a large B (gemv, skinny)  B from memory, row-major
//	fusedpack.go                     kernels pack B while they multiply               up to some hundred rows
//	job.go, plan.go, macrokernel.go  packing, blocking, tasks, loops around a kernel  everything else
//	pack.go                          panels of A and B
//	kernel.go, kernel_*.go           arguments of the micro-kernel; the portable one; choice by instruction set
//	half.go, skinnyhalf.go           float16, bfloat16 widened to float32             no instruction for the format
//	bfloat16.go, int8.go,            bfloat16, bytes and int16 multiplied in groups   VDPBF16PS, VPDPBUSD, VPMADDWD
//	narrowint.go, lowprecision*.go
//	complex.go                       complex products as real ones
//	activation.go, peak.go           activations; the processor's peak rate
//	zz_*.s                           assembly, written by ../_asm/gemm
//
// # How it works
//
// The scheme is that of Goto and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication", as refined by
// BLIS (Van Zee and van de Geijn 2015, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality"): a
// micro-kernel keeps a tile of C in registers and runs along k; loops around it keep a block of one operand in the L2
// cache while the other operand passes through the L1 cache.
//
//	            B: strips of nr columns
//	            ┌──┬──┬──┬──┐
//	            │  │▓▓│  │  │ kc      the block of B stays in the L2 cache
//	            └──┴──┴──┴──┘
//	     kc     ┌──┬──┬──┬──┐
//	mr ▒▒▒▒▒▒▒  │  │██│  │  │         ▒ a tile's rows of A stay in the L1 cache
//	            ├──┼──┼──┼──┤         █ the tile of C stays in registers: 14×32 float32 on AVX-512,
//	            │  │  │  │  │           6×16 on AVX2, 8×12 on NEON
//	            └──┴──┴──┴──┘
//
// Unlike the classical scheme, operands are packed only where it pays. The micro-kernel reads A element by element
// through two strides and B as rows of adjacent columns, and repeats itself for tiles beside or below each other, or in
// the next matrix of a batch. Hence:
//
//   - A row-major B is read in place, with no packing and no waiting for it.
//   - A B that is transposed, large, or whose rows lie a multiple of a page apart is first copied into panels as wide
//     as a tile.
//   - Where the rows of A would compete for the same cache sets, tiles have fewer rows. A transposed A is copied, into
//     rows that are contiguous along k: before the tasks start if several tasks need it, or inside a task.
//   - With few rows and a transposed B (a linear layer), Cᵀ is computed into scratch, so that A is packed and not the
//     larger B; with very few rows, dot products are taken. Likewise with few columns and a transposed A of many rows
//     (the gradient of a layer's weights): A is then read in place.
//   - A B that is multiplied again and again may come in panels ([GEMMPanels]): with few rows, packing costs as much as
//     the product.
//
// # Eight and sixteen bits
//
// Some processors multiply bfloat16 and bytes by instructions that take four bytes of either operand, adjacent along k,
// for each lane of 32 bits. For these instructions both operands are packed in such groups, and the rest is as above,
// with tiles of the same size; the kernel for bfloat16 adds a bias and rounds by itself. Elsewhere 16-bit floats are
// widened to float32, block by block, and bytes to pairs of int16. With few rows B is read in place and widened in
// registers (skinnyhalf.go). Of a batch of tiny matrices many are widened at a time.
//
// # Caches
//
// In a block of some hundred steps of k the smaller operand's block stays in the L2 cache while the other operand
// passes through the L1 cache, tile after tile or strip after strip. Meanwhile the kernels fetch the next tile of A or
// strip of B, and the next tile of C, into the L2 cache. If the blocks of k are larger than the cache, all tasks work
// on one block of k before they go on to the next.
//
// # Same bits
//
// The sum of an element runs along k in blocks that depend on the problem and the sizes of the caches alone, and all
// tile shapes of a path add in the same order. Results depend on the problem and on the processor, never on the number
// of threads.
//
// # Length of calls
//
// Go cannot interrupt assembly, so a call repeats its tile for some 15 µs at most; between calls the scheduler gets its
// chance.
package gemm
