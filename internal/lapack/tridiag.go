package lapack

import "math"

// Eigh gives the eigenvalues w of the Hermitian n×n matrix, of which the lower or the upper triangle of a is read, in
// ascending order, and the eigenvectors as columns of v unless v is nil. a is destroyed; eps is the precision of the
// result's type. It reports whether the iteration converged.
//
// The matrix is reduced to tridiagonal form by reflections, whose eigenvectors are found by division (LAPACK's xSYEVD).
func Eigh[E Element](a []E, n int, w []float64, v []E, lower bool, eps float64) bool {
	if n == 0 {
		return true
	}
	h := make([]E, n*n)
	for i := range n { // upper triangles are read in reverse order, which makes them lower ones
		if lower {
			copy(h[i*n:], a[i*n:i*n+i+1])
		} else {
			for j := range i + 1 {
				h[i*n+j] = a[(n-1-i)*n+n-1-j]
			}
		}
	}
	largest := 0.0
	for i := range n {
		h[i*n+i] = Num[E](Re(h[i*n+i]))
		largest = max(largest, largestOf(h[i*n:i*n+i+1]))
	}
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		return false
	}
	factor := 1.0
	if tiny, huge := safeRange[E](); largest > 0 && (largest < tiny || largest > huge) {
		factor = math.Exp2(-math.Round(math.Log2(largest)))
		for i := range h { // the factor itself may not fit the type
			re, im := parts(h[i])
			h[i] = pair[E](re*factor, im*factor)
		}
	}
	mirror(h, n)
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
	switch any(h).(type) {
	case []float32, []complex64:
		if !eighVectors(h, tau, n, w, e, make([]float32, sizeIf(v != nil, n*n)), v, lower, eps) {
			return false
		}
	default:
		if !eighVectors(h, tau, n, w, e, make([]float64, sizeIf(v != nil, n*n)), v, lower, eps) {
			return false
		}
	}
	if factor != 1 {
		scale(w[:n], 1/factor)
	}
	return true
}

func sizeIf(yes bool, n int) int {
	if yes {
		return n
	}
	return 0
}

// safeRange are limits of numbers whose squares can be added up without care.
func safeRange[E Element]() (tiny, huge float64) {
	least, precision := limits[E]()
	tiny = math.Sqrt(least / precision)
	return tiny, 1 / tiny
}

// mirror copies the lower triangle of a Hermitian matrix to the upper one.
func mirror[E Element](h []E, n int) {
	switch h := any(h).(type) {
	case []float32:
		mirrorReal(h, n)
		return
	case []float64:
		mirrorReal(h, n)
		return
	}
	for i := range n {
		for j := range i {
			h[j*n+i] = Conj(h[i*n+j])
		}
	}
}

// mirrorReal is mirror by tiles that stay in the cache.
func mirrorReal[R Real](h []R, n int) {
	const tile = 16
	for i := 0; i < n; i += tile {
		for j := 0; j <= i; j += tile {
			for r := i; r < min(i+tile, n); r++ {
				for c, v := range h[r*n+j:][:max(0, min(tile, r-j))] {
					h[(j+c)*n+r] = v
				}
			}
		}
	}
}

// eighVectors gives the eigenvalues of the tridiagonal matrix with diagonal w and off-diagonal e, and, unless v is nil,
// the eigenvectors of the matrix that was reduced to it: Q times those of the tridiagonal matrix, the rows of z.
func eighVectors[E Element, R Real](h, tau []E, n int, w, e []float64, z []R, v []E, lower bool, eps float64) bool {
	if v == nil {
		return tridiagonalValues(w, e, n, eps)
	}
	if !divideTridiagonal(w, e, z, n, eps) {
		return false
	}
	spread(v, z, n)
	if !lower {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			swapTwo(v, i, j, n)
		}
	}
	if n > 1 {
		ApplyQ(h[n:], n, tau[:n-1], v[n:], n-1, n, n, false)
	}
	if !lower {
		for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
			swapTwo(v, i, j, n)
		}
	}
	return true
}

// asElement is a real number as an element.
func asElement[E Element, R Real](x R) E { return Num[E](float64(x)) }

// tridiagonal reduces the Hermitian matrix a, both triangles of which are there, to the tridiagonal matrix Qᴴ·a·Q with
// diagonal d and off-diagonal e. The vectors of Q's reflections stay below the off-diagonal of a.
//
// Of large matrices panels of columns are reduced, and the rest is updated by all of a panel's reflections at once
// (Dongarra, Hammarling and Sorensen 1987, Block reduction of matrices to condensed forms for eigenvalue computations,
// LAPACK Working Note 2; LAPACK's xSYTRD and xLATRD).
func tridiagonal[E Element](a []E, n int, d, e []float64, tau []E) {
	const b = 32
	from := 0
	for ; n-from > 3*b; from += b {
		tridiagonalPanel(a[from*n+from:], n-from, n, b, d[from:], e[from:], tau[from:])
	}
	tridiagonalColumns(a[from*n+from:], n-from, n, d[from:], e[from:], tau[from:])
}

