package foreach

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

const noGrad = "PyTorch has no gradient of an optimizer's step"

func init() {
	for _, x := range []struct{ name, lr string }{{"", "float lr"}, {".tensor_lr", "Tensor lr"}} {
		for _, decoupled := range []bool{false, true} {
			name, doc := "adam", "https://arxiv.org/abs/1412.6980, with weight decay as a part of the gradient."
			if decoupled {
				name, doc = "adamw", "https://arxiv.org/abs/1711.05101, which is Adam with weight decay apart from "+
					"the gradient."
			}
			tensor.Register(tensor.Def{
				Schema: "_fused_" + name + "_" + x.name +
					"(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, " +
					"Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, " + x.lr +
					", float beta1, float beta2, float weight_decay, float eps, " +
					"bool amsgrad, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
				Doc:    "updates parameters by one step of " + doc,
				Go:     "-",
				Infer:  checkAdam,
				CPU:    func(c *Ctx) { adamStep(c, decoupled) },
				NoGrad: noGrad,
			})
		}
		tensor.Register(tensor.Def{
			Schema: "_fused_sgd_" + x.name +
				"(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, float weight_decay, " +
				"float momentum, " + x.lr +
				", float dampening, bool nesterov, bool maximize, bool is_first_step, Tensor? grad_scale=None, " +
				"Tensor? found_inf=None) -> ()",
			Doc: "updates parameters by one step of stochastic gradient descent. With is_first_step the momentum " +
				"begins with the gradient.",
			Go:     "-",
			Infer:  checkSGD,
			CPU:    sgdStep,
			NoGrad: noGrad,
		})
		steps := "Tensor(d!)[] state_steps"
		if x.name != "" {
			steps = "Tensor[] state_steps"
		}
		tensor.Register(tensor.Def{
			Schema: "_fused_adagrad_" + x.name + "(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, " +
				steps + ", *, " + x.lr + ", " +
				"float lr_decay, float weight_decay, float eps, bool maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()",
			Doc:    "updates parameters by one step of Adagrad, https://jmlr.org/papers/v12/duchi11a.html.",
			Go:     "-",
			Infer:  checkAdagrad,
			CPU:    adagradStep,
			NoGrad: noGrad,
		})
	}
}

// match refuses lists that do not go with the parameters: another length, or a tensor of another shape or dtype. The
// first list is that of the gradients, a list of counters has one element in each tensor.
func match(c *Ctx, counters int, lists ...int) {
	params := c.Tensors(0)
	for k, p := range params {
		if !p.DType().IsDifferentiable() {
			c.Fail(tensor.ErrDType, "parameter %d is %s: only floating-point and complex parameters can be optimized",
				k, p.DType())
		}
	}
	for _, i := range append(lists, counters) {
		if i == 0 {
			continue
		}
		l := c.Tensors(i)
		name := c.Op().Sch.Params[i].Name
		if len(l) != len(params) {
			c.Fail(tensor.ErrValue, "there are %d parameters and %d tensors in %s", len(params), len(l), name)
		}
		for k, t := range l {
			if t == nil || i == counters && t.Numel() != 1 || i != counters &&
				(t.DType() != params[k].DType() || !tensor.SameShape(t.Shape(), params[k].Shape())) {
				refuse(c, name, k, t, params[k], i == counters)
			}
		}
	}
}

// refuse says what is wrong with element k of a list.
func refuse(c *Ctx, name string, k int, t, p *T, counter bool) {
	switch {
	case t == nil:
		c.Fail(tensor.ErrType, "%s[%d] is None", name, k)
	case counter:
		c.Fail(tensor.ErrShape, "%s[%d] has shape %s, want one element", name, k, tensor.ShapeString(t.Shape()))
	case t.DType() != p.DType():
		c.Fail(tensor.ErrDType, "%s[%d] is %s, its parameter %s", name, k, t.DType(), p.DType())
	}
	c.Fail(tensor.ErrShape, "%s[%d] has shape %s, its parameter %s", name, k, tensor.ShapeString(t.Shape()),
		tensor.ShapeString(p.Shape()))
}

// skip reports that the gradients are not finite, as a gradient scaler has found: then a step changes nothing.
func skip(c *Ctx, found int) bool { return c.Has(found) && c.T(found).Num().F == 1 }

// counted is the number that a counter of steps holds.
func counted(t *T) float64 {
	if t.DType() == tensor.Float32 && t.Device().Type == tensor.CPUDevice {
		return float64(*(*float32)(tensor.Ptr(t)))
	}
	return t.Num().F
}

// scaleOf is what the gradients are to be divided by, 0 for nothing.
func scaleOf(c *Ctx, i int) float64 {
	if !c.Has(i) {
		return 0
	}
	return c.T(i).Num().F
}

