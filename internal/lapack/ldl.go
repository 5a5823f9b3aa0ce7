package lapack

import "math"

// LDL factors the symmetric (hermitian: Hermitian) n×n matrix, of which the lower triangle of a is read, into L·D·Lᵀ
// with diagonal blocks of one or two rows in D (Bunch and Kaufman 1977, Some stable methods for calculating inertia and
// solving symmetric linear systems; LAPACK's xSYTRF and xHETRF). piv counts from 1, and is negative for both rows of a
// block of two. It returns 0, or the number of the first block of D that is zero. The other triangle of a is destroyed.
func LDL[E Element](a []E, n int, piv []int32, hermitian bool) (info int) {
	const b = 32
	for k := 0; k < n; {
		var i, done int
		at, p := a[k*n+k:], piv[k:n]
		if n-k > 2*b {
			done, i = ldlPanel(at, n-k, n, b, p, hermitian)
		} else {
			done, i = n-k, ldlColumns(at, n-k, n, p, hermitian)
		}
		if i > 0 && info == 0 {
			info = i + k
		}
		for j, v := range p[:done] {
			if v < 0 {
				p[j] = v - int32(k)
			} else {
				p[j] = v + int32(k)
			}
		}
		k += done
	}
	return info
}

// growth is the bound by which Bunch and Kaufman choose between blocks of one and of two rows.
var growth = (1 + math.Sqrt(17)) / 8

// ldlPanel factors some b columns of the n×n matrix a and updates the rest. After some of them this is A - L·Wᴴ
// (without hermitian L·Wᵀ) with W = L·D, of which only the columns that are looked at are computed (LAPACK's xLASYF and
// xLAHEF). It returns the number of columns, which is b or less by one.
func ldlPanel[E Element](a []E, n, ld, b int, piv []int32, hermitian bool) (k, info int) {
	conj := func(x E) E { return x }
	if hermitian {
		conj = Conj[E]
	}
	l, w := make([]E, b*n), make([]E, (b+1)*n) // columns as rows
	coef := make([]E, b)
	load := func(to []E, c int) { // column c of what is left, from row k on
		for i := k; i < c; i++ {
			to[i] = conj(a[c*ld+i])
		}
		for i := c; i < n; i++ {
			to[i] = a[i*ld+c]
		}
		if k > 0 {
			for j := range k {
				coef[j] = conj(w[j*n+c])
			}
			mul(1, n-k, k, -1, coef, k, 1, l[k:], n, 1, 1, to[k:], n-k, 1)
		}
		if hermitian {
			to[c] = Num[E](Re(to[c]))
		}
	}
	swap := func(x []E, i, j int) { x[i], x[j] = x[j], x[i] }
	for k < b-1 {
		x, y := w[k*n:(k+1)*n], w[(k+1)*n:(k+2)*n]
		load(x, k)
		step, kp, imax, col := 1, k, k, 0.0
		diag := Abs1(x[k])
		if k+1 < n {
			imax = k + 1 + largestAt(x[k+1:])
			col = Abs1(x[imax])
		}
		if !(max(diag, col) > 0) {
			if info == 0 {
				info = k + 1
			}
		} else if diag < growth*col {
			load(y, imax)
			row := Abs1(y[k+largestAt(y[k:imax])])
			if imax+1 < n {
				row = max(row, Abs1(y[imax+1+largestAt(y[imax+1:])]))
			}
			switch {
			case diag >= growth*col*(col/row):
			case Abs1(y[imax]) >= growth*row:
				kp = imax
				copy(x[k:], y[k:])
			default:
				kp, step = imax, 2
			}
		}
		kk := k + step - 1
		if kp != kk { // row and column kk, as they were, take the place of kp
			a[kp*ld+kp] = a[kk*ld+kk]
			for i := kk + 1; i < kp; i++ {
				a[kp*ld+i] = conj(a[i*ld+kk])
			}
			for i := kp + 1; i < n; i++ {
				a[i*ld+kp] = a[i*ld+kk]
			}
			for j := range k {
				swap(l[j*n:], kk, kp)
			}
			for j := range kk + 1 {
				swap(w[j*n:], kk, kp)
			}
		}
		p := l[k*n : (k+1)*n]
		if step == 1 {
			copy(p[k:], x[k:])
			if x[k] != 0 {
				scale(p[k+1:], 1/x[k])
			}
			piv[k] = int32(kp + 1)
		} else {
			q := l[(k+1)*n : (k+2)*n]
			d21 := x[k+1]
			d11, d22 := y[k+1]/d21, x[k]/conj(d21)
			t := 1 / (d11*d22 - 1)
			if hermitian {
				t = Num[E](Re(t))
			}
			d21 = t / d21
			c21 := conj(d21)
			for i := k + 2; i < n; i++ {
				p[i], q[i] = c21*(d11*x[i]-y[i]), d21*(d22*y[i]-x[i])
			}
			p[k], p[k+1], q[k+1] = x[k], x[k+1], y[k+1]
			piv[k], piv[k+1] = int32(-kp-1), int32(-kp-1)
		}
		k += step
	}
	wc := w
	if hermitian {
		wc, _ = conjugated(w, k, n, n)
	}
	const strip = 128
	for i := k; i < n; i += strip {
		s := min(strip, n-i)
		mul(s, i+s-k, k, -1, l[i:], 1, n, wc[k:], n, 1, 1, a[i*ld+k:], ld, 1)
	}
	// Rows were exchanged in the columns before theirs, too, where LAPACK leaves them alone.
	for j := k - 1; j > 0; {
		at, p := j, piv[j]
		if p < 0 {
			p = -p
			j--
		}
		if int(p)-1 != at {
			for c := range j {
				swap(l[c*n:], at, int(p)-1)
			}
		}
		j--
	}
	for i := range n {
		for j := range min(k, i+1) {
			a[i*ld+j] = l[j*n+i]
		}
	}
	return k, info
}

