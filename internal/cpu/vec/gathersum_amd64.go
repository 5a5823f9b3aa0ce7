//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// gatherSumFast does as many leading columns as the assembly can and returns their number.
func gatherSumFast(dst, table []float32, rows []int64, scale []float32) int {
	d := len(dst)
	s := unsafe.SliceData(scale)
	j := 0
	switch {
	case cpu.HasAVX512:
		for ; j+128 <= d; j += 128 {
			gatherSum128AVX512(&dst[j], &table[j], &rows[0], s, len(rows), d*4)
		}
		for ; j < d; j += 16 {
			gatherSum16AVX512(&dst[j], &table[j], &rows[0], s, len(rows), d*4, 1<<min(16, d-j)-1)
		}
		return d
	case cpu.HasAVX2FMA:
		for ; j+64 <= d; j += 64 {
			gatherSum64AVX2(&dst[j], &table[j], &rows[0], s, len(rows), d*4)
		}
	}
	return j
}

// The kernels add n rows, stride bytes apart in the table, to a run of columns; scale may be nil.

//go:noescape
func gatherSum128AVX512(dst, table *float32, rows *int64, scale *float32, n, stride int)

//go:noescape
func gatherSum16AVX512(dst, table *float32, rows *int64, scale *float32, n, stride, mask int)

//go:noescape
func gatherSum64AVX2(dst, table *float32, rows *int64, scale *float32, n, stride int)
