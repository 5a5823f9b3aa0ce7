// Package lapack factors dense matrices: LU, QR, LDL, eigenvalues and singular values of one matrix after another.
//
// Matrices are row-major slices of float64 or complex128; element (i, j) of a matrix with row length ld is a[i*ld+j].
// The algorithms are those of LAPACK (Anderson et al., LAPACK Users' Guide, 3rd edition, 1999), step by step, where a
// result is not unique: pivots, and the signs of singular vectors and eigenvectors, are those that PyTorch's users see.
// For the same reason the iterations take the precision of the type that a result is rounded to, so that float32
// converges in as many steps as LAPACK takes for it.
//
//	file          what it computes
//	------------  ------------------------------------------------------------------
//	lu.go         PA = LU with partial pivoting, by blocks
//	triangle.go   triangular systems, by blocks
//	cholesky.go   A = L·Lᴴ, by blocks
//	reflect.go    Householder reflections; QR factors, products with Q
//	ldl.go        A = L·D·Lᵀ by diagonal pivoting (Bunch and Kaufman)
//	tridiag.go    Hermitian to tridiagonal, implicit QL and QR iteration
//	bidiag.go     general to bidiagonal, implicit zero-shift QR iteration
//	svd.go        singular values and vectors
//	hessenberg.go balancing, Hessenberg form
//	schur.go, schurc.go, eig.go  Schur form of real and complex matrices; eigenvectors
//
// https://www.netlib.org/lapack/lug/
package lapack

import (
	"math"
	"math/cmplx"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// Element is what kernels compute in.
type Element interface{ float64 | complex128 }

// Conj is the complex conjugate.
func Conj[E Element](x E) E {
	if c, ok := any(x).(complex128); ok {
		return any(cmplx.Conj(c)).(E)
	}
	return x
}

// Abs is the absolute value.
func Abs[E Element](x E) float64 {
	switch v := any(x).(type) {
	case complex128:
		return cmplx.Abs(v)
	case float64:
		return math.Abs(v)
	}
	return 0
}

// Abs1 is |re| + |im|, the size that LAPACK compares complex pivots by.
func Abs1[E Element](x E) float64 {
	switch v := any(x).(type) {
	case complex128:
		return math.Abs(real(v)) + math.Abs(imag(v))
	case float64:
		return math.Abs(v)
	}
	return 0
}

// Re is the real part.
func Re[E Element](x E) float64 {
	if c, ok := any(x).(complex128); ok {
		return real(c)
	}
	return any(x).(float64)
}

// Im is the imaginary part.
func Im[E Element](x E) float64 {
	if c, ok := any(x).(complex128); ok {
		return imag(c)
	}
	return 0
}

// Num is a real number as an element.
func Num[E Element](x float64) E {
	var e E
	if _, ok := any(e).(complex128); ok {
		return any(complex(x, 0)).(E)
	}
	return any(x).(E)
}

// pair is a complex number as an element; real elements take the real part.
func pair[E Element](re, im float64) E {
	var e E
	if _, ok := any(e).(complex128); ok {
		return any(complex(re, im)).(E)
	}
	return any(re).(E)
}

// isComplex tells the two element types apart.
func isComplex[E Element]() bool {
	var e E
	_, ok := any(e).(complex128)
	return ok
}

// axpy adds f·x to y.
func axpy[E Element](y []E, f E, x []E) {
	switch y := any(y).(type) {
	case []float64:
		f, x := any(f).(float64), any(x).([]float64)[:len(y)]
		if len(y) >= 16 {
			vec.AddScaledF64(y, y, x, f)
			return
		}
		for i, v := range x {
			y[i] += f * v
		}
	case []complex128:
		f, x := any(f).(complex128), any(x).([]complex128)[:len(y)]
		fr, fi := real(f), imag(f)
		for i, v := range x {
			y[i] += complex(fr*real(v)-fi*imag(v), fr*imag(v)+fi*real(v))
		}
	}
}

// scale multiplies x by f.
func scale[E Element](x []E, f E) {
	for i := range x {
		x[i] *= f
	}
}

// dotc is the sum of conj(x[i])·y[i].
func dotc[E Element](x, y []E) E {
	switch a := any(x).(type) {
	case []float64:
		b, s := any(y).([]float64)[:len(a)], 0.0
		if len(a) >= 32 {
			return any(vec.DotF64(a, b)).(E)
		}
		for i, v := range a {
			s += v * b[i]
		}
		return any(s).(E)
	case []complex128:
		b, s := any(y).([]complex128)[:len(a)], complex128(0)
		for i, v := range a {
			s += complex(real(v), -imag(v)) * b[i]
		}
		return any(s).(E)
	}
	return 0
}

// mul computes C = alpha·A·B + beta·C for the m×k matrix A and the k×n matrix B with any strides.
func mul[E Element](m, n, k int, alpha E, a []E, rsA, csA int, b []E, rsB, csB int, beta E, c []E, rsC, csC int) {
	if m == 0 || n == 0 {
		return
	}
	gemm.GEMMAny(nil, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
}

// conjugated is a copy of the conjugates of the rows×cols matrix a, or a itself when elements are real.
func conjugated[E Element](a []E, rows, cols, ld int) ([]E, int) {
	if !isComplex[E]() {
		return a, ld
	}
	c := make([]E, rows*cols)
	for i := range rows {
		for j := range cols {
			c[i*cols+j] = Conj(a[i*ld+j])
		}
	}
	return c, cols
}

// identity makes the rows×cols matrix a the identity.
func identity[E Element](a []E, rows, cols, ld int) {
	for i := range rows {
		clear(a[i*ld:][:cols])
		if i < cols {
			a[i*ld+i] = Num[E](1)
		}
	}
}
