package loss

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

type real interface{ float32 | float64 }

// reals are the vector kernels of an element type.
type reals[E real] struct {
	add, sub, mul, div                          func(dst, a, b []E)
	neg, sign, exp, log, log1p                  func(dst, a []E)
	sigmoid, logSigmoid, reciprocal             func(dst, a []E)
	addScalar, mulScalar, rsub, atMost, atLeast func(dst, a []E, s E)
	clamp                                       func(dst, a []E, lo, hi E)
	bent                                        func(dst, a, b []E, limit, square, slope E)
	min, max                                    func(a []E) E
	sum                                         func(a []E) float64
}

// unit reports whether all of a lie between 0 and 1, as NaN does not.
func (v *reals[E]) unit(a []E) bool { return v.min(a) >= 0 && v.max(a) <= 1 }

var (
	reals32 = reals[float32]{vec.AddF32, vec.SubF32, vec.MulF32, vec.DivF32, vec.NegF32, vec.SignF32, vec.ExpF32,
		vec.LogF32, vec.Log1pF32,
		vec.SigmoidF32, vec.LogSigmoidF32, vec.ReciprocalF32, vec.AddScalarF32, vec.MulScalarF32, vec.RSubScalarF32,
		vec.MinimumScalarF32, vec.MaximumScalarF32,
		vec.ClampF32, vec.HuberErrorF32, vec.MinF32, vec.MaxF32, vec.SumF32As64}
	reals64 = reals[float64]{vec.AddF64, vec.SubF64, vec.MulF64, vec.DivF64, vec.NegF64, vec.SignF64, vec.ExpF64,
		vec.LogF64, vec.Log1pF64,
		vec.SigmoidF64, vec.LogSigmoidF64, vec.ReciprocalF64, vec.AddScalarF64, vec.MulScalarF64, vec.RSubScalarF64,
		vec.MinimumScalarF64, vec.MaximumScalarF64,
		vec.ClampF64, vec.HuberErrorF64, vec.MinF64, vec.MaxF64, vec.SumF64}
)

// elementKernel computes n values from n pairs of elements x and t and the loss's parameter p; tmp is room for n
// values.
type elementKernel[E real] func(v *reals[E], dst, x, t, tmp []E, p E)

// elementKernels are a loss's values and their derivatives by the input.
type elementKernels[E real] struct{ each, slope elementKernel[E] }

// total makes a sum of one that accepts every input and has no parameter.
func total(f func(x, t []float32) float64) func(x, t []float32, p float64) (float64, bool) {
	return func(x, t []float32, _ float64) (float64, bool) { return f(x, t), true }
}

// withoutParameter makes a back of one that has no parameter.
func withoutParameter(f func(dst, x, t []float32, s float32)) func(dst, x, t []float32, s float32, p float64) {
	return func(dst, x, t []float32, s float32, _ float64) { f(dst, x, t, s) }
}

