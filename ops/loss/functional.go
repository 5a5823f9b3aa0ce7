package loss

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The loss functions of torch.nn.functional. Each does what Python's function does, in the same operators.

const (
	site         = "https://pytorch.org/docs/stable/generated/torch.nn.functional."
	reductionDoc = "reduction is \"mean\" (the default), \"sum\", or \"none\" for the losses themselves; sizeAverage " +
		"and reduce are its old form."
)

// expanded is torch.broadcast_tensors of input and target. Tensors of one shape are not touched while nobody looks on.
func expanded(c *Ctx) (x, t *T) {
	x, t = c.T(0), c.T(1)
	if same := tensor.SameShape(x.Shape(), t.Shape()); !same {
		tensor.Warn("Using a target size (torch.Size(%s)) that is different to the input size (torch.Size(%s)). This "+
			"will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
			tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
	} else if tensor.Unwatched() {
		return x, t
	}
	r := op.Call("aten::broadcast_tensors", []*T{x, t})
	return r[0], r[1]
}

// weigh multiplies unreduced losses by weights of the input's shape and reduces the products.
func weigh(c *Ctx, losses, w *T, how int, mean func(weighted *T) *T) *T {
	if !tensor.SameShape(w.Shape(), c.Shape(0)) {
		c.Fail(tensor.ErrShape, "Weights and input must have the same size, got weights of shape %s and an input of "+
			"shape %s", tensor.ShapeString(w.Shape()), tensor.ShapeString(c.Shape(0)))
	}
	y := losses.Mul(w)
	switch how {
	case meanOf:
		return mean(y)
	case sumOf:
		return y.Sum()
	}
	return y
}

// function declares a function of torch.nn.functional that hands its arguments to one operator; how reads its
// reduction.
//
//gen:function
func function(schema, doc string, how func(c *Ctx) int, f func(c *Ctx, how int) *T) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) { c.Return(f(c, how(c))) }})
}

// reductionAt reads the arguments size_average, reduce and reduction at these places.
func reductionAt(sizeAverage, reduce, text int) func(c *Ctx) int {
	return func(c *Ctx) int { return reduction(c, sizeAverage, reduce, text) }
}

