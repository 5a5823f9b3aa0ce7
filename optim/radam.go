package optim

import "github.com/gotorch-dev/torch/tensor"

// RAdamOptions are the options of RAdam. The zero value is PyTorch's default; a number whose default is another than 0
// is given as torch.Some(x).
type RAdamOptions struct {
	// Betas are the coefficients β1, β2 of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// DecoupledWeightDecay decays as AdamW does.
	DecoupledWeightDecay bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// RAdam is Adam with a learning rate that is rectified by how well its variance is known: the first steps follow the
// momentum alone. With g the gradient, t the number of the step and p the parameter:
//
//	g += weight_decay·p                   (decoupled: p -= lr·weight_decay·p)
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	ρ∞ = 2/(1-β2) - 1, ρ = ρ∞ - 2·t·β2^t/(1-β2^t)
//	p -= lr·m/(1-β1^t) · r·√(1-β2^t)/(√v + eps), r = √((ρ-4)(ρ-2)ρ∞/((ρ∞-4)(ρ∞-2)ρ)), where ρ > 5
//	p -= lr·m/(1-β1^t)                                                                 otherwise
//
// Maximize takes -g for g. See https://arxiv.org/abs/1908.03265 and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html. Its state is "step", "exp_avg" (m) and
// "exp_avg_sq" (v).
type RAdam struct{ base }

// NewRAdam optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewRAdam(params []*Tensor, lr float64, opts ...RAdamOptions) *RAdam {
	return NewRAdamGroups(one(params), lr, opts...)
}

// NewRAdamGroups is NewRAdam with several groups.
func NewRAdamGroups(groups []Group, lr float64, opts ...RAdamOptions) *RAdam {
	o := first(opts)
	a := &RAdam{}
	a.check = checkAdam
	a.follow(radam)
	a.init(a, "RAdam", []setting{
		{"lr", lr}, {"betas", o.Betas.Or([2]float64{0.9, 0.999})}, {"eps", o.Eps.Or(1e-8)},
		{"weight_decay", number(o.WeightDecay)}, {"maximize", o.Maximize}, {"foreach", nil}, {"capturable", false},
		{"decoupled_weight_decay", o.DecoupledWeightDecay}, {"differentiable", false},
	}, groups)
	return a
}

var radam = &rule{
	ops: oneOp("radam"),
	state: []entry{
		{key: stepKey, list: 2},
		{key: "exp_avg", list: 3, make: zeros},
		{key: "exp_avg_sq", list: 4, make: zeros},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		to = betas(g, floats(g, to, "lr"), "betas")
		return flags(g, floats(g, to, "eps", "weight_decay"), "decoupled_weight_decay", "maximize")
	},
}
