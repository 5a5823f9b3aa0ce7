// Package constraints holds the sets that parameters and samples of probability distributions lie in: positive numbers,
// simplexes, positive-definite matrices, and so on. It is Python's torch.distributions.constraints.
//
// A [Constraint] tests values element by element, or vector by vector, matrix by matrix, as its event dimension says.
// The singletons are package-level variables (Real, Positive, Simplex), those with bounds are made by functions:
//
//	ok := constraints.Interval(0, 1).Check(x)
//
// https://pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints
package constraints

import (
	"fmt"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// Tensor is torch.Tensor.
	Tensor = tensor.Tensor
	// Scalar is a Go number.
	Scalar = tensor.Scalar
)

// Constraint is a region of space.
type Constraint interface {
	// Check tests values: the result is a bool tensor without the last EventDim dimensions.
	Check(value *Tensor) *Tensor
	// IsDiscrete says that the region consists of isolated points.
	IsDiscrete() bool
	// EventDim is the number of dimensions that are tested together: 0 for numbers, 1 for vectors, 2 for matrices.
	EventDim() int
	// String prints as in Python: "GreaterThan(lower_bound=0.0)".
	String() string
}

// kind is what constraints have in common.
type kind struct {
	name     string
	discrete bool
	dim      int
}

func (k kind) IsDiscrete() bool { return k.discrete }
func (k kind) EventDim() int    { return k.dim }
func (k kind) String() string   { return k.name + "()" }

// simple is a constraint without parameters.
type simple struct {
	kind
	check func(x *Tensor) *Tensor
}

func (s *simple) Check(x *Tensor) *Tensor { return s.check(x) }

// The constraints without parameters.
var (
	// Boolean holds 0 and 1.
	Boolean Constraint = &simple{kind{"Boolean", true, 0}, isBoolean}
	// OneHot holds vectors with a single 1 among zeros.
	OneHot Constraint = &simple{kind{"OneHot", true, 1}, func(x *Tensor) *Tensor {
		return isBoolean(x).AllDim(-1).BitwiseAnd(x.SumDim(last).EqScalar(1))
	}}
	// Real holds all numbers but NaN.
	Real Constraint = &simple{kind{"Real", false, 0}, func(x *Tensor) *Tensor { return x.Eq(x) }}
	// Simplex holds vectors of nonnegative numbers that sum to 1.
	Simplex Constraint = &simple{kind{"Simplex", false, 1}, func(x *Tensor) *Tensor {
		return x.GeScalar(0).AllDim(-1).BitwiseAnd(x.SumDim(last).SubScalar(1).Abs().LtScalar(1e-6))
	}}
	// LowerTriangular holds matrices that are zero above the diagonal.
	LowerTriangular Constraint = &simple{kind{"LowerTriangular", false, 2}, isLower}
	// LowerCholesky holds lower triangular matrices with a positive diagonal.
	LowerCholesky Constraint = &simple{kind{"LowerCholesky", false, 2}, isLowerCholesky}
	// CorrCholesky holds lower triangular matrices with a positive diagonal and rows of length 1: Cholesky factors of
	// correlation matrices.
	CorrCholesky Constraint = &simple{kind{"CorrCholesky", false, 2}, func(x *Tensor) *Tensor {
		tol := eps(x.DType()) * float64(x.Size(-1)) * 10
		norm := x.Detach().Square().SumDim(last).Sqrt()
		return isLowerCholesky(x).BitwiseAnd(norm.SubScalar(1).Abs().LeScalar(tol).AllDim(-1))
	}}
	// Square holds square matrices.
	Square Constraint = &simple{kind{"Square", false, 2}, isSquare}
	// Symmetric holds symmetric matrices.
	Symmetric Constraint = &simple{kind{"Symmetric", false, 2}, isSymmetric}
	// PositiveSemidefinite holds symmetric matrices without negative eigenvalues.
	PositiveSemidefinite Constraint = &simple{kind{"PositiveSemidefinite", false, 2}, func(x *Tensor) *Tensor {
		if s := isSymmetric(x); !all(s) {
			return s
		}
		return linalg.Eigvalsh(x).GeScalar(0).AllDim(-1)
	}}
	// PositiveDefinite holds symmetric matrices with positive eigenvalues only.
	PositiveDefinite Constraint = &simple{kind{"PositiveDefinite", false, 2}, func(x *Tensor) *Tensor {
		if s := isSymmetric(x); !all(s) {
			return s
		}
		_, info := linalg.CholeskyEx(x)
		return info.EqScalar(0)
	}}
	// RealVector holds vectors of numbers.
	RealVector = Independent(Real, 1)
	// Positive holds numbers above 0, Nonnegative those and 0.
	Positive    Constraint = GreaterThanScalar(0.0)
	Nonnegative Constraint = GreaterThanEqScalar(0.0)
	// NonnegativeInteger and PositiveInteger hold the integers from 0 and from 1.
	NonnegativeInteger = integers("IntegerGreaterThan", bound{num: 0}, bound{})
	PositiveInteger    = integers("IntegerGreaterThan", bound{num: 1}, bound{})
	// UnitInterval holds the numbers from 0 to 1.
	UnitInterval Constraint = Interval(0.0, 1.0)
	// Dependent stands for a constraint that is known only for given parameters. It cannot be checked.
	Dependent Constraint = &dependent{}
)

