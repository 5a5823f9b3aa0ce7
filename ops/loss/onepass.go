package loss

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Losses of pairs of elements in one pass: forward reads input and target once and writes nothing but their sum, backward reads them once
// more. They serve float32 tensors of one shape that are reduced to one number; the composed forms serve all else, gradients of
// gradients among it.

// pairGrain is the number of elements of a task. It is fixed, so that a sum has the same bits on any number of threads.
const pairGrain = 32 * 1024

// pairLoss is one such loss. p is its parameter: beta of smooth_l1_loss, delta of huber_loss.
type pairLoss struct {
	name, grad string // the operator's and, in autograd's graph, the gradient's
	amp        tensor.AMPClass
	// sum is that of a run of elements; ok is false where the input is refused.
	sum func(x, t []float32, p float64) (s float64, ok bool)
	// back writes the input's gradient, s being that of the sum.
	back func(dst, x, t []float32, s float32, p float64)
	// mirrored says that the target's gradient is that of the input with the other sign; else a target with gradient is left to the
	// composed form.
	mirrored bool
	composed func(c *Ctx, x, t *T, p float64) *T
}

// total makes a sum of one that refuses nothing and has no parameter.
func total(f func(x, t []float32) float64) func(x, t []float32, p float64) (float64, bool) {
	return func(x, t []float32, _ float64) (float64, bool) { return f(x, t), true }
}

func plainBack(f func(dst, x, t []float32, s float32)) func(dst, x, t []float32, s float32, p float64) {
	return func(dst, x, t []float32, s float32, _ float64) { f(dst, x, t, s) }
}

var (
	mseLoss = &pairLoss{name: "_mse_loss", grad: "MseLossBackward0", sum: total(vec.SquaredErrorF32), mirrored: true,
		back:     func(dst, x, t []float32, s float32, _ float64) { vec.SquaredErrorGradF32(dst, x, t, 2*s) },
		composed: func(_ *Ctx, x, t *T, _ float64) *T { return x.Sub(t).Square() }}
	l1Loss = &pairLoss{name: "_l1_loss", grad: "MeanBackward0", sum: total(vec.AbsErrorF32), mirrored: true, back: plainBack(vec.AbsErrorGradF32),
		composed: func(_ *Ctx, x, t *T, _ float64) *T { return x.Sub(t).Abs() }}
	smoothL1Loss = &pairLoss{name: "_smooth_l1_loss", grad: "SmoothL1LossBackward0", mirrored: true,
		sum: func(x, t []float32, beta float64) (float64, bool) {
			return vec.HuberF32(x, t, float32(beta), float32(0.5/beta), 1), true
		},
		back: func(dst, x, t []float32, s float32, beta float64) {
			vec.HuberGradF32(dst, x, t, float32(float64(s)/beta), float32(beta))
		},
		composed: smoothL1}
	huberLoss = &pairLoss{name: "_huber_loss", grad: "HuberLossBackward0", mirrored: true,
		sum: func(x, t []float32, delta float64) (float64, bool) {
			return vec.HuberF32(x, t, float32(delta), 0.5, float32(delta)), true
		},
		back:     func(dst, x, t []float32, s float32, delta float64) { vec.HuberGradF32(dst, x, t, s, float32(delta)) },
		composed: huber}
	bceLoss = &pairLoss{name: "_binary_cross_entropy_sum", grad: "BinaryCrossEntropyBackward0", amp: tensor.AMPBanned,
		sum:      func(x, t []float32, _ float64) (float64, bool) { return vec.CrossEntropyF32(x, t) },
		back:     plainBack(vec.CrossEntropyGradF32),
		composed: func(c *Ctx, x, t *T, _ float64) *T { return bce(c, x, t, nil) }}
	bceLogitsLoss = &pairLoss{name: "_binary_cross_entropy_with_logits", grad: "BinaryCrossEntropyWithLogitsBackward0", sum: total(vec.LogitEntropyF32), back: plainBack(vec.LogitEntropyGradF32),
		composed: func(c *Ctx, x, t *T, _ float64) *T { return bceLogits(c, x, t, nil, nil) }}
	klLoss = &pairLoss{name: "_kl_div", grad: "MeanBackward0", sum: total(vec.DivergenceF32),
		back:     func(dst, _, t []float32, s float32, _ float64) { vec.MulScalarF32(dst, t, -s) },
		composed: func(_ *Ctx, x, t *T, _ float64) *T { return klDiv(x, t, false) }}
	klLogLoss = &pairLoss{name: "_kl_div_log", grad: "MeanBackward0", sum: total(vec.LogDivergenceF32),
		back:     func(dst, x, t []float32, s float32, _ float64) { vec.LogDivergenceGradF32(dst, x, t, -s) },
		composed: func(_ *Ctx, x, t *T, _ float64) *T { return klDiv(x, t, true) }}
)

var pairLosses = []*pairLoss{mseLoss, l1Loss, smoothL1Loss, huberLoss, bceLoss, bceLogitsLoss, klLoss, klLogLoss}

