package lapack

import "math"

// reflector makes the reflection H = I - tau·v·vᴴ with Hᴴ·(alpha, x) = (beta, 0), where v = (1, x') and beta is real. x
// becomes the rest of v; elements of x are inc apart. It is LAPACK's xLARFG.
func reflector[E Element](alpha *E, x []E, n, inc int) (tau E) {
	re, im := parts(*alpha)
	if n == 0 && im == 0 {
		return 0
	}
	norm := norm2(x, n, inc)
	if norm == 0 && im == 0 {
		return 0
	}
	beta := -math.Copysign(length3(re, im, norm), re)
	least, precision := limits[E]()
	least /= precision
	scaled := 0
	for ; math.Abs(beta) < least && scaled < 20; scaled++ { // numbers whose reciprocals overflow
		for i := range n {
			x[i*inc] *= Num[E](1 / least)
		}
		re, im, norm = re/least, im/least, norm2(x, n, inc)
		beta = -math.Copysign(length3(re, im, norm), re)
	}
	tau = pair[E]((beta-re)/beta, -im/beta)
	f := Num[E](1) / pair[E](re-beta, im)
	if inc == 1 {
		scale(x[:n], f)
	} else {
		for i := range n {
			x[i*inc] *= f
		}
	}
	for range scaled {
		beta *= least
	}
	*alpha = Num[E](beta)
	return tau
}

// length3 is the length of a vector of three parts.
func length3(x, y, z float64) float64 {
	if s := x*x + y*y + z*z; s > 0x1p-900 && s < 0x1p1000 {
		return math.Sqrt(s)
	}
	return math.Hypot(math.Hypot(x, y), z)
}

// reflectLeft applies I - tau·v·vᴴ from the left to the m×n matrix a; elements of v are inc apart, the first one counts
// as 1. w has space for n + 2m elements.
func reflectLeft[E Element](a []E, m, n, ld int, v []E, inc int, tau E, w []E) {
	if tau == 0 || n == 0 || m == 0 {
		return
	}
	if worthMul[E](m * n) {
		x, xc := w[n:n+m], w[n+m:n+2*m]
		x[0] = 1
		for i := 1; i < m; i++ {
			x[i] = v[i*inc]
		}
		copyConj(xc, x)
		scale(x, -tau)
		mul(1, n, m, 1, xc, m, 1, a, ld, 1, 0, w, n, 1)
		mul(m, n, 1, 1, x, 1, 1, w, n, 1, 1, a, ld, 1)
		return
	}
	w = w[:n]
	copy(w, a[:n])
	for i := 1; i < m; i++ {
		axpy(w, Conj(v[i*inc]), a[i*ld:][:n])
	}
	axpy(a[:n], -tau, w)
	for i := 1; i < m; i++ {
		axpy(a[i*ld:][:n], -tau*v[i*inc], w)
	}
}

// worthMul says that products with a matrix of that many elements by package gemm are faster than loops: complex ones
// prepare their operands.
func worthMul[E Element](elements int) bool {
	if isComplex[E]() {
		return elements >= 2048
	}
	return elements >= 128
}

// reflectRight applies I - tau·v·vᴴ from the right to the m×n matrix a. w has space for 2n + m elements.
func reflectRight[E Element](a []E, m, n, ld int, v []E, inc int, tau E, w []E) {
	if tau == 0 || n == 0 {
		return
	}
	x, xc := w[:n], w[n:2*n]
	x[0] = 1
	for j := 1; j < n; j++ {
		x[j] = v[j*inc]
	}
	copyConj(xc, x)
	if worthMul[E](m * n) {
		y := w[2*n : 2*n+m]
		mul(m, 1, n, -tau, a, ld, 1, x, 1, 1, 0, y, 1, 1)
		mul(m, n, 1, 1, y, 1, 1, xc, n, 1, 1, a, ld, 1)
		return
	}
	for i := range m {
		row := a[i*ld:][:n]
		axpy(row, -tau*dotc(xc, row), xc) // conj(xc)·row is row·v
	}
}

// panel is the number of reflections of a matrix of k columns that are applied at a time.
func panel(k int) int {
	if k >= 384 {
		return 64
	}
	return 32
}