// ldlColumns is LDL for one block after the other (LAPACK's xSYTF2 and xHETF2).
func ldlColumns[E Element](a []E, n, ld int, piv []int32, hermitian bool) (info int) {
	w := make([]E, 2*n) // what rows are multiplied by
	at := func(i, j int) *E { return &a[i*ld+j] }
	real1 := func(x E) E {
		if hermitian {
			return Num[E](Re(x))
		}
		return x
	}
	conj := func(x E) E {
		if hermitian {
			return Conj(x)
		}
		return x
	}
	for k := 0; k < n; {
		step, kp, imax := 1, k, k
		diag, col := Abs1(real1(*at(k, k))), 0.0
		for i := k + 1; i < n; i++ {
			if s := Abs1(*at(i, k)); s > col {
				col, imax = s, i
			}
		}
		if !(math.Max(diag, col) > 0) {
			if info == 0 {
				info = k + 1
			}
			*at(k, k) = real1(*at(k, k))
			piv[k] = int32(k + 1)
			k++
			continue
		}
		if diag < growth*col {
			row := 0.0
			for j := k; j < imax; j++ {
				row = math.Max(row, Abs1(*at(imax, j)))
			}
			for i := imax + 1; i < n; i++ {
				row = math.Max(row, Abs1(*at(i, imax)))
			}
			switch {
			case diag >= growth*col*(col/row):
			case Abs1(real1(*at(imax, imax))) >= growth*row:
				kp = imax
			default:
				kp, step = imax, 2
			}
		}
		kk := k + step - 1
		if kp != kk {
			for i := kp + 1; i < n; i++ {
				x, y := at(i, kk), at(i, kp)
				*x, *y = *y, *x
			}
			for j := kk + 1; j < kp; j++ {
				x, y := at(j, kk), at(kp, j)
				*x, *y = conj(*y), conj(*x)
			}
			*at(kp, kk) = conj(*at(kp, kk))
			x, y := at(kk, kk), at(kp, kp)
			*x, *y = real1(*y), real1(*x)
			if step == 2 {
				*at(k, k) = real1(*at(k, k))
				x, y := at(k+1, k), at(kp, k)
				*x, *y = *y, *x
			}
		} else {
			*at(k, k) = real1(*at(k, k))
			if step == 2 {
				*at(k+1, k+1) = real1(*at(k+1, k+1))
			}
		}
		if step == 1 {
			d := 1 / *at(k, k)
			f := w[:n-k-1]
			for j := range f {
				f[j] = d * conj(*at(k+1+j, k))
			}
			for i := k + 1; i < n; i++ {
				axpy(a[i*ld+k+1:i*ld+i+1], -*at(i, k), f)
				*at(i, i) = real1(*at(i, i))
				*at(i, k) *= d
			}
			piv[k] = int32(kp + 1)
		} else {
			ldlPair(a, n, ld, k, w, hermitian, conj, real1)
			piv[k], piv[k+1] = int32(-kp-1), int32(-kp-1)
		}
		k += step
	}
	return info
}