var (
	mseLoss = &elementLoss{sum: total(vec.SquaredErrorF32),
		bend:     func(float64) bend { return bend{limit: math.Inf(1), square: 1, s: 2} },
		composed: func(x, t *T, _ float64) *T { return x.Sub(t).Square() }}
	l1Loss = &elementLoss{last: "Abs", sum: total(vec.AbsErrorF32), back: withoutParameter(vec.AbsErrorGradF32),
		bend:     func(float64) bend { return bend{slope: 1} },
		composed: func(x, t *T, _ float64) *T { return x.Sub(t).Abs() }}
	smoothL1Loss = &elementLoss{
		bend:     func(beta float64) bend { return bend{limit: beta, square: 0.5 / beta, slope: 1, s: 1 / beta} },
		composed: smoothL1,
		curvature: func(x, t *T, beta float64) *T {
			return x.Sub(t).AbsInPlace().LtScalar(beta).ToDType(x.DType()).DivScalarInPlace(beta)
		}}
	huberLoss = &elementLoss{
		bend:     func(delta float64) bend { return bend{limit: delta, square: 0.5, slope: delta, s: 1} },
		composed: huber,
		curvature: func(x, t *T, delta float64) *T {
			return x.Sub(t).AbsInPlace().LeScalar(delta).ToDType(x.DType())
		}}
	bceLoss = &elementLoss{unit: true,
		f32:      elementKernels[float32]{entropyOf[float32], entropySlope[float32]},
		f64:      elementKernels[float64]{entropyOf[float64], entropySlope[float64]},
		sum:      func(x, t []float32, _ float64) (float64, bool) { return vec.CrossEntropyF32(x, t) },
		back:     withoutParameter(vec.CrossEntropyGradF32),
		composed: func(x, t *T, _ float64) *T { return bce(x, t) }}
	bceLogitsLoss = &elementLoss{sum: total(vec.LogitEntropyF32), back: withoutParameter(vec.LogitEntropyGradF32),
		f32:      elementKernels[float32]{logitEntropy[float32], logitEntropySlope[float32]},
		f64:      elementKernels[float64]{logitEntropy[float64], logitEntropySlope[float64]},
		composed: func(x, t *T, _ float64) *T { return bceLogits(x, t, nil, nil) }}
	klLoss = &elementLoss{last: "Sub", sum: total(vec.DivergenceF32),
		f32:      elementKernels[float32]{divergence[float32], divergenceSlope[float32]},
		f64:      elementKernels[float64]{divergence[float64], divergenceSlope[float64]},
		back:     func(dst, _, t []float32, s float32, _ float64) { vec.MulScalarF32(dst, t, -s) },
		composed: func(x, t *T, _ float64) *T { return klDiv(x, t, false) }}
	klLogLoss = &elementLoss{last: "Mul", sum: total(vec.LogDivergenceF32),
		f32:      elementKernels[float32]{logDivergence[float32], logDivergenceSlope[float32]},
		f64:      elementKernels[float64]{logDivergence[float64], logDivergenceSlope[float64]},
		back:     func(dst, x, t []float32, s float32, _ float64) { vec.LogDivergenceGradF32(dst, x, t, -s) },
		composed: func(x, t *T, _ float64) *T { return klDiv(x, t, true) }}
	softMarginLoss = &elementLoss{rounds: true,
		f32:      elementKernels[float32]{softMarginOf[float32], softMarginSlope[float32]},
		f64:      elementKernels[float64]{softMarginOf[float64], softMarginSlope[float64]},
		composed: func(x, t *T, _ float64) *T { return softMargin(x, t) }}
	poissonLogLoss = &elementLoss{last: "Sub",
		f32:      elementKernels[float32]{poissonLog[float32], poissonLogSlope[float32]},
		f64:      elementKernels[float64]{poissonLog[float64], poissonLogSlope[float64]},
		composed: func(x, t *T, _ float64) *T { return poissonNLL(x, t, true, false, 0) }}
	poissonLoss = &elementLoss{last: "Sub",
		f32:      elementKernels[float32]{poisson[float32], poissonSlope[float32]},
		f64:      elementKernels[float64]{poisson[float64], poissonSlope[float64]},
		composed: func(x, t *T, eps float64) *T { return poissonNLL(x, t, false, false, eps) }}
	hingeLoss = &elementLoss{last: "Add", rounds: true,
		f32:      elementKernels[float32]{hinge[float32], hingeSlope[float32]},
		f64:      elementKernels[float64]{hinge[float64], hingeSlope[float64]},
		composed: hingeEmbedding}
)

func init() {
	for _, l := range []*elementLoss{mseLoss, l1Loss, smoothL1Loss, huberLoss} {
		l.completeBend()
	}
}

// bend describes a loss that is square*z² where z = |x-t| is up to limit, and slope*(z - limit/2) beyond: a parabola with straight ends.
// Its derivative is s*(x-t), the difference kept within limit; without a limit it is the sign of x-t.
type bend struct{ limit, square, slope, s float64 }

