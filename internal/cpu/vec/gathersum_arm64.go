//go:build !purego

package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// gatherSumFast does as many leading columns as the assembly can and returns their number.
func gatherSumFast(dst, table []float32, rows []int64, scale []float32) int {
	if !cpu.HasNEON {
		return 0
	}
	d := len(dst)
	s := unsafe.SliceData(scale)
	j := 0
	for ; j+64 <= d; j += 64 {
		gatherSum64NEON(&dst[j], &table[j], &rows[0], s, len(rows), d*4)
	}
	for ; j+8 <= d; j += 8 {
		gatherSum8NEON(&dst[j], &table[j], &rows[0], s, len(rows), d*4)
	}
	return j
}

// The kernels add n rows, stride bytes apart in the table, to a run of columns; scale may be nil.

//go:noescape
func gatherSum64NEON(dst, table *float32, rows *int64, scale *float32, n, stride int)

//go:noescape
func gatherSum8NEON(dst, table *float32, rows *int64, scale *float32, n, stride int)
