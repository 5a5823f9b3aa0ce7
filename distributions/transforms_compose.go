package distributions

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// Transforms that change shapes, or are made of other transforms.

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
	t.call = func(x *Tensor) *Tensor { return x.Reshape(join(batchOf(x, t.in), t.out)) }
	t.inverse = func(y *Tensor) *Tensor { return y.Reshape(join(batchOf(y, t.out), t.in)) }
	t.jacobian = func(x, _ *Tensor) *Tensor { return x.NewZeros(batchOf(x, t.in)) }
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

// batchOf is the shape before the dimensions of an event.
func batchOf(x *Tensor, event []int) []int {
	s := x.Shape()
	return s[:len(atLeast(s, len(event)))-len(event)]
}

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
