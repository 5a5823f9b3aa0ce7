package lapack

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
)

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
	turnOver(t, m, a[h*ld:], ld, m, h)
	copyConj(t, t)
	SolveLower(a, ld, t, h, m, m, false)
	turnOver(a[h*ld:], ld, t, m, h, m)
	for i := range m {
		row := a[(h+i)*ld:][:h]
		copyConj(row, row)
	}
	// Strips of the lower triangle of the rest, so that little of the upper one is computed.
	par.For(m, 128, func(i, end int) {
		s := end - i
		at := a[(h+i)*ld+h:]
		over := make([]E, 0, s*(s-1)/2) // what lies above the diagonal of the strip's last block
		for r := range s {
			over = append(over, at[r*ld+i+r+1:][:s-r-1]...)
		}
		mul(s, i+s, h, -1, a[(h+i)*ld:], ld, 1, t, m, 1, 1, at, ld, 1)
		for r := range s {
			over = over[copy(at[r*ld+i+r+1:][:s-r-1], over):]
		}
	})
	if info := Cholesky(a[h*ld+h:], m, ld); info > 0 {
		return info + h
	}
	return 0
}

// choleskyRows factors a small matrix, row after row.
func choleskyRows[E Element](a []E, n, ld int) (info int) {
	switch a := any(a).(type) {
	case []float32:
		return choleskyReal(a, n, ld)
	case []float64:
		return choleskyReal(a, n, ld)
	}
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

// choleskyReal is choleskyRows in plain loops.
func choleskyReal[R Real](a []R, n, ld int) (info int) {
	var inverse [32]float64 // of the diagonal
	for i := range n {
		row := a[i*ld:][:i+1]
		d := row[i]
		for j := range i {
			s := row[j]
			above := a[j*ld:][:j]
			left := row[:len(above)]
			for k, v := range above {
				s -= v * left[k]
			}
			s = R(float64(s) * inverse[j])
			row[j] = s
			d -= s * s
		}
		if !(d > 0) {
			row[i] = d
			return i + 1
		}
		d = R(math.Sqrt(float64(d)))
		row[i], inverse[i] = d, 1/float64(d)
	}
	return 0
}

// CholeskyInverse replaces the lower triangle L of the n×n matrix a by the inverse of L·Lᴴ, both triangles of it: the
// inverse of L, then its product with its adjoint (LAPACK's xPOTRI).
func CholeskyInverse[E Element](a []E, n int) {
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	invertLower(a, n, n)
	c, ldc := conjugated(a, n, n, n)
	// Row strips of L⁻ᴴ·L⁻¹ from the top: a strip needs rows of L⁻¹ from its own first one on alone, so that it can take
	// the place of its rows. Its adjoint is the part above the diagonal.
	const strip = 128
	w := make([]E, min(strip, n)*n)
	for i := 0; i < n; i += strip {
		s := min(strip, n-i)
		k := i + s
		mul(s, k, n-i, 1, c[i*ldc+i:], 1, ldc, a[i*n:], n, 1, 0, w, k, 1)
		turnOver(a[i:], n, w, k, s, i)
		for q := range i {
			row := a[q*n+i:][:s]
			copyConj(row, row)
		}
		for r := range s {
			row := w[r*k:][:i+r+1]
			row[i+r] = Num[E](Re(row[i+r]))
			copy(a[(i+r)*n:], row)
			for q, v := range row[i:] {
				a[(i+q)*n+i+r] = Conj(v)
			}
		}
	}
}

// invertLower inverts a lower triangle in place; the elements above the diagonal are zero. [A 0; B C]⁻¹ is
// [A⁻¹ 0; -C⁻¹·B·A⁻¹ C⁻¹].
func invertLower[E Element](a []E, n, ld int) {
	if n > 24 {
		h := n / 2
		low, b := a[h*ld+h:], a[h*ld:]
		SolveLower(low, ld, b, n-h, h, ld, false)
		invertLower(a, h, ld)
		invertLower(low, n-h, ld)
		// Columns of the product from the left: they need the columns of B from their own first one on alone.
		const strip = 128
		t := make([]E, (n-h)*min(strip, h))
		for j := 0; j < h; j += strip {
			s := min(strip, h-j)
			mul(n-h, s, h-j, -1, b[j:], ld, 1, a[j*ld+j:], ld, 1, 0, t, s, 1)
			for i := range n - h {
				copy(b[i*ld+j:][:s], t[i*s:])
			}
		}
		return
	}
	for i := range n {
		row := a[i*ld:][:i+1]
		d := 1 / row[i]
		// row i of the inverse: -(1/l[i][i])·Σ l[i][r]·(row r of the inverse)
		for r := range i {
			f := row[r]
			row[r] = 0
			if f != 0 {
				axpy(row[:r+1], f, a[r*ld:][:r+1])
			}
		}
		scale(row[:i], -d)
		row[i] = d
	}
}
