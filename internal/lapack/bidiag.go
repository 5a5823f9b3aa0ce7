package lapack

import "math"

// bidiagonal reduces the m×n matrix a, m ≥ n, to the upper bidiagonal matrix Qᴴ·a·P with diagonal d and off-diagonal e.
// The vectors of Q's reflections stay below the diagonal of a, those of P's in vp: row j of vp holds the vector of
// reflection j from element j+1 on.
//
// Of large matrices panels of rows and columns are reduced, and the rest is updated by all of a panel's reflections at
// once (Dongarra, Hammarling and Sorensen 1987, Block reduction of matrices to condensed forms for eigenvalue
// computations, LAPACK Working Note 2; LAPACK's xGEBRD and xLABRD).
func bidiagonal[E Element](a []E, m, n, ld int, d, e []float64, tauq, taup, vp []E) {
	const b = 32
	from := 0
	for ; n-from > 3*b; from += b {
		bidiagonalPanel(a[from*ld+from:], m-from, n-from, ld, b, d[from:], e[from:], tauq[from:], taup[from:],
			vp[from*n+from:], n)
	}
	bidiagonalColumns(a[from*ld+from:], m-from, n-from, ld, d[from:], e[from:], tauq[from:], taup[from:],
		vp[from*n+from:], n)
}

// bidiagonalPanel reduces the first b rows and columns of the m×n matrix a and updates the rest: after i of them this
// is A - V·Yᴴ - X·Uᴴ, of which only the next column and row are computed at a time.
func bidiagonalPanel[E Element](a []E, m, n, ld, b int, d, e []float64, tauq, taup, vp []E, ldvp int) {
	// Rows: the vectors v and x in turn, and y and u, so that sums over both pairs are one product.
	vx, yu := make([]E, 2*b*m), make([]E, 2*b*n)
	vxc, yuc := vx, yu // their conjugates
	if isComplex[E]() {
		vxc, yuc = make([]E, 2*b*m), make([]E, 2*b*n)
	}
	conj := func(to, from []E) {
		if isComplex[E]() {
			copyConj(to, from)
		}
	}
	coef := make([]E, 2*b)
	// minus subtracts Σ f[j]·(row j of r from element at on), for as many rows as f has elements
	minus := func(to, f, r []E, at, ldr int) {
		if k := len(f); k > 0 {
			mul(1, len(to), k, -1, f, k, 1, r[at:], ldr, 1, 1, to, len(to), 1)
		}
	}
	column := func(r []E, k, at, ldr int) []E {
		for j := range k {
			coef[j] = r[j*ldr+at]
		}
		return coef[:k]
	}
	// dots are the products of k rows, from element at on, with a vector
	dots := func(r []E, k, at, ldr int, with []E) []E {
		if k > 0 {
			mul(1, k, len(with), 1, with, len(with), 1, r[at:], 1, ldr, 0, coef, k, 1)
		}
		return coef[:k]
	}
	for i := range b {
		k := i + 1
		vi, xi, yi, ui := 2*i*m, (2*i+1)*m, 2*i*n, (2*i+1)*n // where rows begin
		c := vx[vi+i : vi+m]
		for r := range c {
			c[r] = a[(i+r)*ld+i]
		}
		minus(c, column(yuc, 2*i, i, n), vx, i, m)
		tauq[i] = reflector(&c[0], c[1:], len(c)-1, 1)
		d[i] = Re(c[0])
		for r := range c {
			a[(i+r)*ld+i] = c[r]
		}
		c[0] = 1
		cc := vxc[vi+i : vi+m]
		conj(cc, c)
		// y = tauq·(the rest)ᴴ·v
		row := yu[yi+k : yi+n]
		mul(1, n-k, m-i, 1, cc, m-i, 1, a[i*ld+k:], ld, 1, 0, row, n-k, 1)
		copyConj(row, row)
		minus(row, dots(vxc, 2*i, i, m, c), yu, k, n)
		scale(row, tauq[i])
		conj(yuc[yi+k:yi+n], row)
		// the conjugate of row i
		w := yu[ui+k : ui+n]
		for j := range w {
			w[j] = Conj(a[i*ld+k+j])
		}
		minus(w, column(vxc, 2*i+1, i, m), yu, k, n)
		taup[i] = reflector(&w[0], w[1:], len(w)-1, 1)
		e[i] = Re(w[0])
		w[0] = 1
		conj(yuc[ui+k:ui+n], w)
		copy(vp[i*ldvp+k:][:n-k], w)
		// x = taup·(the rest)·u
		col := vx[xi+k : xi+m]
		mul(m-k, 1, n-k, 1, a[k*ld+k:], ld, 1, w, 1, 1, 0, col, 1, 1)
		minus(col, dots(yuc, 2*i+1, k, n, w), vx, k, m)
		scale(col, taup[i])
		conj(vxc[xi+k:xi+m], col)
	}
	mul(m-b, n-b, 2*b, -1, vx[b:], 1, m, yuc[b:], n, 1, 1, a[b*ld+b:], ld, 1)
}

