// Package gemm multiplies matrices on the CPU.
//
// C = act(alpha·A·B + beta·C + bias), for float32 and float64 in assembly
// (AVX-512, AVX2, NEON) with a portable fallback, for int32 and int64 on AVX-512
// and in Go; shorter types are widened to these, or see below, and complex
// products are made of real ones (complex.go). A and B may have any strides, so transposed and sliced operands need no
// copy by the caller.
//
// # How it works
//
// A micro-kernel keeps a tile of C, 14 rows by 32 columns of float32 on
// AVX-512, in registers and runs along k. It reads A element by element
// through two strides and B as rows of adjacent columns, and repeats itself for
// tiles beside or below each other, or in the next matrix of a batch. Hence:
//
//   - a row-major B is read in place, with no packing and no barrier;
//   - a B that is transposed, large, or whose rows lie a multiple of a page
//     apart is first copied into panels of a tile's width;
//   - where the rows of A would compete for the same cache sets, tiles have fewer
//     of them; a transposed A is copied, into rows that are contiguous along k:
//     before the tasks start if several need it, or inside a task;
//   - one tile of A reads a large B in low and wide slabs (skinny.go); with up to
//     some hundred rows, a large B that cannot well be read in place is copied
//     strip by strip by the kernels themselves, while they multiply (fusedpack.go);
//   - with few rows and a transposed B (a linear layer), Cᵀ is computed into
//     scratch instead, so that A is packed and not the larger B, or, with very
//     few, dot products are taken; likewise with few columns and a transposed A
//     of many rows (the gradient of a layer's weights), which is then read in
//     place;
//   - a B that is multiplied again and again may come in panels ([GEMMPanels]):
//     with few rows, packing costs as much as the product;
//   - a product of some thousand multiply-adds runs at once, without a plan.
//
// # Eight and sixteen bits
//
// Processors that have them multiply bfloat16 and bytes by instructions that take
// four bytes of either operand, adjacent along k, for each lane of 32 bits
// (VDPBF16PS, VPDPBUSD): for these both operands are packed in such groups, and
// the rest is as above, with tiles of the same size; the kernel for bfloat16 adds
// a bias and rounds by itself. Elsewhere 16-bit floats are
// widened to float32, block by block, and bytes to pairs of int16. With few rows
// B is read in place and widened in registers (skinnyhalf.go); of a batch of tiny
// matrices many are widened at a time.
//
// # Caches
//
// In a block of some hundred steps of k the smaller operand's block stays in the
// L2 cache while the other one passes through the L1 cache, tile after tile or
// strip after strip. Meanwhile the kernels fetch the next tile of A or strip of
// B, and the next tile of C, into the L2 cache. Blocks of k that are larger than
// the cache are taken one after the other by all tasks.
//
// # Same bits
//
// The sum of an element runs along k in blocks that depend on the problem and the
// sizes of the caches alone, and all tile shapes of a path add in the same order.
// Results depend on the problem and on the processor, never on the number of
// threads.
//
// # Length of calls
//
// Go cannot interrupt assembly, so a call repeats its tile for some 15 µs at
// most; between calls the scheduler gets its chance.
package gemm
