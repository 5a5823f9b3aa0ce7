package loss

import (
	"math"
	"strings"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The losses in public operators, without reduction: bodies of the operators that PyTorch composes, and what gradients
// of gradients are made of.

func smoothL1(x, t *T, beta float64) *T {
	z := x.Sub(t).Abs()
	if beta == 0 {
		return z
	}
	return op.Call1("aten::where.self", z.Detach().LtScalar(beta), z.Mul(z).MulScalar(0.5).DivScalar(beta),
		z.SubScalar(0.5*beta))
}

func huber(x, t *T, delta float64) *T {
	z := x.Sub(t).Abs()
	return op.Call1("aten::where.self", z.Detach().LeScalar(delta), z.Mul(z).MulScalar(0.5),
		z.SubScalar(0.5*delta).MulScalar(delta))
}

func bce(x, t *T) *T {
	return t.SubScalar(1).Mul(x.Neg().Log1p().ClampMinScalar(-100)).Sub(t.Mul(x.Log().ClampMinScalar(-100)))
}

func bceLogits(x, t, w, pos *T) *T {
	ls := x.LogSigmoid()
	if pos != nil {
		ls = pos.SubScalar(1).Mul(t).AddScalar(1).Mul(ls)
	}
	y := t.RsubScalar(1).Mul(x).Sub(ls)
	if w != nil {
		y = y.Mul(w)
	}
	return y
}

func klDiv(x, t *T, logTarget bool) *T {
	for _, a := range []*T{x, t} {
		switch dt := a.DType(); {
		case dt.IsIntOrBool():
			tensor.Fail(tensor.ErrNotImpl, "kl_div: Integral inputs not supported.")
		case dt.IsComplex():
			tensor.Fail(tensor.ErrNotImpl, "kl_div: Complex inputs not supported.")
		}
	}
	if logTarget {
		return t.Exp().Mul(t.Sub(x))
	}
	return op.Call1("aten::xlogy.Tensor", t, t).Sub(t.Mul(x))
}

func softMargin(x, t *T) *T { return x.Mul(t.Neg()).Exp().Log1p() }

func hingeEmbedding(x, t *T, margin float64) *T {
	zeros := x.ZerosLike()
	far := op.Call1("aten::where.self", t.NeScalar(1), x.RsubScalar(margin).ClampMinScalar(0), zeros)
	return far.Add(op.Call1("aten::where.self", t.NeScalar(-1), x, zeros))
}

func poissonNLL(x, t *T, logInput, full bool, eps float64) *T {
	var y *T
	if logInput {
		y = x.Exp().Sub(t.Mul(x))
	} else {
		y = x.Sub(t.Mul(x.AddScalar(eps).Log()))
	}
	if full { // Stirling's approximation of log(target!)
		s := t.Mul(t.Log()).Sub(t).Add(t.MulScalar(2 * math.Pi).Log().MulScalar(0.5))
		y = y.Add(s.MaskedFillScalar(t.LeScalar(1), 0))
	}
	return y
}

// elementInfer is the shape rule of a leaf: the losses have the shape that input and target broadcast to, and are laid
// out as the input where both have one shape.
func elementInfer(c *Ctx, kernel string, how int, dt tensor.DType) {
	wantReduction(c, how)
	x, t := c.T(0), c.T(1)
	if !dt.IsFloat() {
		c.FailDType(tensor.ErrNotImpl, kernel, dt)
	}
	sh := c.BroadcastArgs(0, 1)
	switch {
	case how != none:
		c.Alloc(0, nil, dt)
	case tensor.SameShape(x.Shape(), t.Shape()):
		c.AllocStrided(0, sh, tensor.PermutedStrides(x), dt)
	default:
		c.Alloc(0, sh, dt)
	}
}

// allocGradient provides the input's gradient of a loss's backward operator, whose arguments begin with the gradient of
// the loss, the input and the target.
func allocGradient(c *Ctx, how int, dt tensor.DType) {
	wantReduction(c, how)
	sh := tensor.BroadcastShapes(c.Shape(1), c.Shape(2))
	if how == none {
		c.WantBroadcast(0, sh)
	} else if tensor.Size(c.Shape(0)).Numel() != 1 { // PyTorch takes a gradient for each element, too
		c.WantShape(0, sh...)
	}
	c.Alloc(0, sh, dt)
}

// secondOrder is the gradient rule of a loss's backward operator, whose arguments begin with the gradient of the
// reduced loss, the input and the target: u is the gradient of the input's gradient. It differentiates the composed
// loss twice.
func secondOrder(c *Ctx, u *T, how int, composed func(x, t *T) *T) []*T {
	r := make([]*T, 3)
	record := tensor.IsGradEnabled()
	tensor.EnableGrad(func() {
		var in [3]*T
		var want []*T
		for i := range in {
			if in[i] = c.T(i).AliasView(); !record {
				in[i] = in[i].Detach().SetRequiresGrad(c.Needs(i))
			}
			if c.Needs(i) {
				want = append(want, in[i])
			}
		}
		g, x, t := in[0], in[1], in[2]
		if !x.RequiresGrad() {
			x = x.Detach().SetRequiresGrad(true)
		}
		y := composed(x, t)
		if how == meanOf {
			g = g.DivScalar(y.Numel())
		}
		if !tensor.SameShape(g.Shape(), y.Shape()) {
			g = g.Expand(y.Shape())
		}
		d := tensor.Grad([]*T{y}, []*T{x}, tensor.GradOptions{GradOutputs: []*T{g}, CreateGraph: true})[0]
		if !d.RequiresGrad() {
			return
		}
		q := tensor.Grad([]*T{d}, want, tensor.GradOptions{GradOutputs: []*T{u}, CreateGraph: record,
			AllowUnused: true})
		for i := range r {
			if c.Needs(i) {
				r[i], q = q[0], q[1:]
			}
		}
	})
	return r
}

// softMarginCheck refuses what does not fit the tensor of self's shape in which PyTorch computes.
func softMarginCheck(c *Ctx) {
	if c.ArgDType(0) == tensor.Bool {
		c.Fail(tensor.ErrDType, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "+
			"invert a mask, use the `~` or `logical_not()` operator instead.")
	}
	if all := c.BroadcastArgs(0, 1); !tensor.SameShape(all, c.Shape(0)) {
		c.Fail(tensor.ErrShape, "output with shape %s doesn't match the broadcast shape %s",
			tensor.ShapeString(c.Shape(0)), tensor.ShapeString(all))
	}
}

// perElement is the gradient of each element's loss in a call of a backward operator: that of the reduced loss,
// argument 0, divided by the number of elements for a mean.
func perElement(c *Ctx, reductionAt int) *T {
	g := c.T(0)
	if c.Int(reductionAt) != meanOf {
		return g
	}
	return g.DivScalar(tensor.Size(tensor.BroadcastShapes(c.Shape(1), c.Shape(2))).Numel())
}

// leaf declares a loss that PyTorch has a kernel for, and its backward operator. parameter names the loss's parameter,
// if it has one; pick chooses the formula by its value. kernel is the name of PyTorch's kernel, for errors.
//
// The losses have the type that input and target promote to or, asInput, the type of the input.
func leaf(name, parameter, kernel, doc string, asInput bool, check func(c *Ctx, p float64),
	pick func(p float64) *elementLoss) {
	def, arg := "", ""
	if parameter != "" {
		def, arg = ", float "+parameter+"=1.0", ", float "+parameter
	}
	at := func(c *Ctx, i int) float64 {
		if parameter == "" {
			return 0
		}
		return c.Float(i)
	}
	backward := tensor.Slot("aten::" + name + "_backward")
	gradient := func(c *Ctx, g, x, t *T) *T {
		b := tensor.NewCall(backward, len(backward.Sch.Params))
		*b.Arg(0), *b.Arg(1), *b.Arg(2), *b.Arg(3) = tensor.TensorValue(g), tensor.TensorValue(x),
			tensor.TensorValue(t), c.Value(2)
		if parameter != "" {
			*b.Arg(4) = c.Value(3)
		}
		return b.Do1()
	}
	tensor.Register(tensor.Def{
		Schema: name + "(Tensor self, Tensor target, int reduction=1" + def + ") -> Tensor",
		Doc:    doc, Go: "-", Out: true,
		Infer: func(c *Ctx) {
			check(c, at(c, 3))
			dt := c.PromoteArgs(0, 1)
			if name == "soft_margin_loss" {
				softMarginCheck(c)
			}
			if x := c.ArgDType(0); asInput {
				if !tensor.CanCast(dt, x) {
					c.Fail(tensor.ErrDType, "result type %s can't be cast to the desired output type %s",
						dt.ClassName(), x.ClassName())
				}
				dt = x
			}
			elementInfer(c, kernel, c.Int(2), dt)
		},
		CPU:  func(c *Ctx) { pick(at(c, 3)).forward(c, c.Out(0), c.T(0), c.T(1), c.Int(2), at(c, 3)) },
		Save: "self target",
		VJP: func(c *Ctx, g *T) []*T {
			x, t := c.T(0), c.T(1)
			var gx, gt *T
			if c.Needs(0) {
				gx = gradient(c, g, x, t)
			}
			switch { // all of these losses are the same with input and target exchanged
			// they depend on the difference
			case c.Needs(1) && gx != nil && x.DType() == t.DType() && name != "soft_margin_loss":
				gt = gx.Neg()
			case c.Needs(1):
				gt = gradient(c, g, t, x)
			}
			return c.Grads2(gx, gt)
		},
	})
	tensor.Register(tensor.Def{
		Schema: name + "_backward(Tensor grad_output, Tensor self, Tensor target, int reduction" + arg + ") -> Tensor",
		Doc:    "is the gradient of " + name + " for the input.", Go: "-",
		Infer: func(c *Ctx) {
			dt, x := c.PromoteArgs(0, 1, 2), c.ArgDType(1)
			if !tensor.CanCast(dt, x) {
				c.Fail(tensor.ErrDType, "result type %s can't be cast to the desired output type %s", dt.ClassName(),
					x.ClassName())
			}
			if !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, strings.TrimSuffix(kernel, "_cpu")+"_backward_cpu_out", dt)
			}
			allocGradient(c, c.Int(3), x)
		},
		CPU: func(c *Ctx) {
			p := at(c, 4)
			pick(p).backward(c.Out(0), c.T(0), c.T(1), c.T(2), c.Int(3), p)
		},
		Save: "grad_output self target",
		VJP: func(c *Ctx, u *T) []*T {
			p := at(c, 4)
			l := pick(p)
			if l.curvature == nil {
				return secondOrder(c, u, c.Int(3), func(x, t *T) *T { return l.composed(x, t, p) })
			}
			g, x, t := c.T(0), c.T(1), c.T(2)
			var gg, gx, gt *T
			if c.Needs(0) {
				args := []any{op.Full(g, g.Shape(), 1, g.DType()), x, t, c.Int(3), p}
				gg = u.Mul(op.Call1("aten::"+name+"_backward", args[:len(c.Op().Sch.Params)]...))
			}
			if c.Needs(1) || c.Needs(2) { // the loss is a function of the difference
				gx = u.Mul(perElement(c, 3)).Mul(l.curvature(x.Detach(), t.Detach(), p))
				gt = gx.Neg()
			}
			return []*T{gg, gx, gt}
		},
	})
}

