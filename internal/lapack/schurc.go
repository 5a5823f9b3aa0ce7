package lapack

import (
	"math"
	"math/cmplx"
)

// schurComplex makes the Hessenberg matrix h, which is reduced outside rows and columns lo…hi, triangular by QR steps
// with single shifts (LAPACK's xLAHQR). w becomes the eigenvalues. z, unless nil, is multiplied by the transformations;
// without it only the eigenvalues are right. It reports whether the iteration converged.
func schurComplex(h []complex128, n, lo, hi int, w, z []complex128, eps float64) bool {
	at := func(i, j int) *complex128 { return &h[i*n+j] }
	for i := range n {
		if i < lo || i > hi {
			w[i] = *at(i, i)
		}
	}
	scaleColumn := func(x []complex128, from, to, j int, f complex128) { // rows from…to-1
		for r := from; r < to; r++ {
			x[r*n+j] *= f
		}
	}
	jlo, jhi := lo, hi
	if z != nil {
		jlo, jhi = 0, n-1
	}
	for i := lo + 1; i <= hi; i++ { // make the subdiagonal real
		sub := at(i, i-1)
		if imag(*sub) == 0 {
			continue
		}
		f := *sub / complex(Abs1(*sub), 0)
		f = cmplx.Conj(f) / complex(cmplx.Abs(f), 0)
		*sub = complex(cmplx.Abs(*sub), 0)
		scale(h[i*n+i:i*n+jhi+1], f)
		scaleColumn(h, jlo, min(jhi, i+1)+1, i, cmplx.Conj(f))
		if z != nil {
			scaleColumn(z, 0, n, i, cmplx.Conj(f))
		}
	}
	ulp := 2 * eps
	small := 0x1p-1022 * (float64(hi-lo+1) / ulp)
	i1, i2 := 0, n-1
	deflate := 0
	for i := hi; i >= lo; {
		l, converged := lo, false
		for range 30*max(10, hi-lo+1) + 1 {
			l = splitReal(h, n, l, i, lo, hi, small, ulp)
			if l > lo {
				*at(l, l-1) = 0
			}
			if l >= i {
				converged = true
				break
			}
			deflate++
			if z == nil {
				i1, i2 = l, i
			}
			t := shiftComplex(h, n, l, i, deflate)
			var v [2]complex128
			m := i - 1
			for ; ; m-- {
				h11, h22 := *at(m, m), *at(m+1, m+1)
				h11s, h21 := h11-t, real(*at(m+1, m))
				s := Abs1(h11s) + math.Abs(h21)
				h11s /= complex(s, 0)
				h21 /= s
				v = [2]complex128{h11s, complex(h21, 0)}
				if m == l || math.Abs(real(*at(m, m-1)))*math.Abs(h21) <= ulp*(Abs1(h11s)*(Abs1(h11)+Abs1(h22))) {
					break
				}
			}
			for k := m; k < i; k++ {
				if k > m {
					v = [2]complex128{*at(k, k-1), *at(k+1, k-1)}
				}
				t1 := reflector(&v[0], v[1:], 1, 1)
				if k > m {
					*at(k, k-1), *at(k+1, k-1) = v[0], 0
				}
				v2 := v[1]
				t2 := complex(real(t1*v2), 0)
				a, b := h[k*n+k:k*n+i2+1], h[(k+1)*n+k:(k+1)*n+i2+1]
				for j, x := range a {
					s := cmplx.Conj(t1)*x + t2*b[j]
					a[j], b[j] = x-s, b[j]-s*v2
				}
				columns := func(x []complex128, from, to int) {
					for r := from; r < to; r++ {
						y := x[r*n+k:][:2]
						s := t1*y[0] + t2*y[1]
						y[0], y[1] = y[0]-s, y[1]-s*cmplx.Conj(v2)
					}
				}
				columns(h, i1, min(k+2, i)+1)
				if z != nil {
					columns(z, 0, n)
				}
				if k == m && m > l { // keep the subdiagonal real
					f := 1 - t1
					f /= complex(cmplx.Abs(f), 0)
					*at(m+1, m) *= cmplx.Conj(f)
					if m+2 <= i {
						*at(m+2, m+1) *= f
					}
					for j := m; j <= i; j++ {
						if j == m+1 {
							continue
						}
						if i2 > j {
							scale(h[j*n+j+1:j*n+i2+1], f)
						}
						scaleColumn(h, i1, j, j, cmplx.Conj(f))
						if z != nil {
							scaleColumn(z, 0, n, j, cmplx.Conj(f))
						}
					}
				}
			}
			if f := *at(i, i-1); imag(f) != 0 {
				r := cmplx.Abs(f)
				*at(i, i-1) = complex(r, 0)
				f /= complex(r, 0)
				if i2 > i {
					scale(h[i*n+i+1:i*n+i2+1], cmplx.Conj(f))
				}
				scaleColumn(h, i1, i, i, f)
				if z != nil {
					scaleColumn(z, 0, n, i, f)
				}
			}
		}
		if !converged {
			return false
		}
		w[i] = *at(i, i)
		deflate = 0
		i = l - 1
	}
	return true
}

// shiftComplex is Wilkinson's shift for rows l…i, or an exceptional one.
func shiftComplex(h []complex128, n, l, i, deflate int) complex128 {
	at := func(i, j int) complex128 { return h[i*n+j] }
	switch {
	case deflate%20 == 0:
		return complex(0.75*math.Abs(real(at(i, i-1))), 0) + at(i, i)
	case deflate%10 == 0:
		return complex(0.75*math.Abs(real(at(l+1, l))), 0) + at(l, l)
	}
	t := at(i, i)
	u := cmplx.Sqrt(at(i-1, i)) * cmplx.Sqrt(at(i, i-1))
	s := Abs1(u)
	if s == 0 {
		return t
	}
	x := 0.5 * (at(i-1, i-1) - t)
	sx := Abs1(x)
	s = math.Max(s, sx)
	cs := complex(s, 0)
	y := cs * cmplx.Sqrt((x/cs)*(x/cs)+(u/cs)*(u/cs))
	if sx > 0 {
		q := x / complex(sx, 0)
		if real(q)*real(y)+imag(q)*imag(y) < 0 {
			y = -y
		}
	}
	return t - u*(u/(x+y))
}
