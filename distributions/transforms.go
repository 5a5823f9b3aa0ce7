package distributions

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// Transform is a differentiable map with, where it is bijective, an inverse and the logarithm of the determinant of its
// Jacobian.
// https://pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
type Transform interface {
	// Domain and Codomain are the regions between which the transform maps; their event dimensions say what is mapped
	// together.
	Domain() Constraint
	Codomain() Constraint
	Bijective() bool
	// Sign is +1 or -1 where the transform rises or falls monotonically everywhere, as a number or, by element, as a
	// tensor (the other one is 0 or nil).
	Sign() (int, *Tensor)
	// Forward maps x to y, Inverse y to x. Inverses of maps that are not injective choose one x.
	Forward(x *Tensor) *Tensor
	Inverse(y *Tensor) *Tensor
	// LogAbsDetJacobian is log |dy/dx| given input and output.
	LogAbsDetJacobian(x, y *Tensor) *Tensor
	// ForwardShape and InverseShape tell the shape of the output from that of the input, and the other way round.
	ForwardShape(shape []int) []int
	InverseShape(shape []int) []int
	// Inv is the inverse as a transform.
	Inv() Transform
	// WithCache is the transform with a cache of size 0 or 1: with 1, the last input and output are kept, so that the
	// inverse of an output gives the very input, which matters where inverses are expensive or inexact.
	WithCache(size int) Transform
	// Equal says that both transforms map alike, as far as is known.
	Equal(o Transform) bool
	// String prints as in Python: "AffineTransform()".
	String() string
}

// trans is what all transforms embed. A transform sets self, call and inverse.
type trans struct {
	self             Transform
	name             string
	domain, codomain Constraint
	bijective        bool
	sign             int // 0: not monotonic, or not known
	call, inverse    func(x *Tensor) *Tensor
	jacobian         func(x, y *Tensor) *Tensor
	again            func(cache int) Transform // makes the transform anew
	cached           bool

	mu   sync.Mutex
	x, y *Tensor // the last pair
	inv  Transform
}

func (t *trans) Domain() Constraint   { return t.domain }
func (t *trans) Codomain() Constraint { return t.codomain }
func (t *trans) Bijective() bool      { return t.bijective }

func (t *trans) notImplemented(what string) {
	tensor.Fail(tensor.ErrNotImpl, "%s does not implement %s", t.name, what)
}

// Sign is +1 or -1 for a monotonic transform.
func (t *trans) Sign() (int, *Tensor) {
	if t.sign == 0 {
		t.notImplemented("sign")
	}
	return t.sign, nil
}

func (t *trans) last() (x, y *Tensor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.x, t.y
}

func (t *trans) keep(x, y *Tensor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.x, t.y = x, y
}

// Forward maps x to y.
func (t *trans) Forward(x *Tensor) *Tensor {
	if !t.cached {
		return t.call(x)
	}
	if px, py := t.last(); px == x {
		return py
	}
	y := t.call(x)
	t.keep(x, y)
	return y
}

// Inverse maps y to x.
func (t *trans) Inverse(y *Tensor) *Tensor {
	if t.inverse == nil {
		t.notImplemented("the inverse")
	}
	if !t.cached {
		return t.inverse(y)
	}
	if px, py := t.last(); py == y {
		return px
	}
	x := t.inverse(y)
	t.keep(x, y)
	return x
}

// LogAbsDetJacobian is log |dy/dx|.
func (t *trans) LogAbsDetJacobian(x, y *Tensor) *Tensor {
	if t.jacobian == nil {
		t.notImplemented("log_abs_det_jacobian")
	}
	return t.jacobian(x, y)
}

func (t *trans) ForwardShape(shape []int) []int { return shape }
func (t *trans) InverseShape(shape []int) []int { return shape }

// Inv is the inverse as a transform, always the same value.
func (t *trans) Inv() Transform {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inv == nil {
		t.inv = &inverseTransform{t.self}
	}
	return t.inv
}