// arguments are those of a call, which a Ctx holds, or those that autograd's graph has kept of it.
type arguments interface{ Value(i int) tensor.Value }

type values []tensor.Value

func (v values) Value(i int) tensor.Value { return v[i] }

// choice is the loss that the arguments of a composed operator ask for, and its parameter. There is none where no
// kernel computes it.
type choice struct {
	l *elementLoss
	p float64
}

// composedLoss declares a loss that PyTorch composes of other operators: body is the composition without reduction, and
// how the argument that names the reduction. A kernel computes the loss in one pass where pick returns a loss, both
// tensors have one floating-point dtype and one shape, and the target wants no gradient. With mirrored, the loss
// depends on the difference only, and the target may want one.
func composedLoss(schema, doc string, mirrored bool, how int, body func(c *Ctx) *T, pick func(a arguments) choice) {
	saved := "self target"
	if strings.Contains(schema, "(Tensor input,") {
		saved = "input target"
	}
	tensor.Register(tensor.Def{
		Schema: schema, Doc: doc, Go: "-",
		Body: func(c *Ctx) { c.Return(reduce(body(c), c.Int(how))) },
		Fuses: func(c *Ctx) bool {
			x, t := c.T(0), c.T(1)
			if x.DType() != t.DType() || !x.DType().IsFloat() || x.Numel() == 0 ||
				!tensor.SameShape(x.Shape(), t.Shape()) {
				return false
			}
			l := pick(c).l
			return l != nil && (!l.rounds || x.DType().Size() > 2) &&
				(mirrored || !t.RequiresGrad() || !tensor.IsGradEnabled())
		},
		Infer: func(c *Ctx) {
			if c.Int(how) != none {
				c.Alloc(0, nil, c.ArgDType(0))
				return
			}
			c.AllocStrided(0, c.Shape(0), tensor.PermutedStrides(c.T(0)), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			k := pick(c)
			k.l.forward(c, c.Out(0), c.T(0), c.T(1), c.Int(how), k.p)
		},
		Save: saved,
		VJP: func(c *Ctx, g *T) []*T {
			x, t, k := c.T(0), c.T(1), pick(c)
			if tensor.IsGradEnabled() {
				return op.Recorded(c, g, []*T{x, t},
					func(in []*T) *T { return reduce(k.l.composed(in[0], in[1], k.p), c.Int(how)) })
			}
			gx := k.l.gradient(g, x, t, c.Int(how), k.p)
			if c.Needs(1) {
				return c.Grads2(gx, gx.Neg())
			}
			return c.Grads2(gx, nil)
		},
		GradOf: func(args []tensor.Value) string {
			switch int(args[how].N) {
			case meanOf:
				return "MeanBackward0"
			case sumOf:
				return "SumBackward0"
			}
			return pick(values(args)).l.last + "Backward0"
		},
	})
}

// gradient is the input's gradient in one pass, by an operator of ours.
func (l *elementLoss) gradient(g, x, t *T, how int, p float64) *T {
	b := tensor.NewCall(l.gradientOp, 5)
	*b.Arg(0), *b.Arg(1), *b.Arg(2) = tensor.TensorValue(g), tensor.TensorValue(x), tensor.TensorValue(t)
	*b.Arg(3), *b.Arg(4) = tensor.IntValue(how), tensor.FloatValue(p)
	return b.Do1()
}

// registerGradient declares the operator behind gradient.
func registerGradient(name string, l *elementLoss) {
	l.gradientOp = tensor.Slot("gotorch::" + name)
	tensor.Register(tensor.Def{
		Schema: "gotorch::" + name + "(Tensor grad_output, Tensor self, Tensor target, int reduction, float p) -> Tensor",
		Doc:    "is the gradient of a loss for the input; p is the loss's parameter.",
		Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			dt := c.ArgDType(1)
			c.WantDType(1, tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16)
			c.WantDType(2, dt)
			c.WantShape(2, c.Shape(1)...)
			allocGradient(c, c.Int(3), dt)
		},
		CPU: func(c *Ctx) { l.backward(c.Out(0), c.T(0), c.T(1), c.T(2), c.Int(3), c.Float(4)) },
	})
}

