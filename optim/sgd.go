package optim

import (
	"github.com/gotorch-dev/torch/tensor"
)

// SGDOptions are the options of SGD. The zero value is PyTorch's default.
type SGDOptions struct {
	// Momentum is the part of the last step's direction that is kept.
	Momentum float64
	// Dampening is the part of the gradient that does not go into the momentum.
	Dampening float64
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// Nesterov looks ahead along the momentum; it needs a momentum and no dampening.
	Nesterov bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// SGD is stochastic gradient descent, with momentum and weight decay if wanted. With g the gradient and p the
// parameter:
//
//	g += weight_decay·p
//	buf = momentum·buf + (1-dampening)·g   (the first step takes buf = g)
//	p -= lr·buf                            (Nesterov: lr·(g + momentum·buf); without momentum: lr·g)
//
// Maximize takes -g for g. See https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html and, for both kinds
// of momentum, https://proceedings.mlr.press/v28/sutskever13.html. Its state is "momentum_buffer", there when momentum
// is not 0.
type SGD struct{ base }

// NewSGD optimizes parameters with learning rate lr (PyTorch's default is 1e-3). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewSGD(params []*Tensor, lr float64, opts ...SGDOptions) *SGD {
	return NewSGDGroups(one(params), lr, opts...)
}

// NewSGDGroups is NewSGD with several groups, which may override lr, momentum, dampening, weight decay, Nesterov and
// Maximize.
func NewSGDGroups(groups []Group, lr float64, opts ...SGDOptions) *SGD {
	o := first(opts)
	if o.Nesterov && (o.Momentum <= 0 || o.Dampening != 0) { // a group may switch its momentum off
		tensor.Fail(tensor.ErrValue, "Nesterov momentum requires a momentum and zero dampening")
	}
	s := &SGD{}
	s.check = checkSGD
	s.update = s.step
	s.sparse = sparseSGD
	s.init(s, "SGD", []setting{
		{"lr", lr}, {"momentum", number(o.Momentum)}, {"dampening", number(o.Dampening)},
		{"weight_decay", number(o.WeightDecay)},
		{"nesterov", o.Nesterov}, {"maximize", o.Maximize}, {"foreach", nil}, {"differentiable", false}, {"fused", nil},
	}, groups)
	return s
}

func checkSGD(g *ParamGroup) {
	nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"momentum", "momentum value"},
		[2]string{"weight_decay", "weight_decay value"})
}

// The lists of SGD's step.
const (
	sgdParams = iota
	sgdGrads
	sgdBuffers
	sgdLists
)

var sgdOps = stepOps("sgd")

func (s *SGD) step(g *ParamGroup) {
	momentum := g.Float("momentum")
	variant := uint(0)
	if momentum != 0 {
		variant = 1
	}
	x := s.planned(g, variant, sgdGrads)
	if x == nil {
		x = s.collect(g, momentum)
		s.remember(g, variant, x)
	}
	for i := range x.parts {
		l := &x.parts[i]
		c := l.call(sgdOps, g)
		fill(c, sgdLists, tensor.FloatValue(g.Float("weight_decay")), tensor.FloatValue(momentum), g.lrValue(),
			tensor.FloatValue(g.Float("dampening")),
			tensor.BoolValue(g.Bool("nesterov")), tensor.BoolValue(g.Bool("maximize")), tensor.BoolValue(l.first))
		c.Do0()
		clear(l.lists[sgdGrads]) // the plan must not keep them
	}
}

// collect lists the parameters that have gradients with their momentum, which is made where there is none.
func (s *SGD) collect(g *ParamGroup, momentum float64) *steps {
	x := newSteps(g, sgdLists)
	for _, p := range g.Params {
		grad := gradient(p)
		if grad == nil {
			continue
		}
		var buf *Tensor
		first := false
		if momentum != 0 {
			st := s.stateOf(p)
			buf = st.Tensor("momentum_buffer")
			if first = buf == nil; first {
				buf = p.Detach().EmptyLike()
				st.Set("momentum_buffer", buf)
			}
		}
		l := x.of(p, first)
		l.add(sgdParams, p)
		l.add(sgdGrads, grad)
		if buf != nil {
			l.add(sgdBuffers, buf)
		}
	}
	return &x
}
