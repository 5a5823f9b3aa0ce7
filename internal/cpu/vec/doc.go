// Package vec holds single-threaded kernels on contiguous slices: elementwise
// arithmetic, transcendental functions, reductions, the row steps of softmax
// and the norms, optimizer steps and dtype conversions.
//
// Threads, strides and broadcasting are the caller's business. The length of
// the first slice argument governs; the other slices must be at least as long,
// or the call panics before it writes anything. A destination may be the very
// same slice as an input; partly overlapping slices give undefined results.
//
// # Paths
//
// Every kernel exists in plain Go, on amd64 as AVX2 and AVX-512 assembly and
// on arm64 as NEON assembly, chosen at each call by the booleans of package
// internal/cpu. All are generated from one description (see the folder _asm) and execute the same
// operations in the same order, so that they give the same bits, NaN payloads
// aside. Exponentials and what is built on them are an exception: plain Go and AVX-512 look numbers up
// where AVX2 and NEON compute them, with the same accuracy, so that last digits may differ between the two pairs.
// A reduction depends on the data and its length alone.
//
// # Pre-emption
//
// The Go runtime cannot stop a goroutine inside assembly, and a collection
// waits for every goroutine. Long slices are therefore cut into chunks that
// take a few microseconds, with a point between them at which the runtime may
// take over.
package vec

//go:generate go -C _asm run . -out ..