func init() {
	registerGradient("l1_loss_backward", l1Loss)
	registerGradient("binary_cross_entropy_with_logits_backward", bceLogitsLoss)
	registerGradient("kl_div_backward", klLoss)
	registerGradient("kl_div_log_target_backward", klLogLoss)
	registerGradient("hinge_embedding_loss_backward", hingeLoss)
	registerGradient("poisson_nll_loss_backward", poissonLoss)
	registerGradient("poisson_nll_loss_log_input_backward", poissonLogLoss)

	accept := func(*Ctx, float64) {}
	always := func(l *elementLoss) func(float64) *elementLoss { return func(float64) *elementLoss { return l } }
	leaf("mse_loss", "", "mse_cpu", "is the squared difference of self and target, reduced (0: not, 1: mean, 2: sum).",
		false, accept, always(mseLoss))
	leaf("smooth_l1_loss", "beta", "smooth_l1_cpu",
		"is 0.5*d²/beta where the difference d of self and target is below beta, |d| - 0.5*beta elsewhere, reduced "+
			"(0: not, 1: mean, 2: sum).", false,
		func(c *Ctx, beta float64) {
			if beta < 0 {
				c.Fail(tensor.ErrValue, "smooth_l1_loss does not support negative values for beta.")
			}
		},
		func(beta float64) *elementLoss {
			if beta == 0 { // no quadratic part
				return l1Loss
			}
			return smoothL1Loss
		})
	leaf("huber_loss", "delta", "huber_cpu",
		"is 0.5*d² where the difference d of self and target is at most delta, delta*(|d| - 0.5*delta) elsewhere, "+
			"reduced (0: not, 1: mean, 2: sum).", true,
		func(c *Ctx, delta float64) {
			if !(delta > 0) {
				c.Fail(tensor.ErrValue, "huber_loss does not support non-positive values for delta.")
			}
		}, always(huberLoss))
	leaf("soft_margin_loss", "", "soft_margin_loss",
		"is log(1 + exp(-target*self)) for targets of 1 and -1, reduced (0: not, 1: mean, 2: sum).", true, accept,
		always(softMarginLoss))

	composedLoss("l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
		"is the absolute difference of self and target, reduced (0: not, 1: mean, 2: sum).", true, 2,
		func(c *Ctx) *T { return l1Loss.composed(c.T(0), c.T(1), 0) },
		func(arguments) choice { return choice{l: l1Loss} })
	composedLoss("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
		"is the Kullback-Leibler divergence target * (log(target) - self) of log-probabilities self from "+
			"probabilities target, or from their logarithms (log_target), reduced (0: not, 1: mean, 2: sum).", false, 2,
		func(c *Ctx) *T { return klDiv(c.T(0), c.T(1), c.Bool(3)) },
		func(a arguments) choice {
			if a.Value(3).N != 0 {
				return choice{l: klLogLoss}
			}
			return choice{l: klLoss}
		})
	composedLoss("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor",
		"is self where target is 1, and max(0, margin-self) where target is -1, reduced (0: not, 1: mean, 2: sum).",
		false, 3,
		func(c *Ctx) *T {
			if dt := c.ArgDType(0); dt.IsIntOrBool() && c.Int(3) == meanOf {
				c.Fail(tensor.ErrNotImpl, "mean(): could not infer output dtype. Input dtype must be either a floating "+
					"point or complex dtype. Got: %s", dt.ClassName())
			}
			return hingeEmbedding(c.T(0), c.T(1), c.Float(2))
		},
		func(a arguments) choice { return choice{hingeLoss, a.Value(2).Num().F} })
	composedLoss("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor",
		"is the negative log-likelihood of counts target from a Poisson distribution whose rate is input, or "+
			"exp(input) with log_input, reduced (0: not, 1: mean, 2: sum).", false, 5,
		func(c *Ctx) *T { return poissonNLL(c.T(0), c.T(1), c.Bool(2), c.Bool(3), c.Float(4)) },
		func(a arguments) choice {
			switch {
			case a.Value(3).N != 0: // the term of the target alone is left to the body
				return choice{}
			case a.Value(2).N != 0:
				return choice{l: poissonLogLoss}
			}
			return choice{poissonLoss, a.Value(4).Num().F}
		})
	registerCrossEntropies()
}