// bidiagonalColumns is bidiagonal for one column and row after the other.
func bidiagonalColumns[E Element](a []E, m, n, ld int, d, e []float64, tauq, taup, vp []E, ldvp int) {
	w := make([]E, 2*(m+n))
	for i := range n {
		at := a[i*ld+i:]
		var below []E
		if i+1 < m {
			below = at[ld:]
		}
		tauq[i] = reflector(&at[0], below, m-i-1, ld)
		d[i] = Re(at[0])
		if i+1 == n {
			break
		}
		reflectLeft(at[1:], m-i, n-i-1, ld, at, ld, Conj(tauq[i]), w)
		v := vp[i*ldvp+i+1:][:n-i-1]
		for j := range v {
			v[j] = Conj(at[1+j])
		}
		taup[i] = reflector(&v[0], v[1:], len(v)-1, 1)
		e[i] = Re(v[0])
		if i+1 < m {
			reflectRight(a[(i+1)*ld+i+1:], m-i-1, n-i-1, ld, v, 1, taup[i], w)
		}
	}
}

// singularFromSquares gives the singular values of the upper bidiagonal matrix B, for results of single precision, as
// the square roots of the eigenvalues of BᵀB, whose iteration has no square roots. Its rounding errors are relative to
// the largest eigenvalue: it declines, and leaves d and e as they were, where they could show in the smallest one.
func singularFromSquares(d, e []float64, n int, eps float64) bool {
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = d[i] * d[i]
		if i > 0 {
			x[i] += e[i-1] * e[i-1]
			y[i-1] = d[i-1] * e[i-1]
		}
	}
	if !tridiagonalValues(x, y, n, eps/64) || !(x[0] >= x[n-1]*0x1p-24) {
		return false
	}
	for i := range n {
		d[i] = math.Sqrt(x[n-1-i])
	}
	clear(e[:n-1])
	return true
}

// bidiagonalSVD makes the upper bidiagonal matrix with diagonal d and off-diagonal e diagonal, with descending d ≥ 0.
// The rotations from the right act on the n rows of vt, those from the left on those of ut (or nil). It is
// the implicit zero-shift QR iteration (Demmel and Kahan 1990, Accurate singular values of bidiagonal matrices;
// LAPACK's xBDSQR).
func bidiagonalSVD[R Real](d, e []float64, vt, ut []R, n int, eps float64) bool {
	if n == 0 {
		return true
	}
	if n == 1 {
		if d[0] < 0 {
			d[0] = -d[0]
			if len(vt) > 0 {
				scale(vt, -1)
			}
		}
		return true
	}
	if vt == nil && ut == nil && n >= 64 && eps > 0x1p-30 && singularFromSquares(d, e, n, eps) {
		return true
	}
	const tiny = 0x1p-1022
	tol := max(10, min(100, math.Pow(eps, -0.125))) * eps
	least := math.Abs(d[0])
	for i, mu := 1, least; i < n && least != 0; i++ {
		mu = math.Abs(d[i]) * (mu / (mu + math.Abs(e[i-1])))
		least = min(least, mu)
	}
	thresh := max(tol*least/math.Sqrt(float64(n)), 6*float64(n)*float64(n)*tiny)
	right, left := turnsPool.Get().(*turns), turnsPool.Get().(*turns)
	defer right.done()
	defer left.done()
	budget := 6 * n * n
	oldLow, oldHigh, down := -1, -1, true
	for m := n - 1; m > 0; {
		if budget < 0 {
			return false
		}
		largest := math.Abs(d[m])
		low := m - 1
		for ; low >= 0; low-- {
			s := math.Abs(e[low])
			if s <= thresh {
				e[low] = 0
				break
			}
			largest = max(largest, max(math.Abs(d[low]), s))
		}
		if low++; low == m {
			m--
			continue
		}
		if low == m-1 {
			var sr, cr, sl, cl float64
			d[m], d[m-1], sr, cr, sl, cl = triangular2(d[m-1], e[m-1], d[m], eps)
			e[m-1] = 0
			right.add(m-1, cr, sr)
			left.add(m-1, cl, sl)
			m -= 2
			continue
		}
		if low > oldHigh || m < oldLow {
			down = math.Abs(d[low]) >= math.Abs(d[m])
		}
		l, settled := convergence(d, e, low, m, down, tol)
		if settled {
			continue
		}
		oldLow, oldHigh = low, m
		shift := 0.0
		if float64(n)*tol*(l/largest) > max(eps, 0.01*tol) {
			var s float64
			if down {
				s = math.Abs(d[low])
				shift = leastSingular2(d[m-1], e[m-1], d[m])
			} else {
				s = math.Abs(d[m])
				shift = leastSingular2(d[low], e[low], d[low+1])
			}
			if s > 0 && (shift/s)*(shift/s) < eps {
				shift = 0
			}
		}
		budget -= m - low
		switch {
		case shift == 0 && down:
			zeroShiftDown(d, e, low, m, right, left)
		case shift == 0:
			zeroShiftUp(d, e, low, m, right, left)
		case down:
			shiftedDown(d, e, low, m, shift, right, left)
		default:
			shiftedUp(d, e, low, m, shift, right, left)
		}
		last := m - 1
		if !down {
			last = low
		}
		if math.Abs(e[last]) <= thresh {
			e[last] = 0
		}
		if len(*right) > many {
			flush(right, vt, len(vt)/n)
			flush(left, ut, len(ut)/n)
		}
	}
	flush(right, vt, len(vt)/n)
	flush(left, ut, len(ut)/n)
	for i, v := range d[:n] {
		if v < 0 {
			d[i] = -v
			if ld := len(vt) / n; ld > 0 {
				scale(vt[i*ld:(i+1)*ld], -1)
			}
		}
	}
	for last := n - 1; last > 0; last-- {
		k := 0
		for j := 1; j <= last; j++ {
			if d[j] <= d[k] {
				k = j
			}
		}
		if k == last {
			continue
		}
		d[k], d[last] = d[last], d[k]
		if len(vt) > 0 {
			swapTwo(vt, k, last, len(vt)/n)
		}
		if len(ut) > 0 {
			swapTwo(ut, k, last, len(ut)/n)
		}
	}
	return true
}

