package foreach

import (
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// step describes the step of an optimizer that PyTorch composes of operators on lists: the operator
// gotorch::_fused_NAME_ has that composition for its body, and a kernel that updates a parameter in one pass.
type step struct {
	name, doc string
	lists     string // the lists after the parameters and their gradients
	numbers   string // the arguments after the learning rate
	rule      kernel
	counters  bool // the first list holds counters of steps
	// hyper works out the numbers of the kernel for parameter i.
	hyper func(c *Ctx, s *step, i int) hyper
	// state are the lists that go to the kernel, in the order of the kernel; nil: all lists but counters.
	state func(c *Ctx, s *step) []int
	// body updates the lists by operators. d is the list of gradients, with weight decay and the sign of maximize.
	body func(c *Ctx, s *step, d []*T)
	// decoupled reports that weight decay is no part of the gradient.
	decoupled func(c *Ctx, s *step) bool
}

// list is the argument number of a list.
func (s *step) list(name string) int {
	for i, n := range strings.Fields(s.lists) {
		if n == name {
			return 2 + i
		}
	}
	panic("foreach: the step " + s.name + " has no list " + name)
}

// num is a number among the arguments.
func (s *step) num(c *Ctx, name string) float64 { return c.Float(s.at(c, name)) }

// flag is an argument that is true or false.
func (s *step) flag(c *Ctx, name string) bool { return c.Bool(s.at(c, name)) }

func (s *step) at(c *Ctx, name string) int {
	for i, p := range c.Op().Sch.Params {
		if p.Name == name {
			return i
		}
	}
	panic("foreach: the step " + s.name + " has no argument " + name)
}

func (s *step) register() {
	lists := strings.Fields(s.lists)
	var sch strings.Builder
	sch.WriteString("gotorch::_fused_" + s.name + "_(Tensor(a!)[] self, Tensor[] grads")
	for i, n := range lists {
		sch.WriteString(", Tensor(" + string(rune('b'+i)) + "!)[] " + n)
	}
	sch.WriteString(", *, float lr")
	if s.numbers != "" {
		sch.WriteString(", " + s.numbers)
	}
	sch.WriteString(", bool maximize) -> ()")
	tensor.Register(tensor.Def{
		Schema: sch.String(),
		Doc:    "updates parameters by one step of " + s.doc,
		Go:     "-",
		Infer:  s.check,
		CPU:    s.kernel,
		Body: func(c *Ctx) {
			s.check(c)
			tensor.NoGrad(func() { s.compose(c) })
		},
		NoGrad: noGrad,
		// The numbers of a step follow from the counter.
		DataDependent: s.counters,
	})
}

// used lists the arguments that hold the state which the settings ask for.
func (s *step) used(c *Ctx) []int {
	if s.state != nil {
		return s.state(c, s)
	}
	var out []int
	for i := range strings.Fields(s.lists) {
		if i > 0 || !s.counters {
			out = append(out, 2+i)
		}
	}
	return out
}

func (s *step) check(c *Ctx) {
	counters := 0
	if s.counters {
		counters = 2
	}
	match(c, counters, append([]int{1}, s.used(c)...)...)
	if !s.counters { // lists that the settings do not ask for are not read
		return
	}
	for i, name := range strings.Fields(s.lists) { // numbers of each parameter
		l, n := c.Tensors(2+i), len(c.Tensors(0))
		if slices.Contains(s.used(c), 2+i) || i == 0 {
			continue
		}
		if len(l) != n {
			c.Fail(tensor.ErrValue, "there are %d parameters and %d tensors in %s", n, len(l), name)
		}
		for k, t := range l {
			if t == nil || t.Numel() != 1 {
				c.Fail(tensor.ErrShape, "tensor %d of %s must have one element", k, name)
			}
		}
	}
}

// kernel updates all parameters in one parallel loop.
func (s *step) kernel(c *Ctx) {
	grads, used := c.Tensors(1), s.used(c)
	b := batches.Get().(*batch)
	state := make([]*T, len(used))
	for i, p := range c.Tensors(0) {
		h := s.hyper(c, s, i)
		h.rule, h.maximize = s.rule, s.flag(c, "maximize")
		for k, l := range used {
			state[k] = c.Tensors(l)[i]
		}
		b.add(p, grads[i], &h, state...)
	}
	b.run()
}

// compose updates the parameters by operators, as the _multi_tensor functions of torch.optim do. Complex numbers are
// pairs of real ones.
func (s *step) compose(c *Ctx) {
	if len(c.Tensors(0)) == 0 {
		return
	}
	params, d := tensors(c, 0), tensors(c, 1)
	if s.flag(c, "maximize") {
		d = lists("neg", d)
	}
	if wd := s.decay(c); wd != 0 {
		if s.decoupled != nil && s.decoupled(c, s) {
			write("mul_.Scalar", params, 1-s.num(c, "lr")*wd)
		} else {
			d = lists("add.List", d, params, wd)
		}
	}
	s.body(c, s, d)
}

// decay is the weight decay, 0 where an optimizer has none.
func (s *step) decay(c *Ctx) float64 {
	if !strings.Contains(s.numbers, "weight_decay") {
		return 0
	}
	return s.num(c, "weight_decay")
}

// decays sets the weight decay of a kernel.
func (s *step) decays(c *Ctx, h *hyper) {
	h.decay = 1
	if wd := s.decay(c); s.decoupled != nil && s.decoupled(c, s) {
		h.decay = 1 - s.num(c, "lr")*wd
	} else {
		h.l2 = wd
	}
}

// lists and write call an operator on lists: one that returns a list, and one that writes to its first list.
func lists(name string, args ...any) []*T { return op.Call("aten::_foreach_"+name, args...) }
func write(name string, args ...any)      { op.Call("aten::_foreach_"+name, args...) }

// values are the numbers that a list of 0-d tensors holds.
func values(l []*T) []float64 {
	out := make([]float64, len(l))
	for i, t := range l {
		out[i] = counted(t)
	}
	return out
}

// tensors are the elements of a list, complex ones seen as pairs of real numbers.
func tensors(c *Ctx, i int) []*T {
	out := slices.Clone(c.Tensors(i))
	for k, t := range out {
		if t.IsComplex() {
			out[k] = t.ViewAsReal()
		}
	}
	return out
}

// each works out a number for every parameter.
func each(l []*T, f func(i int) float64) []float64 {
	out := make([]float64, len(l))
	for i := range l {
		out[i] = f(i)
	}
	return out
}

// averages updates running averages of the gradients and of their squares.
func averages(c *Ctx, s *step, d []*T) (m, v []*T) {
	m, v = tensors(c, s.list("exp_avgs")), tensors(c, s.list("exp_avg_sqs"))
	beta2 := s.num(c, "beta2")
	write("lerp_.Scalar", m, d, 1-s.num(c, "beta1"))
	write("mul_.Scalar", v, beta2)
	write("addcmul_.Scalar", v, d, d, 1-beta2)
	return m, v
}

func isDecoupled(c *Ctx, s *step) bool { return s.flag(c, "decoupled_weight_decay") }

func init() {
	for _, s := range []*step{rmspropStep, adadeltaStep, adamaxStep, nadamStep, radamStep, rpropStep, asgdStep} {
		s.register()
	}
}

var rmspropStep = &step{
	name:  "rmsprop",
	doc:   "RMSprop, https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf.",
	lists: "square_avgs grad_avgs momentum_buffer_list", rule: rmsprop,
	numbers: "float alpha, float eps, float weight_decay, float momentum, bool centered",
	state: func(c *Ctx, s *step) []int {
		used := []int{s.list("square_avgs")}
		if s.num(c, "momentum") > 0 {
			used = append(used, s.list("momentum_buffer_list"))
		}
		if s.flag(c, "centered") {
			used = append(used, s.list("grad_avgs"))
		}
		return used
	},
	hyper: func(c *Ctx, s *step, _ int) (h hyper) {
		s.decays(c, &h)
		alpha := s.num(c, "alpha")
		h.lr, h.beta2, h.beta2c, h.eps = s.num(c, "lr"), alpha, 1-alpha, s.num(c, "eps")
		h.momentum, h.centered = s.num(c, "momentum"), s.flag(c, "centered")
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		sq, alpha, lr := tensors(c, s.list("square_avgs")), s.num(c, "alpha"), s.num(c, "lr")
		write("mul_.Scalar", sq, alpha)
		write("addcmul_.Scalar", sq, d, d, 1-alpha)
		var avg []*T
		if s.flag(c, "centered") {
			ga := tensors(c, s.list("grad_avgs"))
			write("lerp_.Scalar", ga, d, 1-alpha)
			avg = lists("addcmul.Scalar", sq, ga, ga, -1)
			write("sqrt_", avg)
		} else {
			avg = lists("sqrt", sq)
		}
		write("add_.Scalar", avg, s.num(c, "eps"))
		if momentum := s.num(c, "momentum"); momentum > 0 {
			buf := tensors(c, s.list("momentum_buffer_list"))
			write("mul_.Scalar", buf, momentum)
			write("addcdiv_.Scalar", buf, d, avg)
			write("add_.List", tensors(c, 0), buf, -lr)
		} else {
			write("addcdiv_.Scalar", tensors(c, 0), d, avg, -lr)
		}
	},
}

var adadeltaStep = &step{
	name: "adadelta", doc: "Adadelta, https://arxiv.org/abs/1212.5701.",
	lists: "square_avgs acc_deltas", numbers: "float rho, float eps, float weight_decay", rule: adadelta,
	hyper: func(c *Ctx, s *step, _ int) (h hyper) {
		s.decays(c, &h)
		rho := s.num(c, "rho")
		h.lr, h.beta2, h.beta2c, h.eps = s.num(c, "lr"), rho, 1-rho, s.num(c, "eps")
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		sq, acc := tensors(c, s.list("square_avgs")), tensors(c, s.list("acc_deltas"))
		rho, eps := s.num(c, "rho"), s.num(c, "eps")
		write("mul_.Scalar", sq, rho)
		write("addcmul_.Scalar", sq, d, d, 1-rho)
		std, delta := lists("add.Scalar", sq, eps), lists("add.Scalar", acc, eps)
		write("sqrt_", std)
		write("sqrt_", delta)
		write("div_.List", delta, std)
		write("mul_.List", delta, d)
		write("mul_.Scalar", acc, rho)
		write("addcmul_.Scalar", acc, delta, delta, 1-rho)
		write("add_.List", tensors(c, 0), delta, -s.num(c, "lr"))
	},
}

var adamaxStep = &step{
	name: "adamax", doc: "Adamax, https://arxiv.org/abs/1412.6980.",
	lists: "state_steps exp_avgs exp_infs", numbers: "float beta1, float beta2, float eps, float weight_decay",
	rule: adamax, counters: true,
	hyper: func(c *Ctx, s *step, i int) (h hyper) {
		s.decays(c, &h)
		beta1 := s.num(c, "beta1")
		h.beta1c, h.beta2, h.eps = 1-beta1, s.num(c, "beta2"), s.num(c, "eps")
		h.lr = s.num(c, "lr") / (1 - math.Pow(beta1, counted(c.Tensors(2)[i])))
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		m, inf := tensors(c, s.list("exp_avgs")), tensors(c, s.list("exp_infs"))
		beta1, lr, n := s.num(c, "beta1"), s.num(c, "lr"), values(c.Tensors(2))
		write("lerp_.Scalar", m, d, 1-beta1)
		write("mul_.Scalar", inf, s.num(c, "beta2"))
		size := lists("abs", d)
		write("add_.Scalar", size, s.num(c, "eps"))
		write("maximum_.List", inf, size)
		write("addcdiv_.ScalarList", tensors(c, 0), m, inf,
			each(m, func(i int) float64 { return -lr / (1 - math.Pow(beta1, n[i])) }))
	},
}

var nadamStep = &step{
	name: "nadam", doc: "NAdam, https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ.",
	lists: "state_steps mu_products exp_avgs exp_avg_sqs", rule: nadam, counters: true, decoupled: isDecoupled,
	numbers: "float beta1, float beta2, float eps, float weight_decay, float momentum_decay, bool " +
		"decoupled_weight_decay",
	state: func(c *Ctx, s *step) []int { return []int{s.list("exp_avgs"), s.list("exp_avg_sqs")} },
	hyper: func(c *Ctx, s *step, i int) (h hyper) {
		s.decays(c, &h)
		beta1, beta2 := s.num(c, "beta1"), s.num(c, "beta2")
		h.beta1c, h.beta2, h.beta2c, h.eps = 1-beta1, beta2, 1-beta2, s.num(c, "eps")
		product := c.Tensors(s.list("mu_products"))[i]
		mu, _ := nadamMomenta(c, s, i)
		product.MulScalarInPlace(mu)
		h.corr = 1 - math.Pow(beta2, counted(c.Tensors(2)[i]))
		h.lr, h.step = nadamFactors(c, s, i)
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		params, products, n := tensors(c, 0), c.Tensors(s.list("mu_products")), values(c.Tensors(2))
		beta2 := s.num(c, "beta2")
		write("mul_.ScalarList", products, each(d, func(i int) float64 { mu, _ := nadamMomenta(c, s, i); return mu }))
		m, v := averages(c, s, d)
		denom := lists("div.ScalarList", v, each(d, func(i int) float64 { return 1 - math.Pow(beta2, n[i]) }))
		write("sqrt_", denom)
		write("add_.Scalar", denom, s.num(c, "eps"))
		write("addcdiv_.ScalarList", params, d, denom,
			each(d, func(i int) float64 { of, _ := nadamFactors(c, s, i); return of }))
		write("addcdiv_.ScalarList", params, m, denom,
			each(d, func(i int) float64 { _, of := nadamFactors(c, s, i); return of }))
	},
}

// nadamMomenta are NAdam's momenta µ of parameter i at this step and at the next one.
func nadamMomenta(c *Ctx, s *step, i int) (mu, next float64) {
	beta1, decay, n := s.num(c, "beta1"), s.num(c, "momentum_decay"), counted(c.Tensors(2)[i])
	return beta1 * (1 - 0.5*math.Pow(0.96, n*decay)), beta1 * (1 - 0.5*math.Pow(0.96, (n+1)*decay))
}

// nadamFactors are what NAdam multiplies gradient and running average by, when the product of momenta is up to date.
func nadamFactors(c *Ctx, s *step, i int) (gradient, average float64) {
	mu, next := nadamMomenta(c, s, i)
	product, lr := counted(c.Tensors(s.list("mu_products"))[i]), s.num(c, "lr")
	return -lr * (1 - mu) / (1 - product), -lr * next / (1 - product*next)
}

var radamStep = &step{
	name: "radam", doc: "RAdam, https://arxiv.org/abs/1908.03265.",
	lists: "state_steps exp_avgs exp_avg_sqs", rule: radam, counters: true, decoupled: isDecoupled,
	numbers: "float beta1, float beta2, float eps, float weight_decay, bool decoupled_weight_decay",
	hyper: func(c *Ctx, s *step, i int) (h hyper) {
		s.decays(c, &h)
		beta1, beta2 := s.num(c, "beta1"), s.num(c, "beta2")
		h.beta1c, h.beta2, h.beta2c, h.eps = 1-beta1, beta2, 1-beta2, s.num(c, "eps")
		h.lr, h.rectified = radamFactor(c, s, i)
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		m, v := averages(c, s, d)
		for i, p := range tensors(c, 0) {
			by, rectified := radamFactor(c, s, i)
			if !rectified {
				p.AddInPlace(m[i], tensor.AddInPlaceOptions{Alpha: -by})
				continue
			}
			denom := v[i].Sqrt().AddScalarInPlace(s.num(c, "eps"))
			p.AddcdivInPlace(m[i], denom, tensor.AddcdivInPlaceOptions{Value: -by})
		}
	},
}

// radamFactor is the size of RAdam's step for parameter i, and whether the variance of its adaptive learning rate is
// known well enough to be rectified; otherwise the step is momentum alone.
func radamFactor(c *Ctx, s *step, i int) (by float64, rectified bool) {
	beta1, beta2, n := s.num(c, "beta1"), s.num(c, "beta2"), counted(c.Tensors(2)[i])
	corr1, corr2 := 1-math.Pow(beta1, n), 1-math.Pow(beta2, n)
	most := 2/(1-beta2) - 1 // length of the simple moving average in the limit
	length := most - 2*n*math.Pow(beta2, n)/corr2
	by = s.num(c, "lr") / corr1
	if length <= 5 {
		return by, false
	}
	return by * math.Sqrt(corr2) *
		math.Sqrt((length-4)*(length-2)*most/((most-4)*(most-2)*length)), true
}

var rpropStep = &step{
	name: "rprop", doc: "resilient backpropagation, https://doi.org/10.1109/ICNN.1993.298623.",
	lists: "prevs step_sizes", rule: rprop,
	numbers: "float etaminus, float etaplus, float step_size_min, float step_size_max",
	hyper: func(c *Ctx, s *step, _ int) (h hyper) {
		h.beta1c, h.beta2 = s.num(c, "etaminus"), s.num(c, "etaplus")
		h.damp, h.corr = s.num(c, "step_size_min"), s.num(c, "step_size_max")
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		prev, sizes := tensors(c, 2), tensors(c, 3)
		for i, p := range tensors(c, 0) {
			g, before, size := d[i], prev[i], sizes[i]
			turn := g.Mul(before)
			back := turn.LtScalar(0)
			by := turn.OnesLike().MaskedFillScalarInPlace(turn.GtScalar(0), s.num(c, "etaplus")).
				MaskedFillScalarInPlace(back, s.num(c, "etaminus"))
			size.MulInPlace(by).ClampMinScalarInPlace(s.num(c, "step_size_min")).ClampMaxScalarInPlace(s.num(c, "step_size_max"))
			g = g.MaskedFillScalar(back, 0)
			p.AddcmulInPlace(g.Sign(), size, tensor.AddcmulInPlaceOptions{Value: -1.0})
			before.CopyInPlace(g)
		}
	},
}

var asgdStep = &step{
	name: "asgd", doc: "averaged stochastic gradient descent, https://doi.org/10.1137/0330046.",
	lists: "state_steps etas mus axs", rule: asgd, counters: true,
	numbers: "float lambd, float t0, float alpha, float weight_decay",
	state:   func(c *Ctx, s *step) []int { return []int{s.list("axs")} },
	hyper: func(c *Ctx, s *step, i int) (h hyper) {
		eta, mu := c.Tensors(s.list("etas"))[i], c.Tensors(s.list("mus"))[i]
		h.l2, h.lr, h.momentum = s.num(c, "weight_decay"), counted(eta), counted(mu)
		h.decay = 1 - s.num(c, "lambd")*h.lr
		asgdNext(c, s, i, eta, mu)
		return h
	},
	body: func(c *Ctx, s *step, d []*T) {
		etas, mus, axs := c.Tensors(s.list("etas")), c.Tensors(s.list("mus")), tensors(c, s.list("axs"))
		for i, p := range tensors(c, 0) {
			eta, mu := counted(etas[i]), counted(mus[i])
			p.MulScalarInPlace(1 - s.num(c, "lambd")*eta)
			p.AddInPlace(d[i], tensor.AddInPlaceOptions{Alpha: -eta})
			if mu != 1 {
				axs[i].AddInPlace(p.Sub(axs[i]).MulScalarInPlace(mu))
			} else {
				axs[i].CopyInPlace(p)
			}
			asgdNext(c, s, i, etas[i], mus[i])
		}
	},
}

// asgdNext sets the step size η and the averaging factor µ of parameter i for its next step.
func asgdNext(c *Ctx, s *step, i int, eta, mu *T) {
	n, lr, lambd := counted(c.Tensors(2)[i]), s.num(c, "lr"), s.num(c, "lambd")
	eta.FillScalarInPlace(lr / math.Pow(1+lambd*lr*n, s.num(c, "alpha")))
	mu.FillScalarInPlace(1 / math.Max(1, n-s.num(c, "t0")))
}
