package lapack

import "math"

// SVD gives the singular values s of the m×n matrix a in descending order, and, unless u is nil, the left singular
// vectors as columns of the m×mu matrix u and the conjugated right ones as rows of the nv×n matrix vh. mu is m or
// min(m, n), nv is n or min(m, n). eps is the precision of the result's type. a is destroyed. It reports whether the
// iteration converged.
//
// The steps are those of LAPACK's xGESDD for small matrices: a QR factorization first where there are far more rows
// than columns (or the other way round), reduction to bidiagonal form, and the QR iteration.
func SVD[E Element](a []E, m, n int, s []float64, u []E, mu int, vh []E, nv int, eps float64) bool {
	k := min(m, n)
	vectors := u != nil
	if k == 0 {
		if vectors {
			identity(u, m, mu, mu)
			identity(vh, nv, n, n)
		}
		return true
	}
	largest := 0.0
	for _, x := range a[:m*n] {
		largest = math.Max(largest, Abs(x))
	}
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		return false
	}
	factor := 1.0
	if largest > 0 && (largest < 1e-140 || largest > 1e140) {
		factor = 1 / largest
		scale(a[:m*n], Num[E](factor))
	}
	many := k * 16 / 10
	if isComplex[E]() {
		many = k * 17 / 9
	}
	wide := m < n
	t, rows := a, m
	if wide { // the reduction of Aᴴ, whose bidiagonal matrix is upper where that of A is lower
		t, rows = adjoint(a, m, n), n
	}
	// Now t is rows×k.
	var tauQR, r []E
	lower := wide
	long := rows >= many && rows > k && (isComplex[E]() || !wide)
	b, brows := t, rows
	if long {
		tauQR = make([]E, k)
		QR(t, rows, k, k, tauQR)
		r = make([]E, k*k)
		for i := range k {
			copy(r[i*k+i:(i+1)*k], t[i*k+i:(i+1)*k])
		}
		if wide { // A = L·Qᴴ, and L is reduced as it is
			r = adjoint(r, k, k)
		}
		b, brows, lower = r, k, false
	}
	e, tauq, taup, vp := make([]float64, k), make([]E, k), make([]E, k), make([]E, k*k)
	bidiagonal(b, brows, k, k, s, e, tauq, taup, vp)
	var ut, vt []float64
	if vectors {
		ut, vt = make([]float64, k*k), make([]float64, k*k)
		identity(ut, k, k, k)
		identity(vt, k, k, k)
	}
	cs, sn := make([]float64, k), make([]float64, k)
	if lower {
		for i := range k - 1 {
			var c, sin float64
			c, sin, s[i] = rotation(s[i], e[i])
			e[i] = sin * s[i+1]
			s[i+1] *= c
			cs[i], sn[i] = c, -sin
		}
	}
	if !bidiagonalSVD(s, e, vt, ut, k, eps) {
		return false
	}
	if factor != 1 {
		scale(s[:k], 1/factor)
	}
	if !vectors {
		return true
	}
	if lower { // the rows of U, from the last to the first: columns of ut
		for i := k - 2; i >= 0; i-- {
			for j := range k {
				x, y := ut[j*k+i], ut[j*k+i+1]
				ut[j*k+i], ut[j*k+i+1] = cs[i]*x+sn[i]*y, cs[i]*y-sn[i]*x
			}
		}
	}
	// The factors of t, or of A in the square case: left = Q·(U or V), right = P·(V or U).
	l, rt := ut, vt
	if wide && !long {
		l, rt = vt, ut
	}
	lcols := mu
	if wide {
		lcols = nv
	}
	leftRows := brows
	if long {
		leftRows = rows
	}
	spread := func(z []float64, rows, cols int) []E { // the transpose of z in the corner of the identity
		x := make([]E, rows*cols)
		identity(x, rows, cols, cols)
		for i := range k {
			for j := range k {
				x[i*cols+j] = Num[E](z[j*k+i])
			}
		}
		return x
	}
	// P·right: the reflections start at the second element
	p := spread(rt, k, k)
	if k > 1 {
		v := make([]E, (k-1)*(k-1))
		for j := range k - 1 {
			for i := j + 1; i < k; i++ {
				v[(i-1)*(k-1)+j] = vp[j*k+i]
			}
		}
		ApplyQ(v, k-1, taup[:k-1], p[k:], k-1, k, k, false)
	}
	var tall, square []E // rows×lcols and k×k
	if !long {
		tall = spread(l, leftRows, lcols)
		ApplyQ(b, k, tauq, tall, leftRows, lcols, lcols, false)
		square = p
	} else {
		q := spread(l, k, k)
		ApplyQ(b, k, tauq, q, k, k, k, false)
		inner := q
		square = p
		if wide {
			inner, square = p, q
		}
		tall = make([]E, leftRows*lcols)
		identity(tall, leftRows, lcols, lcols)
		for i := range k {
			copy(tall[i*lcols:][:k], inner[i*k:(i+1)*k])
		}
		ApplyQ(t, k, tauQR, tall, leftRows, lcols, lcols, false)
	}
	if wide {
		tall, square = square, tall
	}
	copy(u, tall)
	copy(vh, adjoint(square, n, nv))
	return true
}

// adjoint is the conjugate transpose of the m×n matrix a.
func adjoint[E Element](a []E, m, n int) []E {
	t := make([]E, m*n)
	for i := range m {
		for j := range n {
			t[j*m+i] = Conj(a[i*n+j])
		}
	}
	return t
}
