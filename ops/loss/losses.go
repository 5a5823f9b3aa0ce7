package loss

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// where chooses by a mask; b is a number.
func where(mask, a *T, b float64) *T { return op.Call1("aten::where.self", mask, a, number(a, b)) }

// number is a 0-d tensor of like's dtype.
func number(like *T, v float64) *T {
	t := tensor.New(nil, like.DType())
	tensor.CopyRaw(t, tensor.Alias(tensor.FromSlice([]float64{v}), nil, nil, 0))
	return t
}

func smoothL1(c *Ctx, x, y *T, beta float64) *T {
	if beta < 0 {
		c.Fail(tensor.ErrValue, "smooth_l1_loss does not support negative values for beta.")
	}
	z := x.Sub(y).Abs()
	if beta == 0 {
		return z
	}
	return op.Call1("aten::where.self", z.Detach().LtScalar(beta), z.Mul(z).MulScalar(0.5).DivScalar(beta), z.SubScalar(0.5*beta))
}

func huber(c *Ctx, x, y *T, delta float64) *T {
	if !(delta > 0) {
		c.Fail(tensor.ErrValue, "huber_loss does not support non-positive values for delta.")
	}
	z := x.Sub(y).Abs()
	return op.Call1("aten::where.self", z.Detach().LeScalar(delta), z.Mul(z).MulScalar(0.5), z.SubScalar(0.5*delta).MulScalar(delta))
}

