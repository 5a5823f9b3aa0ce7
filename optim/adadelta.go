package optim

import "github.com/gotorch-dev/torch/tensor"

// AdadeltaOptions are the options of Adadelta. The zero value is PyTorch's default; a number whose default is another
// than 0 is given as torch.Some(x).
type AdadeltaOptions struct {
	// Rho is the part of the running averages that is kept (default 0.9).
	Rho tensor.Opt[float64]
	// Eps is added under the roots (default 1e-6).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adadelta makes steps of the size of recent steps, relative to recent gradients. With g the gradient and p the
// parameter:
//
//	g += weight_decay·p
//	v = ρ·v + (1-ρ)·g²
//	d = √(u+eps)/√(v+eps) · g
//	u = ρ·u + (1-ρ)·d²
//	p -= lr·d
//
// Maximize takes -g for g. See https://arxiv.org/abs/1212.5701 and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.Adadelta.html. Its state is "step", "square_avg" (v) and
// "acc_delta" (u).
type Adadelta struct{ base }

// NewAdadelta optimizes parameters with learning rate lr (PyTorch's default is 1). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewAdadelta(params []*Tensor, lr float64, opts ...AdadeltaOptions) *Adadelta {
	return NewAdadeltaGroups(one(params), lr, opts...)
}

// NewAdadeltaGroups is NewAdadelta with several groups.
func NewAdadeltaGroups(groups []Group, lr float64, opts ...AdadeltaOptions) *Adadelta {
	o := first(opts)
	a := &Adadelta{}
	a.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"rho", "rho value"},
			[2]string{"eps", "epsilon value"},
			[2]string{"weight_decay", "weight_decay value"})
		if rho := g.Float("rho"); rho > 1 {
			tensor.Fail(tensor.ErrValue, "Invalid rho value: %g", rho)
		}
	}
	a.follow(adadelta)
	a.init(a, "Adadelta", []setting{
		{"lr", lr}, {"rho", o.Rho.Or(0.9)}, {"eps", o.Eps.Or(1e-6)}, {"weight_decay", number(o.WeightDecay)},
		{"maximize", o.Maximize}, {"capturable", false}, {"foreach", nil}, {"differentiable", false},
	}, groups)
	return a
}

var adadelta = &rule{
	ops: oneOp("adadelta"),
	state: []entry{
		{key: stepKey},
		{key: "square_avg", list: 2, make: zeros},
		{key: "acc_delta", list: 3, make: zeros},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		return flags(g, floats(g, to, "lr", "rho", "eps", "weight_decay"), "maximize")
	},
}
