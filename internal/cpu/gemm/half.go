package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Half names a 16-bit storage format.
type Half uint8

const (
	Float16  Half = iota // IEEE 754 binary16
	BFloat16             // the upper half of a float32
)

// widen converts a run to float32.
func (h Half) widen(dst []float32, src []uint16) {
	if h == BFloat16 {
		vec.BF16ToF32s(dst, src)
	} else {
		vec.F16ToF32s(dst, src)
	}
}

// narrow rounds a run of float32 to the format, ties to even.
func (h Half) narrow(dst []uint16, src []float32) {
	if h == BFloat16 {
		vec.F32ToBF16s(dst, src)
	} else {
		vec.F32ToF16s(dst, src)
	}
}

// GEMMHalf is [GEMMBatch] for 16-bit floats given by their bits. Operands are
// widened to float32, everything is computed in float32, bias and activation
// included, and C is rounded once at the end.
func GEMMHalf(h Half, batch []BatchDim, m, n, k int, alpha float32, a []uint16, rsA, csA int, b []uint16, rsB, csB int, beta float32, c []uint16, rsC, csC int, ep *Epilogue[float32]) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	one := func(x int) {
		oa, ob, oc := batchOffsets(batch, x)
		if k == 0 {
			oa, ob = 0, 0
		}
		buf := getBuffer(4 * (m*k + k*n + m*n))
		defer buf.put()
		all := unsafe.Slice((*float32)(buf.p), m*k+k*n+m*n)
		fa, fb, fc := all[:m*k:m*k], all[m*k:m*k+k*n], all[m*k+k*n:]
		ra, ca := h.widenMatrix(fa, a[oa:], m, k, rsA, csA)
		rb, cb := h.widenMatrix(fb, b[ob:], k, n, rsB, csB)
		if beta != 0 {
			h.widenRows(fc, c[oc:], m, n, rsC, csC)
		}
		GEMM(m, n, k, alpha, fa, ra, ca, fb, rb, cb, beta, fc, n, 1, ep)
		par.For(m, max(1, minTask/16/n), func(lo, hi int) {
			var line [256]uint16
			for i := lo; i < hi; i++ {
				row := fc[i*n : (i+1)*n]
				if csC == 1 {
					h.narrow(c[oc+i*rsC:][:n], row)
					continue
				}
				for j := 0; j < n; j += len(line) {
					w := min(len(line), n-j)
					h.narrow(line[:w], row[j:j+w])
					for x := range w {
						c[oc+i*rsC+(j+x)*csC] = line[x]
					}
				}
			}
		})
	}
	if nb == 1 {
		one(0)
		return
	}
	par.For(nb, max(1, minTask/max(1, m*n*k)), func(lo, hi int) {
		for x := lo; x < hi; x++ {
			one(x)
		}
	})
}

// widenMatrix converts a matrix, keeping its orientation so that reads stay
// sequential, and returns the strides of the copy.
func (h Half) widenMatrix(dst []float32, src []uint16, rows, cols, rs, cs int) (drs, dcs int) {
	if rs == 1 && cs != 1 {
		h.widenRows(dst, src, cols, rows, cs, rs)
		return 1, rows
	}
	h.widenRows(dst, src, rows, cols, rs, cs)
	return cols, 1
}

func (h Half) widenRows(dst []float32, src []uint16, rows, cols, rs, cs int) {
	if cols == 0 {
		return
	}
	par.For(rows, max(1, minTask/16/cols), func(lo, hi int) {
		var line [256]uint16
		for i := lo; i < hi; i++ {
			row := dst[i*cols : (i+1)*cols]
			if cs == 1 {
				h.widen(row, src[i*rs:][:cols])
				continue
			}
			for j := 0; j < cols; j += len(line) {
				w := min(len(line), cols-j)
				for x := range w {
					line[x] = src[i*rs+(j+x)*cs]
				}
				h.widen(row[j:j+w], line[:w])
			}
		}
	})
}
