// Package vec holds single-threaded kernels on contiguous slices: elementwise arithmetic, transcendental functions,
// reductions, the row steps of softmax and the norms, optimizer steps and dtype conversions.
//
// Threads, strides and broadcasting are the caller's business. The length of the first slice argument governs; the
// other slices must be at least as long, or the call panics before it writes anything. A destination may be the very
// same slice as an input; partly overlapping slices give undefined results.
//
// # Map
//
//	file                             what it holds
//	-------------------------------  ----------------------------------------------------------------------------------
//	zz_*                             kernels written by the generator in _asm, with their dispatch: elementwise
//	                                 arithmetic, exp, log, trigonometry, special functions, blocks of reductions,
//	                                 optimizer steps; float32, float64, and 16-bit floats (widened in registers)
//	vec.go, fma_*.go                 helpers of the plain Go versions: rounding, fused multiply-add, choices
//	reduce.go, reducerows.go         sums, maxima, dot products: blocks combined pairwise; of one row, of many rows
//	rows.go, normrows.go             softmax, log-softmax, layer norm, RMS norm: of one row, of many rows
//	integers.go, integer_rows.go,    arithmetic, comparisons and reductions of integers and bools of every size
//	bytes.go, sumint.go, division.go
//	convert.go, half.go, float64.go, conversions; tables of kernels for 16-bit floats; functions that need scalar steps
//	trig.go, powscalar.go, complex.go
//	poolwindows.go                   sums and maxima over windows of channels-last images (pooling, shifted sums)
//	sparse.go, resample.go           sparse matrices with few elements per row (resizing of images, as PyTorch and as
//	                                 Pillow do it)
//	gathersum.go, moverows.go        sums and copies of rows of tables (embedding)
//	transpose.go, interleave.go,     rearrangements of elements
//	reverse.go, sortkeys.go
//	losses.go, distance.go           losses and distances of rows
//	nontemporal.go,                  when stores bypass the caches; clearing and copying of large blocks
//	nontemporal_zero.go
//	prefetch.go, fetch_amd64.go      prefetching of rows; from which length on kernels prefetch
//
// # Paths
//
// Every kernel exists in plain Go, on amd64 as AVX2 and AVX-512 assembly and on arm64 as NEON assembly, chosen at each
// call by the booleans of package internal/cpu. All are generated from one description: the folder _asm lists the
// kernels in the language of package internal/cpu/_asm/kernel. The versions of a kernel execute the same operations in
// the same order, so that they give the same bits, NaN payloads aside. Exponentials, and the functions that are built
// on them, are an exception: plain Go and AVX-512 look numbers up where AVX2 and NEON compute them, with the same
// accuracy, so that last digits may differ between the two pairs. A reduction depends on the data and its length alone.
//
// # Accuracy
//
// Transcendental functions are a range reduction and a minimax polynomial, evaluated with fused multiply-adds (see
// Muller, Elementary Functions: Algorithms and Implementation). Sums are added in blocks with a fixed number of
// accumulators, whose results are combined pairwise, so that rounding errors grow with the logarithm of the length
// (Higham 1993, "The Accuracy of Floating Point Summation").
//
// # Pre-emption
//
// The Go runtime cannot stop a goroutine inside assembly, and a collection waits for every goroutine. Long slices are
// therefore cut into chunks that take a few microseconds, with a point between chunks at which the runtime may take
// over.
package vec

//go:generate go -C _asm run . -out ..