// WithCache makes the transform anew unless it has that cache.
func (t *trans) WithCache(size int) Transform {
	if size != 0 && size != 1 {
		tensor.Fail(tensor.ErrValue, "cache_size must be 0 or 1")
	}
	if t.cached == (size == 1) {
		return t.self
	}
	return t.again(size)
}

// Equal holds for the very same transform only; transforms without parameters say more.
func (t *trans) Equal(o Transform) bool { return t.self == o }

func (t *trans) String() string { return t.name + "()" }

// setup completes a transform.
func (t *trans) setup(self Transform, name string, cache int, again func(cache int) Transform) {
	if cache != 0 && cache != 1 {
		tensor.Fail(tensor.ErrValue, "cache_size must be 0 or 1")
	}
	t.self, t.name, t.again, t.cached = self, name, again, cache == 1
}

// TransformOptions are the options of most transforms.
type TransformOptions struct {
	// CacheSize is 0 or 1; see Transform.WithCache.
	CacheSize int
}

// inverseTransform is a transform read backwards.
type inverseTransform struct{ of Transform }

func (t *inverseTransform) Domain() Constraint        { return t.of.Codomain() }
func (t *inverseTransform) Codomain() Constraint      { return t.of.Domain() }
func (t *inverseTransform) Bijective() bool           { return t.of.Bijective() }
func (t *inverseTransform) Sign() (int, *Tensor)      { return t.of.Sign() }
func (t *inverseTransform) Forward(x *Tensor) *Tensor { return t.of.Inverse(x) }
func (t *inverseTransform) Inverse(y *Tensor) *Tensor { return t.of.Forward(y) }
func (t *inverseTransform) LogAbsDetJacobian(x, y *Tensor) *Tensor {
	return t.of.LogAbsDetJacobian(y, x).Neg()
}
func (t *inverseTransform) ForwardShape(s []int) []int { return t.of.InverseShape(s) }
func (t *inverseTransform) InverseShape(s []int) []int { return t.of.ForwardShape(s) }
func (t *inverseTransform) Inv() Transform             { return t.of }
func (t *inverseTransform) WithCache(n int) Transform  { return t.of.WithCache(n).Inv() }
func (t *inverseTransform) Equal(o Transform) bool {
	i, ok := o.(*inverseTransform)
	return ok && t.of.Equal(i.of)
}
func (t *inverseTransform) String() string { return fmt.Sprintf("_InverseTransform(%s)", t.of) }

// plain makes a transform without parameters; all of one name are equal.
func plain(name string, domain, codomain Constraint, opts []TransformOptions, call, inverse func(x *Tensor) *Tensor,
	jacobian func(x, y *Tensor) *Tensor) *PlainTransform {
	t := &PlainTransform{}
	t.domain, t.codomain, t.call, t.inverse, t.jacobian = domain, codomain, call, inverse, jacobian
	if jacobian != nil {
		t.bijective = true
		if domain.EventDim() == 0 {
			t.sign = 1 // the scalar bijections of this package rise
		}
	}
	t.setup(t, name, option(opts).CacheSize, func(cache int) Transform {
		return plain(name, domain, codomain, []TransformOptions{{cache}}, call, inverse, jacobian)
	})
	return t
}

// PlainTransform is a transform without parameters.
type PlainTransform struct{ trans }

// Equal holds for transforms of one kind.
func (t *PlainTransform) Equal(o Transform) bool {
	p, ok := o.(*PlainTransform)
	return ok && p.name == t.name
}

// NewExpTransform maps x to exp x.
func NewExpTransform(opts ...TransformOptions) *PlainTransform {
	return plain("ExpTransform", constraints.Real, constraints.Positive, opts,
		func(x *Tensor) *Tensor { return x.Exp() }, func(y *Tensor) *Tensor { return y.Log() },
		func(x, _ *Tensor) *Tensor {
			return x
		})
}