// QR factors the m×n matrix a in place: R in the upper triangle, below it the reflections' vectors, of which tau has
// the factors. Panels of columns are factored at a time and applied to the rest as a block.
func QR[E Element](a []E, m, n, ld int, tau []E) {
	k := min(m, n)
	if k <= 32 && n <= 64 && m <= 64 {
		qrColumns(a, m, n, ld, tau[:k])
		return
	}
	b := panel(k)
	for i := 0; i < k; i += b {
		b := min(b, k-i)
		at := a[i*ld+i:]
		v := qrPanel(at, m-i, b, ld, tau[i:i+b])
		if i+b < n {
			newBlock(v, m-i, tau[i:i+b]).apply(at[b:], n-i-b, ld, true)
		}
	}
}

func qrColumns[E Element](a []E, m, n, ld int, tau []E) {
	w := make([]E, n+2*m)
	for i := range tau {
		at := a[i*ld+i:]
		var below []E
		if i+1 < m {
			below = at[ld:]
		}
		tau[i] = reflector(&at[0], below, m-i-1, ld)
		if i+1 < n {
			reflectLeft(at[1:], m-i, n-i-1, ld, at, ld, Conj(tau[i]), w)
		}
	}
}

// qrPanel is QR for few columns, on a transposed copy of a, in which columns are contiguous. It returns the vectors of
// the reflections as the rows of a matrix.
func qrPanel[E Element](a []E, m, n, ld int, tau []E) []E {
	t := make([]E, n*m)
	turnOver(t, m, a, ld, m, n)
	qrRows(t, m, n, m, tau)
	turnOver(a, ld, t, m, n, m)
	for j := range n {
		clear(t[j*m : j*m+j])
		t[j*m+j] = 1
	}
	return t
}

// qrRows factors the m×n matrix whose columns are the rows of t. Columns are halved (Elmroth and Gustavson 1998, New
// serial and parallel recursive QR factorization algorithms for SMP systems) until they are few.
func qrRows[E Element](t []E, m, n, ld int, tau []E) {
	if n > 8 {
		h := n / 2
		qrRows(t, m, h, ld, tau[:h])
		v := make([]E, h*m)
		for j := range h {
			v[j*m+j] = 1
			copy(v[j*m+j+1:(j+1)*m], t[j*ld+j+1:])
		}
		newBlock(v, m, tau[:h]).applyToRows(t[h*ld:], n-h, ld)
		qrRows(t[h*ld+h:], m-h, n-h, ld, tau[h:])
		return
	}
	for j := range n {
		v := t[j*ld+j : j*ld+m]
		tau[j] = reflector(&v[0], v[1:], len(v)-1, 1)
		beta := v[0]
		v[0] = 1
		for c := j + 1; c < n; c++ {
			col := t[c*ld+j : c*ld+m]
			axpy(col, -Conj(tau[j])*dotc(v, col), v)
		}
		v[0] = beta
	}
}

// block is a product of b reflections H1⋯Hb = I - V·T·Vᴴ with upper triangular T (Schreiber and Van Loan 1989, A
// storage-efficient WY representation for products of Householder transformations).
type block[E Element] struct {
	m, b  int
	v, vc []E // the transpose of V, b×m, and its conjugate
	t     []E
}

// newBlock makes a block of the vectors that are the rows of the matrix v with m columns, with their ones and zeros.
func newBlock[E Element](v []E, m int, tau []E) *block[E] {
	b := len(tau)
	vc, _ := conjugated(v, b, m, m)
	g, t := make([]E, b*b), make([]E, b*b)
	mul(b, b, m, 1, vc, m, 1, v, 1, m, 0, g, b, 1) // Vᴴ·V
	for j := range b {
		for i := range j { // the sum of t[i][l]·g[l][j], where g is Hermitian
			t[i*b+j] = -tau[j] * dotc(g[j*b+i:j*b+j], t[i*b+i:i*b+j])
		}
		t[j*b+j] = tau[j]
	}
	return &block[E]{m, b, v, vc, t}
}