var last = []int{-1}

func isBoolean(x *Tensor) *Tensor { return x.EqScalar(0).BitwiseOr(x.EqScalar(1)) }

// flat joins the last two dimensions.
func flat(x *Tensor) *Tensor { return x.Flatten(tensor.FlattenOptions{StartDim: -2}) }

func isLower(x *Tensor) *Tensor { return flat(x.Tril().Eq(x)).AllDim(-1) }

func isLowerCholesky(x *Tensor) *Tensor {
	return isLower(x).BitwiseAnd(x.Diagonal(tensor.DiagonalOptions{Dim1: -2,
		Dim2: tensor.Some(-1)}).GtScalar(0).AllDim(-1))
}

func isSquare(x *Tensor) *Tensor {
	sh := x.Shape()
	if len(sh) < 2 {
		tensor.Fail(tensor.ErrShape, "constraints: want matrices, got shape %s", tensor.ShapeString(sh))
	}
	return x.NewFull(sh[:len(sh)-2], x.Size(-2) == x.Size(-1), tensor.NewFullOptions{DType: torch.Bool})
}

func isSymmetric(x *Tensor) *Tensor {
	if s := isSquare(x); !all(s) {
		return s
	}
	return flat(x.IsClose(x.MT(), tensor.IsCloseOptions{Atol: tensor.Some(1e-6)})).AllDim(-1)
}

// all reports that every element is true. The meta device has no elements; everything is taken to hold there.
func all(x *Tensor) bool { return x.Device().Type == tensor.MetaDevice || x.All().Item() != 0 }

// bound is a number or a tensor; both nil: there is none.
type bound struct {
	num Scalar
	t   *Tensor
}

func (b bound) below(x *Tensor) *Tensor { // b < x
	if b.t != nil {
		return b.t.Lt(x)
	}
	return x.GtScalar(b.num)
}

func (b bound) atMost(x *Tensor) *Tensor { // b <= x
	if b.t != nil {
		return b.t.Le(x)
	}
	return x.GeScalar(b.num)
}

func (b bound) above(x *Tensor) *Tensor { // x < b
	if b.t != nil {
		return x.Lt(b.t)
	}
	return x.LtScalar(b.num)
}

func (b bound) atLeast(x *Tensor) *Tensor { // x <= b
	if b.t != nil {
		return x.Le(b.t)
	}
	return x.LeScalar(b.num)
}

func (b bound) String() string {
	if b.t != nil {
		return Text(b.t)
	}
	switch v := b.num.(type) {
	case float64:
		return pyfmt.Float(v)
	case float32:
		return pyfmt.Float(float64(v))
	}
	return fmt.Sprint(b.num)
}

