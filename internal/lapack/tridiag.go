package lapack

import "math"

// Eigh gives the eigenvalues w of the Hermitian n×n matrix, of which the lower or the upper triangle of a is read, in
// ascending order, and the eigenvectors as columns of v unless v is nil. a is destroyed; eps is the precision of the
// result's type. It reports whether the iteration converged.
//
// The matrix is reduced to tridiagonal form by reflections, which QL and QR steps with implicit shifts make diagonal
// (Golub and Van Loan, Matrix Computations, 4th edition, 2013, section 8.3; LAPACK's xSYTRD and xSTEQR).
func Eigh[E Element](a []E, n int, w []float64, v []E, lower bool, eps float64) bool {
	if n == 0 {
		return true
	}
	at := func(i, j int) *E { // upper triangles are read in reverse order, which makes them lower ones
		if lower {
			return &a[i*n+j]
		}
		return &a[(n-1-i)*n+n-1-j]
	}
	h := make([]E, n*n)
	largest := 0.0
	for i := range n {
		h[i*n+i] = Num[E](Re(*at(i, i)))
		largest = math.Max(largest, math.Abs(Re(h[i*n+i])))
		for j := range i {
			x := *at(i, j)
			h[i*n+j], h[j*n+i] = x, Conj(x)
			largest = math.Max(largest, Abs(x))
		}
	}
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		return false
	}
	factor := 1.0
	if largest > 0 && (largest < 1e-140 || largest > 1e140) {
		factor = 1 / largest
		scale(h, Num[E](factor))
	}
	e, tau := make([]float64, n), make([]E, n)
	tridiagonal(h, n, w, e, tau)
	if !lower {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			w[i], w[j] = w[j], w[i]
		}
		for i, j := 0, n-2; i < j; i, j = i+1, j-1 {
			e[i], e[j] = e[j], e[i]
		}
	}
	var z []float64
	if v != nil {
		z = make([]float64, n*n)
		identity(z, n, n, n)
	}
	if !implicitQL(w, e, z, n, eps) {
		return false
	}
	if factor != 1 {
		scale(w, 1/factor)
	}
	if v == nil {
		return true
	}
	// The vectors are Q times those of the tridiagonal matrix, which are the rows of z.
	for i := range n {
		r := i
		if !lower {
			r = n - 1 - i
		}
		for j := range n {
			v[r*n+j] = Num[E](z[j*n+i])
		}
	}
	if n > 1 {
		ApplyQ(h[n:], n, tau[:n-1], v[n:], n-1, n, n, false)
	}
	if !lower {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			x, y := v[i*n:(i+1)*n], v[j*n:(j+1)*n]
			for k, t := range x {
				x[k], y[k] = y[k], t
			}
		}
	}
	return true
}

// tridiagonal reduces the Hermitian matrix a, both triangles of which are there, to the tridiagonal matrix Qᴴ·a·Q with
// diagonal d and off-diagonal e. The vectors of Q's reflections stay below the off-diagonal of a.
func tridiagonal[E Element](a []E, n int, d, e []float64, tau []E) {
	x, v, vc, xc := make([]E, n), make([]E, n), make([]E, n), make([]E, n)
	for i := range n - 1 {
		m := n - i - 1
		col := a[(i+1)*n+i:]
		var rest []E
		if m > 1 {
			rest = col[n:]
		}
		tau[i] = reflector(&col[0], rest, m-1, n)
		e[i] = Re(col[0])
		d[i] = Re(a[i*n+i])
		t := tau[i]
		if t == 0 {
			continue
		}
		v, x := v[:m], x[:m]
		v[0] = 1
		for j := 1; j < m; j++ {
			v[j] = col[j*n]
		}
		for j := range m {
			vc[j] = Conj(v[j])
		}
		b := a[(i+1)*n+i+1:]
		symmetricTimes(x, b, vc[:m], m, n, t)
		f := Num[E](-0.5) * t * dotc(x, v)
		axpy(x, f, v)
		for j := range m {
			xc[j] = Conj(x[j])
		}
		rankTwo(b, v, x, vc[:m], xc[:m], m, n)
	}
	d[n-1] = Re(a[n*n-1])
}