func bce(c *Ctx, x, t, w *T) *T {
	if !tensor.SameShape(x.Shape(), t.Shape()) {
		c.Fail(tensor.ErrValue, "Using a target size (torch.Size(%s)) that is different to the input size (torch.Size(%s)) is deprecated. Please ensure they have the same size.", tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
	}
	y := op.Call1("aten::_binary_cross_entropy", x, t)
	if w != nil {
		y = y.Mul(w)
	}
	return y
}

func bceLogits(c *Ctx, x, t, w, pos *T) *T {
	if !tensor.SameShape(x.Shape(), t.Shape()) {
		c.Fail(tensor.ErrValue, "Target size (torch.Size(%s)) must be the same as input size (torch.Size(%s))", tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
	}
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
	if logTarget {
		return t.Exp().Mul(t.Sub(x))
	}
	return op.Call1("aten::xlogy.Tensor", t, t).Sub(t.Mul(x))
}

func softMargin(x, t *T) *T { return x.Mul(t.Neg()).Exp().Log1p() }

func marginRanking(c *Ctx, a, b, t *T, margin float64) *T {
	if a.Dim() != b.Dim() || a.Dim() != t.Dim() {
		c.Fail(tensor.ErrShape, "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: torch.Size(%s), input2: torch.Size(%s), target: torch.Size(%s) ",
			tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()), tensor.ShapeString(t.Shape()))
	}
	return t.Neg().Mul(a.Sub(b)).AddScalar(margin).ClampMin(0)
}

func hingeEmbedding(x, t *T, margin float64) *T {
	m := x.RsubScalar(margin).ClampMin(0)
	return where(t.NeScalar(1), m, 0).Add(where(t.NeScalar(-1), x, 0))
}

func cosineEmbedding(c *Ctx, a, b, t *T, margin float64) *T {
	switch {
	case t.Dim() > 1:
		c.Fail(tensor.ErrShape, "0D or 1D target tensor expected, multi-target not supported")
	case t.Dim() == 1 && (a.Dim() != 2 || b.Dim() != 2):
		c.Fail(tensor.ErrShape, "1D target tensor expects 2D input tensors, but found inputs with sizes %s and %s.", tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
	case t.Dim() == 0 && (a.Dim() != 1 || b.Dim() != 1):
		c.Fail(tensor.ErrShape, "0D target tensor expects 1D input tensors, but found inputs with sizes %s and %s.", tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
	}
	d := []int{t.Dim()}
	dot := a.Mul(b).SumDim(d)
	cos := dot.Div(a.Mul(a).SumDim(d).AddScalar(1e-12).Mul(b.Mul(b).SumDim(d).AddScalar(1e-12)).Sqrt())
	return where(t.EqScalar(1), cos.RsubScalar(1), 0).Add(where(t.EqScalar(-1), cos.SubScalar(margin).ClampMin(0), 0))
}

func pairwise(a, b *T, p, eps float64, keep bool) *T {
	nd := max(a.Dim(), b.Dim())
	return op.Call1("aten::linalg_vector_norm", a.Sub(b).AddScalar(eps), p, []int{max(0, nd-1)}, keep)
}

func triplet(c *Ctx, a, pos, neg *T, margin, p, eps float64, swap bool) *T {
	if a.Dim() != pos.Dim() || pos.Dim() != neg.Dim() {
		c.Fail(tensor.ErrShape, "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs", a.Dim(), pos.Dim(), neg.Dim())
	}
	dp, dn := pairwise(a, pos, p, eps, false), pairwise(a, neg, p, eps, false)
	if swap {
		dn = dn.Minimum(pairwise(pos, neg, p, eps, false))
	}
	return dp.AddScalar(margin).Sub(dn).ClampMin(0)
}

// oneHot marks the target class of each sample: [N, C].
func oneHot(c *Ctx, t *T, classes int) *T {
	ix := make([]int64, classes)
	for i := range ix {
		ix[i] = int64(i)
	}
	for _, v := range op.Raw[int64](tensor.DenseAs(t, tensor.Int64)) {
		if v < 0 || v >= int64(classes) {
			c.Fail(tensor.ErrIndex, "target out of range")
		}
	}
	return tensor.FromSlice(ix).Eq(t.Reshape([]int{t.Numel(), 1}))
}

// samplesOfClasses is the shape of the scores x of multi-class margins: a vector is one sample.
func samplesOfClasses(x *T) (n, classes int) {
	if x.Dim() == 2 {
		return x.Size(0), x.Size(1)
	}
	return 1, x.Numel()
}

// needScores refuses scores without a class, and needLong targets that are not classes.
func needScores(c *Ctx, x *T) {
	if nd := x.Dim(); nd > 2 || nd > 0 && x.Size(nd-1) == 0 {
		c.Fail(tensor.ErrShape, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s", tensor.ShapeString(x.Shape()))
	}
}

func needLong(c *Ctx, t *T) {
	if t.DType() != tensor.Int64 {
		c.Fail(tensor.ErrDType, "expected scalar type Long but found %s", t.DType().ClassName())
	}
}

func multiMargin(c *Ctx, x, t *T, p, margin float64, w *T) *T {
	if p != 1 && p != 2 {
		c.Fail(tensor.ErrValue, "only p == 1 and p == 2 supported")
	}
	if w != nil && w.Dim() != 1 {
		c.Fail(tensor.ErrValue, "weight must be one-dimensional")
	}
	needScores(c, x)
	n, classes := samplesOfClasses(x)
	shape := t.Shape()
	if t.Dim() > 1 || t.Numel() != n {
		c.Fail(tensor.ErrShape, "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). Expected target size [%d], but got %s. Input has shape %s.",
			n, tensor.ShapeString(shape), tensor.ShapeString(x.Shape()))
	}
	if w != nil && w.Numel() != classes {
		c.Fail(tensor.ErrShape, "inconsistent weight size, expected %d but got %s", classes, tensor.ShapeString(w.Shape()))
	}
	needLong(c, t)
	mask := oneHot(c, t, classes)
	m := x.Reshape([]int{n, classes})
	at := t.Reshape([]int{n, 1})
	xt := op.Call1("aten::gather", m, 1, at, false)
	z := m.Sub(xt).AddScalar(margin).ReLU()
	if p == 2 {
		z = z.Square()
	}
	if w != nil {
		z = z.Mul(op.Call1("aten::gather", w.Reshape([]int{1, classes}).Expand([]int{n, classes}), 1, at, false))
	}
	z = op.Call1("aten::where.self", mask, number(z, 0), z)
	return z.SumDim([]int{1}).DivScalar(classes).Reshape(shape)
}

func multilabelSoftMargin(c *Ctx, x, t, w *T) *T {
	var y *T
	if tensor.SameShape(x.Shape(), t.Shape()) { // log(sigmoid(-x)) is log(sigmoid(x)) - x
		y = bceLogitsLoss.reduced(c, x, t, 0, none)
	} else {
		y = t.Mul(x.LogSigmoid()).Add(t.RsubScalar(1).Mul(x.Neg().LogSigmoid())).Neg()
	}
	if w != nil {
		y = y.Mul(w)
	}
	d := x.Dim() - 1
	return y.SumDim([]int{d}).DivScalar(x.Size(d))
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
		y = y.Add(where(t.GtScalar(1), s, 0))
	}
	return y
}

// anyBelow reports whether a value of x is below limit.
func anyBelow(x *T, limit float64) bool {
	if x.DType() == tensor.Float32 && x.IsContiguous() {
		// NaN would hide what else there is: it is looked at one by one
		if m := vec.MinF32(op.Raw[float32](x)); m == m {
			return float64(m) < limit
		}
	}
	for _, s := range op.Raw[float64](tensor.DenseAs(x, tensor.Float64)) {
		if s < limit {
			return true
		}
	}
	return false
}

func gaussianNLL(c *Ctx, x, t, v *T, full bool, eps float64) *T {
	if anyBelow(v, 0) {
		c.Fail(tensor.ErrValue, "var has negative entry/entries")
	}
	if !tensor.SameShape(v.Shape(), x.Shape()) && v.Dim() > 0 {
		nd := x.Dim()
		ones := 0
		if v.Dim() == nd {
			for i, s := range x.Shape() {
				if s != v.Size(i) {
					if ones++; v.Size(i) != 1 {
						ones = 9
					}
				}
			}
		}
		switch {
		case nd > 0 && tensor.SameShape(x.Shape()[:nd-1], v.Shape()):
			v = v.Reshape(append(append([]int(nil), v.Shape()...), 1))
		case ones != 1:
			c.Fail(tensor.ErrShape, "var is of incorrect size")
		}
	}
	// the lower bound is no part of the gradient
	low := v.Detach()
	v = v.Add(low.ClampMin(eps).Sub(low))
	y := v.Log().Add(x.Sub(t).Square().Div(v)).MulScalar(0.5)
	if full {
		y = y.AddScalar(0.5 * math.Log(2*math.Pi))
	}
	return y
}

// aten declares an operator of aten whose argument how is the reduction.
//
//gen:aten
func aten(schema, doc string, how int, f func(c *Ctx) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Go: "-", Out: true, Body: func(c *Ctx) { c.Return(reduce(f(c), c.Int(how))) }})
}

// reduced is aten for losses that see to their reduction.
//
//gen:reduced
func reduced(schema, doc string, how int, f func(c *Ctx, how int) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Go: "-", Out: true, Body: func(c *Ctx) { c.Return(f(c, c.Int(how))) }})
}

