package lapack

import "math"

// SVD gives the singular values s of the m×n matrix a in descending order, and, unless u is nil, the left singular
// vectors as columns of the m×mu matrix u and the conjugated right ones as rows of the nv×n matrix vh. mu is m or
// min(m, n), nv is n or min(m, n). eps is the precision of the result's type. a is destroyed. It reports whether the
// iteration converged.
//
// The steps are those of LAPACK's xGESDD: a QR factorization first where there are far more rows than columns (or the
// other way round), reduction to bidiagonal form, and the division of that.
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
	largest := largestOf(a[:m*n])
	if math.IsNaN(largest) || math.IsInf(largest, 0) {
		return false
	}
	factor := 1.0
	if tiny, huge := safeRange[E](); largest > 0 && (largest < tiny || largest > huge) {
		factor = math.Exp2(-math.Round(math.Log2(largest)))
		for i, x := range a[:m*n] { // the factor itself may not fit the type
			re, im := parts(x)
			a[i] = pair[E](re*factor, im*factor)
		}
	}
	many := k * 3 / 2 // MKL's choice
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
	f := bidiagonalForm[E]{k: k, brows: brows, b: b, lower: lower,
		e: make([]float64, k), tauq: make([]E, k), taup: make([]E, k), vp: make([]E, k*k)}
	bidiagonal(b, brows, k, k, s, f.e, f.tauq, f.taup, f.vp)
	f.toUpper(s)
	var left, right []E
	var ok bool
	switch any(a).(type) {
	case []float32, []complex64:
		left, right, ok = singularVectors[E, float32](&f, s, vectors, wide && !long, eps)
	default:
		left, right, ok = singularVectors[E, float64](&f, s, vectors, wide && !long, eps)
	}
	if !ok {
		return false
	}
	if factor != 1 {
		scale(s[:k], 1/factor)
	}
	if !vectors {
		return true
	}
	// The factors of t, or of A in the square case: left = Q·(U or V), right = P·(V or U).
	lcols := mu
	if wide {
		lcols = nv
	}
	if k > 1 { // the reflections of P start at the second element
		applyQ(f.vp[1:], 1, k, f.taup[:k-1], right[k:], k-1, k, k, false)
	}
	var tall []E // rows×lcols
	square := right
	if !long {
		tall = widened(left, k, brows, lcols)
		ApplyQ(b, k, f.tauq, tall, brows, lcols, lcols, false)
	} else {
		ApplyQ(b, k, f.tauq, left, k, k, k, false)
		inner := left
		if wide {
			inner, square = right, left
		}
		tall = widened(inner, k, rows, lcols)
		ApplyQ(t, k, tauQR, tall, rows, lcols, lcols, false)
	}
	if wide {
		tall, square = square, tall
	}
	copy(u, tall)
	transpose(vh, square, n, nv)
	return true
}

// widened is the k×k matrix x in the corner of the identity.
func widened[E Element](x []E, k, rows, cols int) []E {
	if rows == k && cols == k {
		return x
	}
	w := make([]E, rows*cols)
	identity(w, rows, cols, cols)
	for i := range k {
		copy(w[i*cols:][:k], x[i*k:(i+1)*k])
	}
	return w
}

// bidiagonalForm is what the bidiagonal reduction of a brows×k matrix leaves.
type bidiagonalForm[E Element] struct {
	k, brows       int
	b              []E
	lower          bool
	e              []float64
	tauq, taup, vp []E
	cs, sn         []float64 // of the rotations that make a lower bidiagonal matrix upper
}

func (f *bidiagonalForm[E]) toUpper(s []float64) {
	if !f.lower {
		return
	}
	f.cs, f.sn = make([]float64, f.k), make([]float64, f.k)
	for i := range f.k - 1 {
		var c, sin float64
		c, sin, s[i] = rotation(s[i], f.e[i])
		f.e[i] = sin * s[i+1]
		s[i+1] *= c
		f.cs[i], f.sn[i] = c, -sin
	}
}

// singularVectors gives the singular values s of the bidiagonal matrix with diagonal s, and, if they are asked for, the
// left and right singular vectors, exchanged if swap, as columns.
func singularVectors[E Element, R Real](f *bidiagonalForm[E], s []float64, vectors, swap bool, eps float64) (left,
	right []E, ok bool) {
	k := f.k
	if !vectors {
		return nil, nil, bidiagonalSVD[R](s, f.e, nil, nil, k, eps)
	}
	ut, vt := make([]R, k*k), make([]R, k*k)
	if !divideBidiagonal(s, f.e, vt, ut, k, eps) {
		return nil, nil, false
	}
	left, right = make([]E, k*k), make([]E, k*k)
	if swap {
		spread(left, vt, k)
		spread(right, ut, k)
	} else {
		spread(left, ut, k)
		spread(right, vt, k)
	}
	if f.lower { // the rows of U, from the last to the first
		u := left
		if swap {
			u = right
		}
		t := turnsPool.Get().(*turns)
		for i := k - 2; i >= 0; i-- {
			t.add(i, f.cs[i], f.sn[i])
		}
		flush(t, u, k)
		t.done()
	}
	return left, right, true
}

// spread makes x the transpose of the k×k matrix z.
func spread[E Element, R Real](x []E, z []R, k int) {
	if x, ok := any(x).([]R); ok {
		turnOver(x, k, z, k, k, k)
		return
	}
	const tile = 32
	for i := 0; i < k; i += tile {
		for j := 0; j < k; j += tile {
			for r := i; r < min(i+tile, k); r++ {
				for c := j; c < min(j+tile, k); c++ {
					x[r*k+c] = asElement[E](z[c*k+r])
				}
			}
		}
	}
}

// adjoint is the conjugate transpose of the m×n matrix a.
func adjoint[E Element](a []E, m, n int) []E {
	t := make([]E, m*n)
	transpose(t, a, m, n)
	return t
}

// transpose makes t the conjugate transpose of the m×n matrix a.
func transpose[E Element](t, a []E, m, n int) {
	turnOver(t, m, a, n, m, n)
	if isComplex[E]() {
		copyConj(t, t)
	}
}
