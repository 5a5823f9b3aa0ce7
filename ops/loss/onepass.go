package loss

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Losses of pairs of elements in one pass: forward reads input and target once, backward reads them once more. They serve tensors of one
// shape and floating type; the composed forms serve all else, gradients of gradients among it.

// pairGrain is the number of elements of a task. It is fixed, so that a sum has the same bits on any number of threads.
const pairGrain = 32 * 1024

// pairRun is the number of elements that a task works on at a time, small enough for operands and intermediate values to stay in the
// first-level cache.
const pairRun = 1024

// pairLoss is one such loss. p is its parameter: beta of smooth_l1_loss, delta of huber_loss.
type pairLoss struct {
	name string
	// grad names the gradient in autograd's graph. It is empty where PyTorch composes the loss: there the name is that of the last step,
	// the reduction or, without one, last.
	grad, last string
	amp        tensor.AMPClass
	f32        pairKernels[float32]
	f64        pairKernels[float64]
	// bend, unless nil, describes the loss in place of f32 and f64.
	bend func(p float64) bend
	// sum, unless nil, is the sum of the losses of a run of elements and back the input's gradient times s, both faster than by f32; ok
	// is false where the input is refused.
	sum  func(x, t []float32, p float64) (s float64, ok bool)
	back func(dst, x, t []float32, s float32, p float64)
	// unit refuses an input outside of 0 to 1.
	unit bool
	// rounds says that PyTorch's 16-bit values are those of several operators, each of which rounds: the composed form computes them.
	rounds bool
	// mirrored says that the target's gradient is that of the input with the other sign; else a target with gradient is left to the
	// composed form.
	mirrored bool
	composed func(c *Ctx, x, t *T, p float64) *T
}

// reduced is the loss, reduced: in one pass where that is possible.
func (l *pairLoss) reduced(c *Ctx, x, t *T, p float64, how int) *T {
	if x.DType() != t.DType() || l.rounds && x.DType().Size() == 2 || !x.DType().IsFloat() || x.Numel() == 0 || !tensor.SameShape(x.Shape(), t.Shape()) || !l.mirrored && t.RequiresGrad() && tensor.IsGradEnabled() {
		return reduce(l.composed(c, x, t, p), how)
	}
	return op.Call1("aten::"+l.op(how), x, t, how, p)
}

// op is the name of the operator for a reduction. All have one, unless their gradients have different names.
func (l *pairLoss) op(how int) string {
	switch {
	case l.grad == "" && how == none:
		return l.name + "_none"
	case l.grad == "" && how == sumOf:
		return l.name + "_sum"
	}
	return l.name
}

// ops are the operators of the loss and the names of their gradients.
func (l *pairLoss) ops() map[string]string {
	if l.grad != "" {
		return map[string]string{l.name: l.grad}
	}
	return map[string]string{l.op(none): l.last + "Backward0", l.op(meanOf): "MeanBackward0", l.op(sumOf): "SumBackward0"}
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
		return reduce(bceLoss.reduced(c, c.T(0), c.T(1), 0, none).Mul(w), how)
	}
	return bceLoss.reduced(c, c.T(0), c.T(1), 0, how)
}

