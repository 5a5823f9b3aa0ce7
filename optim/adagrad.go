package optim

import "github.com/gotorch-dev/torch/tensor"

// AdagradOptions are the options of Adagrad. The zero value is PyTorch's default; a number whose default is another
// than 0 is given as torch.Some(x).
type AdagradOptions struct {
	// LRDecay lets the learning rate fall: at step t it is lr/(1+(t-1)·LRDecay).
	LRDecay float64
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// InitialAccumulatorValue is what the sums of squares begin with.
	InitialAccumulatorValue float64
	// Eps is added to the denominator (default 1e-10).
	Eps tensor.Opt[float64]
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adagrad divides the gradient by the root of the sum of its squares so far. With g the gradient, t the number of the
// step and p the parameter:
//
//	g += weight_decay·p
//	s += g²
//	p -= lr/(1+(t-1)·lr_decay) · g/(√s + eps)
//
// Maximize takes -g for g. See https://jmlr.org/papers/v12/duchi11a.html and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html. Its state is "step" and "sum" (s), made
// together with the optimizer.
type Adagrad struct{ base }

// NewAdagrad optimizes parameters with learning rate lr (PyTorch's default is 1e-2). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewAdagrad(params []*Tensor, lr float64, opts ...AdagradOptions) *Adagrad {
	return NewAdagradGroups(one(params), lr, opts...)
}

// NewAdagradGroups is NewAdagrad with several groups.
func NewAdagradGroups(groups []Group, lr float64, opts ...AdagradOptions) *Adagrad {
	o := first(opts)
	a := &Adagrad{}
	a.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"lr_decay", "lr_decay value"},
			[2]string{"weight_decay", "weight_decay value"},
			[2]string{"initial_accumulator_value", "initial_accumulator_value value"},
			[2]string{"eps", "epsilon value"})
	}
	a.follow(adagrad)
	a.sparse = sparseAdagrad
	a.added = func(g *ParamGroup) {
		for _, p := range g.Params {
			for i := range adagrad.state {
				adagrad.state[i].of(g, p, a.stateOf(p))
			}
		}
	}
	a.init(a, "Adagrad", []setting{
		{"lr", lr}, {"lr_decay", number(o.LRDecay)}, {"eps", o.Eps.Or(1e-10)},
		{"weight_decay", number(o.WeightDecay)}, {"initial_accumulator_value", number(o.InitialAccumulatorValue)},
		{"foreach", nil}, {"maximize", o.Maximize}, {"differentiable", false}, {"fused", nil},
	}, groups)
	return a
}

var adagrad = &rule{
	ops: stepOps("adagrad"),
	state: []entry{
		{key: stepKey, list: 3},
		{key: "sum", list: 2, make: func(g *ParamGroup, p *Tensor) *Tensor {
			begin := g.Float("initial_accumulator_value")
			if p.IsComplex() {
				return zerosLike(p).FillScalarInPlace(complex(begin, begin))
			}
			return zerosLike(p).FillScalarInPlace(begin)
		}},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		return flags(g, floats(g, append(to, g.lrValue()), "lr_decay", "weight_decay", "eps"), "maximize")
	},
}
