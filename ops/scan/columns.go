package scan

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
)

// Running sums and products over a dimension that is not the last one go row by row: neighbouring lines side by side, in memory's order.

// colTile is the number of lines side by side: what they carry stays in the first-level cache.
const colTile = 512

// columns calls f for every group of at most colTile neighbouring lines of n elements that lie inner apart, the first at position from.
func columns(shape []int, dim int, f func(from, n, inner, width int)) {
	outer, n, inner := iter.Split(shape, dim)
	if outer*n*inner == 0 {
		return
	}
	tiles := (inner + colTile - 1) / colTile
	par.For(outer*tiles, max(1, 16*1024/(n*min(inner, colTile))), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			at := u % tiles * colTile
			f(u/tiles*n*inner+at, n, inner, min(colTile, inner-at))
		}
	})
}

// cumAlong is the running sum or product in the type of the elements; total is that of a block.
func cumAlong[E number](src, dst []E, shape []int, dim int, sum bool, total func(s []E) E) {
	if outer, n, inner := iter.Split(shape, dim); inner == 1 {
		cumLines(src, dst, outer, n, sum, total)
		return
	}
	columns(shape, dim, func(from, n, inner, width int) {
		var last []E
		for k := range n {
			d, s := dst[from+k*inner:][:width], src[from+k*inner:][:width]
			switch {
			case k > 0:
				combine(d, last, s, sum)
			case sum:
				for j, v := range s {
					d[j] = 0 + v // makes -0 a 0, as a line does
				}
			default:
				copy(d, s)
			}
			last = d
		}
	})
}

// combine sets d to a+b or a*b.
func combine[E number](d, a, b []E, sum bool) {
	switch d := any(d).(type) {
	case []float32:
		if sum {
			vec.AddF32(d, any(a).([]float32), any(b).([]float32))
		} else {
			vec.MulF32(d, any(a).([]float32), any(b).([]float32))
		}
		return
	case []float64:
		if sum {
			vec.AddF64(d, any(a).([]float64), any(b).([]float64))
		} else {
			vec.MulF64(d, any(a).([]float64), any(b).([]float64))
		}
		return
	}
	a, b = a[:len(d)], b[:len(d)]
	if sum {
		for i := range d {
			d[i] = a[i] + b[i]
		}
		return
	}
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

// cumAlong32 is cumAlong for float32, kept in float64 as PyTorch does.
func cumAlong32(src, dst []float32, shape []int, dim int, sum bool) {
	if outer, n, inner := iter.Split(shape, dim); inner == 1 {
		cumLines(src, dst, outer, n, sum, vec.SumF32As64)
		return
	}
	columns(shape, dim, func(from, n, inner, width int) {
		var bufs [2][colTile]float64
		acc, wide := bufs[0][:width], bufs[1][:width]
		if !sum {
			vec.FillF64(acc, 1)
		}
		for k := range n {
			at := from + k*inner
			if sum {
				vec.AccumulateF32ToF64(acc, src[at:][:width])
			} else {
				vec.F32ToF64s(wide, src[at:][:width])
				vec.MulF64(acc, acc, wide)
			}
			vec.F64ToF32s(dst[at:][:width], acc)
		}
	})
}

// columnsOf is along for lines that are not contiguous.
func (k *extremum[E]) columns(src, dst []E, ix []int64, shape []int, dim int) {
	columns(shape, dim, func(from, n, inner, width int) {
		copy(dst[from:][:width], src[from:])
		clear(ix[from:][:width])
		for i := 1; i < n; i++ {
			at := from + i*inner
			s, d, x := src[at:][:width], dst[at:][:width], ix[at:][:width]
			last, lastAt := dst[at-inner:][:width], ix[at-inner:][:width]
			if k.isMax {
				for j, v := range s {
					best, where := last[j], lastAt[j]
					if !(v < best) && (best == best || v != v) {
						best, where = v, int64(i)
					}
					d[j], x[j] = best, where
				}
				continue
			}
			for j, v := range s {
				best, where := last[j], lastAt[j]
				if !(v > best) && (best == best || v != v) {
					best, where = v, int64(i)
				}
				d[j], x[j] = best, where
			}
		}
	})
}
