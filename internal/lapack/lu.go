package lapack

import "math"

// LU factors the m×n matrix a in place into a unit lower and an upper triangle with row exchanges: row i was exchanged
// with row piv[i]-1. Without pivot no rows are exchanged. It returns 0, or the number of the first diagonal element of
// the upper triangle that is zero.
//
// Columns are halved (Toledo 1997, Locality of reference in LU decomposition with partial pivoting), so that nearly all
// work is in matrix products.
func LU[E Element](a []E, m, n, ld int, piv []int32, pivot bool) (info int) {
	k := min(m, n)
	if k == 0 {
		return 0
	}
	switch {
	case m <= 32 || n <= 2:
		return luColumns(a, m, n, ld, piv, pivot)
	case n <= 64 && n <= m:
		t := make([]E, n*m)
		turnOver(t, m, a, ld, m, n)
		info = luPanel(t, m, 0, n, n, piv, pivot)
		turnOver(a, ld, t, m, n, m)
		return info
	}
	half := k / 2
	info = LU(a, m, half, ld, piv[:half], pivot)
	right := a[half:]
	strips(n-half, half*half/2, func(lo, hi int) {
		swapRows(right[lo:], hi-lo, ld, piv[:half])
		solveLower(a, ld, right[lo:], half, hi-lo, ld, true)
	})
	rest := a[half*ld+half:]
	mul(m-half, n-half, half, -1, a[half*ld:], ld, 1, right, ld, 1, 1, rest, ld, 1)
	if i := LU(rest, m-half, n-half, ld, piv[half:k], pivot); i > 0 && info == 0 {
		info = i + half
	}
	left := a[half*ld:]
	strips(half, 8*(k-half), func(lo, hi int) { swapRows(left[lo:], hi-lo, ld, piv[half:k]) })
	for i := half; i < k; i++ {
		piv[i] += int32(half)
	}
	return info
}

// luReal is luColumns in plain loops.
func luReal[R Real](a []R, m, n, ld int, piv []int32, pivot bool) (info int) {
	for k := range min(m, n) {
		p := k
		if pivot {
			best := max(a[k*ld+k], -a[k*ld+k])
			for i := k + 1; i < m; i++ {
				if v := max(a[i*ld+k], -a[i*ld+k]); v > best {
					p, best = i, v
				}
			}
		}
		piv[k] = int32(p + 1)
		if a[p*ld+k] == 0 {
			if info == 0 {
				info = k + 1
			}
			if pivot {
				continue
			}
		}
		if p != k {
			x, y := a[p*ld:][:n], a[k*ld:][:n]
			for j, v := range x {
				x[j], y[j] = y[j], v
			}
		}
		d, rest := a[k*ld+k], a[k*ld+k+1:k*ld+n]
		inverse := 1 / d
		finite := inverse-inverse == 0
		for i := k + 1; i < m; i++ {
			f := a[i*ld+k] * inverse
			if !finite {
				f = a[i*ld+k] / d
			}
			a[i*ld+k] = f
			x := a[i*ld+k+1:][:len(rest)]
			for j, v := range rest {
				x[j] -= f * v
			}
		}
	}
	return info
}

// luPanel factors columns from to end-1 of a tall matrix of n columns, which are the rows of t, m elements each. What
// columns before from change is done already; rows are exchanged in all columns.
//
// Columns are halved as in LU. Of few columns, each is updated by the ones before it when its turn comes (Golub and Van
// Loan, Matrix Computations, 4th edition, 2013, section 3.2.9, the gaxpy form).
func luPanel[E Element](t []E, m, from, end, n int, piv []int32, pivot bool) (info int) {
	if end-from > 8 {
		half := (from + end) / 2
		info = luPanel(t, m, from, half, n, piv, pivot)
		for c := half; c < end; c++ {
			col := t[c*m : c*m+half]
			for k := from; k < half; k++ {
				if f := col[k]; f != 0 {
					axpy(col[k+1:], -f, t[k*m+k+1:k*m+half])
				}
			}
		}
		mul(end-half, m-half, half-from, -1, t[half*m+from:], m, 1, t[from*m+half:], m, 1, 1, t[half*m+half:], m, 1)
		if i := luPanel(t, m, half, end, n, piv, pivot); info == 0 {
			info = i
		}
		return info
	}
	for j := from; j < end; j++ {
		col := t[j*m:][:m]
		for k := from; k < j; k++ {
			if f := col[k]; f != 0 {
				axpy(col[k+1:], -f, t[k*m+k+1:(k+1)*m])
			}
		}
		p := j
		if pivot {
			p = j + largestAt(col[j:])
		}
		piv[j] = int32(p + 1)
		if col[p] == 0 {
			if info == 0 {
				info = j + 1
			}
			if pivot { // the rest of the column is zero
				continue
			}
		}
		if p != j {
			for k := range n {
				t[k*m+j], t[k*m+p] = t[k*m+p], t[k*m+j]
			}
		}
		divide(col[j+1:], col[j])
	}
	return info
}

