//go:build !purego

package jpeg

import "github.com/gotorch-dev/torch/internal/cpu"

// The functions of this file run the assembly, where the processor has AVX2, as far as its vectors reach. What they
// leave over is done in plain Go, with the same results.

// inverseFast is inverseSlow; false where it did nothing.
func inverseFast(c *block, q *quantTable, dst []uint8, stride int) bool {
	if !cpu.HasAVX2FMA {
		return false
	}
	inverseAVX2(c, q, &dst[0], stride)
	return true
}

// weighFast does the first elements of weighRows and returns their number.
func weighFast(sums []int16, near, far []uint8) int {
	n := len(near) &^ 15
	if !cpu.HasAVX2FMA || n == 0 || len(sums) < n {
		return 0
	}
	weighAVX2(&sums[0], &near[0], &far[0], n)
	return n
}

// spreadFast does the first elements of spread and returns their number: those of sums from 1 on.
func spreadFast(out []uint8, sums []int16, w int, left, right int16, bits uint) int {
	n := w &^ 15
	if !cpu.HasAVX2FMA || n == 0 || len(sums) < n+2 || len(out) < 2*n {
		return 0
	}
	spreadAVX2(&out[0], &sums[1], n, left, right, bits)
	return n
}

// rgbFast does the first pixels of rgbRow and returns their number.
func rgbFast(out, ys, cbs, crs []uint8) int {
	n := len(ys) &^ 7
	if !cpu.HasAVX2FMA || n == 0 || len(out) < 3*n {
		return 0
	}
	rgbAVX2(&out[0], &ys[0], &cbs[0], &crs[0], n)
	return n
}

// inverseAVX2 computes 8x8 samples.
//
//go:noescape
func inverseAVX2(c *block, q *quantTable, dst *uint8, stride int)

// weighAVX2 sets sums[x] = 3·near[x] + far[x] for n elements, a multiple of 16.
//
//go:noescape
func weighAVX2(sums *int16, near, far *uint8, n int)

// spreadAVX2 sets, for n sums, a multiple of 16, out[2x] = (3·sums[x]+sums[x-1]+left)>>bits and
// out[2x+1] = (3·sums[x]+sums[x+1]+right)>>bits.
//
//go:noescape
func spreadAVX2(out *uint8, sums *int16, n int, left, right int16, bits uint)

// rgbAVX2 converts n pixels, a multiple of 8.
//
//go:noescape
func rgbAVX2(out, ys, cbs, crs *uint8, n int)
