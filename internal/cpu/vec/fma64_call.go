//go:build amd64 && !purego

package vec

import "math"

// fma64 is x*y + z, rounded once. Here the plain Go kernels serve processors without AVX2 and FMA only, where math.FMA
// is a long function. Inlined, each of some two thousand uses would also bring the instruction, the test for it and the
// call, several hundred kilobytes in all.
//
//go:noinline
func fma64(x, y, z float64) float64 { return math.FMA(x, y, z) }