// convergence sets an off-diagonal element of the block low…m to zero that is small enough, or else gives a lower bound
// of the block's singular values.
func convergence(d, e []float64, low, m int, down bool, tol float64) (least float64, settled bool) {
	if down {
		if math.Abs(e[m-1]) <= tol*math.Abs(d[m]) {
			e[m-1] = 0
			return 0, true
		}
		mu := math.Abs(d[low])
		least = mu
		for i := low; i < m; i++ {
			if math.Abs(e[i]) <= tol*mu {
				e[i] = 0
				return 0, true
			}
			mu = math.Abs(d[i+1]) * (mu / (mu + math.Abs(e[i])))
			least = min(least, mu)
		}
		return least, false
	}
	if math.Abs(e[low]) <= tol*math.Abs(d[low]) {
		e[low] = 0
		return 0, true
	}
	mu := math.Abs(d[m])
	least = mu
	for i := m - 1; i >= low; i-- {
		if math.Abs(e[i]) <= tol*mu {
			e[i] = 0
			return 0, true
		}
		mu = math.Abs(d[i]) * (mu / (mu + math.Abs(e[i])))
		least = min(least, mu)
	}
	return least, false
}

func zeroShiftDown(d, e []float64, low, m int, right, left *turns) {
	cs, oldcs, sn, oldsn, r := 1.0, 1.0, 0.0, 0.0, 0.0
	for i := low; i < m; i++ {
		cs, sn, r = rotation(d[i]*cs, e[i])
		if i > low {
			e[i-1] = oldsn * r
		}
		oldcs, oldsn, d[i] = rotation(oldcs*r, d[i+1]*sn)
		right.add(i, cs, sn)
		left.add(i, oldcs, oldsn)
	}
	h := d[m] * cs
	d[m], e[m-1] = h*oldcs, h*oldsn
}

func zeroShiftUp(d, e []float64, low, m int, right, left *turns) {
	cs, oldcs, sn, oldsn, r := 1.0, 1.0, 0.0, 0.0, 0.0
	for i := m; i > low; i-- {
		cs, sn, r = rotation(d[i]*cs, e[i-1])
		if i < m {
			e[i] = oldsn * r
		}
		oldcs, oldsn, d[i] = rotation(oldcs*r, d[i-1]*sn)
		left.add(i-1, cs, -sn)
		right.add(i-1, oldcs, -oldsn)
	}
	h := d[low] * cs
	d[low], e[low] = h*oldcs, h*oldsn
}

