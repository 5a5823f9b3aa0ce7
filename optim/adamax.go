package optim

import "github.com/gotorch-dev/torch/tensor"

// AdamaxOptions are the options of Adamax. The zero value is PyTorch's default; a number whose default is another than
// 0 is given as torch.Some(x).
type AdamaxOptions struct {
	// Betas are the coefficients β1, β2 of the running average and the running maximum (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the size of the gradient (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adamax is Adam with a running maximum of the gradient's size for the running average of its squares. With g the
// gradient, t the number of the step and p the parameter:
//
//	g += weight_decay·p
//	m = β1·m + (1-β1)·g
//	u = max(β2·u, |g| + eps)
//	p -= lr/(1-β1^t) · m/u
//
// Maximize takes -g for g. See https://arxiv.org/abs/1412.6980 and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html. Its state is "step", "exp_avg" (m) and
// "exp_inf" (u).
type Adamax struct{ base }

// NewAdamax optimizes parameters with learning rate lr (PyTorch's default is 2e-3). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewAdamax(params []*Tensor, lr float64, opts ...AdamaxOptions) *Adamax {
	return NewAdamaxGroups(one(params), lr, opts...)
}

// NewAdamaxGroups is NewAdamax with several groups.
func NewAdamaxGroups(groups []Group, lr float64, opts ...AdamaxOptions) *Adamax {
	o := first(opts)
	a := &Adamax{}
	a.check = checkAdam
	a.follow(adamax)
	a.init(a, "Adamax", []setting{
		{"lr", lr}, {"betas", o.Betas.Or([2]float64{0.9, 0.999})}, {"eps", o.Eps.Or(1e-8)},
		{"weight_decay", number(o.WeightDecay)}, {"foreach", nil}, {"maximize", o.Maximize},
		{"differentiable", false}, {"capturable", false},
	}, groups)
	return a
}

var adamax = &rule{
	ops: oneOp("adamax"),
	state: []entry{
		{key: stepKey, list: 2},
		{key: "exp_avg", list: 3, make: zeros},
		{key: "exp_inf", list: 4, make: zeros},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		to = betas(g, floats(g, to, "lr"), "betas")
		return flags(g, floats(g, to, "eps", "weight_decay"), "maximize")
	},
}
