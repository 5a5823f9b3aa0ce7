package optim

import (
	"github.com/gotorch-dev/torch/tensor"
)

// SGDOptions are the options of SGD. The zero value is PyTorch's default.
type SGDOptions struct {
	Momentum    float64
	Dampening   float64
	WeightDecay float64
	// Nesterov looks ahead along the momentum; it needs a momentum and no dampening.
	Nesterov bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// SGD is stochastic gradient descent, with momentum and weight decay if wanted:
//
//	d = grad + weight_decay·p
//	buf = momentum·buf + (1-dampening)·d   (the first step takes buf = d)
//	p -= lr·buf                            (Nesterov: lr·(d + momentum·buf))
//
// See https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html. Its state is "momentum_buffer", there when momentum is not 0.
type SGD struct{ base }

// NewSGD optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of range, a parameter is
// not a leaf, or the list is empty.
func NewSGD(params []*Tensor, lr float64, opts ...SGDOptions) *SGD {
	return NewSGDGroups(one(params), lr, opts...)
}

// NewSGDGroups is NewSGD with several groups, which may override lr, momentum, dampening, weight decay, Nesterov and Maximize.
func NewSGDGroups(groups []Group, lr float64, opts ...SGDOptions) *SGD {
	var o SGDOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Nesterov && (o.Momentum <= 0 || o.Dampening != 0) { // a group may switch its momentum off
		tensor.Fail(tensor.ErrValue, "Nesterov momentum requires a momentum and zero dampening")
	}
	s := &SGD{}
	s.check = checkSGD
	s.update = s.collect
	s.init(s, "SGD", []setting{
		{"lr", lr}, {"momentum", number(o.Momentum)}, {"dampening", number(o.Dampening)}, {"weight_decay", number(o.WeightDecay)},
		{"nesterov", o.Nesterov}, {"maximize", o.Maximize}, {"foreach", nil}, {"differentiable", false}, {"fused", nil},
	}, groups)
	return s
}

func checkSGD(g *ParamGroup) {
	for _, c := range []struct{ key, what string }{{"lr", "learning rate"}, {"momentum", "momentum value"}, {"weight_decay", "weight_decay value"}} {
		if f := g.Float(c.key); f < 0 {
			tensor.Fail(tensor.ErrValue, "Invalid %s: %g", c.what, f)
		}
	}
}

func (s *SGD) collect(g *ParamGroup, b *batch) {
	h := hyper{lr: g.LR(), l2: g.Float("weight_decay"), momentum: g.Float("momentum"), damp: 1 - g.Float("dampening"),
		maximize: g.Bool("maximize"), rule: momentumSGD}
	switch {
	case h.momentum == 0:
		h.rule = plainSGD
	case g.Bool("nesterov"):
		h.rule = nesterovSGD
	}
	for _, p := range g.Params {
		grad := tensor.GradRaw(p)
		if grad == nil {
			continue
		}
		if h.momentum == 0 {
			b.add(p, grad, h)
			continue
		}
		hp := h
		st := s.stateOf(p)
		buf := st.Tensor("momentum_buffer")
		if buf == nil {
			// The first step takes the gradient undamped: from a cleared buffer that is momentum·0 + 1·d.
			buf = zerosLike(p)
			st.Set("momentum_buffer", buf)
			hp.damp = 1
		}
		b.add(p, grad, hp, buf)
	}
}