func shiftedDown(d, e []float64, low, m int, shift float64, right, left *turns) {
	f := (math.Abs(d[low]) - shift) * (math.Copysign(1, d[low]) + shift/d[low])
	g := e[low]
	for i := low; i < m; i++ {
		cr, sr, r := rotation(f, g)
		if i > low {
			e[i-1] = r
		}
		f, e[i] = cr*d[i]+sr*e[i], cr*e[i]-sr*d[i]
		g, d[i+1] = sr*d[i+1], cr*d[i+1]
		cl, sl, r := rotation(f, g)
		d[i] = r
		f, d[i+1] = cl*e[i]+sl*d[i+1], cl*d[i+1]-sl*e[i]
		if i < m-1 {
			g, e[i+1] = sl*e[i+1], cl*e[i+1]
		}
		right.add(i, cr, sr)
		left.add(i, cl, sl)
	}
	e[m-1] = f
}

func shiftedUp(d, e []float64, low, m int, shift float64, right, left *turns) {
	f := (math.Abs(d[m]) - shift) * (math.Copysign(1, d[m]) + shift/d[m])
	g := e[m-1]
	for i := m; i > low; i-- {
		cr, sr, r := rotation(f, g)
		if i < m {
			e[i] = r
		}
		f, e[i-1] = cr*d[i]+sr*e[i-1], cr*e[i-1]-sr*d[i]
		g, d[i-1] = sr*d[i-1], cr*d[i-1]
		cl, sl, r := rotation(f, g)
		d[i] = r
		f, d[i-1] = cl*e[i-1]+sl*d[i-1], cl*d[i-1]-sl*e[i-1]
		if i > low+1 {
			g, e[i-2] = sl*e[i-2], cl*e[i-2]
		}
		left.add(i-1, cr, -sr)
		right.add(i-1, cl, -sl)
	}
	e[low] = f
}

// leastSingular2 is the smaller singular value of [f g; 0 h], as LAPACK's xLAS2.
func leastSingular2(f, g, h float64) float64 {
	fa, ga, ha := math.Abs(f), math.Abs(g), math.Abs(h)
	lo, hi := min(fa, ha), max(fa, ha)
	if lo == 0 {
		return 0
	}
	as, at := 1+lo/hi, (hi-lo)/hi
	if ga < hi {
		au := ga / hi * (ga / hi)
		return lo * (2 / (math.Sqrt(as*as+au) + math.Sqrt(at*at+au)))
	}
	au := hi / ga
	if au == 0 {
		return lo * hi / ga
	}
	c := 1 / (math.Sqrt(1+as*au*as*au) + math.Sqrt(1+at*au*at*au))
	return 2 * (lo * c) * au
}

// triangular2 is the singular value decomposition of [f g; 0 h], as LAPACK's xLASV2: the values with signs, and sines
// and cosines of the right and the left rotation.
func triangular2(f, g, h, eps float64) (small, big, sr, cr, sl, cl float64) {
	ft, ht, gt := f, h, g
	fa, ha, ga := math.Abs(f), math.Abs(h), math.Abs(g)
	largest, swap := 1, ha > fa
	if swap {
		largest = 3
		ft, ht, fa, ha = ht, ft, ha, fa
	}
	var clt, crt, slt, srt float64
	if ga == 0 {
		small, big, clt, crt = ha, fa, 1, 1
	} else {
		near := true
		if ga > fa {
			largest = 2
			if fa/ga < eps {
				near = false
				big = ga
				if ha > 1 {
					small = fa / (ga / ha)
				} else {
					small = fa / ga * ha
				}
				clt, slt, srt, crt = 1, ht/gt, 1, ft/gt
			}
		}
		if near {
			dd := fa - ha
			l := dd / fa
			if dd == fa {
				l = 1
			}
			m := gt / ft
			t := 2 - l
			mm := m * m
			s := math.Sqrt(t*t + mm)
			r := math.Abs(m)
			if l != 0 {
				r = math.Sqrt(l*l + mm)
			}
			a := 0.5 * (s + r)
			small, big = ha/a, fa*a
			switch {
			case mm != 0:
				t = (m/(s+t) + m/(r+l)) * (1 + a)
			case l == 0:
				t = math.Copysign(2, ft) * math.Copysign(1, gt)
			default:
				t = gt/math.Copysign(dd, ft) + m/t
			}
			l = math.Sqrt(t*t + 4)
			crt, srt = 2/l, t/l
			clt = (crt + srt*m) / a
			slt = ht / ft * srt / a
		}
	}
	if swap {
		cl, sl, cr, sr = srt, crt, slt, clt
	} else {
		cl, sl, cr, sr = clt, slt, crt, srt
	}
	sign := func(x float64) float64 { return math.Copysign(1, x) }
	var s float64
	switch largest {
	case 1:
		s = sign(cr) * sign(cl) * sign(f)
	case 2:
		s = sign(sr) * sign(cl) * sign(g)
	default:
		s = sign(sr) * sign(sl) * sign(h)
	}
	return math.Copysign(small, s*sign(f)*sign(h)), math.Copysign(big, s), sr, cr, sl, cl
}