// tridiagonalPanel reduces the first b columns of the n×n matrix a and updates the rest: after i columns this is
// A - V·Wᴴ - W·Vᴴ, of which only the next column is computed at a time.
func tridiagonalPanel[E Element](a []E, n, ld, b int, d, e []float64, tau []E) {
	// Rows: b vectors v, b vectors w, and the v again, so that V and W follow each other in both orders.
	f := make([]E, 3*b*n)
	fc := f
	if isComplex[E]() {
		fc = make([]E, 3*b*n)
	}
	v, w := f[:b*n], f[b*n:2*b*n]
	vc, wc := fc[:b*n], fc[b*n:2*b*n]
	col, coef := make([]E, n), make([]E, 2*b)
	for i := range b {
		c := col[i:n]
		for r := range c {
			c[r] = a[(i+r)*ld+i]
		}
		if i > 0 { // column i of V·Wᴴ + W·Vᴴ
			for j := range i {
				coef[j], coef[b+j] = wc[j*n+i], vc[j*n+i]
			}
			mul(1, n-i, i, -1, coef, i, 1, v[i:], n, 1, 1, c, n, 1)
			mul(1, n-i, i, -1, coef[b:], i, 1, w[i:], n, 1, 1, c, n, 1)
		}
		d[i] = Re(c[0])
		c[0] = Num[E](d[i])
		m := n - i - 1
		tau[i] = reflector(&c[1], c[2:], m-1, 1)
		e[i] = Re(c[1])
		for r := range c {
			a[(i+r)*ld+i] = c[r]
		}
		x := v[i*n+i+1 : (i+1)*n]
		copy(x, c[1:])
		x[0] = 1
		if isComplex[E]() {
			copyConj(vc[i*n+i+1:], x)
		}
		y := w[i*n+i+1 : (i+1)*n]
		mul(m, 1, m, 1, a[(i+1)*ld+i+1:], ld, 1, x, 1, 1, 0, y, 1, 1)
		if i > 0 {
			// minus V·(Wᴴ·x) and W·(Vᴴ·x)
			k := i + 1
			mul(1, i, m, 1, x, m, 1, wc[k:], 1, n, 0, coef, i, 1)
			mul(1, m, i, -1, coef, i, 1, v[k:], n, 1, 1, y, m, 1)
			mul(1, i, m, 1, x, m, 1, vc[k:], 1, n, 0, coef, i, 1)
			mul(1, m, i, -1, coef, i, 1, w[k:], n, 1, 1, y, m, 1)
		}
		scale(y, tau[i])
		axpy(y, Num[E](-0.5)*tau[i]*dotc(y, x), x)
		if isComplex[E]() {
			copyConj(wc[i*n+i+1:], y)
		}
	}
	copy(f[2*b*n:], v)
	if isComplex[E]() {
		copy(fc[2*b*n:], vc)
	}
	// Both triangles: V·Wᴴ + W·Vᴴ is one product.
	m := n - b
	mul(m, m, 2*b, -1, f[b:], 1, n, fc[b*n+b:], n, 1, 1, a[b*ld+b:], ld, 1)
}

// tridiagonalColumns is tridiagonal for one column after the other.
func tridiagonalColumns[E Element](a []E, n, ld int, d, e []float64, tau []E) {
	buf := make([]E, 4*n)
	for i := range n - 1 {
		m := n - i - 1
		col := a[(i+1)*ld+i:]
		var rest []E
		if m > 1 {
			rest = col[ld:]
		}
		tau[i] = reflector(&col[0], rest, m-1, ld)
		e[i] = Re(col[0])
		d[i] = Re(a[i*ld+i])
		t := tau[i]
		if t == 0 {
			continue
		}
		v, x, xc, vc := buf[:m], buf[m:2*m], buf[2*m:3*m], buf[3*m:4*m]
		v[0] = 1
		for j := 1; j < m; j++ {
			v[j] = col[j*ld]
		}
		copyConj(vc, v)
		b := a[(i+1)*ld+i+1:]
		if worthMul[E](m * m) {
			mul(m, 1, m, t, b, ld, 1, v, 1, 1, 0, x, 1, 1)
		} else {
			for j := range x {
				x[j] = t * dotc(vc, b[j*ld:][:m])
			}
		}
		axpy(x, Num[E](-0.5)*t*dotc(x, v), v)
		copyConj(xc, x)
		if worthMul[E](m * m) { // v·xᴴ + x·vᴴ
			mul(m, m, 2, -1, buf, 1, m, buf[2*m:], m, 1, 1, b, ld, 1)
			continue
		}
		for j := range m {
			row := b[j*ld:][:m]
			axpy(row, -v[j], xc)
			axpy(row, -x[j], vc)
		}
	}
	d[n-1] = Re(a[(n-1)*ld+n-1])
}