// Text prints a tensor as Python's format does: one without dimensions, unless it is a parameter, as its number, others
// as str does.
func Text(t *Tensor) string {
	switch {
	case t.Dim() != 0 || t.IsParameter() || t.IsComplex() || t.Device().Type == tensor.MetaDevice:
		return t.String()
	case t.DType().IsIntOrBool():
		return fmt.Sprint(t.Num().I)
	}
	return pyfmt.Float(t.Item())
}

// Bounded is a constraint with bounds: what GreaterThan, Interval and their kin make.
type Bounded struct {
	kind
	lower, upper bound
	hasL, hasU   bool
	check        func(c *Bounded, x *Tensor) *Tensor
}

// Check tests values.
func (c *Bounded) Check(x *Tensor) *Tensor { return c.check(c, x) }

// Lower is the lower bound: a number or a tensor, the other one nil. Both are nil when there is none.
func (c *Bounded) Lower() (Scalar, *Tensor) { return c.lower.num, c.lower.t }

// Upper is the upper bound, as Lower.
func (c *Bounded) Upper() (Scalar, *Tensor) { return c.upper.num, c.upper.t }

// Kind is the name without bounds: "GreaterThan", "Interval", …
func (c *Bounded) Kind() string { return c.name }

// String prints as in Python: "Interval(lower_bound=0.0, upper_bound=1.0)".
func (c *Bounded) String() string {
	switch {
	case c.hasL && c.hasU:
		return fmt.Sprintf("%s(lower_bound=%s, upper_bound=%s)", c.name, c.lower, c.upper)
	case c.hasL:
		return fmt.Sprintf("%s(lower_bound=%s)", c.name, c.lower)
	case c.hasU:
		return fmt.Sprintf("%s(upper_bound=%s)", c.name, c.upper)
	}
	return c.name + "()"
}

func bounded(name string, lower, upper bound, check func(c *Bounded, x *Tensor) *Tensor) *Bounded {
	return &Bounded{kind: kind{name: name}, lower: lower, upper: upper, hasL: lower != bound{}, hasU: upper != bound{},
		check: check}
}

func greater(b bound) *Bounded {
	return bounded("GreaterThan", b, bound{}, func(c *Bounded, x *Tensor) *Tensor { return c.lower.below(x) })
}

func greaterEq(b bound) *Bounded {
	return bounded("GreaterThanEq", b, bound{}, func(c *Bounded, x *Tensor) *Tensor { return c.lower.atMost(x) })
}

func less(b bound) *Bounded {
	return bounded("LessThan", bound{}, b, func(c *Bounded, x *Tensor) *Tensor { return c.upper.above(x) })
}

func interval(l, u bound) *Bounded {
	return bounded("Interval", l, u, func(c *Bounded, x *Tensor) *Tensor {
		return c.lower.atMost(x).BitwiseAnd(c.upper.atLeast(x))
	})
}

func integers(name string, l, u bound) *Bounded {
	b := bounded(name, l, u, func(c *Bounded, x *Tensor) *Tensor {
		ok := x.RemainderScalar(1).EqScalar(0)
		if c.hasL {
			ok = ok.BitwiseAnd(c.lower.atMost(x))
		}
		if c.hasU {
			ok = ok.BitwiseAnd(c.upper.atLeast(x))
		}
		return ok
	})
	b.discrete = true
	return b
}

// GreaterThan holds the numbers above the elements of a tensor.
func GreaterThan(lower *Tensor) *Bounded { return greater(bound{t: lower}) }

// GreaterThanScalar holds the numbers above a number.
func GreaterThanScalar(lower Scalar) *Bounded { return greater(bound{num: lower}) }

// GreaterThanEq holds the numbers from the elements of a tensor on.
func GreaterThanEq(lower *Tensor) *Bounded { return greaterEq(bound{t: lower}) }

// GreaterThanEqScalar holds the numbers from a number on.
func GreaterThanEqScalar(lower Scalar) *Bounded { return greaterEq(bound{num: lower}) }

