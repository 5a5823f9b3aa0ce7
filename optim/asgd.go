package optim

import "github.com/gotorch-dev/torch/tensor"

// ASGDOptions are the options of ASGD. The zero value is PyTorch's default; a number whose default is another than 0 is
// given as torch.Some(x).
type ASGDOptions struct {
	// Lambd is the decay λ of the formula below (default 1e-4).
	Lambd tensor.Opt[float64]
	// Alpha is the power by which the step size falls (default 0.75).
	Alpha tensor.Opt[float64]
	// T0 is the step at which averaging begins (default 1e6).
	T0 tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// Maximize climbs instead of descending.
	Maximize bool
}

// ASGD is averaged stochastic gradient descent. With g the gradient, t the number of the step and p the parameter:
//
//	g += weight_decay·p
//	p -= λ·η·p + η·g
//	a += µ·(p - a)
//	η = lr/(1 + λ·lr·t)^α, µ = 1/max(1, t-t0)     for the next step
//
// The averages a are what the method promises most of; State gives them. Maximize takes -g for g. See
// https://doi.org/10.1137/0330046 and https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html. Its state
// is "step", "eta" (η), "mu" (µ) and "ax" (a).
type ASGD struct{ base }

// NewASGD optimizes parameters with learning rate lr (PyTorch's default is 1e-2). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewASGD(params []*Tensor, lr float64, opts ...ASGDOptions) *ASGD {
	return NewASGDGroups(one(params), lr, opts...)
}

// NewASGDGroups is NewASGD with several groups.
func NewASGDGroups(groups []Group, lr float64, opts ...ASGDOptions) *ASGD {
	o := first(opts)
	a := &ASGD{}
	a.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"lambd", "lambd value"},
			[2]string{"alpha", "alpha value"}, [2]string{"weight_decay", "weight_decay value"})
	}
	a.follow(asgd)
	a.init(a, "ASGD", []setting{
		{"lr", lr}, {"lambd", o.Lambd.Or(1e-4)}, {"alpha", o.Alpha.Or(0.75)}, {"t0", o.T0.Or(1e6)},
		{"weight_decay", number(o.WeightDecay)}, {"foreach", nil}, {"maximize", o.Maximize},
		{"differentiable", false}, {"capturable", false},
	}, groups)
	return a
}

var asgd = &rule{
	ops: oneOp("asgd"),
	state: []entry{
		{key: stepKey, list: 2},
		{key: "eta", list: 3, make: func(g *ParamGroup, p *Tensor) *Tensor { return number32(g, p, g.LR()) }},
		{key: "mu", list: 4, make: func(g *ParamGroup, p *Tensor) *Tensor { return number32(g, p, 1) }},
		{key: "ax", list: 5, make: zeros},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		return flags(g, floats(g, to, "lr", "lambd", "t0", "alpha", "weight_decay"), "maximize")
	},
}