// reduced is the loss, reduced: in one pass where that is possible.
func (l *pairLoss) reduced(c *Ctx, x, t *T, p float64, how int) *T {
	f32 := x.DType() == tensor.Float32 && t.DType() == tensor.Float32
	if how == none || !f32 || x.Numel() == 0 || !tensor.SameShape(x.Shape(), t.Shape()) || !l.mirrored && t.RequiresGrad() && tensor.IsGradEnabled() {
		return reduce(l.composed(c, x, t, p), how)
	}
	return op1("aten::"+l.name, x, t, how, p)
}

// The following take the first two arguments as input and target.

func smoothL1Reduced(c *Ctx, beta float64, how int) *T {
	if beta <= 0 { // without a quadratic part, or refused
		return reduce(smoothL1(c, c.T(0), c.T(1), beta), how)
	}
	return smoothL1Loss.reduced(c, c.T(0), c.T(1), beta, how)
}

func huberReduced(c *Ctx, delta float64, how int) *T {
	if !(delta > 0) {
		return reduce(huber(c, c.T(0), c.T(1), delta), how)
	}
	return huberLoss.reduced(c, c.T(0), c.T(1), delta, how)
}

func bceReduced(c *Ctx, w *T, how int) *T {
	if w != nil {
		return reduce(bce(c, c.T(0), c.T(1), w), how)
	}
	return bceLoss.reduced(c, c.T(0), c.T(1), 0, how)
}

func bceLogitsReduced(c *Ctx, w, pos *T, how int) *T {
	if w != nil || pos != nil {
		return reduce(bceLogits(c, c.T(0), c.T(1), w, pos), how)
	}
	return bceLogitsLoss.reduced(c, c.T(0), c.T(1), 0, how)
}

func klReduced(c *Ctx, logTarget bool, how int) *T {
	l := klLoss
	if logTarget {
		l = klLogLoss
	}
	return l.reduced(c, c.T(0), c.T(1), 0, how)
}

// pairScale is the factor of the sum.
func pairScale(how, n int) float64 {
	if how == meanOf {
		return 1 / float64(n)
	}
	return 1
}

func (l *pairLoss) forward(c *Ctx) {
	x, t, p := raw[float32](c.T(0).Dense()), raw[float32](c.T(1).Dense()), c.Float(3)
	n := len(x)
	parts, bad := make([]float64, (n+pairGrain-1)/pairGrain), make([]bool, (n+pairGrain-1)/pairGrain)
	par.For(n, pairGrain, func(lo, hi int) {
		s, ok := l.sum(x[lo:hi], t[lo:hi], p)
		parts[lo/pairGrain], bad[lo/pairGrain] = s, !ok
	})
	sum := 0.0
	for i, s := range parts {
		if bad[i] {
			c.Fail(tensor.ErrValue, "all elements of input should be between 0 and 1")
		}
		sum += s
	}
	if c.Int(2) == meanOf {
		sum /= float64(n)
	}
	raw[float32](c.Out(0))[0] = float32(sum)
}

func (l *pairLoss) backward(c *Ctx) {
	x, t, dst := raw[float32](c.T(1).Dense()), raw[float32](c.T(2).Dense()), raw[float32](c.Out(0))
	s, p := float32(c.T(0).Num().F*pairScale(c.Int(3), len(x))), c.Float(4)
	par.For(len(x), pairGrain, func(lo, hi int) { l.back(dst[lo:hi], x[lo:hi], t[lo:hi], s, p) })
}

func (l *pairLoss) vjp(c *Ctx, g *T) []*T {
	x, t, how := c.T(0), c.T(1), c.Int(2)
	r := make([]*T, 2)
	if tensor.IsGradEnabled() { // recorded itself: the composed form's
		x, t = x.AliasView(), t.AliasView()
		in := []*T{x}
		if c.Needs(1) {
			in = []*T{x, t}
		}
		d := tensor.Grad([]*T{reduce(l.composed(c, x, t, c.Float(3)), how)}, in, tensor.GradOptions{GradOutputs: []*T{g}, CreateGraph: true, AllowUnused: true})
		copy(r, d)
		return r
	}
	r[0] = op1("aten::"+l.name+"_backward", g, x, t, how, c.Float(3))
	if c.Needs(1) {
		r[1] = r[0].Neg()
	}
	return r
}

func init() {
	for _, l := range pairLosses {
		tensor.Register(tensor.Def{
			Schema: l.name + "(Tensor self, Tensor target, int reduction, float p) -> Tensor",
			Doc:    "is the loss of its name in one pass, reduced to one number.",
			Go:     "-", AMP: l.amp, Grad: l.grad,
			Infer: func(c *Ctx) { c.Alloc(0, nil, tensor.Float32) },
			CPU:   l.forward,
			Save:  "self target",
			VJP:   l.vjp,
		})
		tensor.Register(tensor.Def{
			Schema: l.name + "_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float p) -> Tensor",
			Doc:    "is the gradient of self.",
			Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
			Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), tensor.Float32) },
			CPU:   l.backward,
		})
	}
}
