package distributions

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// Transforms of vectors and matrices: softmax, stick breaking, Cholesky factors.

// SoftmaxTransform maps vectors to the simplex by softmax, which is not bijective; its inverse is log. It is meant for
// gradient descent on constrained parameters; Hamiltonian Monte Carlo needs StickBreakingTransform.
type SoftmaxTransform struct{ trans }

// NewSoftmaxTransform makes a SoftmaxTransform.
func NewSoftmaxTransform(opts ...TransformOptions) *SoftmaxTransform {
	t := &SoftmaxTransform{}
	t.domain, t.codomain = constraints.RealVector, constraints.Simplex
	t.call = func(x *Tensor) *Tensor {
		m, _ := x.MaxDim(-1, tensor.MaxDimOptions{KeepDim: true})
		p := x.Sub(m).Exp()
		return p.Div(sumLastKeep(p))
	}
	t.inverse = func(y *Tensor) *Tensor { return y.Log() }
	t.setup(t, "SoftmaxTransform", option(opts).CacheSize,
		func(n int) Transform { return NewSoftmaxTransform(TransformOptions{n}) })
	return t
}

// Equal holds for all of the kind.
func (t *SoftmaxTransform) Equal(o Transform) bool { _, ok := o.(*SoftmaxTransform); return ok }

// ForwardShape wants at least one dimension.
func (t *SoftmaxTransform) ForwardShape(s []int) []int { return atLeast(s, 1) }

// InverseShape wants at least one dimension.
func (t *SoftmaxTransform) InverseShape(s []int) []int { return atLeast(s, 1) }

func atLeast(s []int, n int) []int {
	if len(s) < n {
		tensor.Fail(tensor.ErrValue, "Too few dimensions on input")
	}
	return s
}

// StickBreakingTransform maps vectors to the simplex with one more coordinate: each number says which part of the rest
// of a stick of length 1 is broken off.
type StickBreakingTransform struct{ trans }

// NewStickBreakingTransform makes a StickBreakingTransform.
func NewStickBreakingTransform(opts ...TransformOptions) *StickBreakingTransform {
	t := &StickBreakingTransform{}
	t.domain, t.codomain, t.bijective = constraints.RealVector, constraints.Simplex, true
	// With the offset, zeros map to equal parts.
	offset := func(x *Tensor, n int) *Tensor { return rsub(float64(n+1), x.NewOnes([]int{n}).CumSum(-1)) }
	t.call = func(x *Tensor) *Tensor {
		z := clippedSigmoid(x.Sub(offset(x, x.Size(-1)).Log()))
		rest := rsub(1, z).CumProd(-1)
		return pad(z, 0, 1, 1).Mul(pad(rest, 1, 0, 1))
	}
	t.inverse = func(y *Tensor) *Tensor {
		n := y.Size(-1) - 1
		c := y.Narrow(-1, 0, n)
		rest := clamp(rsub(1, c.CumSum(-1)), tiny(y), nil)
		return c.Log().Sub(rest.Log()).Add(offset(y, n).Log())
	}
	t.jacobian = func(x, y *Tensor) *Tensor {
		n := x.Size(-1)
		x = x.Sub(offset(x, n).Log())
		return sumLast(x.Neg().Add(x.LogSigmoid()).Add(y.Narrow(-1, 0, y.Size(-1)-1).Log()))
	}
	t.setup(t, "StickBreakingTransform", option(opts).CacheSize,
		func(n int) Transform { return NewStickBreakingTransform(TransformOptions{n}) })
	return t
}

// Equal holds for all of the kind.
func (t *StickBreakingTransform) Equal(o Transform) bool {
	_, ok := o.(*StickBreakingTransform)
	return ok
}

// ForwardShape has one coordinate more.
func (t *StickBreakingTransform) ForwardShape(s []int) []int { return grow(s, 1) }

// InverseShape has one coordinate less.
func (t *StickBreakingTransform) InverseShape(s []int) []int { return grow(s, -1) }

func grow(s []int, by int) []int {
	s = slices.Clone(atLeast(s, 1))
	s[len(s)-1] += by
	return s
}

// pad adds columns of a number at both ends of the last dimension.
func pad(x *Tensor, before, after int, v float64) *Tensor {
	return x.ConstantPadNd([]int{before, after}, tensor.ConstantPadNdOptions{Value: v})
}

// NewLowerCholeskyTransform maps matrices to lower triangular ones with a positive diagonal, for the Cholesky factor of
// a matrix to be learned.
func NewLowerCholeskyTransform(opts ...TransformOptions) *PlainTransform {
	return plain("LowerCholeskyTransform", constraints.Independent(constraints.Real, 2), constraints.LowerCholesky,
		opts, toLowerCholesky,
		func(y *Tensor) *Tensor { return belowDiagonal(y).Add(diagonal(y).Log().DiagEmbed()) }, nil)
}

func toLowerCholesky(x *Tensor) *Tensor { return belowDiagonal(x).Add(diagonal(x).Exp().DiagEmbed()) }

func belowDiagonal(x *Tensor) *Tensor { return x.Tril(tensor.TrilOptions{Diagonal: -1}) }

