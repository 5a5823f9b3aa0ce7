// Package linalg holds factorizations of matrices and what is computed with them: Cholesky and LU factors, triangular
// systems, determinants, eigenvalues of symmetric matrices.
//
// All operators take batches: the last two dimensions are the matrices. Kernels compute float32 in float64, as the
// errors of factorizations grow with the condition number of the matrix.
package linalg

import (
	"math/cmplx"

	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

// element is what kernels compute in.
type element interface{ float64 | complex128 }

// conj is the complex conjugate.
func conj[E element](x E) E {
	if c, ok := any(x).(complex128); ok {
		return any(cmplx.Conj(c)).(E)
	}
	return x
}

// size is the absolute value.
func size[E element](x E) float64 {
	switch v := any(x).(type) {
	case complex128:
		return cmplx.Abs(v)
	case float64:
		if v < 0 {
			return -v
		}
		return v
	}
	return 0
}

// re is the real part.
func re[E element](x E) float64 {
	if c, ok := any(x).(complex128); ok {
		return real(c)
	}
	return any(x).(float64)
}

// number is a real number as an element.
func number[E element](x float64) E {
	var e E
	switch any(e).(type) {
	case complex128:
		return any(complex(x, 0)).(E)
	}
	return any(x).(E)
}

// dotConj is the sum of x[i]·conj(y[i]); the type is told apart once, not per element.
func dotConj[E element](x, y []E) E {
	switch a := any(x).(type) {
	case []float64:
		b, s := any(y).([]float64)[:len(a)], 0.0
		for i, v := range a {
			s += v * b[i]
		}
		return any(s).(E)
	case []complex128:
		b, s := any(y).([]complex128)[:len(a)], complex128(0)
		for i, v := range a {
			s += v * cmplx.Conj(b[i])
		}
		return any(s).(E)
	}
	panic("unreachable")
}

// minus subtracts f·x from y.
func minus[E element](y []E, f E, x []E) {
	x = x[:len(y)]
	for i := range y {
		y[i] -= f * x[i]
	}
}

// compute is the type that a kernel computes t's type in.
func compute(dt tensor.DType) tensor.DType {
	if dt.IsComplex() {
		return tensor.Complex128
	}
	return tensor.Float64
}

// wide is a copy of t in the type that kernels compute in.
func wide(t *T) *T { return tensor.CloneRaw(tensor.DenseAs(t, compute(t.DType()))) }

// checkMatrix refuses what is no batch of matrices of a floating-point or complex type that LAPACK has routines for.
func checkMatrix(c *Ctx, api, name string, t *T) {
	switch dt := t.DType(); {
	case t.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: The input tensor %s must have at least 2 dimensions.", api, name)
	case !dt.IsFloat() && !dt.IsComplex():
		c.Fail(tensor.ErrDType, "%s: Expected a floating point or complex tensor as input. Got %s", api, dt.ClassName())
	case dt.Real().Size() < 4:
		c.Fail(tensor.ErrDType, "%s: Low precision dtypes not supported. Got %s", api, dt.ClassName())
	}
}

// checkSquare refuses what is no batch of square matrices.
func checkSquare(c *Ctx, api, name string, t *T) {
	checkMatrix(c, api, name, t)
	if t.Size(-1) != t.Size(-2) {
		c.Fail(tensor.ErrShape, "%s: %s must be batches of square matrices, but they are %d by %d matrices", api, name,
			t.Size(-2), t.Size(-1))
	}
}

// batch is the shape without the last two dimensions.
func batch(shape []int) []int { return shape[: len(shape)-2 : len(shape)-2] }

// spread expands the batch dimensions of t, which a kernel then reads as one dense array.
func spread(t *T, b []int) *T {
	sh := append(append([]int{}, b...), t.Size(-2), t.Size(-1))
	if tensor.SameShape(sh, t.Shape()) {
		return t
	}
	var x *T
	tensor.NoGrad(func() { x = t.Expand(sh) })
	return x
}