// LessThan holds the numbers below the elements of a tensor.
func LessThan(upper *Tensor) *Bounded { return less(bound{t: upper}) }

// LessThanScalar holds the numbers below a number.
func LessThanScalar(upper Scalar) *Bounded { return less(bound{num: upper}) }

// Interval holds the numbers between two numbers, both included.
func Interval(lower, upper Scalar) *Bounded { return interval(bound{num: lower}, bound{num: upper}) }

// IntervalTensor holds the numbers between the elements of two tensors, both included.
func IntervalTensor(lower, upper *Tensor) *Bounded { return interval(bound{t: lower}, bound{t: upper}) }

// HalfOpenInterval holds the numbers between two numbers, the upper one excluded.
func HalfOpenInterval(lower, upper Scalar) *Bounded {
	return bounded("HalfOpenInterval", bound{num: lower}, bound{num: upper}, func(c *Bounded, x *Tensor) *Tensor {
		return c.lower.atMost(x).BitwiseAnd(c.upper.above(x))
	})
}

// IntegerInterval holds the integers between two numbers, both included.
func IntegerInterval(lower, upper Scalar) *Bounded {
	return integers("IntegerInterval", bound{num: lower}, bound{num: upper})
}

// IntegerIntervalTo holds the integers from a number to the elements of a tensor, both included.
func IntegerIntervalTo(lower Scalar, upper *Tensor) *Bounded {
	return integers("IntegerInterval", bound{num: lower}, bound{t: upper})
}

// Multinomial holds vectors of nonnegative numbers whose sum is at most upper.
func Multinomial(upper int) *Bounded {
	b := bounded("Multinomial", bound{}, bound{num: upper}, func(c *Bounded, x *Tensor) *Tensor {
		return x.GeScalar(0).AllDim(-1).BitwiseAnd(x.SumDim(last).LeScalar(c.upper.num))
	})
	b.discrete, b.dim, b.hasU = true, 1, false
	return b
}

// IndependentConstraint takes dimensions of another constraint together.
type IndependentConstraint struct {
	Base Constraint
	N    int
}

// Independent takes the n rightmost batch dimensions of a constraint together: a value lies in it when all parts lie in
// base.
func Independent(base Constraint, n int) *IndependentConstraint {
	if base == nil {
		tensor.Fail(tensor.ErrType, "constraints.Independent: the base is nil")
	}
	if n < 0 {
		tensor.Fail(tensor.ErrValue, "reinterpreted_batch_ndims must be >= 0, got %d", n)
	}
	return &IndependentConstraint{base, n}
}

// IsDiscrete is that of the base.
func (c *IndependentConstraint) IsDiscrete() bool { return c.Base.IsDiscrete() }

// EventDim counts the joined dimensions.
func (c *IndependentConstraint) EventDim() int { return c.Base.EventDim() + c.N }

// Check tests values.
func (c *IndependentConstraint) Check(x *Tensor) *Tensor {
	r := c.Base.Check(x)
	if r.Dim() < c.N {
		tensor.Fail(tensor.ErrValue, "Expected value.dim() >= %d but got %d", c.EventDim(), x.Dim())
	}
	return allRight(r, r.Dim()-c.N)
}

// String prints as in Python.
func (c *IndependentConstraint) String() string {
	return fmt.Sprintf("IndependentConstraint(%s, %d)", c.Base, c.N)
}

// allRight reduces the dimensions from d on.
func allRight(x *Tensor, d int) *Tensor {
	sh := append(append([]int{}, x.Shape()[:d]...), tensor.Size(x.Shape()[d:]).Numel())
	return x.Reshape(sh).AllDim(-1)
}

// MixtureSameFamilyConstraint is the support of a mixture: values lie in it when they lie in the support of every
// component.
type MixtureSameFamilyConstraint struct{ Base Constraint }

// IsDiscrete is that of the base.
func (c *MixtureSameFamilyConstraint) IsDiscrete() bool { return c.Base.IsDiscrete() }

