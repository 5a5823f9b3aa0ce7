// Package lapack factors dense matrices: LU, QR, LDL, eigenvalues and singular values of one matrix after another.
//
// Matrices are row-major slices; element (i, j) of a matrix with row length ld is a[i*ld+j].
// The algorithms are those of LAPACK (Anderson et al., LAPACK Users' Guide, 3rd edition, 1999), step by step, where a
// result is not unique: pivots, and the signs of singular vectors and eigenvectors, are those that PyTorch's users see.
// For the same reason the iterations take the precision of the type that a result is rounded to, so that float32
// converges in as many steps as LAPACK takes for it. Numbers that there are only few of (diagonals, singular values,
// poles) are float64 throughout; matrices and vectors have the type of the argument.
//
//	file                  what it computes
//	--------------------  ----------------------------------------------------------
//	lu.go                 PA = LU with partial pivoting, by halves and panels
//	triangle.go           triangular systems, by blocks
//	cholesky.go           A = L·Lᴴ, by blocks; inverses
//	reflect.go            Householder reflections; QR factors, products with Q
//	ldl.go                A = L·D·Lᵀ by diagonal pivoting (Bunch and Kaufman), by panels
//	tridiag.go            Hermitian to tridiagonal, by panels; eigenvectors of Hermitian matrices
//	tridiag_step.go       eigenvalues of tridiagonal matrices: implicit QL and QR iteration, for small ones
//	tridiag_divide.go     the same by divide and conquer, for large ones
//	bidiag.go             general to bidiagonal, by panels; implicit zero-shift QR iteration
//	bidiag_divide.go      singular values of bidiagonal matrices by divide and conquer
//	secular.go            the equation that divide and conquer has to solve
//	svd.go                singular values and vectors
//	rotate.go, vector.go  rotations, sums of rows, dot products, norms, transposes
//	hessenberg.go         balancing, Hessenberg form
//	schur.go, schurc.go, eig.go  Schur form of real and complex matrices; eigenvectors
//
// https://www.netlib.org/lapack/lug/
package lapack

import (
	"math"
	"math/cmplx"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
)

// Element is what kernels compute in.
type Element interface {
	float32 | float64 | complex64 | complex128
}

// Wide is what nonsymmetric eigenvalues are computed in.
type Wide interface{ float64 | complex128 }

// Real is the type of singular values and of the eigenvalues of Hermitian matrices.
type Real interface{ float32 | float64 }

// Conj is the complex conjugate.
func Conj[E Element](x E) E {
	switch c := any(x).(type) {
	case complex128:
		return any(cmplx.Conj(c)).(E)
	case complex64:
		return any(complex(real(c), -imag(c))).(E)
	}
	return x
}

// parts are the real and the imaginary part.
func parts[E Element](x E) (re, im float64) {
	switch v := any(x).(type) {
	case complex128:
		return real(v), imag(v)
	case complex64:
		return float64(real(v)), float64(imag(v))
	case float64:
		return v, 0
	case float32:
		return float64(v), 0
	}
	return 0, 0
}

// Abs is the absolute value.
func Abs[E Element](x E) float64 {
	re, im := parts(x)
	if im == 0 {
		return math.Abs(re)
	}
	return math.Hypot(re, im)
}

// Abs1 is |re| + |im|, the size that LAPACK compares complex pivots by.
func Abs1[E Element](x E) float64 {
	re, im := parts(x)
	return math.Abs(re) + math.Abs(im)
}

// Re is the real part.
func Re[E Element](x E) float64 {
	re, _ := parts(x)
	return re
}

// Im is the imaginary part.
func Im[E Element](x E) float64 {
	_, im := parts(x)
	return im
}

// Num is a real number as an element.
func Num[E Element](x float64) E { return pair[E](x, 0) }

// pair is a complex number as an element; real elements take the real part.
func pair[E Element](re, im float64) E {
	var e E
	switch any(e).(type) {
	case complex128:
		return any(complex(re, im)).(E)
	case complex64:
		return any(complex(float32(re), float32(im))).(E)
	case float32:
		return any(float32(re)).(E)
	}
	return any(re).(E)
}

// isComplex tells real from complex elements.
func isComplex[E Element]() bool {
	var e E
	switch any(e).(type) {
	case complex64, complex128:
		return true
	}
	return false
}

// limits are the smallest normal number of the type, and the largest relative error of a rounded number.
func limits[E Element]() (least, precision float64) {
	var e E
	switch any(e).(type) {
	case float32, complex64:
		return 0x1p-126, 0x1p-24
	}
	return 0x1p-1022, 0x1p-53
}

// mul computes C = alpha·A·B + beta·C for the m×k matrix A and the k×n matrix B with any strides.
//
// Long sums of products of float32 are cut, since the error of a sum grows with the length of the chain of additions:
// so the residuals of factors are as small as LAPACK's, which adds up panel by panel.
func mul[E Element](m, n, k int, alpha E, a []E, rsA, csA int, b []E, rsB, csB int, beta E, c []E, rsC, csC int) {
	if m == 0 || n == 0 {
		return
	}
	if _, precision := limits[E](); precision == 0x1p-24 && m*n > 1<<12 {
		const chain = 128
		for ; k > chain+chain/2; k -= chain {
			gemm.GEMMAny(nil, m, n, chain, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC)
			a, b, beta = a[chain*csA:], b[chain*rsB:], 1
		}
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