// ldlPair eliminates with the 2×2 block at k. w is scratch memory for 2n numbers.
func ldlPair[E Element](a []E, n, ld, k int, w []E, hermitian bool, conj, real1 func(E) E) {
	at := func(i, j int) *E { return &a[i*ld+j] }
	d21 := *at(k+1, k)
	size := d21
	if hermitian {
		size = Num[E](Abs(d21))
	}
	d11, d22 := *at(k+1, k+1)/size, *at(k, k)/size
	t := 1 / (d11*d22 - 1)
	unit := d21 / size
	d := t / size
	m := n - k - 2
	w0, w1 := w[:m], w[n:n+m]
	for j := range m {
		x, y := *at(k+2+j, k), *at(k+2+j, k+1)
		w0[j], w1[j] = conj(d*(d11*x-unit*y)), conj(d*(d22*y-conj(unit)*x))
	}
	for j := range m {
		i := k + 2 + j
		row := a[i*ld+k+2 : i*ld+i+1]
		axpy(row, -*at(i, k), w0)
		axpy(row, -*at(i, k+1), w1)
		*at(i, k), *at(i, k+1) = conj(w0[j]), conj(w1[j])
		*at(i, i) = real1(*at(i, i))
	}
}

// LDLSolve solves A·X = B in place of the n×m matrix b, where ld and piv are what LDL made of A (LAPACK's xSYTRS and
// xHETRS).
func LDLSolve[E Element](ld []E, n int, piv []int32, b []E, m int, hermitian bool) {
	conj := func(x E) E {
		if hermitian {
			return Conj(x)
		}
		return x
	}
	row := func(i int) []E { return b[i*m:][:m] }
	swap := func(i, j int) {
		if i != j {
			x, y := row(i), row(j)
			for k, v := range x {
				x[k], y[k] = y[k], v
			}
		}
	}
	index := func(p int32, k int) int { // foreign pivots are checked before
		if p < 0 {
			p = -p
		}
		return int(p) - 1
	}
	for k := 0; k < n; {
		if piv[k] > 0 || k+1 == n {
			swap(k, index(piv[k], k))
			for i := k + 1; i < n; i++ {
				axpy(row(i), -ld[i*n+k], row(k))
			}
			divide(row(k), ld[k*n+k])
			k++
			continue
		}
		swap(k+1, index(piv[k], k))
		for i := k + 2; i < n; i++ {
			axpy(row(i), -ld[i*n+k], row(k))
			axpy(row(i), -ld[i*n+k+1], row(k+1))
		}
		sub := ld[(k+1)*n+k]
		d11, d22 := ld[k*n+k]/conj(sub), ld[(k+1)*n+k+1]/sub
		den := d11*d22 - 1
		x, y := row(k), row(k+1)
		for j := range x {
			p, q := x[j]/conj(sub), y[j]/sub
			x[j], y[j] = (d22*p-q)/den, (d11*q-p)/den
		}
		k += 2
	}
	for k := n - 1; k >= 0; {
		if piv[k] > 0 || k == 0 {
			for i := k + 1; i < n; i++ {
				axpy(row(k), -conj(ld[i*n+k]), row(i))
			}
			swap(k, index(piv[k], k))
			k--
			continue
		}
		for i := k + 1; i < n; i++ {
			axpy(row(k), -conj(ld[i*n+k]), row(i))
			axpy(row(k-1), -conj(ld[i*n+k-1]), row(i))
		}
		swap(k, index(piv[k], k))
		k -= 2
	}
}