// clippedSigmoid is the sigmoid function kept away from 0 and 1.
func clippedSigmoid(x *Tensor) *Tensor { return clamp(x.Sigmoid(), tiny(x), 1-eps(x)) }

// NewSigmoidTransform maps x to 1/(1+exp -x).
func NewSigmoidTransform(opts ...TransformOptions) *PlainTransform {
	return plain("SigmoidTransform", constraints.Real, constraints.UnitInterval, opts, clippedSigmoid,
		func(y *Tensor) *Tensor {
			y = clamp(y, tiny(y), 1-eps(y))
			return y.Log().Sub(y.Neg().Log1p())
		},
		func(x, _ *Tensor) *Tensor { return x.Neg().Softplus().Neg().Sub(x.Softplus()) })
}

// NewSoftplusTransform maps x to log(1+exp x), and leaves large x as they are.
func NewSoftplusTransform(opts ...TransformOptions) *PlainTransform {
	return plain("SoftplusTransform", constraints.Real, constraints.Positive, opts,
		func(x *Tensor) *Tensor { return x.Softplus() },
		func(y *Tensor) *Tensor { return y.Neg().Expm1().Neg().Log().Add(y) },
		func(x, _ *Tensor) *Tensor { return x.Neg().Softplus().Neg() })
}

// NewTanhTransform maps x to tanh x. It equals a composition of an affine and a sigmoid transform, with more digits
// near ±1.
func NewTanhTransform(opts ...TransformOptions) *PlainTransform {
	return plain("TanhTransform", constraints.Real, constraints.Interval(-1.0, 1.0), opts,
		func(x *Tensor) *Tensor { return x.Tanh() }, func(y *Tensor) *Tensor { return y.Atanh() },
		func(x, _ *Tensor) *Tensor {
			return rsub(math.Ln2, x).Sub(x.MulScalar(-2).Softplus()).MulScalar(2)
		})
}

// NewAbsTransform maps x to |x|, which is not bijective.
func NewAbsTransform(opts ...TransformOptions) *PlainTransform {
	return plain("AbsTransform", constraints.Real, constraints.Positive, opts,
		func(x *Tensor) *Tensor { return x.Abs() }, func(y *Tensor) *Tensor { return y }, nil)
}

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
			l := y.LinalgCholesky()
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
		rest := rsub(1, r.Pow(2)).Sqrt().CumProd(-1)
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

// AffineTransform maps x to loc + scale·x.
type AffineTransform struct {
	trans
	loc, scale *Tensor
	dim        int
}

// AffineTransformOptions are the options of NewAffineTransform.
type AffineTransformOptions struct {
	EventDim  int // 0 for numbers, 1 for vectors, …
	CacheSize int
}

// NewAffineTransform makes an AffineTransform.
func NewAffineTransform(loc, scale *Tensor, opts ...AffineTransformOptions) *AffineTransform {
	o := option(opts)
	t := &AffineTransform{loc: loc, scale: scale, dim: o.EventDim}
	t.domain, t.codomain, t.bijective = constraints.Real, constraints.Real, true
	if o.EventDim > 0 {
		t.domain = constraints.Independent(constraints.Real, o.EventDim)
		t.codomain = t.domain
	}
	t.call = func(x *Tensor) *Tensor { return t.loc.Add(t.scale.Mul(x)) }
	t.inverse = func(y *Tensor) *Tensor { return y.Sub(t.loc).Div(t.scale) }
	t.jacobian = func(x, _ *Tensor) *Tensor {
		r := t.scale.Abs().Log()
		sh := x.Shape()
		if t.dim > 0 {
			if r.Dim() < t.dim {
				r = r.Expand(sh) // a scale with fewer dimensions than an event holds for each of its elements
			}
			r = sumRight(r, t.dim)
			sh = sh[:len(sh)-t.dim]
		}
		return r.Expand(sh)
	}
	t.setup(t, "AffineTransform", o.CacheSize, func(n int) Transform {
		return NewAffineTransform(loc, scale, AffineTransformOptions{o.EventDim, n})
	})
	return t
}

