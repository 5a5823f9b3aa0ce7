package distributions

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// Transforms of single elements with parameters.

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
	t.call = func(x *Tensor) *Tensor { return x.Pow(t.exponent) }
	t.inverse = func(y *Tensor) *Tensor { return y.Pow(over(1, t.exponent)) }
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
