package optim

import (
	"math"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// AdamOptions are the options of Adam. The zero value is PyTorch's default; an explicit 0 is written [Zero].
type AdamOptions struct {
	// Betas are the coefficients of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas [2]float64
	// Eps is added to the denominator (default 1e-8).
	Eps float64
	// WeightDecay is an L2 penalty (default 0).
	WeightDecay float64
	// AMSGrad divides by the largest average of squares so far.
	AMSGrad bool
	// Maximize climbs instead of descending.
	Maximize bool
	// DecoupledWeightDecay decays as AdamW does.
	DecoupledWeightDecay bool
}

// AdamWOptions are the options of AdamW. The zero value is PyTorch's default; an explicit 0 is written [Zero].
type AdamWOptions struct {
	// Betas are the coefficients of the running averages of the gradient and its square (default 0.9, 0.999).
	Betas [2]float64
	// Eps is added to the denominator (default 1e-8).
	Eps float64
	// WeightDecay shrinks the parameters by lr·WeightDecay each step (default 0.01).
	WeightDecay float64
	// AMSGrad divides by the largest average of squares so far.
	AMSGrad bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// Adam adapts the step of every element to the running averages of its gradient and the gradient's square:
//
//	m += (1-β1)·(g - m)
//	v = β2·v + (1-β2)·g²
//	p -= lr/(1-β1^t) · m / (√v/√(1-β2^t) + eps)
//
// See https://arxiv.org/abs/1412.6980 and https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html. Its state is "step" (a
// float32 tensor, as PyTorch's), "exp_avg", "exp_avg_sq" and, with AMSGrad, "max_exp_avg_sq".
type Adam struct{ base }

// AdamW is Adam with weight decay apart from the gradient (https://arxiv.org/abs/1711.05101): p -= lr·weight_decay·p before the step.
type AdamW struct{ Adam }

// NewAdam optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of range, a parameter is
// not a leaf, or the list is empty.
func NewAdam(params []*Tensor, lr float64, opts ...AdamOptions) *Adam {
	return NewAdamGroups(one(params), lr, opts...)
}

// NewAdamGroups is NewAdam with several groups, which may override lr, betas, eps, weight decay, AMSGrad and Maximize.
func NewAdamGroups(groups []Group, lr float64, opts ...AdamOptions) *Adam {
	var o AdamOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	a := &Adam{}
	a.setup(a, "Adam", groups, lr, o)
	return a
}

// NewAdamW optimizes parameters with learning rate lr (PyTorch's default is 1e-3); see NewAdam.
func NewAdamW(params []*Tensor, lr float64, opts ...AdamWOptions) *AdamW {
	return NewAdamWGroups(one(params), lr, opts...)
}

// NewAdamWGroups is NewAdamW with several groups.
func NewAdamWGroups(groups []Group, lr float64, opts ...AdamWOptions) *AdamW {
	var o AdamWOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	a := &AdamW{}
	wd := o.WeightDecay
	if !given(wd) {
		wd = 1e-2
	}
	a.setup(a, "AdamW", groups, lr, AdamOptions{o.Betas, o.Eps, wd, o.AMSGrad, o.Maximize, true})
	return a
}

func (a *Adam) setup(self Optimizer, name string, groups []Group, lr float64, o AdamOptions) {
	var wd any = plainZero(o.WeightDecay)
	if !given(o.WeightDecay) {
		wd = 0
	}
	a.check = checkAdam
	a.update = a.collect
	a.init(self, name, []setting{
		{"lr", lr}, {"betas", [2]float64{or(o.Betas[0], 0.9), or(o.Betas[1], 0.999)}}, {"eps", or(o.Eps, 1e-8)}, {"weight_decay", wd},
		{"amsgrad", o.AMSGrad}, {"maximize", o.Maximize}, {"foreach", nil}, {"capturable", false}, {"differentiable", false}, {"fused", nil},
		{"decoupled_weight_decay", o.DecoupledWeightDecay},
	}, groups)
}

func checkAdam(g *ParamGroup) {
	for _, c := range []struct{ key, what string }{{"lr", "learning rate"}, {"eps", "epsilon value"}, {"weight_decay", "weight_decay value"}} {
		if f := g.Float(c.key); !(f >= 0) {
			tensor.Fail(tensor.ErrValue, "Invalid %s: %g", c.what, f)
		}
	}
	for i, b := range g.Betas() {
		if !(b >= 0 && b < 1) {
			tensor.Fail(tensor.ErrValue, "Invalid beta parameter at index %d: %s", i, pyfmt.Float(b))
		}
	}
}

func (a *Adam) collect(g *ParamGroup, b *batch) {
	betas, lr, wd := g.Betas(), g.LR(), g.Float("weight_decay")
	amsgrad := g.Bool("amsgrad")
	h := hyper{decay: 1, beta1c: 1 - betas[0], beta2: betas[1], beta2c: 1 - betas[1], eps: g.Float("eps"), maximize: g.Bool("maximize")}
	h.rule = plainAdam
	if amsgrad {
		h.rule = amsgradAdam
	}
	if g.Bool("decoupled_weight_decay") {
		h.decay = 1 - lr*wd
	} else {
		h.l2 = wd
	}
	lastStep := math.NaN() // parameters of a group nearly always have the same count: do not raise the powers anew
	for _, p := range g.Params {
		grad := tensor.GradRaw(p)
		if grad == nil {
			continue
		}
		st := a.stateOf(p)
		m := st.Tensor("exp_avg")
		if m == nil {
			m = zerosLike(p)
			if st.Get("step") == nil {
				step := tensor.New(nil, tensor.Float32).Keep()
				tensor.ZeroRaw(step)
				st.Set("step", step)
			}
			st.Set("exp_avg", m)
			st.Set("exp_avg_sq", zerosLike(p))
		}
		v := st.Tensor("exp_avg_sq")
		if amsgrad && st.Tensor("max_exp_avg_sq") == nil {
			st.Set("max_exp_avg_sq", zerosLike(p))
		}
		if step := count(st); step != lastStep {
			h.step = lr / (1 - math.Pow(betas[0], step))
			h.corr = math.Sqrt(1 - math.Pow(betas[1], step))
			lastStep = step
		}
		if amsgrad {
			b.add(p, grad, h, m, v, st.Tensor("max_exp_avg_sq"))
		} else {
			b.add(p, grad, h, m, v)
		}
	}
}

// count adds one to a parameter's step and returns it. Files from old versions of PyTorch hold a number instead of a tensor.
func count(st *State) float64 {
	t := st.Tensor("step")
	if t == nil || t.DType() != tensor.Float32 {
		n := 0.0
		switch x := st.Get("step").(type) {
		case int:
			n = float64(x)
		case float64:
			n = x
		case *Tensor:
			n = x.Num().F
		}
		t = tensor.FromSlice([]float32{float32(n)}, []int{}...)
		st.Set("step", t)
	}
	f := (*float32)(tensor.Ptr(t))
	*f++
	tensor.Bump(t)
	return float64(*f)
}