// Loc is what is added.
func (t *AffineTransform) Loc() *Tensor { return t.loc }

// Scale is the factor.
func (t *AffineTransform) Scale() *Tensor { return t.scale }

// Sign is that of the scale.
func (t *AffineTransform) Sign() (int, *Tensor) { return 0, t.scale.Sign() }

// Equal compares the numbers.
func (t *AffineTransform) Equal(o Transform) bool {
	a, ok := o.(*AffineTransform)
	return ok && sameNumbers(t.loc, a.loc) && sameNumbers(t.scale, a.scale)
}

// sameNumbers compares tensors with broadcasting.
func sameNumbers(a, b *Tensor) bool {
	if a == b {
		return true
	}
	return a.Device().Type != tensor.MetaDevice && a.Detach().Eq(b.Detach()).All().Item() != 0
}

// ForwardShape broadcasts with the parameters.
func (t *AffineTransform) ForwardShape(s []int) []int {
	return torch.BroadcastShapes(s, t.loc.Shape(), t.scale.Shape())
}

// InverseShape broadcasts with the parameters.
func (t *AffineTransform) InverseShape(s []int) []int { return t.ForwardShape(s) }

// PowerTransform maps positive x to xᵃ.
type PowerTransform struct {
	trans
	exponent *Tensor
}

// NewPowerTransform makes a PowerTransform.
func NewPowerTransform(exponent *Tensor, opts ...TransformOptions) *PowerTransform {
	t := &PowerTransform{exponent: exponent}
	t.domain, t.codomain, t.bijective = constraints.Positive, constraints.Positive, true
	t.call = func(x *Tensor) *Tensor { return x.PowTensor(t.exponent) }
	t.inverse = func(y *Tensor) *Tensor { return y.PowTensor(over(1, t.exponent)) }
	t.jacobian = func(x, y *Tensor) *Tensor { return t.exponent.Mul(y).Div(x).Abs().Log() }
	t.setup(t, "PowerTransform", option(opts).CacheSize, func(n int) Transform {
		return NewPowerTransform(exponent,
			TransformOptions{n})
	})
	return t
}

// Exponent is the exponent.
func (t *PowerTransform) Exponent() *Tensor { return t.exponent }

// Sign is that of the exponent.
func (t *PowerTransform) Sign() (int, *Tensor) { return 0, t.exponent.Sign() }

// Equal compares the exponents.
func (t *PowerTransform) Equal(o Transform) bool {
	p, ok := o.(*PowerTransform)
	return ok && sameNumbers(t.exponent, p.exponent)
}

// ForwardShape broadcasts with the exponent.
func (t *PowerTransform) ForwardShape(s []int) []int {
	return torch.BroadcastShapes(s, t.exponent.Shape())
}

// InverseShape broadcasts with the exponent.
func (t *PowerTransform) InverseShape(s []int) []int { return t.ForwardShape(s) }

// ReshapeTransform changes the shape of events.
type ReshapeTransform struct {
	trans
	in, out []int
}

// NewReshapeTransform makes a ReshapeTransform; both shapes must have the same number of elements.
func NewReshapeTransform(inShape, outShape []int, opts ...TransformOptions) *ReshapeTransform {
	if Size(inShape).Numel() != Size(outShape).Numel() {
		tensor.Fail(tensor.ErrValue, "in_shape, out_shape have different numbers of elements")
	}
	t := &ReshapeTransform{in: slices.Clone(inShape), out: slices.Clone(outShape)}
	t.domain, t.codomain = constraints.Independent(constraints.Real,
		len(inShape)), constraints.Independent(constraints.Real, len(outShape))
	t.bijective = true
	t.call = func(x *Tensor) *Tensor { return x.Reshape(join(x.Shape()[:x.Dim()-len(t.in)], t.out)) }
	t.inverse = func(y *Tensor) *Tensor { return y.Reshape(join(y.Shape()[:y.Dim()-len(t.out)], t.in)) }
	t.jacobian = func(x, _ *Tensor) *Tensor { return x.NewZeros(x.Shape()[:x.Dim()-len(t.in)]) }
	t.setup(t, "ReshapeTransform", option(opts).CacheSize, func(n int) Transform {
		return NewReshapeTransform(inShape,
			outShape, TransformOptions{n})
	})
	return t
}

