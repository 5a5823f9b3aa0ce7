package scan

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
)

// Running sums and products over a dimension that is not the last one go row by row: neighbouring lines side by side,
// in memory's order.

// colTile is the number of lines side by side: what they carry stays in the first-level cache.
const colTile = 512

// few is the number of lines side by side below which a call of a vector kernel for each row of them does not pay.
const few = 24

// columns calls f for every group of at most colTile neighbouring lines of n elements that lie inner apart, the first
// at position from.
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

// cumFew goes through single lines, and through few of them side by side, one by one. It reports whether that was the
// case.
func cumFew[E, A number](src, dst []E, shape []int, dim int, sum bool, total func(s []E) A) bool {
	outer, n, inner := iter.Split(shape, dim)
	switch {
	case outer*n*inner == 0:
	case inner == 1:
		cumLines(src, dst, outer, n, sum, total)
	case inner <= few:
		cumColumns[E, A](src, dst, outer, n, inner, sum)
	default:
		return false
	}
	return true
}

// cumAlong is the running sum or product in the type of the elements; total is that of a block, if a line may be cut.
func cumAlong[E number](src, dst []E, shape []int, dim int, sum bool, total func(s []E) E) {
	if cumFew(src, dst, shape, dim, sum, total) {
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
	if cumFew(src, dst, shape, dim, sum, op.Pick(sum, vec.SumF32As64, nil)) {
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

// columns is along for many lines side by side.
func (k *extremum[E]) columns(src, dst []E, ix []int64, shape []int, dim int) {
	columns(shape, dim, func(from, n, inner, width int) {
		var keys [colTile]int64
		last, at := src[from:], ix[from:][:width]
		clear(at)
		for j := range keys[:width] {
			keys[j] = math.MinInt64 // the first ones take the place of this
		}
		for i := range n {
			p := from + i*inner
			if isInt := E(1)/2 == 0; isInt || i < early {
				chooseRow(dst[p:], src[p:], ix[p:], last, at, keys[:width], int64(i), k.flip)
			} else {
				predictRow(dst[p:], src[p:], ix[p:], last[:width], at, int64(i), k.flip)
			}
			last, at = dst[p:], ix[p:]
		}
	})
}
