package optim

import "github.com/gotorch-dev/torch/tensor"

// RMSpropOptions are the options of RMSprop. The zero value is PyTorch's default; a number whose default is another
// than 0 is given as torch.Some(x).
type RMSpropOptions struct {
	// Alpha is the part of the running averages that is kept (default 0.99).
	Alpha tensor.Opt[float64]
	// Eps is added to the denominator (default 1e-8).
	Eps tensor.Opt[float64]
	// WeightDecay is the factor of an L2 penalty.
	WeightDecay float64
	// Momentum is the part of the last step that is kept.
	Momentum float64
	// Centered divides by the deviation of the gradient instead of its size.
	Centered bool
	// Maximize climbs instead of descending.
	Maximize bool
}

// RMSprop divides the gradient by a running average of its size. With g the gradient and p the parameter:
//
//	g += weight_decay·p
//	v = α·v + (1-α)·g²
//	d = √v + eps                       (centered: a = α·a + (1-α)·g, d = √(v-a²) + eps)
//	p -= lr·g/d                        (momentum: buf = momentum·buf + g/d, p -= lr·buf)
//
// Maximize takes -g for g. See https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf and
// https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html. Its state is "step", "square_avg" (v), with
// a momentum "momentum_buffer", centered "grad_avg" (a).
type RMSprop struct{ base }

// NewRMSprop optimizes parameters with learning rate lr (PyTorch's default is 1e-2). It panics when a setting is out of
// range, a parameter is not a leaf, or the list is empty.
func NewRMSprop(params []*Tensor, lr float64, opts ...RMSpropOptions) *RMSprop {
	return NewRMSpropGroups(one(params), lr, opts...)
}

// NewRMSpropGroups is NewRMSprop with several groups.
func NewRMSpropGroups(groups []Group, lr float64, opts ...RMSpropOptions) *RMSprop {
	o := first(opts)
	r := &RMSprop{}
	r.check = func(g *ParamGroup) {
		nonNegative(g, [2]string{"lr", "learning rate"}, [2]string{"eps", "epsilon value"},
			[2]string{"momentum", "momentum value"}, [2]string{"weight_decay", "weight_decay value"},
			[2]string{"alpha", "alpha value"})
	}
	r.follow(rmsprop)
	r.init(r, "RMSprop", []setting{
		{"lr", lr}, {"momentum", number(o.Momentum)}, {"alpha", o.Alpha.Or(0.99)}, {"eps", o.Eps.Or(1e-8)},
		{"centered", o.Centered}, {"weight_decay", number(o.WeightDecay)}, {"capturable", false}, {"foreach", nil},
		{"maximize", o.Maximize}, {"differentiable", false},
	}, groups)
	return r
}

var rmsprop = &rule{
	ops: oneOp("rmsprop"),
	state: []entry{
		{key: stepKey},
		{key: "square_avg", list: 2, make: zeros},
		{key: "momentum_buffer", list: 4, make: zeros,
			when: func(g *ParamGroup) bool { return g.Float("momentum") > 0 }},
		{key: "grad_avg", list: 3, make: zeros, when: func(g *ParamGroup) bool { return g.Bool("centered") }},
	},
	numbers: func(g *ParamGroup, to []tensor.Value) []tensor.Value {
		return flags(g, floats(g, to, "lr", "alpha", "eps", "weight_decay", "momentum"), "centered", "maximize")
	},
}