// ForwardShape replaces the end of a shape.
func (t *ReshapeTransform) ForwardShape(s []int) []int { return replaceEnd(s, t.in, t.out) }

// InverseShape replaces the end of a shape.
func (t *ReshapeTransform) InverseShape(s []int) []int { return replaceEnd(s, t.out, t.in) }

func replaceEnd(s, from, to []int) []int {
	cut := len(atLeast(s, len(from))) - len(from)
	if !slices.Equal(s[cut:], from) {
		tensor.Fail(tensor.ErrValue, "Shape mismatch: expected %s but got %s", Size(s[cut:]), Size(from))
	}
	return join(s[:cut], to)
}

// IndependentTransform takes batch dimensions of another transform together: the log-determinants are summed over them.
type IndependentTransform struct {
	trans
	base Transform
	n    int
}

// NewIndependentTransform makes an IndependentTransform of the n rightmost batch dimensions.
func NewIndependentTransform(base Transform, n int, opts ...TransformOptions) *IndependentTransform {
	o := option(opts)
	t := &IndependentTransform{base: base.WithCache(o.CacheSize), n: n}
	t.domain, t.codomain = constraints.Independent(base.Domain(), n), constraints.Independent(base.Codomain(), n)
	t.bijective = base.Bijective()
	t.call = func(x *Tensor) *Tensor { atLeast(x.Shape(), t.domain.EventDim()); return t.base.Forward(x) }
	t.inverse = func(y *Tensor) *Tensor { atLeast(y.Shape(), t.codomain.EventDim()); return t.base.Inverse(y) }
	t.jacobian = func(x, y *Tensor) *Tensor { return sumRight(t.base.LogAbsDetJacobian(x, y), t.n) }
	t.setup(t, "IndependentTransform", o.CacheSize, func(c int) Transform {
		return NewIndependentTransform(base, n,
			TransformOptions{c})
	})
	return t
}

// Sign is that of the base.
func (t *IndependentTransform) Sign() (int, *Tensor) { return t.base.Sign() }

// ForwardShape is that of the base.
func (t *IndependentTransform) ForwardShape(s []int) []int { return t.base.ForwardShape(s) }

// InverseShape is that of the base.
func (t *IndependentTransform) InverseShape(s []int) []int { return t.base.InverseShape(s) }

func (t *IndependentTransform) String() string {
	return fmt.Sprintf("IndependentTransform(%s, %d)", t.base, t.n)
}

// ComposeTransform applies transforms one after another.
type ComposeTransform struct {
	parts  []Transform
	cached bool

	mu  sync.Mutex
	inv *ComposeTransform
}

// IdentityTransform leaves everything as it is.
var IdentityTransform = NewComposeTransform(nil)

// NewComposeTransform makes a ComposeTransform; the first part is applied first.
func NewComposeTransform(parts []Transform, opts ...TransformOptions) *ComposeTransform {
	t := &ComposeTransform{parts: slices.Clone(parts), cached: option(opts).CacheSize == 1}
	if t.cached {
		for i, p := range t.parts {
			t.parts[i] = p.WithCache(1)
		}
	}
	return t
}

// Parts are the transforms in order.
func (t *ComposeTransform) Parts() []Transform { return slices.Clone(t.parts) }