func diagonal(x *Tensor) *Tensor {
	return x.Diagonal(tensor.DiagonalOptions{Dim1: -2, Dim2: tensor.Some(-1)})
}

// NewPositiveDefiniteTransform maps matrices to positive-definite ones.
func NewPositiveDefiniteTransform(opts ...TransformOptions) *PlainTransform {
	return plain("PositiveDefiniteTransform", constraints.Independent(constraints.Real, 2),
		constraints.PositiveDefinite, opts,
		func(x *Tensor) *Tensor { l := toLowerCholesky(x); return l.MatMul(l.MT()) },
		func(y *Tensor) *Tensor {
			l := linalg.Cholesky(y)
			return belowDiagonal(l).Add(diagonal(l).Log().DiagEmbed())
		}, nil)
}

// CorrCholeskyTransform maps vectors of n(n-1)/2 numbers to Cholesky factors of n×n correlation matrices (D.
// Lewandowski, D. Kurowicka and H. Joe, Generating random correlation matrices, 2009; the Stan reference manual,
// section on Cholesky factors of correlation matrices).
type CorrCholeskyTransform struct{ trans }

// NewCorrCholeskyTransform makes a CorrCholeskyTransform.
func NewCorrCholeskyTransform(opts ...TransformOptions) *CorrCholeskyTransform {
	t := &CorrCholeskyTransform{}
	t.domain, t.codomain, t.bijective = constraints.RealVector, constraints.CorrCholesky, true
	t.call = func(x *Tensor) *Tensor {
		e := eps(x)
		x = clamp(x.Tanh(), -1+e, 1-e)
		r := vectorToTril(x, -1)
		rest := rsub(1, r.PowScalar(2)).Sqrt().CumProd(-1)
		n := r.Size(-1)
		r = r.Add(torch.Eye(n, torch.EyeOptions{DType: r.DType(), Device: r.Device()}))
		return r.Mul(pad(rest.Narrow(-1, 0, n-1), 1, 0, 1))
	}
	t.inverse = func(y *Tensor) *Tensor {
		n := y.Size(-1)
		rest := pad(rsub(1, y.Mul(y).CumSum(-1)).Narrow(-1, 0, n-1), 1, 0, 1)
		v := trilToVector(y, -1).Div(trilToVector(rest, -1).Sqrt())
		return v.Log1p().Sub(v.Neg().Log1p()).DivScalar(2) // atanh, inaccurate only where the inverse is
	}
	t.jacobian = func(x, y *Tensor) *Tensor {
		rest := trilToVector(rsub(1, y.Mul(y).CumSum(-1)), -2)
		stick := sumLast(rest.Log()).MulScalar(0.5)
		return stick.Add(sumLast(x.Add(x.MulScalar(-2).Softplus()).SubScalar(math.Ln2)).MulScalar(-2))
	}
	t.setup(t, "CorrCholeskyTransform", option(opts).CacheSize,
		func(n int) Transform { return NewCorrCholeskyTransform(TransformOptions{n}) })
	return t
}

// ForwardShape makes vectors matrices.
func (t *CorrCholeskyTransform) ForwardShape(s []int) []int {
	atLeast(s, 1)
	n := s[len(s)-1]
	d := int(math.Round(math.Sqrt(0.25+2*float64(n)) + 0.5))
	if d*(d-1)/2 != n {
		tensor.Fail(tensor.ErrValue, "Input is not a flattened lower-diagonal number")
	}
	return join(s[:len(s)-1], []int{d, d})
}

// InverseShape makes matrices vectors.
func (t *CorrCholeskyTransform) InverseShape(s []int) []int {
	atLeast(s, 2)
	d := s[len(s)-1]
	if s[len(s)-2] != d {
		tensor.Fail(tensor.ErrValue, "Input is not square")
	}
	return join(s[:len(s)-2], []int{d * (d - 1) / 2})
}

// trilMask is true on and below a diagonal of n×n matrices.
func trilMask(x *Tensor, n, diag int) *Tensor {
	a := torch.Arange(n, torch.ArangeOptions{Device: x.Device()})
	return a.Lt(a.View([]int{-1, 1}).AddScalar(diag + 1))
}

// trilToVector lists the elements on and below a diagonal row by row.
func trilToVector(x *Tensor, diag int) *Tensor {
	return x.Index(tensor.EllipsisIndex{}, trilMask(x, x.Size(-1), diag))
}

// vectorToTril is its inverse, with zeros above the diagonal.
func vectorToTril(x *Tensor, diag int) *Tensor {
	d, k := float64(diag), float64(x.Size(-1))
	root := (-(1 + 2*d) + math.Sqrt((1+2*d)*(1+2*d)+8*k+4*math.Abs(d)*(d+1))) / 2
	n := int(math.Round(root))
	if math.Abs(float64(n)-root) > 1e-6 {
		tensor.Fail(tensor.ErrValue,
			"The size of last dimension is %d which cannot be expressed as the lower triangular part of a square D x "+
				"D matrix.", x.Size(-1))
	}
	m := x.NewZeros(join(x.Shape()[:x.Dim()-1], []int{n, n}))
	return m.SetIndex(x, tensor.EllipsisIndex{}, trilMask(x, n, diag))
}
