// Package linalg holds PyTorch's torch.linalg and its older kin: factorizations of matrices (LU, QR, Cholesky, LDL,
// eigenvalues, singular values) and what is computed with them (solutions, inverses, determinants, norms, functions of
// matrices).
//
// All operators take batches: the last two dimensions are the matrices, and the matrices of a batch are worked on in
// parallel. The algorithms are in internal/lapack. Small matrices of float32 are computed in float64, which costs
// little and has the smaller errors; large ones are computed as they are, as in PyTorch. Factors are laid out column by
// column, as LAPACK's are; their strides are PyTorch's.
//
// Gradient rules are those of PyTorch (torch/csrc/autograd/FunctionsManual.cpp), which are derived in M. Giles, An
// extended collection of matrix derivative results for forward and reverse mode automatic differentiation (2008), and
// in the papers that single rules name.
package linalg

import (
	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

// smallest is the number of rows from which on float32 and complex64 are computed in as they are.
const smallest = 33

// compute is the type that a kernel computes t's type in, for matrices of n rows.
func compute(dt tensor.DType, n int) tensor.DType {
	switch {
	case dt.Real().Size() >= 4 && n >= smallest:
		return dt
	case dt.IsComplex():
		return tensor.Complex128
	}
	return tensor.Float64
}

// work is a copy of t in the type that kernels compute in for matrices of n rows.
func work(t *T, n int) *T { return tensor.CloneRaw(tensor.DenseAs(t, compute(t.DType(), n))) }

// longer is the larger size of t's matrices.
func longer(t *T) int { return max(t.Size(-1), t.Size(-2)) }

// choose picks the instance of a generic function for a type that compute gives.
func choose[F any](dt tensor.DType, f32, f64, c64, c128 F) F {
	switch dt {
	case tensor.Float32:
		return f32
	case tensor.Complex64:
		return c64
	case tensor.Complex128:
		return c128
	}
	return f64
}

// checkFloating refuses what is no batch of matrices of a floating-point or complex type.
func checkFloating(c *Ctx, api, name string, t *T) {
	switch dt := t.DType(); {
	case t.Dim() < 2:
		c.Fail(tensor.ErrShape, "%s: The input tensor %s must have at least 2 dimensions.", api, name)
	case !dt.IsFloat() && !dt.IsComplex():
		c.Fail(tensor.ErrDType, "%s: Expected a floating point or complex tensor as input. Got %s", api, dt.ClassName())
	}
}

// checkMatrix refuses what is no batch of matrices of a type that LAPACK has routines for.
func checkMatrix(c *Ctx, api, name string, t *T) {
	checkFloating(c, api, name, t)
	if t.DType().Real().Size() < 4 && t.Device().Type != tensor.MetaDevice { // PyTorch's meta kernels do not look
		c.Fail(tensor.ErrDType, "%s: Low precision dtypes not supported. Got %s", api, t.DType().ClassName())
	}
}

// checkShape refuses matrices that are not square.
func checkShape(c *Ctx, api, name string, t *T) {
	if t.Size(-1) != t.Size(-2) {
		c.Fail(tensor.ErrShape, "%s: %s must be batches of square matrices, but they are %d by %d matrices", api, name,
			t.Size(-2), t.Size(-1))
	}
}

// checkSquare refuses what is no batch of square matrices of a type that LAPACK has routines for.
func checkSquare(c *Ctx, api, name string, t *T) {
	checkMatrix(c, api, name, t)
	checkShape(c, api, name, t)
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

// join is the concatenation of shapes.
func join(a []int, b ...int) []int { return append(append(make([]int, 0, len(a)+len(b)), a...), b...) }

// columns allocates result i as a batch of matrices whose columns are contiguous.
func columns(c *Ctx, i int, shape []int, dt tensor.DType) *T {
	st := make([]int, len(shape))
	n := 1
	for d := len(shape) - 1; d >= 0; d-- {
		st[d] = n
		n *= max(shape[d], 1)
	}
	k := len(shape)
	st[k-2], st[k-1] = 1, max(shape[k-2], 1)
	return c.AllocStrided(i, shape, st, dt)
}

// matrices is the number of matrices of a batch of the shape.
func matrices(shape []int) int {
	n := 1
	for _, s := range batch(shape) {
		n *= s
	}
	return n
}

// each calls f for 0 ≤ i < n, in parallel as far as calls that cost some number of operations are worth it.
func each(n, cost int, f func(i int)) {
	par.For(n, max(1, 20000/(cost+1)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// precision is the relative rounding error of the type that a result is rounded to.
func precision(dt tensor.DType) float64 {
	if dt.Real() == tensor.Float32 {
		return 0x1p-24
	}
	return 0x1p-53
}

// part is matrix i of a dense batch of matrices of the given size.
func part[E any](t []E, i, size int) []E { return t[i*size : (i+1)*size] }

// data is the memory of a dense tensor of the kernels' type.
func data[E lapack.Element](t *T) []E { return tensor.Data[E](t) }

// element is what kernels compute in.
type element = lapack.Element

// identity is the n×n identity of t's dtype and device.
func identity(t *T, n int) *T {
	return op.Full(t, []int{n}, 1, t.DType()).DiagEmbed()
}

// at names the matrix of a batch in an error message.
func at(i int, batched bool) string {
	if !batched {
		return ""
	}
	return "(Batch element " + tensor.IntValue(i).String() + "): "
}