// Domain is that of the first part, over as many dimensions as any part maps together.
func (t *ComposeTransform) Domain() Constraint {
	if len(t.parts) == 0 {
		return constraints.Real
	}
	d := t.parts[0].Domain()
	n := t.parts[len(t.parts)-1].Codomain().EventDim()
	for i := len(t.parts) - 1; i >= 0; i-- {
		p := t.parts[i].Domain().EventDim()
		n = max(n+p-t.parts[i].Codomain().EventDim(), p)
	}
	if n > d.EventDim() {
		return constraints.Independent(d, n-d.EventDim())
	}
	return d
}

// Codomain is that of the last part, over as many dimensions as any part maps together.
func (t *ComposeTransform) Codomain() Constraint {
	if len(t.parts) == 0 {
		return constraints.Real
	}
	d := t.parts[len(t.parts)-1].Codomain()
	n := t.parts[0].Domain().EventDim()
	for _, p := range t.parts {
		n = max(n+p.Codomain().EventDim()-p.Domain().EventDim(), p.Codomain().EventDim())
	}
	if n > d.EventDim() {
		return constraints.Independent(d, n-d.EventDim())
	}
	return d
}

// Bijective says that all parts are.
func (t *ComposeTransform) Bijective() bool {
	for _, p := range t.parts {
		if !p.Bijective() {
			return false
		}
	}
	return true
}

// Sign is the product of the parts'.
func (t *ComposeTransform) Sign() (int, *Tensor) {
	n, s := 1, (*Tensor)(nil)
	for _, p := range t.parts {
		k, x := p.Sign()
		switch {
		case x == nil:
			n *= k
		case s == nil:
			s = x
		default:
			s = s.Mul(x)
		}
	}
	if s != nil {
		return 0, s.MulScalar(n)
	}
	return n, nil
}

// Forward applies the parts in order.
func (t *ComposeTransform) Forward(x *Tensor) *Tensor {
	for _, p := range t.parts {
		x = p.Forward(x)
	}
	return x
}

// Inverse applies the parts' inverses in the opposite order.
func (t *ComposeTransform) Inverse(y *Tensor) *Tensor {
	for i := len(t.parts) - 1; i >= 0; i-- {
		y = t.parts[i].Inverse(y)
	}
	return y
}

// LogAbsDetJacobian sums over the parts.
func (t *ComposeTransform) LogAbsDetJacobian(x, y *Tensor) *Tensor {
	if len(t.parts) == 0 {
		return x.ZerosLike()
	}
	var sum *Tensor
	n := t.Domain().EventDim()
	for i, p := range t.parts {
		z := y
		if i+1 < len(t.parts) {
			z = p.Forward(x)
		}
		d := sumRight(p.LogAbsDetJacobian(x, z), n-p.Domain().EventDim())
		if sum == nil {
			sum = d
		} else {
			sum = sum.Add(d)
		}
		n += p.Codomain().EventDim() - p.Domain().EventDim()
		x = z
	}
	return sum
}

// ForwardShape goes through the parts.
func (t *ComposeTransform) ForwardShape(s []int) []int {
	for _, p := range t.parts {
		s = p.ForwardShape(s)
	}
	return s
}

// InverseShape goes back through the parts.
func (t *ComposeTransform) InverseShape(s []int) []int {
	for i := len(t.parts) - 1; i >= 0; i-- {
		s = t.parts[i].InverseShape(s)
	}
	return s
}

// Inv is the composition of the inverses.
func (t *ComposeTransform) Inv() Transform {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inv == nil {
		t.inv = &ComposeTransform{inv: t}
		for i := len(t.parts) - 1; i >= 0; i-- {
			t.inv.parts = append(t.inv.parts, t.parts[i].Inv())
		}
	}
	return t.inv
}

// WithCache gives every part a cache.
func (t *ComposeTransform) WithCache(size int) Transform {
	if size != 0 && size != 1 {
		tensor.Fail(tensor.ErrValue, "cache_size must be 0 or 1")
	}
	if t.cached == (size == 1) {
		return t
	}
	return NewComposeTransform(t.parts, TransformOptions{size})
}

