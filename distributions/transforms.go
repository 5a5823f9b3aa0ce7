package distributions

import (
	"fmt"
	"sync"

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