// largestAt is the place of the first element of largest Abs1. NaN never exceeds another element.
func largestAt[E Element](x []E) int {
	p := 0
	switch x := any(x).(type) {
	case []float32:
		best := abs(x[0])
		for i, v := range x {
			if v = abs(v); v > best {
				p, best = i, v
			}
		}
	case []float64:
		best := math.Abs(x[0])
		for i, v := range x {
			if v = math.Abs(v); v > best {
				p, best = i, v
			}
		}
	case []complex64:
		return largestComplex(x)
	case []complex128:
		return largestComplex(x)
	}
	return p
}

func largestComplex[E complex64 | complex128](x []E) int {
	p, best := 0, Abs1(x[0])
	for i, v := range x {
		if s := Abs1(v); s > best {
			p, best = i, s
		}
	}
	return p
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// luColumns factors a small matrix, column after column.
func luColumns[E Element](a []E, m, n, ld int, piv []int32, pivot bool) (info int) {
	switch a := any(a).(type) {
	case []float32:
		return luReal(a, m, n, ld, piv, pivot)
	case []float64:
		return luReal(a, m, n, ld, piv, pivot)
	}
	for k := range min(m, n) {
		p := k
		if pivot {
			for i, best := k+1, Abs1(a[k*ld+k]); i < m; i++ {
				if s := Abs1(a[i*ld+k]); s > best {
					p, best = i, s
				}
			}
		}
		piv[k] = int32(p + 1)
		if a[p*ld+k] == 0 {
			if info == 0 {
				info = k + 1
			}
			if pivot { // the rest of the column is zero
				continue
			}
		}
		row := a[k*ld:][:n]
		if p != k {
			for j, v := range a[p*ld:][:n] {
				a[p*ld+j], row[j] = row[j], v
			}
		}
		d := row[k]
		for i := k + 1; i < m; i++ {
			x := a[i*ld:][:n]
			f := x[k] / d
			if x[k] = f; f != 0 {
				axpy(x[k+1:], -f, row[k+1:])
			}
		}
	}
	return info
}

// swapRows exchanges rows of n elements: row i with row piv[i]-1, in order.
func swapRows[E Element](a []E, n, ld int, piv []int32) {
	for i, p := range piv {
		if q := int(p) - 1; q != i {
			x, y := a[i*ld:][:n], a[q*ld:][:n]
			for j, v := range x {
				x[j], y[j] = y[j], v
			}
		}
	}
}

// unswapRows undoes swapRows.
func unswapRows[E Element](a []E, n, ld int, piv []int32) {
	for i := len(piv) - 1; i >= 0; i-- {
		if q := int(piv[i]) - 1; q != i {
			x, y := a[i*ld:][:n], a[q*ld:][:n]
			for j, v := range x {
				x[j], y[j] = y[j], v
			}
		}
	}
}

// LUSolve solves A·X = B (adjoint: Aᴴ·X = B) in place of the n×k matrix b, where lu and piv are what LU made of A.
func LUSolve[E Element](lu []E, n int, piv []int32, b []E, k int, adjoint bool) {
	if !adjoint {
		swapRows(b, k, k, piv)
		SolveLower(lu, n, b, n, k, k, true)
		SolveUpper(lu, n, b, n, k, k, false)
		return
	}
	t := make([]E, n*n)
	transpose(t, lu, n, n)
	SolveLower(t, n, b, n, k, k, false)
	SolveUpper(t, n, b, n, k, k, true)
	unswapRows(b, k, k, piv)
}
