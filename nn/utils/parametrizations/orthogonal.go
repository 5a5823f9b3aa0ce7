package parametrizations

import (
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/parametrize"
	"github.com/gotorch-dev/torch/tensor"
)

// OrthogonalMap says how an orthogonal matrix is made from one without constraints.
type OrthogonalMap uint8

// The maps.
const (
	DefaultMap  OrthogonalMap = iota // MatrixExp for square and complex matrices, Householder for others
	MatrixExp                        // the exponential of a skew-symmetric matrix
	Cayley                           // (I + A/2)(I - A/2)⁻¹ of a skew-symmetric matrix A
	Householder                      // a product of reflections
)

// OrthogonalOptions are the options of Orthogonal; the zero value is PyTorch's default.
type OrthogonalOptions struct {
	Name             string // of the parameter; default "weight"
	Map              OrthogonalMap
	NoTrivialization bool // compute the matrix itself, instead of its difference from the starting value
}

// orthogonal makes matrices with orthonormal columns, or rows where there are fewer of these.
type orthogonal struct {
	nn.Base
	kind    OrthogonalMap
	shape   []int
	trivial bool
	Matrix  *Tensor `torch:"base,buffer"` // the starting value, a square matrix
}

var (
	opHouseholder = tensor.Slot("aten::linalg_householder_product")
	opExp         = tensor.Slot("aten::linalg_matrix_exp")
	opSolve       = tensor.Slot("aten::linalg_solve")
	opQR          = tensor.Slot("aten::geqrf")
)

func call(op *tensor.Op, a ...*Tensor) *tensor.Ctx {
	if op.Def == nil {
		tensor.Fail(tensor.ErrNotImpl, "orthogonal: there is no operator %s", op.FullName())
	}
	c := tensor.NewCall(op, len(op.Sch.Params))
	for i, t := range a {
		*c.Arg(i) = tensor.TensorValue(t)
	}
	for i := len(a); i < len(op.Sch.Params); i++ {
		*c.Arg(i) = *op.Sch.Params[i].Default
	}
	return c
}

// ClassName is Python's.
func (*orthogonal) ClassName() string { return "_Orthogonal" }

// tall turns a wide matrix and tells whether it did.
func tall(x *Tensor) (y *Tensor, turned bool) {
	if x.Size(-2) < x.Size(-1) {
		return x.Transpose(-2, -1), true
	}
	return x, false
}

// diagonal is the diagonal of matrices.
func diagonal(x *Tensor) *Tensor {
	return x.Diagonal(tensor.DiagonalOptions{Dim1: -2, Dim2: tensor.Some(-1)})
}

// Forward gives the orthogonal matrix.
func (o *orthogonal) Forward(x *Tensor) *Tensor {
	x, turned := tall(x)
	n, k := x.Size(-2), x.Size(-1)
	var q *Tensor
	if o.kind == Householder {
		a := x.Tril(tensor.TrilOptions{Diagonal: -1})
		tau := a.Mul(a).SumDim([]int{-2}).AddScalar(1).Reciprocal().MulScalar(2)
		q = call(opHouseholder, a, tau).Do1()
		// the signs: the product is a continuous function only where the diagonal keeps them
		q = q.Mul(diagonal(x).To(tensor.Int32).Unsqueeze(-2))
	} else {
		x = x.Tril()
		if n != k {
			shape := slices.Clone(x.Shape())
			shape[len(shape)-1] = n - k
			x = torch.Cat([]*Tensor{x, x.NewZeros(shape)}, torch.CatOptions{Dim: -1})
		}
		a := x.Sub(x.Transpose(-2, -1).Conj())
		if o.kind == MatrixExp {
			q = call(opExp, a).Do1()
		} else {
			id := torch.Eye(n, torch.EyeOptions{DType: a.DType(), Device: a.Device()})
			half := a.MulScalar(0.5)
			q = call(opSolve, id.Sub(half), id.Add(half)).Do1()
		}
		if n != k {
			q = q.Narrow(-1, 0, k)
		}
	}
	if o.Matrix != nil {
		q = o.Matrix.MatMul(q)
	}
	if turned {
		q = q.Transpose(-2, -1)
	}
	return q
}

