// Package gemm multiplies matrices on the CPU.
//
// C = act(alpha·A·B + beta·C + bias), for float32 and float64 in assembly
// (AVX-512, AVX2) with a portable fallback, and for the other element types in
// Go. A and B may have any strides, so transposed and sliced operands need no
// copy by the caller.
//
// # How it works
//
// A micro-kernel keeps a tile of C, 14 rows by 32 columns of float32 on
// AVX-512, in registers and runs along k. It reads A element by element
// through two strides and B as rows of adjacent columns. Hence:
//
//   - a row-major B is read in place, with no packing and no barrier;
//   - a B that is transposed, large, or whose rows lie a multiple of a page
//     apart is first copied into panels of a tile's width;
//   - A is packed, inside a task, only when its rows would compete for the same
//     cache sets or its elements lie far apart in both directions;
//   - a product with few rows and a transposed B (a linear layer at inference)
//     takes dot products instead, as packing would cost more than the product.
//
// # Same bits
//
// The sum of an element runs along k in blocks that depend on k alone, and all
// tile shapes of a path add in the same order. Results depend on the problem
// and on the instruction set, never on the number of threads.
//
// # Length of calls
//
// Go cannot interrupt assembly, so each call covers one tile and one block of
// k, a few microseconds; between calls the scheduler gets its chance.
package gemm
