package lapack

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
	if n <= 16 || m <= 16 {
		return luColumns(a, m, n, ld, piv, pivot)
	}
	half := k / 2
	info = LU(a, m, half, ld, piv[:half], pivot)
	right := a[half:]
	swapRows(right, n-half, ld, piv[:half])
	SolveLower(a, ld, right, half, n-half, ld, true)
	rest := a[half*ld+half:]
	mul(m-half, n-half, half, -1, a[half*ld:], ld, 1, right, ld, 1, 1, rest, ld, 1)
	if i := LU(rest, m-half, n-half, ld, piv[half:k], pivot); i > 0 && info == 0 {
		info = i + half
	}
	swapRows(a[half*ld:], half, ld, piv[half:k])
	for i := half; i < k; i++ {
		piv[i] += int32(half)
	}
	return info
}

func luColumns[E Element](a []E, m, n, ld int, piv []int32, pivot bool) (info int) {
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
	for i := range n {
		for j := range n {
			t[j*n+i] = Conj(lu[i*n+j])
		}
	}
	SolveLower(t, n, b, n, k, k, false)
	SolveUpper(t, n, b, n, k, k, true)
	unswapRows(b, k, k, piv)
}
