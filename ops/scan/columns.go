package scan

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Running sums and products over a dimension that is not the last one go row by row: neighbouring lines side by side, in memory's order.

// colTile is the number of lines side by side: what they carry stays in the first-level cache.
const colTile = 512

// columns calls f for every group of at most colTile neighbouring lines of n elements that lie inner apart, the first at position from.
func columns(shape []int, dim int, f func(from, n, inner, width int)) {
	outer, n, inner := 1, 1, 1
	for d, s := range shape {
		switch {
		case d < dim:
			outer *= s
		case d == dim:
			n = s
		default:
			inner *= s
		}
	}
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

// innermost reports that the lines along a dimension are contiguous.
func innermost(shape []int, dim int) bool {
	for d := dim + 1; d < len(shape); d++ {
		if shape[d] != 1 {
			return false
		}
	}
	return true
}

// cumAlong is the running sum or product in the type of the elements.
func cumAlong[E int64 | float32 | float64](src, dst []E, shape []int, dim int, sum bool) {
	if innermost(shape, dim) {
		lines(src, dst, nil, shape, dim, cumOf[E](sum))
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
func combine[E int64 | float32 | float64](d, a, b []E, sum bool) {
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

// cumAlong32 is cumAlong for float32, kept in float64.
func cumAlong32(src, dst []float32, shape []int, dim int, sum bool) {
	if innermost(shape, dim) {
		lines(src, dst, nil, shape, dim, cumF32(sum))
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