// EventDim is that of the base.
func (c *MixtureSameFamilyConstraint) EventDim() int { return c.Base.EventDim() }

// Check tests values.
func (c *MixtureSameFamilyConstraint) Check(x *Tensor) *Tensor {
	d := c.EventDim()
	if x.Dim() < d {
		tensor.Fail(tensor.ErrValue, "Expected value.dim() >= %d but got %d", d, x.Dim())
	}
	return allRight(c.Base.Check(x.Unsqueeze(-1-d)), x.Dim()-d)
}

// String prints as in Python.
func (c *MixtureSameFamilyConstraint) String() string {
	return fmt.Sprintf("MixtureSameFamilyConstraint(%s)", c.Base)
}

// Joined applies constraints to parts of a value: what Cat and Stack make.
type Joined struct {
	Parts   []Constraint
	Dim     int
	Lengths []int // nil for Stack
}

// Cat applies constraints to parts of a value along dim, of the given lengths (nil: 1 each).
func Cat(parts []Constraint, dim int, lengths []int) *Joined {
	if lengths == nil {
		lengths = make([]int, len(parts))
		for i := range lengths {
			lengths[i] = 1
		}
	}
	if len(lengths) != len(parts) {
		tensor.Fail(tensor.ErrValue, "lengths (%d) must match cseq (%d)", len(lengths), len(parts))
	}
	return &Joined{parts, dim, lengths}
}

// Stack applies one constraint to each entry along dim.
func Stack(parts []Constraint, dim int) *Joined { return &Joined{Parts: parts, Dim: dim} }

// IsDiscrete says that a part is discrete.
func (c *Joined) IsDiscrete() bool {
	for _, p := range c.Parts {
		if p.IsDiscrete() {
			return true
		}
	}
	return false
}

// EventDim is the largest of the parts'.
func (c *Joined) EventDim() int {
	d := 0
	for _, p := range c.Parts {
		d = max(d, p.EventDim())
	}
	if c.Lengths == nil && c.Dim+d < 0 {
		d++
	}
	return d
}

// Check tests values.
func (c *Joined) Check(x *Tensor) *Tensor {
	if c.Dim < -x.Dim() || c.Dim >= x.Dim() {
		tensor.Fail(tensor.ErrValue, "dim %d out of range for value with %d dimensions", c.Dim, x.Dim())
	}
	var out []*Tensor
	start := 0
	for i, p := range c.Parts {
		if c.Lengths == nil {
			out = append(out, p.Check(x.Select(c.Dim, i)))
			continue
		}
		out = append(out, p.Check(x.Narrow(c.Dim, start, c.Lengths[i])))
		start += c.Lengths[i]
	}
	if c.Lengths == nil {
		return torch.Stack(out, torch.StackOptions{Dim: c.Dim})
	}
	return torch.Cat(out, torch.CatOptions{Dim: c.Dim})
}

// String prints as in Python.
func (c *Joined) String() string {
	if c.Lengths == nil {
		return "Stack()"
	}
	return "Cat()"
}

type dependent struct{}

func (*dependent) Check(*Tensor) *Tensor {
	tensor.Fail(tensor.ErrValue, "Cannot determine validity of dependent constraint")
	return nil
}

func (*dependent) IsDiscrete() bool {
	tensor.Fail(tensor.ErrNotImpl, ".is_discrete cannot be determined statically")
	return false
}

func (*dependent) EventDim() int {
	tensor.Fail(tensor.ErrNotImpl, ".event_dim cannot be determined statically")
	return 0
}

func (*dependent) String() string { return "Dependent()" }

// IsDependent reports a constraint that is known only for given parameters.
func IsDependent(c Constraint) bool { _, ok := c.(*dependent); return ok }

// eps is the distance from 1 to the next number of a type.
func eps(dt tensor.DType) float64 {
	switch dt {
	case torch.Float64:
		return 0x1p-52
	case torch.Float16:
		return 0x1p-10
	case torch.BFloat16:
		return 0x1p-7
	}
	return 0x1p-23
}