func init() {
	function("F::mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
		"is the squared error (input - target)² of tensors that broadcast to one shape. With a weight of the input's "+
			"shape each error is multiplied by its weight, and the mean divides by the sum of the weights. "+
			reductionDoc+"\n"+site+"mse_loss.html", reductionAt(2, 3, 4),
		func(c *Ctx, how int) *T {
			x, t := expanded(c)
			w := c.T(5)
			if w == nil {
				return op.Call1("aten::mse_loss", x, t, how)
			}
			return weigh(c, x.Sub(t).PowScalar(2), w, how, func(y *T) *T { return y.Sum().Div(w.Sum()) })
		})
	function("F::l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
		"is the absolute error |input - target| of tensors that broadcast to one shape. With a weight of the input's "+
			"shape each error is multiplied by its weight, and the mean divides by the sum of the weights. "+
			reductionDoc+"\n"+site+"l1_loss.html", reductionAt(2, 3, 4),
		func(c *Ctx, how int) *T {
			x, t := expanded(c)
			w := c.T(5)
			if w == nil {
				return op.Call1("aten::l1_loss", x, t, how)
			}
			return weigh(c, x.Sub(t).Abs(), w, how, func(y *T) *T { return y.Sum().Div(w.Sum()) })
		})
	function("F::smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', float beta=1.0) -> Tensor",
		"is 0.5*d²/beta for differences d = |input - target| below beta, and d - 0.5*beta for others; input and "+
			"target broadcast to one shape. "+reductionDoc+"\n"+site+"smooth_l1_loss.html", reductionAt(2, 3, 4),
		func(c *Ctx, how int) *T {
			x, t := expanded(c)
			if c.Float(5) == 0 {
				return op.Call1("aten::l1_loss", x, t, how)
			}
			return op.Call1("aten::smooth_l1_loss", x, t, how, c.Float(5))
		})
	function("F::huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
		"is 0.5*d² for differences d = |input - target| up to delta, and delta*(d - 0.5*delta) for others; input and "+
			"target broadcast to one shape. With a weight of the input's shape each loss is multiplied by its weight; "+
			"unlike mse_loss, the mean divides by the number of losses. reduction is \"mean\" (the default), \"sum\" "+
			"or \"none\".\n"+site+"huber_loss.html", reductionAt(-1, -1, 2),
		func(c *Ctx, how int) *T {
			x, t := expanded(c)
			if w := c.T(4); w != nil {
				return weigh(c, op.Call1("aten::huber_loss", x, t, none, c.Float(3)), w, how,
					func(y *T) *T { return y.Mean() })
			}
			return op.Call1("aten::huber_loss", x, t, how, c.Float(3))
		})
	function("F::binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is -weight * (target*log(input) + (1-target)*log(1-input)) for probabilities input and targets of one "+
			"shape, both between 0 and 1; logarithms are at least -100. weight broadcasts to their shape. "+
			reductionDoc+"\n"+site+"binary_cross_entropy.html", reductionAt(3, 4, 5),
		func(c *Ctx, how int) *T {
			x, t, w := c.T(0), c.T(1), c.T(2)
			if !tensor.SameShape(x.Shape(), t.Shape()) {
				c.Fail(tensor.ErrValue, "Using a target size (torch.Size(%s)) that is different to the input size "+
					"(torch.Size(%s)) is deprecated. Please ensure they have the same size.",
					tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
			}
			if w != nil {
				w = w.Expand(tensor.BroadcastShapes(t.Shape(), w.Shape()))
			}
			return op.Call1("aten::binary_cross_entropy", x, t, w, how)
		})
	function("F::binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor",
		"is binary_cross_entropy of sigmoid(input), computed without overflow, for logits and targets of one shape. "+
			"weight multiplies the losses, posWeight the term of the positive examples; both broadcast. "+
			reductionDoc+"\n"+site+"binary_cross_entropy_with_logits.html", reductionAt(3, 4, 5),
		func(c *Ctx, how int) *T {
			x, t := c.T(0), c.T(1)
			if !tensor.SameShape(x.Shape(), t.Shape()) {
				c.Fail(tensor.ErrValue, "Target size (torch.Size(%s)) must be the same as input size (torch.Size(%s))",
					tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
			}
			return op.Call1("aten::binary_cross_entropy_with_logits", x, t, c.T(2), c.T(6), how)
		})
	function("F::kl_div(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', bool log_target=False) -> Tensor",
		"is the Kullback-Leibler divergence target*(log(target) - input) of log-probabilities input from "+
			"probabilities target of the same shape, or from their logarithms with logTarget. "+
			reductionDoc+" With \"batchmean\" the sum is divided by the size of the first dimension, as the "+
			"definition of the divergence has it.\n"+site+"kl_div.html",
		func(c *Ctx) int {
			if c.Str(4) == "batchmean" && !c.Has(2) && !c.Has(3) {
				return sumOf
			}
			how := reduction(c, 2, 3, 4)
			if how == meanOf {
				tensor.Warn("reduction: 'mean' divides the total loss by both the batch size and the support size. " +
					"'batchmean' divides only by the batch size, and aligns with the KL div math definition. " +
					"'mean' will be changed to behave the same as 'batchmean' in the next major release.")
			}
			return how
		},
		func(c *Ctx, how int) *T {
			y := op.Call1("aten::kl_div", c.T(0), c.T(1), how, c.Bool(5))
			if c.Str(4) == "batchmean" && c.T(0).Dim() > 0 {
				y = op.Call1("aten::div.Tensor", y, c.T(0).Size(0))
			}
			return y
		})
	function("F::soft_margin_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is log(1 + exp(-target*input)) for targets of 1 and -1. "+reductionDoc+"\n"+site+"soft_margin_loss.html",
		reductionAt(2, 3, 4),
		func(c *Ctx, how int) *T { return op.Call1("aten::soft_margin_loss", c.T(0), c.T(1), how) })
	function("F::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is max(0, -target*(input1-input2) + margin) for tensors with the same number of dimensions: target is 1 "+
			"where input1 should be the larger one, -1 where input2 should. "+
			reductionDoc+"\n"+site+"margin_ranking_loss.html", reductionAt(4, 5, 6),
		func(c *Ctx, how int) *T {
			a, b, t := c.T(0), c.T(1), c.T(2)
			if a.Dim() != b.Dim() || a.Dim() != t.Dim() {
				c.Fail(tensor.ErrShape, "margin_ranking_loss : All input tensors should have same dimension but got "+
					"sizes: input1: torch.Size(%s), input2: torch.Size(%s), target: torch.Size(%s) ",
					tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()), tensor.ShapeString(t.Shape()))
			}
			return op.Call1("aten::margin_ranking_loss", a, b, t, c.Float(3), how)
		})
	function("F::hinge_embedding_loss(Tensor input, Tensor target, float margin=1.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is input where target is 1, and max(0, margin-input) where target is -1: input is a distance of two things "+
			"that are alike or not. "+reductionDoc+"\n"+site+"hinge_embedding_loss.html", reductionAt(3, 4, 5),
		func(c *Ctx, how int) *T {
			return op.Call1("aten::hinge_embedding_loss", c.T(0), c.T(1), c.Float(2), how)
		})
	function("F::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is 1 - cos where target is 1, and max(0, cos - margin) where target is -1; cos is the cosine of the angle "+
			"between input1 and input2 [N, D] with a target [N], or [D] with a target []. "+
			reductionDoc+"\n"+site+"cosine_embedding_loss.html", reductionAt(4, 5, 6),
		func(c *Ctx, how int) *T {
			return op.Call1("aten::cosine_embedding_loss", c.T(0), c.T(1), c.T(2), c.Float(3), how)
		})
	function("F::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is max(0, d(anchor, positive) - d(anchor, negative) + margin) for tensors [N, D] or [D], with d the "+
			"pairwise_distance of order p. With swap, d(positive, negative) takes the place of d(anchor, negative) "+
			"where it is smaller. "+
			reductionDoc+"\n"+site+"triplet_margin_loss.html", reductionAt(7, 8, 9),
		func(c *Ctx, how int) *T {
			if c.Float(3) <= 0 {
				c.Fail(tensor.ErrValue, "margin must be greater than 0, got %s", pyfmt.Float(c.Float(3)))
			}
			return op.Call1("aten::triplet_margin_loss", c.T(0), c.T(1), c.T(2), c.Float(3), c.Float(4), c.Float(5),
				c.Bool(6), how)
		})
	function("F::triplet_margin_with_distance_loss(Tensor anchor, Tensor positive, Tensor negative, *, Any? distance_function=None, float margin=1.0, bool swap=False, str reduction='mean') -> Tensor",
		"is triplet_margin_loss with a distance of its own, a func(a, b *tensor.Tensor) *tensor.Tensor (nil: "+
			"pairwise_distance). reduction is \"mean\" (the default), \"sum\" or \"none\".\n"+
			site+"triplet_margin_with_distance_loss.html", reductionAt(-1, -1, 6),
		func(c *Ctx, how int) *T {
			if c.Float(4) <= 0 {
				c.Fail(tensor.ErrValue, "margin must be greater than 0, got %s", pyfmt.Float(c.Float(4)))
			}
			d, ok := c.Any(3).(func(a, b *T) *T)
			if !ok || d == nil {
				d = func(a, b *T) *T { return op.Call1("aten::pairwise_distance", a, b) }
			}
			a, p, n := c.T(0), c.T(1), c.T(2)
			sameDims(c, a, p, n)
			dp, dn := d(a, p), d(a, n)
			if c.Bool(5) {
				dn = dn.Minimum(d(p, n))
			}
			return reduce(op.Call1("aten::add.Tensor", dp, c.Float(4), 1).Sub(dn).ClampMinScalar(0), how)
		})
	function("F::multi_margin_loss(Tensor input, Tensor target, int p=1, float margin=1.0, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is the sum over all classes j but the target's of max(0, margin - input[target] + input[j])^p, divided by "+
			"the number of classes C, for scores [N, C] or [C] and class numbers [N] or []; p is 1 or 2. "+
			"weight [C] multiplies the terms of a target's class. "+reductionDoc+"\n"+site+"multi_margin_loss.html",
		reductionAt(5, 6, 7),
		func(c *Ctx, how int) *T {
			if p := c.Int(2); p != 1 && p != 2 {
				c.Fail(tensor.ErrValue, "only p == 1 and p == 2 supported")
			}
			if w := c.T(4); w != nil && w.Dim() != 1 {
				c.Fail(tensor.ErrValue, "weight must be one-dimensional")
			}
			return op.Call1("aten::multi_margin_loss", c.T(0), c.T(1), c.Int(2), c.Float(3), c.T(4), how)
		})
	function("F::multilabel_margin_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is the sum of max(0, 1 - input[k] + input[j]) over the listed classes k and the others j, divided by the "+
			"number of classes C, for scores [N, C] or [C]. Each row of target, of the same shape, lists class "+
			"numbers up to the first negative number. "+
			reductionDoc+"\n"+site+"multilabel_margin_loss.html", reductionAt(2, 3, 4),
		func(c *Ctx, how int) *T { return op.Call1("aten::multilabel_margin_loss", c.T(0), c.T(1), how) })
	function("F::multilabel_soft_margin_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
		"is the mean over the classes of the binary cross entropy of logits: -(target*log(sigmoid(input)) + "+
			"(1-target)*log(sigmoid(-input))), times weight [C], for input and target [N, C] or [C]. "+
			reductionDoc+"\n"+site+"multilabel_soft_margin_loss.html", reductionAt(3, 4, 5),
		func(c *Ctx, how int) *T { return reduce(multilabelSoftMargin(c.T(0), c.T(1), c.T(2)), how) })
	function("F::poisson_nll_loss(Tensor input, Tensor target, bool log_input=True, bool full=False, bool? size_average=None, float eps=1e-08, bool? reduce=None, str reduction='mean') -> Tensor",
		"is the negative log-likelihood of counts target from Poisson distributions, without the term that depends "+
			"on the target alone: exp(input) - target*input with logInput, which is the default, else input - "+
			"target*log(input+eps). "+
			"full adds Stirling's approximation of that term where the target is above 1. "+reductionDoc+"\n"+site+"poisson_nll_loss.html", reductionAt(4, 6, 7),
		func(c *Ctx, how int) *T {
			return op.Call1("aten::poisson_nll_loss", c.T(0), c.T(1), c.Bool(2), c.Bool(3), c.Float(5), how)
		})
	tensor.Register(tensor.Def{
		Schema: "F::gaussian_nll_loss(Tensor input, Tensor target, Tensor var, bool full=False, float eps=1e-06, str reduction='mean') -> Tensor",
		Doc: "is the negative log-likelihood 0.5*(log(var) + (input-target)²/var) of values target from normal " +
			"distributions with means input and variances var, which are at least eps; full adds 0.5*log(2π). " +
			"var has the input's shape, or 1 in its last dimension, or lacks that dimension; a negative variance is " +
			"an error. reduction is \"mean\" (the default), \"sum\" or \"none\".\n" + site +
			"gaussian_nll_loss.html",
		DataDependent: true, // it looks for negative variances
		Body: func(c *Ctx) {
			how, ok := reductions[c.Str(5)]
			if !ok {
				c.Fail(tensor.ErrValue, "%s is not valid", c.Str(5))
			}
			c.Return(reduce(gaussianNLL(c, c.T(0), c.T(1), c.T(2), c.Bool(3), c.Float(4)), how))
		},
	})
	function("F::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
		"is the cosine x1·x2 / (max(|x1|, eps) * max(|x2|, eps)) of the angles between vectors along dimension dim; "+
			"x1 and x2 broadcast to one shape, and the result lacks that dimension.\n"+site+"cosine_similarity.html",
		func(*Ctx) int { return none },
		func(c *Ctx, _ int) *T {
			return op.Call1("aten::cosine_similarity", c.T(0), c.T(1), c.Int(2), c.Float(3))
		})
	function("F::pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
		"is the norm of order p of x1 - x2 + eps over the last dimension, for tensors [N, D] or [D] that broadcast; "+
			"keepdim leaves that dimension with one element.\n"+site+"pairwise_distance.html",
		func(*Ctx) int { return none },
		func(c *Ctx, _ int) *T {
			return op.Call1("aten::pairwise_distance", c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))
		})
}

