package distributions

import (
	"reflect"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/distributions/constraints"
	"github.com/gotorch-dev/torch/tensor"
)

// ConstraintRegistry leads from constraints to transforms that map all real numbers to them.
type ConstraintRegistry struct {
	mu sync.RWMutex
	m  map[any]func(c Constraint) Transform
}

// key tells constraints apart: those with bounds by their kind, singletons by themselves, others by their type.
func key(c Constraint) any {
	switch x := c.(type) {
	case *constraints.Bounded:
		return x.Kind()
	case *constraints.Joined:
		return x.Lengths == nil
	}
	// the constraints without parameters have one type
	if t := reflect.TypeOf(c); t != reflect.TypeOf(constraints.Real) {
		return t
	}
	return c
}

// Register sets the transform for a constraint and those that differ from it in bounds only.
func (r *ConstraintRegistry) Register(c Constraint, f func(c Constraint) Transform) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = map[any]func(Constraint) Transform{}
	}
	r.m[key(c)] = f
}

// Get makes the transform to a constraint. It panics with tensor.ErrNotImpl when there is none.
func (r *ConstraintRegistry) Get(c Constraint) Transform {
	r.mu.RLock()
	f := r.m[key(c)]
	r.mu.RUnlock()
	if f == nil {
		name, _, _ := strings.Cut(c.String(), "(")
		tensor.Fail(tensor.ErrNotImpl, "Cannot transform _%s constraints", name) // the class of Python's
	}
	return f(c)
}

// The registries behind BijectTo and TransformTo.
var Bijections, Transforms ConstraintRegistry

// BijectTo is a bijection from all real numbers to a constraint, with a log-determinant: what Hamiltonian Monte Carlo
// needs.
func BijectTo(c Constraint) Transform { return Bijections.Get(c) }

// TransformTo is a transform from all real numbers to a constraint, not necessarily bijective: what gradient descent on
// constrained parameters needs. It often overparameterizes, which spares rotations.
func TransformTo(c Constraint) Transform { return Transforms.Get(c) }

// numberOf is a bound as a tensor.
func numberOf(n tensor.Scalar, t *Tensor) *Tensor {
	if t != nil {
		return t
	}
	return torch.ScalarTensor(n, torch.ScalarTensorOptions{DType: torch.DefaultDType()}).SetWrappedNumber()
}

func init() {
	both := func(c Constraint, f func(c Constraint) Transform) {
		Bijections.Register(c, f)
		Transforms.Register(c, f)
	}
	both(constraints.Real, func(Constraint) Transform { return IdentityTransform })
	for _, r := range []*ConstraintRegistry{&Bijections, &Transforms} {
		r.Register(constraints.RealVector, func(c Constraint) Transform {
			i := c.(*constraints.IndependentConstraint)
			return NewIndependentTransform(r.Get(i.Base), i.N)
		})
		parts := func(c Constraint) (ts []Transform, j *constraints.Joined) {
			j = c.(*constraints.Joined)
			for _, p := range j.Parts {
				ts = append(ts, r.Get(p))
			}
			return ts, j
		}
		r.Register(constraints.Cat(nil, 0, nil), func(c Constraint) Transform {
			ts, j := parts(c)
			return NewCatTransform(ts, CatTransformOptions{Dim: j.Dim, Lengths: j.Lengths})
		})
		r.Register(constraints.Stack(nil, 0), func(c Constraint) Transform {
			ts, j := parts(c)
			return NewStackTransform(ts, StackTransformOptions{Dim: j.Dim})
		})
	}
	above := func(c Constraint) Transform {
		n, t := c.(*constraints.Bounded).Lower()
		lo := numberOf(n, t)
		return NewComposeTransform([]Transform{NewExpTransform(), NewAffineTransform(lo, lo.OnesLike())})
	}
	both(constraints.GreaterThanScalar(0), above)
	both(constraints.GreaterThanEqScalar(0), above)
	both(constraints.LessThanScalar(0), func(c Constraint) Transform {
		n, t := c.(*constraints.Bounded).Upper()
		hi := numberOf(n, t)
		return NewComposeTransform([]Transform{NewExpTransform(), NewAffineTransform(hi, hi.OnesLike().Neg())})
	})
	between := func(c Constraint) Transform {
		b := c.(*constraints.Bounded)
		ln, lt := b.Lower()
		un, ut := b.Upper()
		if lt == nil && ut == nil && isNumber(ln, 0) && isNumber(un, 1) {
			return NewSigmoidTransform()
		}
		lo, hi := numberOf(ln, lt), numberOf(un, ut)
		return NewComposeTransform([]Transform{NewSigmoidTransform(), NewAffineTransform(lo, hi.Sub(lo))})
	}
	both(constraints.UnitInterval, between)
	both(constraints.HalfOpenInterval(0, 1), between)
	Bijections.Register(constraints.Simplex, func(Constraint) Transform { return NewStickBreakingTransform() })
	Transforms.Register(constraints.Simplex, func(Constraint) Transform { return NewSoftmaxTransform() })
	Transforms.Register(constraints.LowerCholesky, func(Constraint) Transform { return NewLowerCholeskyTransform() })
	Transforms.Register(constraints.PositiveDefinite,
		func(Constraint) Transform { return NewPositiveDefiniteTransform() })
	Transforms.Register(constraints.PositiveSemidefinite,
		func(Constraint) Transform { return NewPositiveDefiniteTransform() })
	both(constraints.CorrCholesky, func(Constraint) Transform { return NewCorrCholeskyTransform() })
}

// isNumber compares a bound with a number.
func isNumber(n tensor.Scalar, want float64) bool {
	switch x := n.(type) {
	case int:
		return float64(x) == want
	case float64:
		return x == want
	case float32:
		return float64(x) == want
	}
	return false
}
