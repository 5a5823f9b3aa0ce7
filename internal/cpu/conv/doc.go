// Package conv computes convolutions of float32, float64 and, where the processor
// multiplies it, bfloat16 on the CPU.
//
// One micro-kernel does it all. It sums products of A, whose rows are output
// pixels and whose steps are channels, with a packed panel of weights, over a
// list of segments: one per kernel position, each an offset into A. Where
// channels are adjacent in memory (channels last) A is the image itself, or a
// band of it copied into a small buffer with the padding around it. Planar
// images (channels first) are transposed into the same buffer, or as a whole where
// several tasks need the same, so both layouts run the same arithmetic and give
// the same bits. The grid of positions is cut into cells that see the same kernel
// positions inside the image, and the others are left out: see the type cell.
//
// The gradient with respect to the input is a convolution of the output's
// gradient, one for each residue of the position by the stride. The gradient
// with respect to the weights is a matrix product over all output pixels, run
// from the same buffers by a second micro-kernel.
//
// While a block is computed the kernels fetch what the next one needs into the
// second-level cache, so that the memory works while there is arithmetic to do:
// see the type ahead.
//
// A ReLU and a maximum pooling behind a convolution are computed with it, block by
// block, and so are their gradients: see the type [Tail].
//
// Depthwise convolutions, whose channels do not mix, have kernels that take a
// vector of channels at a time, and so do small groups, of which a vector holds
// several: each lane takes the channels of its own group in turn. Winograd's
// algorithm is there for those who ask for it: see [SetWinograd].
//
// Where vectors of channels would be half empty the work is turned round: see the
// types flatDepth for few channels with kernels of their own, and fewJob and
// fewGrad for results of few channels. Windows that do not overlap are the rows of
// a matrix where that is better: see the type patches.
//
// A convolution of bfloat16 runs as one of float32 whose elements are pairs of
// bfloat16: see [ForwardBF16].
//
// Work is cut by sizes alone, so results do not depend on the thread count.
package conv