// Equal compares the parts.
func (t *ComposeTransform) Equal(o Transform) bool {
	c, ok := o.(*ComposeTransform)
	return ok && equalTransforms(t.parts, c.parts)
}

func equalTransforms(a, b []Transform) bool {
	return slices.EqualFunc(a, b, func(x, y Transform) bool { return x.Equal(y) })
}

func (t *ComposeTransform) String() string {
	p := make([]string, len(t.parts))
	for i, x := range t.parts {
		p[i] = x.String()
	}
	return "ComposeTransform(\n    " + strings.Join(p, ",\n    ") + "\n)"
}

// CatTransform applies transforms to parts of its input along a dimension.
type CatTransform struct {
	trans
	transforms []Transform
	dim        int
	lengths    []int
}

// CatTransformOptions are the options of NewCatTransform.
type CatTransformOptions struct {
	Dim       int   // the dimension that is split
	Lengths   []int // of the parts; nil: 1 each
	CacheSize int
}

// NewCatTransform makes a CatTransform.
func NewCatTransform(transforms []Transform, opts ...CatTransformOptions) *CatTransform {
	o := option(opts)
	t := &CatTransform{transforms: slices.Clone(transforms), dim: o.Dim, lengths: slices.Clone(o.Lengths)}
	if o.Lengths == nil {
		t.lengths = slices.Repeat([]int{1}, len(transforms))
	}
	if len(t.lengths) != len(transforms) {
		tensor.Fail(tensor.ErrValue, "lengths (%d) must match transforms (%d)", len(t.lengths), len(transforms))
	}
	var ds, cs []Constraint
	t.bijective = true
	for i, p := range t.transforms {
		if o.CacheSize == 1 {
			t.transforms[i] = p.WithCache(1)
		}
		ds, cs = append(ds, p.Domain()), append(cs, p.Codomain())
		t.bijective = t.bijective && p.Bijective()
	}
	t.domain, t.codomain = constraints.Cat(ds, o.Dim, t.lengths), constraints.Cat(cs, o.Dim, t.lengths)
	t.call = func(x *Tensor) *Tensor { return t.each(x, Transform.Forward) }
	t.inverse = func(y *Tensor) *Tensor { return t.each(y, Transform.Inverse) }
	t.jacobian = t.logDet
	t.setup(t, "CatTransform", o.CacheSize, func(n int) Transform {
		return NewCatTransform(transforms, CatTransformOptions{o.Dim, o.Lengths, n})
	})
	return t
}

// EventDim is the largest of the parts'.
func (t *CatTransform) EventDim() int {
	n := 0
	for _, p := range t.transforms {
		n = max(n, p.Domain().EventDim())
	}
	return n
}

func (t *CatTransform) checkSize(x *Tensor) {
	total := 0
	for _, n := range t.lengths {
		total += n
	}
	inDim(x, t.dim)
	if x.Size(t.dim) != total {
		tensor.Fail(tensor.ErrShape, "x.size(%d) = %d must equal length %d", t.dim, x.Size(t.dim), total)
	}
}

func inDim(x *Tensor, dim int) {
	if dim < -x.Dim() || dim >= x.Dim() {
		tensor.Fail(tensor.ErrShape, "dim %d out of range for tensor with %d dimensions", dim, x.Dim())
	}
}

func (t *CatTransform) each(x *Tensor, f func(Transform, *Tensor) *Tensor) *Tensor {
	t.checkSize(x)
	var out []*Tensor
	at := 0
	for i, p := range t.transforms {
		out = append(out, f(p, x.Narrow(t.dim, at, t.lengths[i])))
		at += t.lengths[i]
	}
	return torch.Cat(out, torch.CatOptions{Dim: t.dim})
}

