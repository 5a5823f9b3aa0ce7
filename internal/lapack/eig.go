package lapack

import (
	"math"
	"math/cmplx"
)

// Eig gives the eigenvalues w of the n×n matrix a, and its eigenvectors, of length 1 and with a real largest element,
// as columns of v unless v is nil. a is destroyed; eps is the precision of the result's type. It reports whether the
// iteration converged. The steps are those of LAPACK's xGEEV: balancing, Hessenberg form, QR iteration,
// back-substitution.
func Eig[E Wide](a []E, n int, w, v []complex128, eps float64) bool {
	if n == 0 {
		return true
	}
	largest := 0.0
	for _, x := range a[:n*n] {
		s := Abs1(x)
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return false
		}
		largest = math.Max(largest, s)
	}
	if largest > 0 && (largest < 1e-140 || largest > 1e140) {
		scale(a[:n*n], Num[E](1/largest))
		defer func() { // of the eigenvalues
			for i, x := range w[:n] {
				w[i] = complex(real(x)*largest, imag(x)*largest)
			}
		}()
	}
	lo, hi, undo := balance(a, n)
	var z []E
	if v != nil {
		z = make([]E, n*n)
	}
	hessenberg(a, n, lo, hi, z)
	switch h := any(a).(type) {
	case []float64:
		wr, wi := make([]float64, n), make([]float64, n)
		zr := any(z).([]float64)
		if !schurReal(h, n, lo, hi, wr, wi, zr, eps) {
			return false
		}
		for i := range w {
			w[i] = complex(wr[i], wi[i])
		}
		if v != nil {
			vectorsReal(h, n, wr, wi, zr, any(undo).(func([]float64)), v, eps)
		}
	case []complex128:
		zc := any(z).([]complex128)
		if !schurComplex(h, n, lo, hi, w, zc, eps) {
			return false
		}
		if v != nil {
			x := make([]complex128, n*n)
			for j := range n {
				least := math.Max(eps*2*Abs1(w[j]), 0x1p-1000)
				x[j*n+j] = 1
				for k := j - 1; k >= 0; k-- {
					s := -h[k*n+j]
					for l := k + 1; l < j; l++ {
						s -= h[k*n+l] * x[l*n+j]
					}
					d := h[k*n+k] - h[j*n+j]
					if Abs1(d) < least {
						d = complex(least, 0)
					}
					x[k*n+j] = s / d
					rescale(x, n, j, k, cmplx.Abs(x[k*n+j]))
				}
			}
			mul(n, n, n, 1, zc, n, 1, x, n, 1, 0, v, n, 1)
			any(undo).(func([]complex128))(v)
			for j := range n {
				normalize(v, n, j)
			}
		}
	}
	return true
}

// rescale divides column j of x from row k on when it grows too large.
func rescale[E Element](x []E, n, j, k int, size float64) {
	if size > 1e100 {
		for i := k; i < n; i++ {
			x[i*n+j] /= Num[E](size)
		}
	}
}

// normalize gives column j length 1 and makes its largest element real.
func normalize(v []complex128, n, j int) {
	norm, largest, at := 0.0, -1.0, 0
	for i := range n {
		s := cmplx.Abs(v[i*n+j])
		norm = math.Hypot(norm, s)
		if s > largest {
			largest, at = s, i
		}
	}
	if norm == 0 || largest == 0 {
		return
	}
	f := cmplx.Conj(v[at*n+j]) / complex(largest, 0) / complex(norm, 0)
	for i := range n {
		v[i*n+j] *= f
	}
	v[at*n+j] = complex(real(v[at*n+j]), 0)
}

// normalizePair is normalize for vectors of real matrices, whose largest element may be negative: LAPACK makes its
// imaginary part zero by a rotation of real and imaginary parts. The signs are those that PyTorch's build gives, where
// the rotations of the two precisions differ.
func normalizePair(v []complex128, n, j int, eps float64) {
	largest, f := -1.0, complex128(0)
	for i := range n {
		if s := cmplx.Abs(v[i*n+j]); s > largest {
			largest, f = s, v[i*n+j]
		}
	}
	_, _, r := rotationBefore(real(f), imag(f))
	if eps > 0x1p-50 {
		_, _, r = rotation(real(f), imag(f))
	}
	normalize(v, n, j)
	if r < 0 {
		for i := range n {
			v[i*n+j] = -v[i*n+j]
		}
	}
}

// vectorsReal computes the eigenvectors of the quasi-triangular matrix t by back-substitution, for a pair of complex
// eigenvalues those of the first one, and multiplies them by z.
func vectorsReal(t []float64, n int, wr, wi, z []float64, undo func([]float64), v []complex128, eps float64) {
	re, im := make([]float64, n*n), make([]float64, n*n)
	x := make([]complex128, n)
	for j := 0; j < n; j++ {
		w, last := complex(wr[j], wi[j]), j
		clear(x)
		x[j] = 1
		if wi[j] != 0 {
			last = j + 1
			if up, sub := t[j*n+j+1], t[(j+1)*n+j]; math.Abs(up) >= math.Abs(sub) {
				x[j+1] = complex(0, wi[j]/up)
			} else {
				x[j], x[j+1] = complex(-wi[j]/sub, 0), 1i
			}
		}
		least := math.Max(2*eps*Abs1(w), 0x1p-1000)
		rhs := func(k, from int) complex128 {
			s := complex128(0)
			for l := from; l <= last; l++ {
				s -= complex(t[k*n+l], 0) * x[l]
			}
			return s
		}
		for k := j - 1; k >= 0; k-- {
			if k > 0 && t[k*n+k-1] != 0 { // a 2×2 block
				a, b := complex(t[(k-1)*n+k-1], 0)-w, complex(t[(k-1)*n+k], 0)
				c, d := complex(t[k*n+k-1], 0), complex(t[k*n+k], 0)-w
				p, q := rhs(k-1, k+1), rhs(k, k+1)
				det := a*d - b*c
				if Abs1(det) < least*least {
					det = complex(least*least, 0)
				}
				x[k-1], x[k] = (p*d-b*q)/det, (a*q-c*p)/det
				k--
			} else {
				d := complex(t[k*n+k], 0) - w
				if Abs1(d) < least {
					d = complex(least, 0)
				}
				x[k] = rhs(k, k+1) / d
			}
			if s := Abs1(x[k]); s > 1e100 {
				scale(x[k:last+1], complex(1/s, 0))
			}
		}
		for i, y := range x {
			re[i*n+j], im[i*n+j] = real(y), imag(y)
		}
		if wi[j] != 0 {
			j++
		}
	}
	vr, vi := make([]float64, n*n), make([]float64, n*n)
	mul(n, n, n, 1, z, n, 1, re, n, 1, 0, vr, n, 1)
	mul(n, n, n, 1, z, n, 1, im, n, 1, 0, vi, n, 1)
	undo(vr)
	undo(vi)
	for i := range v {
		v[i] = complex(vr[i], vi[i])
	}
	for j := 0; j < n; j++ {
		if wi[j] == 0 {
			norm := 0.0
			for i := range n {
				norm = math.Hypot(norm, vr[i*n+j])
			}
			for i := range n {
				v[i*n+j] = complex(vr[i*n+j]/norm, 0)
			}
			continue
		}
		normalizePair(v, n, j, eps)
		for i := range n {
			v[i*n+j+1] = cmplx.Conj(v[i*n+j])
		}
		j++
	}
}
