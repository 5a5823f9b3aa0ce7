package optim

import "github.com/gotorch-dev/torch/tensor"

// NAdamOptions are the options of NAdam. The zero value is PyTorch's default; a number whose default is another than 0
// is given as torch.Some(x).
type NAdamOptions struct {
	// Betas are the coefficients β1, β2 of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// MomentumDecay is the ψ of the formula below (default 4e-3).
	MomentumDecay tensor.Opt[float64]
	// DecoupledWeightDecay decays as AdamW does.
	DecoupledWeightDecay bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// NAdam is Adam that looks ahead along its momentum, as Nesterov's does. With g the gradient, t the number of the step
// and p the parameter:
//
//	g += weight_decay·p                   (decoupled: p -= lr·weight_decay·p)
//	µ(t) = β1·(1 - 0.96^(t·ψ)/2)
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	d = √(v/(1-β2^t)) + eps
//	p -= lr·((1-µ(t))/(1-Πµ(1…t))·g + µ(t+1)/(1-Πµ(1…t+1))·m)/d
//
// Maximize takes -g for g. See https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.NAdam.html. Its state is "step", "mu_product" (Πµ),
// "exp_avg" (m) and "exp_avg_sq" (v).
type NAdam struct{ base }

// NewNAdam optimizes parameters with learning rate lr (PyTorch's default is 2e-3). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewNAdam(params []*Tensor, lr float64, opts ...NAdamOptions) *NAdam {
	return NewNAdamGroups(one(params), lr, opts...)
}

// NewNAdamGroups is NewNAdam with several groups.
func NewNAdamGroups(groups []Group, lr float64, opts ...NAdamOptions) *NAdam {
	o := first(opts)
	a := &NAdam{}
	a.check = func(g *ParamGroup) {
		checkAdam(g)
		nonNegative(g, [2]string{"momentum_decay", "momentum_decay value"})
	}
	a.follow(nadam)
	a.init(a, "NAdam", []setting{
		{"lr", lr}, {"betas", o.Betas.Or([2]float64{0.9, 0.999})}, {"eps", o.Eps.Or(1e-8)},
		{"weight_decay", number(o.WeightDecay)}, {"momentum_decay", o.MomentumDecay.Or(4e-3)},
		{"decoupled_weight_decay", o.DecoupledWeightDecay}, {"maximize", o.Maximize}, {"foreach", nil},
		{"capturable", false}, {"differentiable", false},
	}, groups)
	return a
}

var nadam = &rule{
	ops: oneOp("nadam"),
	state: []entry{
		{key: stepKey, list: 2},
		{key: "mu_product", list: 3, make: func(g *ParamGroup, p *Tensor) *Tensor { return number32(g, p, 1) }},
		{key: "exp_avg", list: 4, make: zeros},
		{key: "exp_avg_sq", list: 5, make: zeros},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		to = betas(g, floats(g, to, "lr"), "betas")
		return flags(g, floats(g, to, "eps", "weight_decay", "momentum_decay"), "decoupled_weight_decay", "maximize")
	},
}
