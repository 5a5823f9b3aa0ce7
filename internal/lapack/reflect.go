package lapack

import "math"

// reflector makes the reflection H = I - tau·v·vᴴ with Hᴴ·(alpha, x) = (beta, 0), where v = (1, x') and beta is real. x
// becomes the rest of v; elements of x are inc apart.
func reflector[E Element](alpha *E, x []E, n, inc int) (tau E) {
	if n == 0 && Im(*alpha) == 0 {
		return 0
	}
	norm := 0.0
	for i := range n {
		norm = math.Hypot(norm, Abs(x[i*inc]))
	}
	if norm == 0 && Im(*alpha) == 0 {
		return 0
	}
	re, im := Re(*alpha), Im(*alpha)
	beta := -math.Copysign(math.Hypot(math.Hypot(re, im), norm), re)
	tau = pair[E]((beta-re)/beta, -im/beta)
	f := Num[E](1) / (*alpha - Num[E](beta))
	for i := range n {
		x[i*inc] *= f
	}
	*alpha = Num[E](beta)
	return tau
}

// reflectLeft applies I - tau·v·vᴴ from the left to the m×n matrix a; elements of v are inc apart, the first one counts
// as 1. w has space for n elements.
func reflectLeft[E Element](a []E, m, n, ld int, v []E, inc int, tau E, w []E) {
	if tau == 0 || n == 0 || m == 0 {
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

// reflectRight applies I - tau·v·vᴴ from the right to the m×n matrix a. u has space for 2n elements.
func reflectRight[E Element](a []E, m, n, ld int, v []E, inc int, tau E, u []E) {
	if tau == 0 || n == 0 {
		return
	}
	vc, vh := u[:n], u[n:2*n] // conj(v), for dot products with rows, and vᴴ
	vc[0], vh[0] = 1, 1
	for j := 1; j < n; j++ {
		vh[j] = Conj(v[j*inc])
		vc[j] = vh[j]
	}
	for i := range m {
		row := a[i*ld:][:n]
		axpy(row, -tau*dotc(vc, row), vh) // conj(conj(v))·row = row·v
	}
}

// QR factors the m×n matrix a in place: R in the upper triangle, below it the reflections' vectors, of which tau has
// the factors. Panels of columns are factored at a time and applied to the rest as I - V·Tᴴ·Vᴴ (Schreiber and Van Loan
// 1989, A storage-efficient WY representation for products of Householder transformations).
func QR[E Element](a []E, m, n, ld int, tau []E) {
	k := min(m, n)
	if k <= 2*panel {
		qrColumns(a, m, n, ld, tau[:k])
		return
	}
	for i := 0; i < k; i += panel {
		b := min(panel, k-i)
		at := a[i*ld+i:]
		qrColumns(at, m-i, b, ld, tau[i:i+b])
		if i+b < n {
			applyBlock(at, m-i, b, ld, tau[i:i+b], at[b:], n-i-b, ld, true)
		}
	}
}

// panel is the number of reflections that are applied at a time.
const panel = 32

func qrColumns[E Element](a []E, m, n, ld int, tau []E) {
	w := make([]E, n)
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

// applyBlock applies the product of the b reflections whose vectors are the columns of the m×b matrix v (below the
// diagonal), or its adjoint, from the left to the m×n matrix c.
func applyBlock[E Element](v []E, m, b, ldv int, tau []E, c []E, n, ldc int, adjoint bool) {
	// V with its ones and zeros, Vᴴ conjugated if complex, and T: H1⋯Hb = I - V·T·Vᴴ with T upper triangular
	x := make([]E, m*b)
	for i := range m {
		copy(x[i*b:(i+1)*b], v[i*ldv:][:min(i, b)])
		if i < b {
			x[i*b+i] = 1
		}
	}
	xc, _ := conjugated(x, m, b, b)
	g := make([]E, b*b) // Vᴴ·V
	mul(b, b, m, 1, xc, 1, b, x, b, 1, 0, g, b, 1)
	t := make([]E, b*b)
	for j := range b {
		for i := range j {
			var s E
			for l := i; l < j; l++ {
				s += t[i*b+l] * g[l*b+j]
			}
			t[i*b+j] = -tau[j] * s
		}
		t[j*b+j] = tau[j]
	}
	w, y := make([]E, b*n), make([]E, b*n)
	mul(b, n, m, 1, xc, 1, b, c, ldc, 1, 0, w, n, 1)
	if adjoint {
		tc, _ := conjugated(t, b, b, b)
		mul(b, n, b, 1, tc, 1, b, w, n, 1, 0, y, n, 1)
	} else {
		mul(b, n, b, 1, t, b, 1, w, n, 1, 0, y, n, 1)
	}
	mul(m, n, b, -1, x, b, 1, y, n, 1, 1, c, ldc, 1)
}

// ApplyQ multiplies the m×n matrix c from the left by Q = H1⋯Hk, or by its adjoint; the reflections are as QR leaves
// them in the m×k matrix v.
func ApplyQ[E Element](v []E, ldv int, tau []E, c []E, m, n, ldc int, adjoint bool) {
	k := len(tau)
	if n == 0 || m == 0 {
		return
	}
	if k*n < 512 || k < 4 {
		w := make([]E, n)
		for j := range k {
			i, t := j, Conj(tau[j])
			if !adjoint {
				i = k - 1 - j
				t = tau[i]
			}
			reflectLeft(c[i*ldc:], m-i, n, ldc, v[i*ldv+i:], ldv, t, w)
		}
		return
	}
	last := (k - 1) / panel * panel
	for j := 0; j < k; j += panel {
		i := j
		if !adjoint {
			i = last - j
		}
		b := min(panel, k-i)
		applyBlock(v[i*ldv+i:], m-i, b, ldv, tau[i:i+b], c[i*ldc:], n, ldc, adjoint)
	}
}

// MakeQ is the m×n matrix of the first n columns of Q = H1⋯Hk.
func MakeQ[E Element](v []E, ldv int, tau []E, q []E, m, n, ldq int) {
	identity(q, m, n, ldq)
	k := len(tau)
	if k == 0 {
		return
	}
	last := (k - 1) / panel * panel
	for i := last; i >= 0; i -= panel { // the columns before i are still those of the identity
		b := min(panel, k-i)
		ApplyQ(v[i*ldv+i:], ldv, tau[i:i+b], q[i*ldq+i:], m-i, n-i, ldq, false)
	}
}
