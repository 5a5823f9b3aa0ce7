package fft

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// realRoots are exp(-2πik/n) for k ≤ n/4, kept with the plans.
func realRoots[E Float](n int) planes[E] {
	p := get(n, reals, func() *Plan[E] {
		m := n/4 + 1
		p := &Plan[E]{n: n, roots: newPlanes[E](m), bytes: 2 * m * int(unsafe.Sizeof(E(0)))}
		for k := range m {
			c, d := root(k, n)
			p.roots.re[k], p.roots.im[k] = E(c), E(d)
		}
		return p
	})
	return p.roots
}

// unfold makes from z, the transforms of h = n/2 complex numbers x[2j] + i·x[2j+1], the h+1 rows of the transforms of
// the n real numbers x:
//
//	X[k] = (E + F·w^k)/2, X[h-k] = conj(E - F·w^k)/2, E = Z[k] + conj(Z[h-k]), F = -i·(Z[k] - conj(Z[h-k])),
//
// where Z[h] is Z[0]. Rows have s numbers; a line has s = 1. tmp has room for 2·h/2+2 numbers in each plane.
func unfold[E Float](y, z, w, tmp planes[E], h, s int) {
	if s == 1 {
		m := h/2 + 1
		b, d := planes[E]{tmp.re[:m], tmp.im[:m]}, planes[E]{tmp.re[m:][:m], tmp.im[m:][:m]}
		reversed(b.re, z.re, h)
		reversed(b.im, z.im, h)
		b.re[0], b.im[0] = z.re[0], z.im[0]
		i := halvesAssembly(false, z, b, w, y, d, m)
		for k := i; k < m; k++ {
			unfoldRow(z.from(k), b.from(k), y.from(k), d.from(k), w.re[k], w.im[k], 1)
		}
		restore(y.re, d.re, h)
		restore(y.im, d.im, h)
		return
	}
	if halvesRows(false, y, z, w, tmp, h, s) {
		return
	}
	for k := range h/2 + 1 {
		unfoldRow(z.from(k*s), z.from((h-k)%h*s), y.from(k*s), y.from((h-k)*s), w.re[k], w.im[k], s)
	}
}

func unfoldRow[E Float](a, b, c, d planes[E], wr, wi E, s int) {
	for q := range s {
		er, ei := a.re[q]+b.re[q], a.im[q]-b.im[q]
		fr, fi := a.im[q]+b.im[q], b.re[q]-a.re[q]
		gr, gi := fr*wr-fi*wi, fr*wi+fi*wr
		c.re[q], c.im[q] = (er+gr)/2, (ei+gi)/2
		d.re[q], d.im[q] = (er-gr)/2, (gi-ei)/2
	}
}

// fold makes from the h+1 rows of y, transforms of real numbers, the h rows of z whose inverse transforms are
// x[2j] + i·x[2j+1]:
//
//	Z[k] = E + i·F·conj(w^k), Z[h-k] = conj(E) + i·conj(F·conj(w^k)), E = X[k] + conj(X[h-k]), F = X[k] - conj(X[h-k]).
//
// The imaginary parts of X[0] and X[h] count as 0, and are set to it.
func fold[E Float](z, y, w, tmp planes[E], h, s int) {
	clear(y.im[:s])
	clear(y.im[h*s:][:s])
	if s == 1 {
		m := h/2 + 1
		b, d := planes[E]{tmp.re[:m], tmp.im[:m]}, planes[E]{tmp.re[m:][:m], tmp.im[m:][:m]}
		reversed(b.re, y.re, h)
		reversed(b.im, y.im, h)
		b.re[0], b.im[0] = y.re[h], y.im[h]
		i := halvesAssembly(true, y, b, w, z, d, m)
		for k := i; k < m; k++ {
			foldRow(y.from(k), b.from(k), z.from(k), d.from(k), w.re[k], w.im[k], 1)
		}
		restore(z.re, d.re[1:], h-1)
		restore(z.im, d.im[1:], h-1)
		return
	}
	if halvesRows(true, z, y, w, tmp, h, s) {
		return
	}
	for k := range h/2 + 1 {
		d := tmp
		if k > 0 {
			d = z.from((h - k) * s)
		}
		foldRow(y.from(k*s), y.from((h-k)*s), z.from(k*s), d, w.re[k], w.im[k], s)
	}
}

func foldRow[E Float](a, b, c, d planes[E], wr, wi E, s int) {
	for q := range s {
		er, ei := a.re[q]+b.re[q], a.im[q]-b.im[q]
		fr, fi := a.re[q]-b.re[q], a.im[q]+b.im[q]
		gr, gi := fr*wr+fi*wi, fi*wr-fr*wi
		c.re[q], c.im[q] = er-gi, ei+gr
		d.re[q], d.im[q] = er+gi, gr-ei
	}
}

// reversed sets b[k] = x[h-k] for 0 < k < len(b).
func reversed[E Float](b, x []E, h int) {
	turn(b[1:], x[h-len(b)+1:])
}

// restore copies d in reverse order to the places of y that end with last.
func restore[E Float](y, d []E, last int) { turn(y[last-len(d)+1:][:len(d)], d) }

// turn copies src in reverse order to dst, which is as long.
func turn[E Float](dst, src []E) {
	if n := len(dst); n > 0 {
		_ = src[n-1]
		size := int(unsafe.Sizeof(E(0)))
		vec.ReverseRows(unsafe.Pointer(&dst[0]), n*size, unsafe.Pointer(&src[0]), n*size, 1, n, size)
	}
}
