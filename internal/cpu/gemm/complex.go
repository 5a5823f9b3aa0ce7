package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// This file makes a complex product of real ones, on the kernels for floats. A
// complex matrix is a real one with twice the columns, in which real and
// imaginary parts alternate.
//
// Where the rows of B are contiguous, both parts of A, read in place through
// strides of two, are multiplied with that real matrix:
//
//	P = Re A·B, Q = Im A·B;   C = P + i·Q
//
// Where B is transposed it is seen as a real matrix of 2k rows. Each row of A
// becomes two: the one gives the real parts of C, the other the imaginary ones.
//
//	(re, -im, re, -im, …) and (im, re, im, re, …)

// gemmComplex is [GEMMAny] for complex numbers; F is the type of their parts.
func gemmComplex[C complex64 | complex128, F float32 | float64](batch []BatchDim, m, n, k int, alpha C, a []C, rsA, csA int, b []C, rsB, csB int, beta C, c []C, rsC, csC int) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	g := complexProduct[C, F]{m: m, n: n, k: k, rsA: rsA, csA: csA, rsB: rsB, csB: csB, rsC: rsC, csC: csC, alpha: alpha, beta: beta}
	swap := n == 1 && m > 1
	if swap { // a vector is a row: the matrix is then read in its order
		g.m, g.n = n, m
		g.rsA, g.csA, g.rsB, g.csB, g.rsC, g.csC = csB, rsB, csA, rsA, csC, rsC
	}
	one := func(x int) {
		oa, ob, oc := batchOffsets(batch, x)
		if k == 0 {
			oa, ob = 0, 0
		}
		if swap {
			g.run(b[ob:], a[oa:], c[oc:])
		} else {
			g.run(a[oa:], b[ob:], c[oc:])
		}
	}
	eachMatrix(nb, 4*m*n*k, one)
}

// complexProduct is one product of a batch.
type complexProduct[C complex64 | complex128, F float32 | float64] struct {
	m, n, k                      int
	rsA, csA, rsB, csB, rsC, csC int
	alpha, beta                  C
}

// parts sees complex numbers as their parts.
func parts[C complex64 | complex128, F float32 | float64](s []C) []F {
	return unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(s))), 2*len(s))
}

func (g *complexProduct[C, F]) run(a, b, c []C) {
	var z F
	es := int(unsafe.Sizeof(z))
	m, n, k := g.m, g.n, g.k
	if k == 0 {
		a, b = nil, nil
	}
	re, im := parts[C, F](a), parts[C, F](b)
	if g.csB != 1 && n > 1 && g.rsB == 1 {
		buf := getBuffer((4*m*k + 2*m*n) * es)
		defer buf.put()
		all := unsafe.Slice((*F)(buf.p), 4*m*k+2*m*n)
		rows, sums := all[2*m*n:], all[:2*m*n]
		g.doubleRows(rows, re)
		GEMM(2*m, n, 2*k, 1, rows, 2*k, 1, im, 1, 2*g.csB, 0, sums, n, 1, nil)
		for i := range m {
			g.storeRow(c[i*g.rsC:], sums[2*i*n:][:n], sums[(2*i+1)*n:][:n])
		}
		return
	}
	rsB, room := 2*g.rsB, 4*m*n
	dense := g.csB == 1 || n == 1
	if !dense {
		room += 2 * k * n
	}
	buf := getBuffer(room * es)
	defer buf.put()
	all := unsafe.Slice((*F)(buf.p), room)
	sums := all[:4*m*n]
	if !dense {
		g.denseRows(all[4*m*n:], im)
		im, rsB = all[4*m*n:], 2*n
	}
	if m == 1 {
		GEMM(2, 2*n, k, 1, re, 1, 2*g.csA, im, rsB, 1, 0, sums, 2*n, 1, nil)
	} else {
		GEMMBatch([]BatchDim{{2, 1, 0, 2 * m * n}}, m, 2*n, k, 1, re, 2*g.rsA, 2*g.csA, im, rsB, 1, 0, sums, 2*n, 1, nil)
	}
	par.For(m, max(1, packTask/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			g.storePair(c[i*g.rsC:], sums[2*i*n:][:2*n], sums[2*(m+i)*n:][:2*n])
		}
	})
}

// doubleRows writes the two rows that stand for each row of A.
func (g *complexProduct[C, F]) doubleRows(rows, a []F) {
	par.For(g.m, max(1, packTask/max(1, g.k)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := rows[4*i*g.k:][:2*g.k], rows[(4*i+2)*g.k:][:2*g.k]
			off := 2 * i * g.rsA
			for q := 0; q < len(x); q += 2 {
				re, im := a[off], a[off+1]
				off += 2 * g.csA
				x[q], x[q+1], y[q], y[q+1] = re, -im, im, re
			}
		}
	})
}

// denseRows copies B to rows without gaps.
func (g *complexProduct[C, F]) denseRows(rows, b []F) {
	par.For(g.k, max(1, packTask/g.n), func(lo, hi int) {
		for q := lo; q < hi; q++ {
			off := 2 * q * g.rsB
			to := rows[2*q*g.n:][:2*g.n]
			for j := 0; j < len(to); j += 2 {
				to[j], to[j+1] = b[off], b[off+1]
				off += 2 * g.csB
			}
		}
	})
}

// storeRow stores a row of C from its real and its imaginary parts.
func (g *complexProduct[C, F]) storeRow(c []C, re, im []F) {
	to, step := parts[C, F](c), 2*g.csC
	im = im[:len(re)]
	if step == 2 && g.alpha == 1 && g.beta == 0 {
		to = to[:2*len(re)]
		for j := range re {
			to[2*j], to[2*j+1] = re[j], im[j]
		}
		return
	}
	for j := range re {
		g.store(to[j*step:], re[j], im[j])
	}
}

// storePair stores a row of C from the sums p + i·q.
func (g *complexProduct[C, F]) storePair(c []C, p, q []F) {
	to, step := parts[C, F](c), 2*g.csC
	q = q[:len(p)]
	if step == 2 && g.alpha == 1 && g.beta == 0 {
		to = to[:len(p)]
		for j := 1; j < len(p); j += 2 {
			to[j-1], to[j] = p[j-1]-q[j], p[j]+q[j-1]
		}
		return
	}
	for j := 0; j < len(p); j += 2 {
		g.store(to[j/2*step:], p[j]-q[j+1], p[j+1]+q[j])
	}
}

// store finishes one element: alpha times it, plus beta times what was there.
func (g *complexProduct[C, F]) store(to []F, re, im F) {
	if g.alpha != 1 {
		ar, ai := parts2[C, F](g.alpha)
		re, im = ar*re-ai*im, ar*im+ai*re
	}
	if g.beta != 0 {
		br, bi := parts2[C, F](g.beta)
		re, im = re+br*to[0]-bi*to[1], im+br*to[1]+bi*to[0]
	}
	to[0], to[1] = re, im
}

// parts2 takes a number apart.
func parts2[C complex64 | complex128, F float32 | float64](v C) (re, im F) {
	p := (*[2]F)(unsafe.Pointer(&v))
	return p[0], p[1]
}