func bceLogitsReduced(c *Ctx, w, pos *T, how int) *T {
	switch {
	case pos != nil:
		return reduce(bceLogits(c, c.T(0), c.T(1), w, pos), how)
	case w != nil:
		return reduce(bceLogitsLoss.reduced(c, c.T(0), c.T(1), 0, none).Mul(w), how)
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

// poissonReduced leaves the term of the target alone to the composed form.
func poissonReduced(c *Ctx, logInput, full bool, eps float64, how int) *T {
	switch {
	case full:
		return reduce(poissonNLL(c.T(0), c.T(1), logInput, full, eps), how)
	case logInput:
		return poissonLogLoss.reduced(c, c.T(0), c.T(1), 0, how)
	}
	return poissonLoss.reduced(c, c.T(0), c.T(1), eps, how)
}

// pairScale is the factor of the sum.
func pairScale(how, n int) float64 {
	if how == meanOf {
		return 1 / float64(n)
	}
	return 1
}

// runs calls f for pieces of the tensors of a task that fit the cache, with room for a result and for intermediate values: two runs of
// E. load gives n elements of a tensor from i on.
func runs[E real](lo, hi int, f func(i, n int, load func(v *T, slot int) []E, dst, tmp []E)) {
	buf := half.Borrow[E](5 * pairRun)
	defer half.Return(buf)
	b := *buf
	for i := lo; i < hi; i += pairRun {
		n := min(pairRun, hi-i)
		load := func(v *T, slot int) []E { return half.Load(v, i, b[(2+slot)*pairRun:][:n]) }
		f(i, n, load, b[:n], b[pairRun:][:n])
	}
}

// setNumber sets a tensor of one number.
func setNumber(t *T, v float64) {
	if t.DType() == tensor.Float64 {
		op.Raw[float64](t)[0] = v
		return
	}
	f := []float32{float32(v)}
	if t.DType() == tensor.Float32 {
		op.Raw[float32](t)[0] = f[0]
	}
	half.Store(t, 0, f)
}

func (l *pairLoss) forward(c *Ctx) {
	if c.T(0).DType() == tensor.Float64 {
		pairForward(c, l, &l.f64, &reals64)
	} else {
		pairForward(c, l, &l.f32, &reals32)
	}
}

func pairForward[E real](c *Ctx, l *pairLoss, k *pairKernels[E], v *reals[E]) {
	x, t, o, how, p := tensor.Dense(c.T(0)), tensor.Dense(c.T(1)), c.Out(0), c.Int(2), c.Float(3)
	if !o.IsContiguous() {
		o = tensor.New(o.Shape(), o.DType())
	}
	n := x.Numel()
	parts, bad := make([]float64, (n+pairGrain-1)/pairGrain), make([]bool, (n+pairGrain-1)/pairGrain)
	fast := how != none && l.sum != nil && x.DType() != tensor.Float64
	par.For(n, pairGrain, func(lo, hi int) {
		at := lo / pairGrain
		total := func(a, b []float32) {
			s, ok := l.sum(a, b, p)
			parts[at] += s
			bad[at] = bad[at] || !ok || s != s && l.unit && !reals32.unit(a) // NaN is not between 0 and 1 either
		}
		switch {
		case how == none && l.bend != nil:
			l.bend(p).each(o, x, t, lo, hi)
			return
		case fast && x.DType() == tensor.Float32:
			total(op.Raw[float32](x)[lo:hi], op.Raw[float32](t)[lo:hi])
			return
		}
		runs(lo, hi, func(i, n int, load func(v *T, slot int) []E, dst, tmp []E) {
			a, b := load(x, 0), load(t, 1)
			if fast {
				total(any(a).([]float32), any(b).([]float32))
				return
			}
			if l.unit && !v.unit(a) {
				bad[at] = true
			}
			if how != none {
				k.each(v, dst, a, b, tmp, E(p))
				parts[at] += v.sum(dst)
				return
			}
			d := half.Place(o, i, dst)
			k.each(v, d, a, b, tmp, E(p))
			half.Store(o, i, d)
		})
	})
	sum := 0.0
	for i, s := range parts {
		if bad[i] {
			c.Fail(tensor.ErrValue, "all elements of input should be between 0 and 1")
		}
		sum += s
	}
	switch how {
	case none:
		if o != c.Out(0) {
			tensor.CopyRaw(c.Out(0), o)
		}
		return
	case meanOf:
		sum /= float64(n)
	}
	setNumber(o, sum)
}

func (l *pairLoss) backward(c *Ctx) {
	if c.T(1).DType() == tensor.Float64 {
		pairBackward(c, l, &l.f64, &reals64)
	} else {
		pairBackward(c, l, &l.f32, &reals32)
	}
}

func pairBackward[E real](c *Ctx, l *pairLoss, k *pairKernels[E], v *reals[E]) {
	x, t, o, how, p := tensor.Dense(c.T(1)), tensor.Dense(c.T(2)), c.Out(0), c.Int(3), c.Float(4)
	n := x.Numel()
	g, s := c.T(0), 0.0
	if how == none {
		g = tensor.DenseAs(g, x.DType())
	} else {
		s = g.Num().F * pairScale(how, n)
	}
	fast := how != none && l.back != nil && x.DType() == tensor.Float32
	par.For(n, pairGrain, func(lo, hi int) {
		if how == none && l.bend != nil && l.bend(p).limit > 0 {
			l.bend(p).backward(o, g, x, t, lo, hi)
			return
		}
		if fast {
			l.back(op.Raw[float32](o)[lo:hi], op.Raw[float32](x)[lo:hi], op.Raw[float32](t)[lo:hi], float32(s), p)
			return
		}
		runs(lo, hi, func(i, n int, load func(v *T, slot int) []E, dst, tmp []E) {
			d := half.Place(o, i, dst)
			k.slope(v, d, load(x, 0), load(t, 1), tmp, E(p))
			if how == none {
				v.mul(d, d, load(g, 2))
			} else {
				v.mulScalar(d, d, E(s))
			}
			half.Store(o, i, d)
		})
	})
}

func (l *pairLoss) vjp(c *Ctx, g *T) []*T {
	x, t, how := c.T(0), c.T(1), c.Int(2)
	if tensor.IsGradEnabled() {
		return op.Recorded(c, g, []*T{x, t}, func(in []*T) *T { return reduce(l.composed(c, in[0], in[1], c.Float(3)), how) })
	}
	r := make([]*T, 2)
	r[0] = op.Call1("aten::"+l.name+"_backward", g, x, t, how, c.Float(3))
	if c.Needs(1) {
		r[1] = r[0].Neg()
	}
	return r
}

func init() {
	for _, l := range pairLosses {
		if l.bend != nil {
			l.bends()
		}
		for name, grad := range l.ops() {
			tensor.Register(tensor.Def{
				Schema: name + "(Tensor self, Tensor target, int reduction, float p) -> Tensor",
				Doc:    "is the loss of its name in one pass.",
				Go:     "-", AMP: l.amp, Grad: grad,
				Infer: func(c *Ctx) {
					if c.Int(2) != none {
						c.Alloc(0, nil, c.ArgDType(0))
						return
					}
					c.AllocStrided(0, c.Shape(0), tensor.PermutedStrides(c.T(0)), c.ArgDType(0))
				},
				CPU:  l.forward,
				Save: "self target",
				VJP:  l.vjp,
			})
		}
		tensor.Register(tensor.Def{
			Schema: l.name + "_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float p) -> Tensor",
			Doc:    "is the gradient of self.",
			Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
			Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), c.ArgDType(1)) },
			CPU:   l.backward,
		})
	}
}
