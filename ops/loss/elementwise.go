package loss

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file computes losses that compare an input and a target element by element, among them mse_loss and kl_div. A
// loss and its reduction take one pass over the two tensors: a task reads a run of both that the first-level cache
// holds, computes the losses of the run, and adds them up; the losses themselves are stored for reduction "none" only.
// The gradient takes a second pass over the same tensors. elementwise_formulas.go holds the formulas,
// elementwise_ops.go the operators.

// elementGrain is the number of elements of a task. It does not depend on the number of threads, so that a sum has the
// same bits on any.
const elementGrain = 32 * 1024

// elementRun is the number of elements that a task works on at a time, small enough for operands and intermediate
// values to stay in the first-level cache.
const elementRun = 1024

// elementLoss is one such loss. Some have a parameter p: beta of smooth_l1_loss, delta of huber_loss, margin of
// hinge_embedding_loss, eps of poisson_nll_loss.
type elementLoss struct {
	// last names the last step before the reduction where PyTorch composes the loss: the gradient's node has the name
	// of the last step.
	last string
	f32  elementKernels[float32]
	f64  elementKernels[float64]
	// bend, unless nil, describes the loss in place of f32 and f64.
	bend func(p float64) bend
	// sum, unless nil, is the sum of the losses of a run of elements, and back the input's gradient times s. Both are
	// faster than the kernels in f32. ok is false where the loss refuses the input.
	sum  func(x, t []float32, p float64) (s float64, ok bool)
	back func(dst, x, t []float32, s float32, p float64)
	// unit refuses an input outside of 0 to 1.
	unit bool
	// rounds says that PyTorch computes 16-bit losses with several operators, each of which rounds to 16 bits. The
	// composed form computes those.
	rounds bool
	// gradientOp is the operator of ours that computes the input's gradient, of the losses for which PyTorch has none.
	gradientOp *tensor.Op
	// composed is the loss without reduction in public operators.
	composed func(x, t *T, p float64) *T
	// curvature is the second derivative of a loss that depends on the difference of x and t alone, in public
	// operators. Without it the composed loss is differentiated twice.
	curvature func(x, t *T, p float64) *T
}

// reductionScale is the factor of the sum.
func reductionScale(how, n int) float64 {
	if how == meanOf {
		return 1 / float64(n)
	}
	return 1
}

// runs calls f for pieces of the tensors of a task that fit the cache, with room for a result and for intermediate
// values: two runs of E. load gives n elements of a tensor from i on.
func runs[E real](lo, hi int, f func(i, n int, load func(v *T, slot int) []E, dst, tmp []E)) {
	buf := half.Borrow[E](5 * elementRun)
	defer half.Return(buf)
	b := *buf
	for i := lo; i < hi; i += elementRun {
		n := min(elementRun, hi-i)
		load := func(v *T, slot int) []E { return half.Load(v, i, b[(2+slot)*elementRun:][:n]) }
		f(i, n, load, b[:n], b[elementRun:][:n])
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

// operands gives a kernel the input and the target in one dtype and one shape, contiguous.
func operands(x, t *T) (_, _ *T) {
	dt := x.DType()
	if t.DType() != dt {
		dt = tensor.PromoteTypes(dt, t.DType())
	}
	if !tensor.SameShape(x.Shape(), t.Shape()) {
		sh := tensor.BroadcastShapes(x.Shape(), t.Shape())
		x, t = expandRaw(x, sh), expandRaw(t, sh)
	}
	return tensor.DenseAs(x, dt), tensor.DenseAs(t, dt)
}

// expandRaw is a view of t with a shape that t broadcasts to; it is not recorded.
func expandRaw(t *T, sh []int) *T {
	return tensor.Alias(t, sh, tensor.ExpandStrides(t, sh), t.StorageOffset())
}

// forward computes the losses of x and t, reduced, into o.
func (l *elementLoss) forward(c *Ctx, o, x, t *T, how int, p float64) {
	x, t = operands(x, t)
	if x.DType() != o.DType() { // input and target differ: the loss of the promoted type is converted
		wide := tensor.New(o.Shape(), x.DType())
		l.forward(c, wide, x, t, how, p)
		tensor.CopyRaw(o, wide)
		return
	}
	switch {
	case l.rounds && x.DType().Size() == 2:
		tensor.CopyRaw(o, reduce(l.composed(x.Detach(), t.Detach(), p), how))
	case x.DType() == tensor.Float64:
		elementForward(c, l, &l.f64, &reals64, o, x, t, how, p)
	default:
		elementForward(c, l, &l.f32, &reals32, o, x, t, how, p)
	}
}

func elementForward[E real](c *Ctx, l *elementLoss, k *elementKernels[E], v *reals[E], out, x, t *T, how int,
	p float64) {
	o := out
	if !o.IsContiguous() {
		o = tensor.New(o.Shape(), o.DType())
	}
	n := x.Numel()
	parts, bad := make([]float64, (n+elementGrain-1)/elementGrain), make([]bool, (n+elementGrain-1)/elementGrain)
	fast := how != none && l.sum != nil && x.DType() != tensor.Float64
	par.For(n, elementGrain, func(lo, hi int) {
		at := lo / elementGrain
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
		if o != out {
			tensor.CopyRaw(out, o)
		}
		return
	case meanOf:
		sum /= float64(n)
	}
	setNumber(o, sum)
}

// backward computes the input's gradient into o. g is the gradient of the reduced loss, or that of each loss.
func (l *elementLoss) backward(o, g, x, t *T, how int, p float64) {
	x, t = operands(x, t)
	if !o.IsContiguous() || o.DType() != x.DType() {
		d := tensor.New(o.Shape(), x.DType())
		l.backward(d, g, x, t, how, p)
		tensor.CopyRaw(o, d)
		return
	}
	if x.DType() == tensor.Float64 {
		elementBackward(l, &l.f64, &reals64, o, g, x, t, how, p)
	} else {
		elementBackward(l, &l.f32, &reals32, o, g, x, t, how, p)
	}
}

func elementBackward[E real](l *elementLoss, k *elementKernels[E], v *reals[E], o, g, x, t *T, how int, p float64) {
	n := x.Numel()
	if n == 0 {
		return
	}
	one := g.Numel() == 1 && n > 1 || how != none && g.Numel() == 1 // a single gradient for all
	s := reductionScale(how, n)
	if one {
		s *= g.Num().F
	} else {
		g = tensor.DenseAs(expandRaw(g, x.Shape()), x.DType())
	}
	fast := one && l.back != nil && x.DType() == tensor.Float32
	par.For(n, elementGrain, func(lo, hi int) {
		if !one && s == 1 && l.bend != nil && l.bend(p).limit > 0 {
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
			if !one {
				v.mul(d, d, load(g, 2))
			}
			if one || s != 1 {
				v.mulScalar(d, d, E(s))
			}
			half.Store(o, i, d)
		})
	})
}
