// Package conv computes convolutions of float32, float64 and, where the processor
// multiplies it, bfloat16 on the CPU: forward, gradient of the input, gradient of the
// weights, gradient of the bias.
//
// # Map
//
// The forward convolution and the gradient of the input are jobs ([Forward],
// [BackwardData] in conv.go). The first algorithm of this list that fits is taken; the
// order is that of Forward and of job.run:
//
//	algorithm                 file                      chosen when
//	------------------------  ------------------------  -------------------------------------------------------
//	matrix product in place   pointwise.go              1×1, stride 1, no padding; channels first, at least 128
//	                                                    positions; the epilogue is none, a bias or a ReLU
//	dot products              conv.go (Forward)         1×1, stride 1, no padding; channels last, one output
//	                                                    channel
//	windows as matrix rows    patches.go                windows that neither overlap nor see padding, one group:
//	(im2col without overlap)                           the window is the image, or at most 8 input channels and
//	                                                    kernels at least 7 wide (patch embedding)
//	depthwise                 depthwise.go              one channel per group; also equal groups of a few
//	                                                    channels, of which a vector holds several (float32 on
//	                                                    AVX2 and AVX-512)
//	depthwise, few channels   depthwise_fewchannels.go  depthwise, stride 1, and channels that would leave vectors
//	                                                    partly empty: neighbouring positions share a vector
//	Winograd F(4×4, 3×3)      winograd.go               only where SetWinograd or Epilogue.Winograd allows it:
//	                                                    float32 in assembly, 3×3, stride 1, at least 16 input
//	                                                    channels, enough positions
//	kn2row                    kn2row.go                 stride 1 and few output channels, by an estimate of the
//	                                                    multiply-adds of both ways
//	direct                    direct.go                 everything else
//
// The gradient of the weights ([BackwardWeight] in weightgrad.go) likewise:
//
//	matrix product            pointwise.go              1×1, stride 1, no padding; at most 4 channels on one side
//	windows as matrix rows    patches.go                windows as above, at least 2^16 weights, few positions
//	depthwise                 depthwise_weightgrad.go   depthwise and small groups
//	im2col of the gradient    weightgrad_im2col.go      stride 1 and few output channels, by an estimate
//	direct                    weightgrad.go             everything else
//
// What serves several algorithms:
//
//	plan.go                   sizes of blocks and tasks of a job, from the shape and the cache sizes alone
//	regions.go                parts of the output that see the same kernel positions inside the image
//	bandcopy.go               copies of parts of an image with padding around them; stores of planar results
//	pack.go                   weights in the order in which the micro-kernels read them
//	prefetch.go               fetches of the next block's data, spread over the tiles of the present one
//	tail.go                   ReLU and maximum pooling computed with a convolution, and their gradients
//	activation.go             activations of an epilogue that are no clamp
//	squeeze.go                a gate of channels made of their means (squeeze and excitation)
//	fused.go, fused_pool.go   convolution → depthwise convolution or pooling → 1×1 convolution, by lines
//	bfloat16.go               bfloat16: pairs of elements take the place of float32 elements
//	kernel.go                 arguments of the micro-kernels, the portable ones, the choice by instruction set
//	depthwise_generic.go      portable depthwise kernels
//	kernel_{amd64,arm64}.go   declarations of the assembly; zz_*.s is written by ../_asm/conv
//
// Element types and instruction sets: every algorithm has float32 and float64, in plain Go and, except where the map
// says otherwise, on AVX2, AVX-512 and NEON. Bfloat16 runs on AVX-512 with VDPBF16PS, as a matrix product in place or
// directly; [Shape.FitsBF16] says for which shapes.
//
// # Direct convolution
//
// The image is not unrolled into a matrix (im2col). One micro-kernel multiplies rows of A, which are output positions,
// by a packed panel of weights and adds up the products over a list of segments, one for each kernel position (tap):
//
//	C[position, column] = sum over taps t, channels k of  A[position + offset(t), k] · W[t, k, column]
//
//	A (channels last)                    W, a panel of one or two vectors of output channels
//	     k →                                  column →
//	 x   ■ ■ ■ ■  ← row 0, tap 0         (t, k)  ■ ■ ■ ■ ■ ■ ■ ■
//	 x+1 ■ ■ ■ ■  ← row 1; row 0, tap 1          ■ ■ ■ ■ ■ ■ ■ ■
//	 x+2 ■ ■ ■ ■  ← row 2; row 1, tap 1          ■ ■ ■ ■ ■ ■ ■ ■
//
// A segment is an offset into A and a place among the weights. Where the channels of a position are adjacent in memory
// (channels last), A is the image itself, or a band: some lines of it copied into a small buffer with the padding
// around them. Planar images (channels first) are transposed into the same buffer, or as a whole where several tasks
// need the same, so both layouts run the same arithmetic and give the same bits. The grid of output positions is cut
// into regions that see the same taps inside the image; the other taps would add zeros and are left out.
//
// Sources: Zhang, Franchetti and Low 2018, "High Performance Zero-Memory Overhead Direct Convolutions"; Georganas et
// al. 2018, "Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures". The kernel with a list of
// segments is the batch-reduce matrix product of Georganas et al. 2020, "Harnessing Deep Learning via a Single Building
// Block".
//
// # Gradients
//
// The gradient of the input is again a convolution, of the output's gradient. With strides there is one for each
// residue of the input position modulo the stride (a phase), because positions with the same residue meet the same
// taps. The gradient of the weights is a matrix product over all output positions: the transposed image times the
// output's gradient. It reads the same bands through a second micro-kernel.
//
// # The other algorithms
//
// Winograd: Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural Networks". A tile of 6×6 inputs and the 3×3
// weights are transformed, 36 matrix products take the place of the convolution, and the products are transformed back
// into 4×4 results: 36 instead of 144 multiplications, and larger rounding errors. How much larger depends on the points
// at which the transforms evaluate polynomials; those of Lavin and Gray are not the best.
//
// kn2row: Vasudevan, Anderson and Gregg 2017, "Parallel Multi Channel Convolution using General Matrix Multiplication".
// One matrix product for all taps, then sums of its shifted rows. Positions are the lanes of vectors, so few output
// channels leave none empty.
//
// Depthwise convolutions do not mix channels, so there is no matrix product in them: a vector holds adjacent channels
// of a position and is multiplied element by element. Kernels for rows of 3, 5 or 7 taps (AVX2, AVX-512) load each
// position once and use it for all taps that see it (a sliding window in registers).
//
// Fusion of layers by lines is the idea of Alwani et al. 2016, "Fused-Layer CNN Accelerators": what the first layer
// makes stays in the cache until the next layer has used it.
//
// # Prefetching
//
// While a block is computed the kernels fetch what the next block needs into the second-level cache, so that the memory
// works while there is arithmetic to do: see the type prefetcher. Results too large for the third-level cache are
// written by non-temporal stores: see job.storesNonTemporal.
//
// # Same bits
//
// Work is cut by sizes alone, so results do not depend on the number of threads.
package conv
