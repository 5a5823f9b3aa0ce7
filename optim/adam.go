package optim

import (
	"github.com/gotorch-dev/torch/tensor"
)

// AdamOptions are the options of Adam. The zero value is PyTorch's default; a number whose default is another than 0 is
// given as torch.Some(x).
type AdamOptions struct {
	// Betas are the coefficients β1, β2 of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty (default 0).
	WeightDecay float64
	// AMSGrad divides by the largest average of squares so far.
	AMSGrad bool
	// Maximize climbs instead of descending.
	Maximize bool
	// DecoupledWeightDecay decays as AdamW does.
	DecoupledWeightDecay bool
}

// AdamWOptions are the options of AdamW. The zero value is PyTorch's default; a number whose default is another than 0
// is given as torch.Some(x).
type AdamWOptions struct {
	// Betas are the coefficients β1, β2 of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas tensor.Opt[[2]float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay shrinks the parameters by lr·WeightDecay each step (default 0.01).
	WeightDecay tensor.Opt[float64]
	// AMSGrad divides by the largest average of squares so far.
	AMSGrad bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adam adapts the step of every element to the running averages of its gradient and the gradient's square. With g the
// gradient, t the number of the step and p the parameter:
//
//	g += weight_decay·p
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	p -= lr/(1-β1^t) · m / (√v/√(1-β2^t) + eps)
//
// AMSGrad takes the largest v so far for v in the last line (https://openreview.net/forum?id=ryQu7f-RZ); Maximize takes
// -g for g.
//
// See https://arxiv.org/abs/1412.6980 and https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html. Its
// state is "step" (a float32 tensor, as PyTorch's), "exp_avg" (m), "exp_avg_sq" (v) and, with AMSGrad,
// "max_exp_avg_sq".
type Adam struct{ base }

// AdamW is Adam with weight decay apart from the gradient (https://arxiv.org/abs/1711.05101):
//
//	p -= lr·weight_decay·p
//	m = β1·m + (1-β1)·g
//	v = β2·v + (1-β2)·g²
//	p -= lr/(1-β1^t) · m / (√v/√(1-β2^t) + eps)
//
// See https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html and [Adam] for the options and the state.
type AdamW struct{ Adam }

// NewAdam optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewAdam(params []*Tensor, lr float64, opts ...AdamOptions) *Adam {
	return NewAdamGroups(one(params), lr, opts...)
}

// NewAdamGroups is NewAdam with several groups, which may override lr, betas, eps, weight decay, AMSGrad and Maximize.
func NewAdamGroups(groups []Group, lr float64, opts ...AdamOptions) *Adam {
	a := &Adam{}
	a.setup(a, "Adam", groups, lr, first(opts))
	return a
}

// NewAdamW optimizes parameters with learning rate lr (PyTorch's default is 1e-3); see NewAdam.
func NewAdamW(params []*Tensor, lr float64, opts ...AdamWOptions) *AdamW {
	return NewAdamWGroups(one(params), lr, opts...)
}

// NewAdamWGroups is NewAdamW with several groups.
func NewAdamWGroups(groups []Group, lr float64, opts ...AdamWOptions) *AdamW {
	o := first(opts)
	a := &AdamW{}
	a.setup(a, "AdamW", groups, lr, AdamOptions{o.Betas, o.Eps, o.WeightDecay.Or(1e-2), o.AMSGrad, o.Maximize, true})
	return a
}

func (a *Adam) setup(self Optimizer, name string, groups []Group, lr float64, o AdamOptions) {
	a.check = checkAdam
	a.update = a.step
	a.init(self, name, []setting{
		{"lr", lr}, {"betas", o.Betas.Or([2]float64{0.9, 0.999})}, {"eps", o.Eps.Or(1e-8)},
		{"weight_decay", number(o.WeightDecay)},
		{"amsgrad", o.AMSGrad}, {"maximize", o.Maximize}, {"foreach", nil}, {"capturable", false},
		{"differentiable", false}, {"fused", nil},
		{"decoupled_weight_decay", o.DecoupledWeightDecay},
	}, groups)
}

func checkAdam(g *ParamGroup) {
	nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"eps", "epsilon value"},
		[2]string{"weight_decay", "weight_decay value"})
	validBetas(g)
}

// adam is the step of Adam and, with the other operator, of AdamW. The entries are in the order of PyTorch's state.
func adam(op string) *rule {
	return &rule{
		ops: stepOps(op),
		state: []entry{
			{key: stepKey, list: 5},
			{key: "exp_avg", list: 2, make: zeros},
			{key: "exp_avg_sq", list: 3, make: zeros},
			{key: "max_exp_avg_sq", list: 4, make: zeros, when: func(g *ParamGroup) bool { return g.Bool("amsgrad") }},
		},
		numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
			to = betas(g, append(to, g.lrValue()), "betas")
			return flags(g, floats(g, to, "weight_decay", "eps"), "amsgrad", "maximize")
		},
	}
}

var (
	coupledAdam   = adam("adam")
	decoupledAdam = adam("adamw")
)

func (a *Adam) step(g *ParamGroup) {
	if g.Bool("decoupled_weight_decay") {
		a.stepBy(decoupledAdam, g)
	} else {
		a.stepBy(coupledAdam, g)
	}
}

// counter is a parameter's step counter, made on first use. Files from old versions of PyTorch hold a number instead of
// a tensor.
func counter(g *ParamGroup, p *Tensor, st *State) *Tensor {
	t := st.Tensor("step")
	if t == nil || t.DType() != tensor.Float32 {
		n := 0.0
		switch x := st.Get("step").(type) {
		case int:
			n = float64(x)
		case float64:
			n = x
		case *Tensor:
			n = x.Item()
		}
		t = tensor.FromSlice([]float32{float32(n)}, []int{}...).To(g.counterDevice(p))
		st.Set("step", t)
	}
	return t
}
