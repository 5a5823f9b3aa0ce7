package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// outerCols is the number of columns from which on the product of a column and a row (the BLAS operation ger)
// is computed row by row. In a tile of so wide a C every row would lie in another page.
const outerCols = 512

// tryOuter computes the product of a column and a row of floating-point numbers, C[i, j] = a[i]·b[j], or
// reports that the product is something else.
func (g *product[T]) tryOuter() bool {
	if g.k != 1 || g.alpha != 1 || g.beta != 0 || g.act > ActReLU || g.strip > 0 || isInteger[T]() {
		return false
	}
	g.normalise()
	es := g.elemSize()
	if g.m < 2 || g.n < outerCols || g.c.cs != es || g.b.cs != es || g.biasCol != nil {
		return false
	}
	h := newJob(g) // outlives this call's stack frame
	far := h.nb*h.m*h.n*es > vec.BeyondCaches && h.act != ActReLU
	par.For(h.nb*h.m, max(1, minTask/16/h.n), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			offA, offB, offC := h.offsets(t / h.m)
			i := t % h.m
			a, b, c := unsafe.Add(h.a.p, offA+i*h.a.rs), unsafe.Add(h.b.p, offB), unsafe.Add(h.c.p, offC+i*h.c.rs)
			var shift T
			if h.biasRow != nil {
				shift = *(*T)(unsafe.Add(h.biasRow, i*es))
			}
			if es == 4 {
				d := unsafe.Slice((*float32)(c), h.n)
				vec.ScaleShiftPartF32(d, unsafe.Slice((*float32)(b), h.n), *(*float32)(a), float32(shift), far)
				if h.act == ActReLU {
					vec.ReLUF32(d, d)
				}
			} else {
				d := unsafe.Slice((*float64)(c), h.n)
				vec.ScaleShiftPartF64(d, unsafe.Slice((*float64)(b), h.n), *(*float64)(a), float64(shift), far)
				if h.act == ActReLU {
					vec.ReLUF64(d, d)
				}
			}
		}
	})
	h.free()
	return true
}
