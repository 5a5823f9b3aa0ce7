package fft

import "unsafe"

// realRoots are the pairs exp(-2πik/n) for k ≤ n/4, kept with the plans.
func realRoots[E Float](n int) []E {
	p := get(n, reals, func() *Plan[E] {
		p := &Plan[E]{n: n, roots: make([]E, 0, n/2+2)}
		for k := range n/4 + 1 {
			c, d := root(k, n)
			p.roots = append(p.roots, E(c), E(d))
		}
		p.bytes = len(p.roots) * int(unsafe.Sizeof(E(0)))
		return p
	})
	return p.roots
}

// unfold makes from z, the transforms of h = n/2 complex numbers x[2j] + i·x[2j+1], the h+1 rows of the transforms of
// the n real numbers x:
//
//	X[k] = (E + F·w^k)/2, X[h-k] = conj(E - F·w^k)/2, E = Z[k] + conj(Z[h-k]), F = -i·(Z[k] - conj(Z[h-k])).
//
// Rows have s numbers; a line has s = 1.
func unfold[E Float](y, z planes[E], roots []E, h, s int) {
	zr, zi := row(z, 0, s, s)
	ar, ai := row(y, 0, s, s)
	br, bi := row(y, h, s, s)
	for q := range zr {
		ar[q], br[q] = zr[q]+zi[q], zr[q]-zi[q]
		ai[q], bi[q] = 0, 0
	}
	if s == 1 {
		unfoldLine(y, z, roots, h)
		return
	}
	for k := 1; k <= h/2; k++ {
		wr, wi := roots[2*k]/2, roots[2*k+1]/2
		ar, ai := row(z, k, s, s)
		br, bi := row(z, h-k, s, s)
		cr, ci := row(y, k, s, s)
		dr, di := row(y, h-k, s, s)
		for q := range ar {
			er, ei := (ar[q]+br[q])/2, (ai[q]-bi[q])/2
			fr, fi := ai[q]+bi[q], br[q]-ar[q]
			gr, gi := fr*wr-fi*wi, fr*wi+fi*wr
			cr[q], ci[q] = er+gr, ei+gi
			dr[q], di[q] = er-gr, gi-ei
		}
	}
}

func unfoldLine[E Float](y, z planes[E], roots []E, h int) {
	zr, zi, yr, yi := z.re[:h], z.im[:h], y.re[:h+1], y.im[:h+1]
	for k, j := 1, h-1; k <= j; k, j = k+1, j-1 {
		wr, wi := roots[2*k]/2, roots[2*k+1]/2
		er, ei := (zr[k]+zr[j])/2, (zi[k]-zi[j])/2
		fr, fi := zi[k]+zi[j], zr[j]-zr[k]
		gr, gi := fr*wr-fi*wi, fr*wi+fi*wr
		yr[k], yi[k] = er+gr, ei+gi
		yr[j], yi[j] = er-gr, gi-ei
	}
}

// fold makes from the h+1 rows of y, transforms of real numbers, the h rows of z whose inverse transforms are
// x[2j] + i·x[2j+1]:
//
//	Z[k] = E + i·F·conj(w^k), Z[h-k] = conj(E) + i·conj(F·conj(w^k)), E = X[k] + conj(X[h-k]), F = X[k] - conj(X[h-k]).
//
// The imaginary parts of X[0] and X[h] count as 0.
func fold[E Float](z, y planes[E], roots []E, h, s int) {
	ar, _ := row(y, 0, s, s)
	br, _ := row(y, h, s, s)
	zr, zi := row(z, 0, s, s)
	for q := range zr {
		zr[q], zi[q] = ar[q]+br[q], ar[q]-br[q]
	}
	if s == 1 {
		foldLine(z, y, roots, h)
		return
	}
	for k := 1; k <= h/2; k++ {
		wr, wi := roots[2*k], roots[2*k+1]
		ar, ai := row(y, k, s, s)
		br, bi := row(y, h-k, s, s)
		cr, ci := row(z, k, s, s)
		dr, di := row(z, h-k, s, s)
		for q := range ar {
			er, ei := ar[q]+br[q], ai[q]-bi[q]
			fr, fi := ar[q]-br[q], ai[q]+bi[q]
			gr, gi := fr*wr+fi*wi, fi*wr-fr*wi
			cr[q], ci[q] = er-gi, ei+gr
			dr[q], di[q] = er+gi, gr-ei
		}
	}
}

func foldLine[E Float](z, y planes[E], roots []E, h int) {
	yr, yi, zr, zi := y.re[:h+1], y.im[:h+1], z.re[:h], z.im[:h]
	for k, j := 1, h-1; k <= j; k, j = k+1, j-1 {
		wr, wi := roots[2*k], roots[2*k+1]
		er, ei := yr[k]+yr[j], yi[k]-yi[j]
		fr, fi := yr[k]-yr[j], yi[k]+yi[j]
		gr, gi := fr*wr+fi*wi, fi*wr-fr*wi
		zr[k], zi[k] = er-gi, ei+gr
		zr[j], zi[j] = er+gi, gr-ei
	}
}