// registerCrossEntropies declares the binary cross entropies, which have weights.
func registerCrossEntropies() {
	// each is the unreduced gradient: that of the reduced loss, divided by their number for a mean
	each := func(g *T, how, n int) *T {
		if how == meanOf {
			return g.DivScalar(n)
		}
		return g
	}
	times := func(g, w *T) *T {
		if w == nil {
			return g
		}
		return g.Mul(w)
	}
	tensor.Register(tensor.Def{
		Schema: "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
		Go:     "-", Out: true,
		Doc: "is -weight * (target*log(self) + (1-target)*log(1-self)) of probabilities self and targets between 0 " +
			"and 1, with logarithms of at least -100, reduced (0: not, 1: mean, 2: sum).",
		Infer: func(c *Ctx) {
			x, t := c.T(0), c.T(1)
			if !x.DType().IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "binary_cross_entropy", x.DType())
			}
			if x.DType() != t.DType() {
				c.Fail(tensor.ErrDType, "Found dtype %s but expected %s", t.DType().ClassName(), x.DType().ClassName())
			}
			if w := c.T(2); w != nil {
				sh := tensor.BroadcastShapes(x.Shape(), t.Shape())
				if all := tensor.BroadcastShapes(sh, w.Shape()); !tensor.SameShape(all, sh) {
					c.Fail(tensor.ErrShape, "output with shape %s doesn't match the broadcast shape %s",
						tensor.ShapeString(sh), tensor.ShapeString(all))
				}
			}
			elementInfer(c, "binary_cross_entropy", c.Int(3), c.PromoteArgs(0, 1))
		},
		CPU: func(c *Ctx) {
			x, t, w, how := c.T(0), c.T(1), c.T(2), c.Int(3)
			if w == nil {
				bceLoss.forward(c, c.Out(0), x, t, how, 0)
				return
			}
			y := tensor.New(tensor.BroadcastShapes(x.Shape(), t.Shape()), x.DType())
			bceLoss.forward(c, y, x, t, none, 0)
			tensor.CopyRaw(c.Out(0), reduce(y.Mul(w.Detach()), how))
		},
		Save: "self target weight",
		VJP: func(c *Ctx, g *T) []*T {
			x, t, w, how := c.T(0), c.T(1), c.T(2), c.Int(3)
			r := make([]*T, 3)
			if c.Needs(0) {
				r[0] = op.Call1("aten::binary_cross_entropy_backward", g, x, t, w, how)
			}
			if c.Needs(1) { // infinite at 0 and 1, as in PyTorch
				r[1] = times(each(g, how, x.Numel()).Mul(x.Neg().Log1p().Sub(x.Log())), w)
			}
			if w != nil && c.Needs(2) {
				r[2] = each(g, how, x.Numel()).Mul(op.Call1("aten::binary_cross_entropy", x, t, (*T)(nil), none))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor", Go: "-",
		Doc: "is the gradient of binary_cross_entropy for the input.",
		Infer: func(c *Ctx) {
			dt := c.ArgDType(1)
			if !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "binary_cross_entropy_backward", dt)
			}
			for _, i := range []int{0, 2, 3} {
				if c.Has(i) && c.ArgDType(i) != dt {
					c.Fail(tensor.ErrDType, "Found dtype %s but expected %s for argument '%s'", c.ArgDType(i).ClassName(),
						dt.ClassName(), c.Op().Sch.Params[i].Name)
				}
			}
			allocGradient(c, c.Int(4), dt)
			c.WantBroadcast(3, tensor.BroadcastShapes(c.Shape(1), c.Shape(2)))
		},
		CPU: func(c *Ctx) {
			g, w := c.T(0), c.T(3)
			if w != nil {
				g = g.Detach().Mul(w.Detach())
			}
			bceLoss.backward(c.Out(0), g, c.T(1), c.T(2), c.Int(4), 0)
		},
		Save: "grad_output self target weight",
		VJP: func(c *Ctx, u *T) []*T {
			g, x, t, w := c.T(0), c.T(1), c.T(2), c.T(3)
			r := make([]*T, 4)
			if c.Needs(0) {
				r[0] = u.Mul(op.Call1("aten::binary_cross_entropy_backward", op.Full(g, g.Shape(), 1, g.DType()), x, t, w,
					c.Int(4)))
			}
			if c.Needs(1) || c.Needs(2) {
				const eps = 1e-12 // as in PyTorch
				q := x.AddScalar(eps).Mul(x.RsubScalar(1 + eps))
				s := times(u.Mul(perElement(c, 4)), w).Div(q)
				if c.Needs(1) { // s · (x² - 2xt + t)/q
					r[1] = s.Mul(x.Mul(x.Sub(t.MulScalar(2))).Add(t)).Div(q)
				}
				r[2] = s.Neg()
			}
			if w != nil && c.Needs(3) {
				r[3] = u.Mul(op.Call1("aten::binary_cross_entropy_backward", c.T(0), c.T(1), c.T(2), (*T)(nil),
					c.Int(4)))
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor", Go: "-", Out: true,
		Doc: "is binary_cross_entropy of sigmoid(self), computed without overflow; pos_weight weighs the first of " +
			"the two terms. The result is reduced (0: not, 1: mean, 2: sum).",
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(1); !dt.IsFloat() && c.ArgDType(0).IsFloat() {
				c.Fail(tensor.ErrDType, "result type %s can't be cast to the desired output type %s",
					c.ArgDType(0).ClassName(), dt.ClassName())
			}
			if dt := c.ArgDType(0); !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "log_sigmoid_cpu", dt)
			}
			for i := 2; i < 4; i++ {
				if c.Has(i) && !tensor.CanCast(c.ArgDType(i), c.ArgDType(1)) {
					c.Fail(tensor.ErrDType, "result type %s can't be cast to the desired output type %s",
						tensor.PromoteTypes(c.ArgDType(i), c.ArgDType(0)).ClassName(), c.ArgDType(1).ClassName())
				}
			}
			elementInfer(c, "binary_cross_entropy_with_logits", c.Int(4), c.ArgDType(1))
			for i := 2; i < 4; i++ {
				c.WantBroadcast(i, tensor.BroadcastShapes(c.Shape(0), c.Shape(1)))
			}
		},
		CPU: func(c *Ctx) {
			x, t, w, pos, how := c.T(0), c.T(1), c.T(2), c.T(3), c.Int(4)
			exact := c.Out(0).DType().Size() > 2 // 16 bits are rounded after each operator
			if w == nil && pos == nil && exact {
				bceLogitsLoss.forward(c, c.Out(0), x, t, how, 0)
				return
			}
			detached := func(x *T) *T {
				if x == nil {
					return nil
				}
				return x.Detach()
			}
			var y *T
			if pos == nil && exact {
				y = tensor.New(tensor.BroadcastShapes(x.Shape(), t.Shape()), c.Out(0).DType())
				bceLogitsLoss.forward(c, y, x, t, none, 0)
				y = y.Mul(w.Detach())
			} else {
				y = bceLogits(x.Detach(), t.Detach(), detached(w), detached(pos))
			}
			tensor.CopyRaw(c.Out(0), reduce(y, how))
		},
		Save: "self target weight pos_weight",
		VJP: func(c *Ctx, g *T) []*T {
			x, t, w, pos, how := c.T(0), c.T(1), c.T(2), c.T(3), c.Int(4)
			r := make([]*T, 4)
			if w == nil && pos == nil && !c.Needs(1) && !tensor.IsGradEnabled() && x.DType() == t.DType() &&
				tensor.SameShape(x.Shape(), t.Shape()) {
				r[0] = bceLogitsLoss.gradient(g, x, t, how, 0)
				return r
			}
			g = each(g, how, max(1, tensor.Size(tensor.BroadcastShapes(x.Shape(), t.Shape())).Numel()))
			if c.Needs(0) {
				var d *T
				if pos == nil {
					d = x.Sigmoid().Sub(t)
				} else {
					p := pos.Mul(t)
					d = p.AddScalar(1).Sub(t).Mul(x.Sigmoid()).Sub(p)
				}
				r[0] = times(d.Mul(g), w)
			}
			if c.Needs(1) {
				d := x.Neg()
				if pos != nil {
					d = d.Sub(pos.SubScalar(1).Mul(x.LogSigmoid()))
				}
				r[1] = times(d.Mul(g), w)
			}
			if w != nil && c.Needs(2) {
				r[2] = g.Mul(bceLogits(x, t, nil, pos))
			}
			if pos != nil && c.Needs(3) {
				r[3] = times(t.Mul(x.LogSigmoid()).Neg().Mul(g), w)
			}
			return r
		},
	})
}
