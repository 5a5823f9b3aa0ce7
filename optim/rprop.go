package optim

import "github.com/gotorch-dev/torch/tensor"

// RpropOptions are the options of Rprop. The zero value is PyTorch's default; others are given as torch.Some(x).
type RpropOptions struct {
	// Etas are the factors η-, η+ by which the size of a step shrinks and grows (default 0.5, 1.2).
	Etas tensor.Opt[[2]float64]
	// StepSizes are the smallest and the largest size of a step (default 1e-6, 50).
	StepSizes tensor.Opt[[2]float64]
	// Maximize climbs instead of descending.
	Maximize bool
}

// Rprop is resilient backpropagation: each element has a step size of its own, which grows as long as its gradient
// keeps its sign and shrinks when it turns; only the sign of the gradient counts. With g the gradient, h the one before
// and p the parameter:
//
//	s = clamp(s·η+, sizes) where g·h > 0, clamp(s·η-, sizes) and g = 0 where g·h < 0
//	p -= sign(g)·s
//
// The sizes s begin with the learning rate. It is meant for full batches. Maximize takes -g for g. See
// https://doi.org/10.1109/ICNN.1993.298623 and https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html.
// Its state is "step", "prev" (h) and "step_size" (s).
type Rprop struct{ base }

// NewRprop optimizes parameters with learning rate lr (PyTorch's default is 1e-2). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewRprop(params []*Tensor, lr float64, opts ...RpropOptions) *Rprop {
	return NewRpropGroups(one(params), lr, opts...)
}

// NewRpropGroups is NewRprop with several groups.
func NewRpropGroups(groups []Group, lr float64, opts ...RpropOptions) *Rprop {
	o := first(opts)
	r := &Rprop{}
	r.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"})
		if e := g.Pair("etas"); !(0 < e[0] && e[0] < 1 && 1 < e[1]) {
			tensor.Fail(tensor.ErrValue, "Invalid eta values: %g, %g", e[0], e[1])
		}
	}
	r.follow(rprop)
	r.init(r, "Rprop", []setting{
		{"lr", lr}, {"etas", o.Etas.Or([2]float64{0.5, 1.2})}, {"step_sizes", o.StepSizes.Or([2]float64{1e-6, 50})},
		{"foreach", nil}, {"maximize", o.Maximize}, {"differentiable", false}, {"capturable", false},
	}, groups)
	return r
}

var rprop = &rule{
	ops: oneOp("rprop"),
	state: []entry{
		{key: stepKey},
		{key: "prev", list: 2, make: zeros},
		{key: "step_size", list: 3, make: func(g *ParamGroup, p *Tensor) *Tensor {
			if p.IsComplex() {
				return zerosLike(p).FillScalarInPlace(complex(g.LR(), g.LR()))
			}
			return zerosLike(p).FillScalarInPlace(g.LR())
		}},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		return flags(g, betas(g, betas(g, floats(g, to, "lr"), "etas"), "step_sizes"), "maximize")
	},
}
