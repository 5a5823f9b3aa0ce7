package lapack

import "math"

// Cholesky factors the Hermitian n×n matrix, of which the lower triangle of a is read, into L·Lᴴ. L takes the place of
// that triangle; the other one stays. It returns 0, or the order of the first leading minor that is not positive.
func Cholesky[E Element](a []E, n, ld int) (info int) {
	if n <= 32 {
		return choleskyRows(a, n, ld)
	}
	h := n / 2
	if info := Cholesky(a, h, ld); info > 0 {
		return info
	}
	// The rows below: X·Lᴴ = B is conj(L)·Xᵀ = Bᵀ, solved on a transposed copy.
	m := n - h
	t := make([]E, h*m)
	for i := range m {
		for j, v := range a[(h+i)*ld:][:h] {
			t[j*m+i] = Conj(v)
		}
	}
	SolveLower(a, ld, t, h, m, m, false)
	for i := range m {
		row := a[(h+i)*ld:][:h]
		for j := range row {
			row[j] = Conj(t[j*m+i])
		}
	}
	// Strips of the lower triangle of the rest, so that little of the upper one is computed.
	const strip = 128
	keep := make([]E, strip)
	for i := 0; i < m; i += strip {
		s := min(strip, m-i)
		at := a[(h+i)*ld+h:]
		var over [][]E // what lies above the diagonal of the strip's last block
		for r := range s {
			copy(keep[:s-r-1], at[r*ld+i+r+1:])
			over = append(over, append([]E(nil), keep[:s-r-1]...))
		}
		mul(s, i+s, h, -1, a[(h+i)*ld:], ld, 1, t, m, 1, 1, at, ld, 1)
		for r, o := range over {
			copy(at[r*ld+i+r+1:], o)
		}
	}
	if info := Cholesky(a[h*ld+h:], m, ld); info > 0 {
		return info + h
	}
	return 0
}

func choleskyRows[E Element](a []E, n, ld int) (info int) {
	for i := range n {
		row := a[i*ld:][:i+1]
		for j := range i {
			row[j] = (row[j] - dotc(a[j*ld:][:j], row[:j])) / a[j*ld+j]
		}
		d := Re(row[i]) - Re(dotc(row[:i], row[:i]))
		if !(d > 0) {
			row[i] = Num[E](d)
			return i + 1
		}
		row[i] = Num[E](math.Sqrt(d))
	}
	return 0
}
