// Package fft computes discrete Fourier transforms of lines of numbers, which lie anywhere in memory.
//
// The transform of x[0], …, x[n-1] is X[k] = Σ x[j]·exp(-2πi·jk/n); the inverse has the other sign. Neither divides by
// n: callers give a factor.
//
// # How a transform is computed
//
// A [Plan] holds what depends on the length alone. Lengths whose prime factors are at most [largestPrime] go through
// the passes of Stockham's autosort algorithm (Van Loan, Computational Frameworks for the Fast Fourier Transform,
// section 1.7), one for each factor: 8, 6, 4, 2, 3, 5 and other primes. Other lengths are a convolution of a longer,
// smooth length (Bluestein 1970, "A linear filtering approach to the computation of discrete Fourier transform").
//
// Passes work on tiles: matrices of n rows, a row holding the same element of many transforms, real and imaginary parts
// in planes of their own. So every operation is one on whole vectors, with numbers that are the same for a row. The
// rows of a tile are padded to whole vectors.
//
//   - Lines that lie side by side are loaded into a tile as they are.
//   - Short lines that lie one after the other are transposed into a tile, several at a time.
//   - A long line is a tile itself, of n1 rows of n2 numbers, n1·n2 = n: transforms down the columns, a multiplication
//     by roots of unity, a transposition, transforms down the columns again. (Bailey 1990, "FFTs in external or
//     hierarchical memory", calls this the four-step method.)
//
// A real line of even length is transformed as a complex line of half the length, whose even and odd elements are real
// and imaginary parts (Press et al., Numerical Recipes, section 12.3).
//
// # Map
//
//	plan.go     factors, roots of unity, plans and their cache
//	pass.go     the passes over a tile
//	chirp.go    lengths with large prime factors
//	line.go     long lines as tiles
//	real.go     from half the length to a real line and back
//	job.go      lines in memory: which go into a tile together, loading and storing, threads
package fft