// completeBend derives the kernels of a loss from its bend.
func (l *elementLoss) completeBend() {
	l.f32, l.f64 = bent[float32](l.bend), bent[float64](l.bend)
	if l.sum == nil {
		l.sum = func(x, t []float32, p float64) (float64, bool) {
			b := l.bend(p)
			return vec.HuberF32(x, t, float32(b.limit), float32(b.square), float32(b.slope)), true
		}
	}
	if l.back == nil {
		l.back = func(dst, x, t []float32, s float32, p float64) {
			b := l.bend(p)
			vec.HuberGradF32(dst, x, t, float32(float64(s)*b.s), float32(b.limit))
		}
	}
}

// bent are the kernels of a loss that a bend describes.
func bent[E real](f func(p float64) bend) elementKernels[E] {
	return elementKernels[E]{
		each: func(v *reals[E], dst, x, t, _ []E, p E) {
			b := f(float64(p))
			v.bent(dst, x, t, E(b.limit), E(b.square), E(b.slope))
		},
		slope: func(v *reals[E], dst, x, t, _ []E, p E) {
			v.sub(dst, x, t)
			b := f(float64(p))
			if b.limit == 0 {
				v.sign(dst, dst)
				return
			}
			v.clamp(dst, dst, E(-b.limit), E(b.limit))
			v.mulScalar(dst, dst, E(b.s))
		},
	}
}

// each computes elements lo to hi of the losses o.
func (b bend) each(o, x, t *T, lo, hi int) {
	switch i := half.Index(o.DType()); {
	case i >= 0:
		k := [...]func(dst, a, b []uint16, limit, square, slope float32){vec.HuberErrorF16, vec.HuberErrorBF16}[i]
		k(op.Raw[uint16](o)[lo:hi], op.Raw[uint16](x)[lo:hi], op.Raw[uint16](t)[lo:hi], float32(b.limit),
			float32(b.square), float32(b.slope))
	case o.DType() == tensor.Float32:
		vec.HuberErrorF32(op.Raw[float32](o)[lo:hi], op.Raw[float32](x)[lo:hi], op.Raw[float32](t)[lo:hi],
			float32(b.limit), float32(b.square), float32(b.slope))
	default:
		vec.HuberErrorF64(op.Raw[float64](o)[lo:hi], op.Raw[float64](x)[lo:hi], op.Raw[float64](t)[lo:hi], b.limit,
			b.square, b.slope)
	}
}

// backward computes elements lo to hi of the input's gradients o from those of the losses, g.
func (b bend) backward(o, g, x, t *T, lo, hi int) {
	switch i := half.Index(o.DType()); {
	case i >= 0:
		k := [...]func(dst, grad, a, b []uint16, limit, s float32){vec.HuberErrorBackwardF16,
			vec.HuberErrorBackwardBF16}[i]
		k(op.Raw[uint16](o)[lo:hi], op.Raw[uint16](g)[lo:hi], op.Raw[uint16](x)[lo:hi], op.Raw[uint16](t)[lo:hi],
			float32(b.limit), float32(b.s))
	case o.DType() == tensor.Float32:
		vec.HuberErrorBackwardF32(op.Raw[float32](o)[lo:hi], op.Raw[float32](g)[lo:hi], op.Raw[float32](x)[lo:hi],
			op.Raw[float32](t)[lo:hi], float32(b.limit), float32(b.s))
	default:
		vec.HuberErrorBackwardF64(op.Raw[float64](o)[lo:hi], op.Raw[float64](g)[lo:hi], op.Raw[float64](x)[lo:hi],
			op.Raw[float64](t)[lo:hi], b.limit, b.s)
	}
}

// entropyOf is (t-1)*log(1-x) - t*log(x) with logarithms of at least -100.
func entropyOf[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.neg(dst, x)
	v.log1p(dst, dst)
	v.atLeast(dst, dst, -100)
	v.log(tmp, x)
	v.atLeast(tmp, tmp, -100)
	v.sub(tmp, dst, tmp) // log(1-x) - log(x)
	v.mul(tmp, tmp, t)
	v.sub(dst, tmp, dst)
}

