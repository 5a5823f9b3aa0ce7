package gemm

import (
	"github.com/gotorch-dev/torch/internal/par"
)

// Number is the set of element types that [GEMMAny] multiplies.
type Number interface {
	uint8 | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128
}

// GEMMAny is [GEMMBatch] in plain Go for any element type; use it for integers
// (which wrap around) and complex numbers (not conjugated). It has no epilogue.
func GEMMAny[T Number](batch []BatchDim, m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T, c []T, rsC, csC int) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	// A block of C's row stays in the first-level cache while rows of B pass.
	const width = 256
	jb := (n + width - 1) / width
	tasks := nb * m * jb
	par.For(tasks, max(1, 1<<16/(min(n, width)*max(k, 1))), func(lo, hi int) {
		var acc, gather [width]T
		for t := lo; t < hi; t++ {
			// Rows vary fastest: neighbours share their columns of B.
			i, j0, x := t%m, t/m%jb*width, t/(m*jb)
			oa, ob, oc := batchOffsets(batch, x)
			w := min(width, n-j0)
			s := acc[:w]
			clear(s)
			for q := range k {
				av := a[oa+i*rsA+q*csA]
				off := ob + q*rsB + j0*csB
				if csB == 1 {
					axpy(s, av, b[off:off+w])
					continue
				}
				if rsB == 1 {
					break // dot products below
				}
				g := gather[:w]
				for j := range g {
					g[j] = b[off+j*csB]
				}
				axpy(s, av, g)
			}
			if csB != 1 && rsB == 1 && k > 0 {
				for j := range s {
					col := b[ob+(j0+j)*csB:][:k]
					var sum T
					for q, bv := range col {
						sum += a[oa+i*rsA+q*csA] * bv
					}
					s[j] = sum
				}
			}
			out := c[oc+i*rsC+j0*csC:]
			for j, v := range s {
				v *= alpha
				if beta != 0 {
					v += beta * out[j*csC]
				}
				out[j*csC] = v
			}
		}
	})
}

// axpy adds a·x to y.
func axpy[T Number](y []T, a T, x []T) {
	x = x[:len(y)]
	for j := range y {
		y[j] += a * x[j]
	}
}