// apply multiplies the m×n matrix c from the left by the block, or by its adjoint.
func (r *block[E]) apply(c []E, n, ldc int, adjoint bool) {
	m, b := r.m, r.b
	t, rs, cs := r.t, b, 1
	if adjoint {
		t, _ = conjugated(r.t, b, b, b)
		rs, cs = 1, b
	}
	w, y := make([]E, b*n), make([]E, b*n)
	strips(n, 2*m*b, func(lo, hi int) {
		c, w, y, k := c[lo:], w[b*lo:b*hi], y[b*lo:b*hi], hi-lo
		mul(b, k, m, 1, r.vc, m, 1, c, ldc, 1, 0, w, k, 1)
		mul(b, k, b, 1, t, rs, cs, w, k, 1, 0, y, k, 1)
		mul(m, k, b, -1, r.v, 1, m, y, k, 1, 1, c, ldc, 1)
	})
}

// applyToRows multiplies the matrix whose n columns are the rows of c from the left by the adjoint of the block. With the
// transpose R of that matrix, the transpose of the product is R - R·conj(V)·conj(T)·Vᵀ.
func (r *block[E]) applyToRows(c []E, n, ldc int) {
	m, b := r.m, r.b
	w, y := make([]E, n*b), make([]E, n*b)
	t, _ := conjugated(r.t, b, b, b)
	mul(n, b, m, 1, c, ldc, 1, r.vc, 1, m, 0, w, b, 1)
	mul(n, b, b, 1, w, b, 1, t, b, 1, 0, y, b, 1)
	mul(n, m, b, -1, y, b, 1, r.v, m, 1, 1, c, ldc, 1)
}

// ApplyQ multiplies the m×n matrix c from the left by Q = H1⋯Hk, or by its adjoint; the reflections are as QR leaves
// them in the m×k matrix v.
func ApplyQ[E Element](v []E, ldv int, tau []E, c []E, m, n, ldc int, adjoint bool) {
	applyQ(v, ldv, 1, tau, c, m, n, ldc, adjoint)
}

// applyQ is ApplyQ for vectors whose elements are rs apart, and cs from the same element of the next vector. One of the
// two is 1.
func applyQ[E Element](v []E, rs, cs int, tau []E, c []E, m, n, ldc int, adjoint bool) {
	k := len(tau)
	if n == 0 || m == 0 || k == 0 {
		return
	}
	if k*n < 512 || k < 4 {
		w := make([]E, n+2*m)
		for j := range k {
			i, t := j, Conj(tau[j])
			if !adjoint {
				i = k - 1 - j
				t = tau[i]
			}
			reflectLeft(c[i*ldc:], m-i, n, ldc, v[i*(rs+cs):], rs, t, w)
		}
		return
	}
	each := panel(k)
	if k == panel(math.MaxInt) { // a block already
		each = k
	}
	last := (k - 1) / each * each
	for j := 0; j < k; j += each {
		i := j
		if !adjoint {
			i = last - j
		}
		b := min(each, k-i)
		from := v[i*(rs+cs):]
		rows := make([]E, b*(m-i))
		if rs != 1 { // else cs is 1
			turnOver(rows, m-i, from, rs, m-i, b)
		}
		for j := range b {
			row := rows[j*(m-i):][:m-i]
			clear(row[:j])
			row[j] = 1
			if rs == 1 {
				copy(row[j+1:], from[j*cs+j+1:])
			}
		}
		newBlock(rows, m-i, tau[i:i+b]).apply(c[i*ldc:], n, ldc, adjoint)
	}
}

// MakeQ is the m×n matrix of the first n columns of Q = H1⋯Hk.
func MakeQ[E Element](v []E, ldv int, tau []E, q []E, m, n, ldq int) {
	identity(q, m, n, ldq)
	k := len(tau)
	if k == 0 {
		return
	}
	each := panel(k)
	last := (k - 1) / each * each
	for i := last; i >= 0; i -= each { // the columns before i are still those of the identity
		b := min(each, k-i)
		ApplyQ(v[i*ldv+i:], ldv, tau[i:i+b], q[i*ldq+i:], m-i, n-i, ldq, false)
	}
}