// RightInverse gives the matrix without constraints that makes q, which becomes orthogonal first.
func (o *orthogonal) RightInverse(q *Tensor) *Tensor {
	if !tensor.SameShape(q.Shape(), o.shape) {
		tensor.Fail(tensor.ErrShape, "Expected a matrix or batch of matrices of shape %s. Got a tensor of shape %s.",
			tensor.ShapeString(o.shape), tensor.ShapeString(q.Shape()))
	}
	start := q
	q, turned := tall(q)
	n, k := q.Size(-2), q.Size(-1)
	if !o.trivial {
		if o.kind != Householder {
			tensor.Fail(tensor.ErrNotImpl, "It is not possible to assign to the matrix exponential or the Cayley "+
				"parametrizations when use_trivialization=False.")
		}
		a, tau := call(opQR, q).Do2()
		a = a.Clone()
		d := diagonal(a)
		d.CopyInPlace(d.Sign().Mul(tau.EqScalar(0).ToDType(d.DType()).MulScalar(-2).AddScalar(1)))
		if turned {
			a = a.Transpose(-2, -1)
		}
		return a
	}
	switch {
	case n != k:
		shape := slices.Clone(q.Shape())
		shape[len(shape)-1] = n - k
		q = orthonormal(torch.Cat([]*Tensor{q, q.NewEmpty(shape).NormalInPlace()}, torch.CatOptions{Dim: -1}))
	case !isOrthogonal(q):
		q = orthonormal(q)
	default:
		q = q.Clone()
	}
	o.Matrix = q
	z := start.ZerosLike()
	diagonal(z).FillScalarInPlace(-1)
	return z
}

// orthonormal is the orthogonal factor of a QR decomposition whose R has a positive diagonal.
func orthonormal(a *Tensor) *Tensor {
	x, tau := call(opQR, a).Do2()
	q := call(opHouseholder, x, tau).Do1()
	return q.Mul(diagonal(x).Sgn().Unsqueeze(-2))
}

// isOrthogonal reports that the columns are orthonormal, but for rounding.
func isOrthogonal(q *Tensor) bool {
	n, k := q.Size(-2), q.Size(-1)
	if n < k {
		return false
	}
	id := torch.Eye(k, torch.EyeOptions{DType: q.DType(), Device: q.Device()})
	eps := 10 * float64(n)
	switch q.DType() {
	case tensor.Float64, tensor.Complex128:
		eps *= 0x1p-52
	case tensor.Float16:
		eps *= 0x1p-10
	case tensor.BFloat16:
		eps *= 0x1p-7
	default:
		eps *= 0x1p-23
	}
	return q.Transpose(-2, -1).Conj().MatMul(q).AllClose(id, tensor.AllCloseOptions{Atol: tensor.Some(eps)})
}

// Orthogonal keeps a matrix, or matrices in the last two dimensions, of m orthogonal, and returns m (Lezcano-Casado and
// Martínez-Rubio, Cheap orthogonal constraints in neural networks, 2019). A matrix with fewer columns than rows has
// orthonormal columns, one with more has orthonormal rows.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.orthogonal.html
func Orthogonal[M nn.Module](m M, opts ...OrthogonalOptions) M {
	var o OrthogonalOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	name := o.Name
	if name == "" {
		name = "weight"
	}
	at := nn.TensorField(m, name)
	if at == nil || *at == nil {
		tensor.Fail(tensor.ErrValue, "Module '%s' has no parameter or buffer with name '%s'", nn.ClassName(m), name)
	}
	w := *at
	if w.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "Expected a matrix or batch of matrices. Got a tensor of %d dimensions.", w.Dim())
	}
	kind := o.Map
	if kind == DefaultMap {
		if kind = Householder; w.Size(-2) == w.Size(-1) || w.DType().IsComplex() {
			kind = MatrixExp
		}
	}
	if kind == Householder && w.DType().IsComplex() {
		tensor.Fail(tensor.ErrValue, "The householder parametrization does not support complex tensors.")
	}
	p := nn.New(&orthogonal{kind: kind, shape: slices.Clone(w.Shape()), trivial: !o.NoTrivialization})
	parametrize.RegisterParametrization(m, name, p, parametrize.Options{Unsafe: true})
	return m
}
