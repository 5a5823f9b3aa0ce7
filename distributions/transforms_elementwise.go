package distributions

import (
	"math"

	"github.com/gotorch-dev/torch/distributions/constraints"
)

// Transforms of single elements without parameters.

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