// functionalReduced is functional for them.
//
//gen:functionalReduced
func functionalReduced(schema, doc string, oldA, oldB, text int, f func(c *Ctx, how int) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) { c.Return(f(c, reduction(c, oldA, oldB, text))) }})
}

// functional declares a function of torch.nn.functional; text is the position of reduction, old that of size_average and reduce (0: none).
//
//gen:functional
func functional(schema, doc string, oldA, oldB, text int, f func(c *Ctx) *T) {
	if oldA == 0 {
		oldA = -1
	}
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		how := reduction(c, oldA, oldB, text)
		c.Return(reduce(f(c), how))
	}})
}

const page = "https://pytorch.org/docs/stable/nn.functional.html#loss-functions"

func init() {
	tensor.Register(tensor.Def{
		Schema: "_binary_cross_entropy(Tensor self, Tensor target) -> Tensor", Go: "-",
		Doc: "is -(t*log(x) + (1-t)*log(1-x)) with logarithms of at least -100.",
		Infer: func(c *Ctx) {
			x, t := c.T(0), c.T(1)
			if !x.DType().IsFloat() {
				c.Fail(tensor.ErrNotImpl, "\"binary_cross_entropy\" not implemented for '%s'", x.DType().ClassName())
			}
			if x.DType() != t.DType() {
				c.Fail(tensor.ErrDType, "Found dtype %s but expected %s", t.DType().ClassName(), x.DType().ClassName())
			}
			c.Alloc(0, x.Shape(), x.DType())
		},
		CPU: func(c *Ctx) {
			x, t := c.T(0).Detach(), c.T(1).Detach()
			for _, v := range op.Raw[float64](tensor.DenseAs(x, tensor.Float64)) {
				if !(v >= 0 && v <= 1) {
					c.Fail(tensor.ErrValue, "all elements of input should be between 0 and 1")
				}
			}
			tensor.CopyRaw(c.Out(0), t.SubScalar(1).Mul(x.Neg().Log1p().ClampMin(-100)).Sub(t.Mul(x.Log().ClampMin(-100))))
		},
		Save: "self target",
		VJP: func(c *Ctx, g *T) []*T {
			x, t := c.T(0), c.T(1)
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.Mul(x.Sub(t)).Div(x.RsubScalar(1).Mul(x).ClampMin(1e-12))
			}
			if c.Needs(1) {
				r[1] = g.Mul(x.Neg().Log1p().Sub(x.Log())) // infinite at 0 and 1, as in PyTorch
			}
			return r
		},
		Grad: "BinaryCrossEntropyBackward0",
		AMP:  tensor.AMPBanned,
	})
	reduced("smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor", "is quadratic for differences below beta, linear above.", 2,
		func(c *Ctx, how int) *T { return smoothL1Reduced(c, c.Float(3), how) })
	reduced("huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor", "is quadratic for differences up to delta, linear above.", 2,
		func(c *Ctx, how int) *T { return huberReduced(c, c.Float(3), how) })
	reduced("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor", "is the cross entropy of probabilities and targets between 0 and 1.", 3,
		func(c *Ctx, how int) *T { return bceReduced(c, c.T(2), how) })
	reduced("binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor", "is the cross entropy of logits and targets between 0 and 1.", 4,
		func(c *Ctx, how int) *T { return bceLogitsReduced(c, c.T(2), c.T(3), how) })
	reduced("kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor", "is target * (log(target) - self).", 2,
		func(c *Ctx, how int) *T { return klReduced(c, c.Bool(3), how) })
	reduced("soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "is log(1 + exp(-target*self)).", 2,
		func(c *Ctx, how int) *T { return softMarginLoss.reduced(c, c.T(0), c.T(1), 0, how) })
	aten("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor", "is max(0, -target*(input1-input2) + margin).", 4,
		func(c *Ctx) *T { return marginRanking(c, c.T(0), c.T(1), c.T(2), c.Float(3)) })
	reduced("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor", "is x where the target is 1, max(0, margin-x) where it is -1.", 3,
		func(c *Ctx, how int) *T { return hingeLoss.reduced(c, c.T(0), c.T(1), c.Float(2), how) })
	aten("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor", "is 1-cos where the target is 1, max(0, cos-margin) where it is -1.", 4,
		func(c *Ctx) *T { return cosineEmbedding(c, c.T(0), c.T(1), c.T(2), c.Float(3)) })
	aten("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, int reduction=1) -> Tensor", "is max(0, d(a,p) - d(a,n) + margin).", 7,
		func(c *Ctx) *T {
			return triplet(c, c.T(0), c.T(1), c.T(2), c.Float(3), c.Float(4), c.Float(5), c.Bool(6))
		})
	aten("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor", "is the mean over classes of max(0, margin - x[target] + x)^p.", 5,
		func(c *Ctx) *T { return multiMargin(c, c.T(0), c.T(1), c.Num(2).F, c.Num(3).F, c.T(4)) })
	aten("multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", "is the hinge loss between listed and other classes.", 2,
		func(c *Ctx) *T { return multilabelMargin(c, c.T(0), c.T(1)) })
	reduced("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor", "is the negative log-likelihood of Poisson counts.", 5,
		func(c *Ctx, how int) *T { return poissonReduced(c, c.Bool(2), c.Bool(3), c.Float(4), how) })

	functionalReduced("F::smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', float beta=1.0) -> Tensor", "is quadratic for differences below beta, linear above.\n"+page, 2, 3, 4,
		func(c *Ctx, how int) *T { return smoothL1Reduced(c, c.Float(5), how) })
	tensor.Register(tensor.Def{
		Schema: "F::huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
		Doc:    "is quadratic for differences up to delta, linear above.\n" + page,
		Body: func(c *Ctx) {
			how, each := reduction(c, -1, -1, 2), func(how int) *T { return huberReduced(c, c.Float(3), how) }
			if c.Has(4) { // unlike mse_loss and l1_loss it divides by the number of losses, not by the sum of their weights
				c.Return(reduce(weighted(c, c.T(0), c.T(4), none, each), how))
				return
			}
			c.Return(each(how))
		},
	})
	functionalReduced("F::binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is the cross entropy of probabilities and targets between 0 and 1.\n"+page, 3, 4, 5,
		func(c *Ctx, how int) *T { return bceReduced(c, c.T(2), how) })
	functionalReduced("F::binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor", "is the cross entropy of logits and targets between 0 and 1.\n"+page, 3, 4, 5,
		func(c *Ctx, how int) *T { return bceLogitsReduced(c, c.T(2), c.T(6), how) })
	tensor.Register(tensor.Def{
		Schema: "F::kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', bool log_target=False) -> Tensor",
		Doc:    "is the Kullback-Leibler divergence of log-probabilities (input) from target; reduction batchmean divides by the batch size.\n" + page,
		Body: func(c *Ctx) {
			if c.Str(4) == "batchmean" && !c.Has(2) && !c.Has(3) {
				y := klReduced(c, c.Bool(5), sumOf)
				if c.T(0).Dim() > 0 {
					y = y.DivScalar(c.T(0).Size(0))
				}
				c.Return(y)
				return
			}
			c.Return(klReduced(c, c.Bool(5), reduction(c, 2, 3, 4)))
		},
	})
	functionalReduced("F::soft_margin_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is log(1 + exp(-target*input)).\n"+page, 2, 3, 4,
		func(c *Ctx, how int) *T { return softMarginLoss.reduced(c, c.T(0), c.T(1), 0, how) })
	functional("F::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is max(0, -target*(input1-input2) + margin).\n"+page, 4, 5, 6,
		func(c *Ctx) *T { return marginRanking(c, c.T(0), c.T(1), c.T(2), c.Float(3)) })
	functionalReduced("F::hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is x where the target is 1, max(0, margin-x) where it is -1.\n"+page, 3, 4, 5,
		func(c *Ctx, how int) *T { return hingeLoss.reduced(c, c.T(0), c.T(1), c.Float(2), how) })
	functional("F::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is 1-cos where the target is 1, max(0, cos-margin) where it is -1.\n"+page, 4, 5, 6,
		func(c *Ctx) *T { return cosineEmbedding(c, c.T(0), c.T(1), c.T(2), c.Float(3)) })
	functional("F::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is max(0, d(a,p) - d(a,n) + margin).\n"+page, 7, 8, 9,
		func(c *Ctx) *T {
			if c.Float(3) <= 0 {
				c.Fail(tensor.ErrValue, "margin must be greater than 0, got %s", pyfmt.Float(c.Float(3)))
			}
			return triplet(c, c.T(0), c.T(1), c.T(2), c.Float(3), c.Float(4), c.Float(5), c.Bool(6))
		})
	functional("F::triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *, Any? distance_function=None, float margin=1.0, bool swap=False, str reduction='mean') -> Tensor", "is the triplet loss with a distance func(a, b *tensor.Tensor) *tensor.Tensor (nil: Euclidean).\n"+page, 0, 0, 6,
		func(c *Ctx) *T {
			if c.Float(4) <= 0 {
				c.Fail(tensor.ErrValue, "margin must be greater than 0, got %s", pyfmt.Float(c.Float(4)))
			}
			d, ok := c.Any(3).(func(a, b *T) *T)
			if !ok || d == nil {
				d = func(a, b *T) *T { return pairwise(a, b, 2, 1e-6, false) }
			}
			a, p, n := c.T(0), c.T(1), c.T(2)
			if a.Dim() != p.Dim() || p.Dim() != n.Dim() {
				c.Fail(tensor.ErrShape, "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs", a.Dim(), p.Dim(), n.Dim())
			}
			dp, dn := d(a, p), d(a, n)
			if c.Bool(5) {
				dn = dn.Minimum(d(p, n))
			}
			return dp.AddScalar(c.Float(4)).Sub(dn).ClampMin(0)
		})
	functional("F::multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is the mean over classes of max(0, margin - x[target] + x)^p.\n"+page, 5, 6, 7,
		func(c *Ctx) *T { return multiMargin(c, c.T(0), c.T(1), float64(c.Int(2)), c.Float(3), c.T(4)) })
	functional("F::multilabel_margin_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is the hinge loss between listed and other classes.\n"+page, 2, 3, 4,
		func(c *Ctx) *T { return multilabelMargin(c, c.T(0), c.T(1)) })
	functional("F::multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor", "is the mean over classes of the binary cross entropy of logits.\n"+page, 3, 4, 5,
		func(c *Ctx) *T { return multilabelSoftMargin(c, c.T(0), c.T(1), c.T(2)) })
	functionalReduced("F::poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, bool? size_average=None, float eps=1e-08, bool? reduce=None, str reduction='mean') -> Tensor", "is the negative log-likelihood of Poisson counts.\n"+page, 4, 6, 7,
		func(c *Ctx, how int) *T { return poissonReduced(c, c.Bool(2), c.Bool(3), c.Float(5), how) })
	tensor.Register(tensor.Def{
		Schema: "F::gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str reduction='mean') -> Tensor",
		Doc:    "is the negative log-likelihood of normal values with the given variances.\n" + page,
		Body: func(c *Ctx) {
			how, ok := reductions[c.Str(5)]
			if !ok {
				c.Fail(tensor.ErrValue, "%s is not valid", c.Str(5))
			}
			c.Return(reduce(gaussianNLL(c, c.T(0), c.T(1), c.T(2), c.Bool(3), c.Float(4)), how))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
		Doc:    "is the cosine of the angle between vectors along a dimension.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html",
		Body:   func(c *Ctx) { c.Return(cosineSimilarity(c, c.T(0), c.T(1), c.Int(2), c.Float(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
		Doc:    "is the norm of order p of the difference of vectors in the last dimension, to which eps is added.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html",
		Body:   func(c *Ctx) { c.Return(pairwise(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
		Doc:    "is the cosine of the angle between vectors along a dimension.",
		Body:   func(c *Ctx) { c.Return(cosineSimilarity(c, c.T(0), c.T(1), c.Int(2), c.Float(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
		Doc:    "is the norm of order p of the difference of vectors in the last dimension.",
		Body:   func(c *Ctx) { c.Return(pairwise(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))) },
	})
}