func multilabelSoftMargin(x, t, w *T) *T {
	var y *T
	if tensor.Unwatched() && tensor.SameShape(x.Shape(), t.Shape()) && x.DType() == t.DType() && x.DType().Size() > 2 {
		// log(sigmoid(-x)) is log(sigmoid(x)) - x: this is the binary cross entropy of logits
		y = op.Call1("aten::binary_cross_entropy_with_logits", x, t, (*T)(nil), (*T)(nil), none)
	} else {
		y = t.Mul(x.LogSigmoid()).Add(t.RsubScalar(1).Mul(x.Neg().LogSigmoid())).Neg()
	}
	if w != nil {
		y = y.Mul(w)
	}
	d := x.Dim() - 1
	return op.Call1("aten::div.Tensor", y.SumDim([]int{d}), x.Size(d))
}

func gaussianNLL(c *Ctx, x, t, v *T, full bool, eps float64) *T {
	below := tensor.NewCall(opAnyBelow, 2)
	*below.Arg(0), *below.Arg(1) = tensor.TensorValue(v), tensor.FloatValue(0)
	if below.DoValue().N != 0 {
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
			v = v.Unsqueeze(-1)
		case ones != 1:
			c.Fail(tensor.ErrShape, "var is of incorrect size")
		}
	}
	v = v.Clone()
	tensor.NoGrad(func() { v.ClampMinScalarInPlace(eps) }) // the lower bound is no part of the gradient
	y := op.Call1("aten::mul.Tensor", v.Log().Add(x.Sub(t).PowScalar(2).Div(v)), 0.5)
	if full {
		y = op.Call1("aten::add.Tensor", y, 0.5*math.Log(2*math.Pi), 1)
	}
	return y
}

var opAnyBelow = tensor.Slot("gotorch::any_below")

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::any_below(Tensor self, float limit) -> bool",
		Doc:    "reports whether an element is less than a limit.",
		Go:     "-", NoGrad: "the result is no tensor", DataDependent: true,
		Body: func(c *Ctx) {
			c.ReturnValue(tensor.BoolValue(c.T(0).Detach().LtScalar(c.Float(1)).Any().Item() != 0))
		},
		CPU: func(c *Ctx) { c.ReturnValue(tensor.BoolValue(anyBelow(c.T(0), c.Float(1)))) },
	})
}

// anyBelow reports whether a value of x is below limit.
func anyBelow(x *T, limit float64) bool {
	if x.DType() == tensor.Float32 && x.IsContiguous() {
		// The minimum is NaN where an element is; then every element is looked at.
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