func (t *CatTransform) logDet(x, y *Tensor) *Tensor {
	t.checkSize(x)
	t.checkSize(y)
	var out []*Tensor
	at, n := 0, t.EventDim()
	for i, p := range t.transforms {
		d := p.LogAbsDetJacobian(x.Narrow(t.dim, at, t.lengths[i]), y.Narrow(t.dim, at, t.lengths[i]))
		out = append(out, sumRight(d, n-p.Domain().EventDim()))
		at += t.lengths[i]
	}
	dim := t.dim
	if dim >= 0 {
		dim -= x.Dim()
	}
	if dim += n; dim < 0 {
		return torch.Cat(out, torch.CatOptions{Dim: dim})
	}
	sum := out[0]
	for _, d := range out[1:] {
		sum = sum.Add(d)
	}
	return sum
}

// StackTransform applies one transform to each entry along a dimension.
type StackTransform struct {
	trans
	transforms []Transform
	dim        int
}

// StackTransformOptions are the options of NewStackTransform.
type StackTransformOptions struct {
	Dim       int
	CacheSize int
}

// NewStackTransform makes a StackTransform.
func NewStackTransform(transforms []Transform, opts ...StackTransformOptions) *StackTransform {
	o := option(opts)
	t := &StackTransform{transforms: slices.Clone(transforms), dim: o.Dim}
	var ds, cs []Constraint
	t.bijective = true
	for i, p := range t.transforms {
		if o.CacheSize == 1 {
			t.transforms[i] = p.WithCache(1)
		}
		ds, cs = append(ds, p.Domain()), append(cs, p.Codomain())
		t.bijective = t.bijective && p.Bijective()
	}
	t.domain, t.codomain = constraints.Stack(ds, o.Dim), constraints.Stack(cs, o.Dim)
	stack := func(x, y *Tensor, f func(p Transform, x, y *Tensor) *Tensor) *Tensor {
		var out []*Tensor
		t.checkSize(x)
		t.checkSize(y)
		for i, p := range t.transforms {
			out = append(out, f(p, x.Select(t.dim, i), y.Select(t.dim, i)))
		}
		return torch.Stack(out, torch.StackOptions{Dim: t.dim})
	}
	t.call = func(x *Tensor) *Tensor {
		return stack(x, x, func(p Transform, x, _ *Tensor) *Tensor { return p.Forward(x) })
	}
	t.inverse = func(y *Tensor) *Tensor {
		return stack(y, y, func(p Transform, y, _ *Tensor) *Tensor { return p.Inverse(y) })
	}
	t.jacobian = func(x, y *Tensor) *Tensor { return stack(x, y, Transform.LogAbsDetJacobian) }
	t.setup(t, "StackTransform", o.CacheSize, func(n int) Transform {
		return NewStackTransform(transforms, StackTransformOptions{o.Dim, n})
	})
	return t
}

func (t *StackTransform) checkSize(x *Tensor) {
	inDim(x, t.dim)
	if x.Size(t.dim) != len(t.transforms) {
		tensor.Fail(tensor.ErrShape, "x.size(%d) = %d must equal len(transforms) %d", t.dim, x.Size(t.dim),
			len(t.transforms))
	}
}

// CumulativeDistributionTransform maps values by the distribution function of a distribution, whose density is the
// Jacobian.
type CumulativeDistributionTransform struct{ trans }

// NewCumulativeDistributionTransform makes a CumulativeDistributionTransform.
func NewCumulativeDistributionTransform(d Distribution, opts ...TransformOptions) *CumulativeDistributionTransform {
	t := &CumulativeDistributionTransform{}
	t.domain, t.codomain, t.bijective, t.sign = d.Support(), constraints.UnitInterval, true, 1
	t.call, t.inverse = d.CDF, d.ICDF
	t.jacobian = func(x, _ *Tensor) *Tensor { return d.LogProb(x) }
	t.setup(t, "CumulativeDistributionTransform", option(opts).CacheSize, func(n int) Transform {
		return NewCumulativeDistributionTransform(d, TransformOptions{n})
	})
	return t
}