func entropySlope[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.rsub(tmp, x, 1)
	v.mul(tmp, tmp, x)
	v.atLeast(tmp, tmp, 1e-12)
	v.sub(dst, x, t)
	v.div(dst, dst, tmp)
}

func logitEntropy[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.logSigmoid(tmp, x)
	v.rsub(dst, t, 1)
	v.mul(dst, dst, x)
	v.sub(dst, dst, tmp)
}

func logitEntropySlope[E real](v *reals[E], dst, x, t, _ []E, _ E) {
	v.sigmoid(dst, x)
	v.sub(dst, dst, t)
}

// divergence is t*(log(t) - x), 0 where t is.
func divergence[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.log(tmp, t)
	v.mul(tmp, tmp, t)
	for i, s := range t {
		if s == 0 {
			tmp[i] = 0
		}
	}
	v.mul(dst, t, x)
	v.sub(dst, tmp, dst)
}

func divergenceSlope[E real](v *reals[E], dst, _, t, _ []E, _ E) { v.neg(dst, t) }

func logDivergence[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.exp(tmp, t)
	v.sub(dst, t, x)
	v.mul(dst, dst, tmp)
}

func logDivergenceSlope[E real](v *reals[E], dst, _, t, _ []E, _ E) {
	v.exp(dst, t)
	v.neg(dst, dst)
}

func softMarginOf[E real](v *reals[E], dst, x, t, _ []E, _ E) {
	v.mul(dst, x, t)
	v.neg(dst, dst)
	v.exp(dst, dst)
	v.log1p(dst, dst)
}

// softMarginSlope is -t*sigmoid(-t*x).
func softMarginSlope[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.neg(tmp, t)
	v.mul(dst, x, tmp)
	v.sigmoid(dst, dst)
	v.mul(dst, dst, tmp)
}

func poissonLog[E real](v *reals[E], dst, x, t, tmp []E, _ E) {
	v.mul(tmp, t, x)
	v.exp(dst, x)
	v.sub(dst, dst, tmp)
}

func poissonLogSlope[E real](v *reals[E], dst, x, t, _ []E, _ E) {
	v.exp(dst, x)
	v.sub(dst, dst, t)
}

func poisson[E real](v *reals[E], dst, x, t, _ []E, eps E) {
	v.addScalar(dst, x, eps)
	v.log(dst, dst)
	v.mul(dst, dst, t)
	v.sub(dst, x, dst)
}

func poissonSlope[E real](v *reals[E], dst, x, t, _ []E, eps E) {
	v.addScalar(dst, x, eps)
	v.div(dst, t, dst)
	v.rsub(dst, dst, 1)
}

// hinge is x where t is not -1, plus max(0, margin-x) where it is not 1.
func hinge[E real](v *reals[E], dst, x, t, tmp []E, margin E) {
	v.rsub(tmp, x, margin)
	v.atLeast(tmp, tmp, 0)
	pick(dst, tmp, x, t)
}

func hingeSlope[E real](_ *reals[E], dst, x, t, tmp []E, margin E) {
	x = x[:len(tmp)]
	for i := range tmp {
		s := E(0)
		if margin-x[i] > 0 {
			s = -1
		}
		tmp[i] = s
	}
	for i, s := range t {
		one := E(1)
		if s == 1 {
			tmp[i] = 0
		}
		if s == -1 {
			one = 0
		}
		dst[i] = one + tmp[i]
	}
}

// pick is a where t is not 1, plus b where it is not -1.
func pick[E real](dst, a, b, t []E) {
	a, b, t = a[:len(dst)], b[:len(dst)], t[:len(dst)]
	for i, s := range t {
		u, w := a[i], b[i]
		if s == 1 {
			u = 0
		}
		if s == -1 {
			w = 0
		}
		dst[i] = u + w
	}
}