// Arguments of aten::_fused_adam_ and aten::_fused_adamw_.
const (
	adamGrads = 1 + iota
	adamAvgs
	adamSquares
	adamMaxima
	adamSteps
	adamLR
	adamBeta1
	adamBeta2
	adamDecay
	adamEps
	adamAMSGrad
	adamMaximize
	adamScale
	adamFound
)

func checkAdam(c *Ctx) {
	maxima := 0
	if c.Bool(adamAMSGrad) {
		maxima = adamMaxima
	}
	match(c, adamSteps, adamGrads, adamAvgs, adamSquares, maxima)
}

func adamStep(c *Ctx, decoupled bool) {
	if skip(c, adamFound) {
		return
	}
	lr, wd, beta1, beta2 := c.Float(adamLR), c.Float(adamDecay), c.Float(adamBeta1), c.Float(adamBeta2)
	amsgrad := c.Bool(adamAMSGrad)
	h := hyper{decay: 1, beta1c: 1 - beta1, beta2: beta2, beta2c: 1 - beta2, eps: c.Float(adamEps),
		maximize: c.Bool(adamMaximize),
		scale:    scaleOf(c, adamScale), rule: plainAdam}
	if amsgrad {
		h.rule = amsgradAdam
	}
	if decoupled {
		h.decay = 1 - lr*wd
	} else {
		h.l2 = wd
	}
	grads, m, v, most, steps := c.Tensors(adamGrads), c.Tensors(adamAvgs), c.Tensors(adamSquares),
		c.Tensors(adamMaxima), c.Tensors(adamSteps)
	b := batches.Get().(*batch)
	last := math.NaN() // nearly always all parameters have the same count: they share what is worked out from it
	at := &h
	for i, p := range c.Tensors(0) {
		if step := counted(steps[i]); step != last {
			if i > 0 {
				next := h
				at = &next
			}
			at.step = lr / (1 - math.Pow(beta1, step))
			at.corr = math.Sqrt(1 - math.Pow(beta2, step))
			last = step
		}
		if amsgrad {
			b.add(p, grads[i], at, m[i], v[i], most[i])
		} else {
			b.add(p, grads[i], at, m[i], v[i])
		}
	}
	b.run()
}

// Arguments of aten::_fused_sgd_.
const (
	sgdGrads = 1 + iota
	sgdBuffers
	sgdDecay
	sgdMomentum
	sgdLR
	sgdDampening
	sgdNesterov
	sgdMaximize
	sgdFirst
	sgdScale
	sgdFound
)

func checkSGD(c *Ctx) {
	buffers := 0
	if c.Float(sgdMomentum) != 0 {
		buffers = sgdBuffers
	}
	match(c, 0, sgdGrads, buffers)
}

func sgdStep(c *Ctx) {
	if skip(c, sgdFound) {
		return
	}
	h := hyper{lr: c.Float(sgdLR), l2: c.Float(sgdDecay), momentum: c.Float(sgdMomentum),
		damp:     1 - c.Float(sgdDampening),
		maximize: c.Bool(sgdMaximize), scale: scaleOf(c, sgdScale), rule: momentumSGD}
	switch {
	case h.momentum == 0:
		h.rule = plainSGD
	case c.Bool(sgdNesterov):
		h.rule = nesterovSGD
	}
	if c.Bool(sgdFirst) {
		// The first step takes the gradient undamped: from a cleared buffer that is momentum·0 + 1·d.
		h.fresh, h.damp = true, 1
	}
	grads, buffers := c.Tensors(sgdGrads), c.Tensors(sgdBuffers)
	b := batches.Get().(*batch)
	for i, p := range c.Tensors(0) {
		if h.momentum == 0 {
			b.add(p, grads[i], &h)
		} else {
			b.add(p, grads[i], &h, buffers[i])
		}
	}
	b.run()
}

// Arguments of aten::_fused_adagrad_.
const (
	gradGrads = 1 + iota
	gradSums
	gradSteps
	gradLR
	gradLRDecay
	gradDecay
	gradEps
	gradMaximize
	gradScale
	gradFound
)

func checkAdagrad(c *Ctx) { match(c, gradSteps, gradGrads, gradSums) }

func adagradStep(c *Ctx) {
	if skip(c, gradFound) {
		return
	}
	h := hyper{l2: c.Float(gradDecay), eps: c.Float(gradEps), maximize: c.Bool(gradMaximize),
		scale: scaleOf(c, gradScale), rule: adagrad}
	grads, sums, steps := c.Tensors(gradGrads), c.Tensors(gradSums), c.Tensors(gradSteps)
	b := batches.Get().(*batch)
	for i, p := range c.Tensors(0) {
		own := h
		own.lr = c.Float(gradLR) / (1 + (counted(steps[i])-1)*c.Float(gradLRDecay))
		b.add(p, grads[i], &own, sums[i])
	}
	b.run()
}
