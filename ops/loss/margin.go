package loss

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func marginRanking(a, b, t *T, margin float64) *T {
	return t.Neg().Mul(a.Sub(b)).AddScalar(margin).ClampMinScalar(0)
}

func cosineEmbedding(c *Ctx, a, b, t *T, margin float64) *T {
	switch {
	case t.Dim() > 1:
		c.Fail(tensor.ErrShape, "0D or 1D target tensor expected, multi-target not supported")
	case t.Dim() == 1 && (a.Dim() != 2 || b.Dim() != 2):
		c.Fail(tensor.ErrShape, "1D target tensor expects 2D input tensors, but found inputs with sizes %s and %s.",
			tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
	case t.Dim() == 0 && (a.Dim() != 1 || b.Dim() != 1):
		c.Fail(tensor.ErrShape, "0D target tensor expects 1D input tensors, but found inputs with sizes %s and %s.",
			tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
	}
	d := []int{t.Dim()}
	dot := func(a, b *T) *T {
		p := a.Mul(b)
		return op.Consumed(p.SumDim(d), p)
	}
	ab := dot(a, b)
	cos := ab.Div(dot(a, a).AddScalar(1e-12).Mul(dot(b, b).AddScalar(1e-12)).Sqrt())
	zeros := cos.ZerosLike()
	alike := op.Call1("aten::where.self", t.EqScalar(1), cos.RsubScalar(1), zeros)
	return alike.Add(op.Call1("aten::where.self", t.EqScalar(-1), cos.SubScalar(margin).ClampMinScalar(0), zeros))
}

// sameDims refuses tensors of a triplet loss with different numbers of dimensions.
func sameDims(c *Ctx, a, pos, neg *T) {
	if a.Dim() != pos.Dim() || pos.Dim() != neg.Dim() {
		c.Fail(tensor.ErrShape, "The anchor, positive, and negative tensors are expected to have the same number of "+
			"dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs", a.Dim(), pos.Dim(), neg.Dim())
	}
}

func triplet(c *Ctx, a, pos, neg *T, margin, p, eps float64, swap bool) *T {
	sameDims(c, a, pos, neg)
	distance := func(x, y *T) *T { return op.Call1("aten::pairwise_distance", x, y, p, eps) }
	dp, dn := distance(a, pos), distance(a, neg)
	if swap {
		dn = dn.Minimum(distance(pos, neg))
	}
	return dp.AddScalar(margin).Sub(dn).ClampMinScalar(0)
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
		c.Fail(tensor.ErrShape, "Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s",
			tensor.ShapeString(x.Shape()))
	}
}

func needLong(c *Ctx, t *T) {
	if t.DType() != tensor.Int64 {
		c.Fail(tensor.ErrDType, "expected scalar type Long but found %s", t.DType().ClassName())
	}
}

// multiMarginCheck refuses arguments of multi_margin_loss that do not fit, and returns the numbers of samples and
// classes.
func multiMarginCheck(c *Ctx, x, t *T, p float64, w *T) (n, classes int) {
	if p != 1 && p != 2 {
		c.Fail(tensor.ErrValue, "only p == 1 and p == 2 supported")
	}
	if w != nil && w.Dim() != 1 {
		c.Fail(tensor.ErrValue, "weight must be one-dimensional")
	}
	needScores(c, x)
	n, classes = samplesOfClasses(x)
	if t.Dim() > 1 || t.Numel() != n {
		c.Fail(tensor.ErrShape, "multi_margin_loss: target tensor should be 1-D with size equal to the number of "+
			"input samples (batch size). Expected target size [%d], but got %s. Input has shape %s.",
			n, tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
	}
	if w != nil && w.Numel() != classes {
		c.Fail(tensor.ErrShape, "inconsistent weight size, expected %d but got %s", classes,
			tensor.ShapeString(w.Shape()))
	}
	needLong(c, t)
	if w != nil && w.DType() != x.DType() {
		c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", x.DType().ClassName(), w.DType().ClassName())
	}
	if !x.DType().IsFloat() {
		c.FailDType(tensor.ErrNotImpl, "multi_margin_loss_cpu_kernel", x.DType())
	}
	return n, classes
}

// composedMultiMargin is the loss of each sample in public operators.
func composedMultiMargin(x, t *T, p, margin float64, w *T) *T {
	n, classes := samplesOfClasses(x)
	m, at := x.Reshape([]int{n, classes}), t.Reshape([]int{n, 1})
	z := m.Sub(m.Gather(1, at)).AddScalar(margin).ReLU()
	if p == 2 {
		z = z.Square()
	}
	if w != nil {
		z = z.Mul(w.Reshape([]int{1, classes}).Expand([]int{n, classes}).Gather(1, at))
	}
	z = z.Mul(m.Detach().NewOnes([]int{n, classes}).ScatterScalar(1, at, 0))
	return z.SumDim([]int{1}).DivScalar(classes).Reshape(t.Shape())
}

// multiMarginRows calls f for every sample: its number, scores, class, and the weight of the class divided by the
// number of classes.
func multiMarginRows[E real](c *Ctx, x, t, w *T, f func(row int, x []E, class int, weight E)) {
	n, classes := samplesOfClasses(x)
	v, target := op.Raw[E](tensor.DenseAs(x, tensor.DTypeOf[E]())), op.Raw[int64](tensor.Dense(t))
	var weights []E
	if w != nil {
		weights = op.Raw[E](tensor.DenseAs(w, tensor.DTypeOf[E]()))
	}
	for _, k := range target {
		if k < 0 || k >= int64(classes) {
			c.Fail(tensor.ErrIndex, "target out of range")
		}
	}
	par.For(n, max(1, 1<<14/classes), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			weight := 1 / E(classes)
			if weights != nil {
				weight *= weights[target[r]]
			}
			f(r, v[r*classes:][:classes], int(target[r]), weight)
		}
	})
}

// multiMarginForward computes max(0, margin - x[class] + x[j])^p, summed over the classes j but the target's.
func multiMarginForward[E real](c *Ctx, p, margin float64) {
	x, how, square := c.T(0), c.Int(5), p == 2
	losses := tensor.New(c.T(1).Shape(), tensor.DTypeOf[E]())
	o := op.Raw[E](losses)
	multiMarginRows(c, x, c.T(1), c.T(4), func(row int, x []E, class int, weight E) {
		sum, base := 0.0, E(margin)-x[class]
		for j, v := range x {
			if z := base + v; j != class && !(z <= 0) { // NaN counts
				if square {
					z *= z
				}
				sum += float64(z)
			}
		}
		o[row] = E(sum * float64(weight))
	})
	tensor.CopyRaw(c.Out(0), reduce(losses, how))
}

func multiMarginBackward[E real](c *Ctx, p, margin float64) {
	g, x, how, square := c.T(0), c.T(1), c.Int(6), p == 2
	out := tensor.New(x.Shape(), tensor.DTypeOf[E]())
	o := op.Raw[E](out)
	n, _ := samplesOfClasses(x)
	each := op.Raw[E](tensor.DenseAs(expandRaw(g, c.T(2).Shape()), tensor.DTypeOf[E]()))
	scale := E(reductionScale(how, n))
	multiMarginRows(c, x, c.T(2), c.T(5), func(row int, x []E, class int, weight E) {
		d, sum, base := o[row*len(x):][:len(x)], E(0), E(margin)-x[class]
		weight *= each[row] * scale
		for j, v := range x {
			z := base + v
			if d[j] = 0; j == class || !(z > 0) {
				continue
			}
			if d[j] = weight; square {
				d[j] *= 2 * z
			}
			sum += d[j]
		}
		d[class] = -sum
	})
	tensor.CopyRaw(c.Out(0), out)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor", Go: "-",
		Doc:  "is max(0, -target*(input1-input2) + margin), reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) { c.Return(reduce(marginRanking(c.T(0), c.T(1), c.T(2), c.Float(3)), c.Int(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) -> Tensor", Go: "-",
		Doc: "is 1 - cos(input1, input2) where target is 1, and max(0, cos(input1, input2) - margin) where it is " +
			"-1, reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) { c.Return(reduce(cosineEmbedding(c, c.T(0), c.T(1), c.T(2), c.Float(3)), c.Int(4))) },
	})
	tensor.Register(tensor.Def{
		Schema: "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, int reduction=1) -> Tensor", Go: "-",
		Doc: "is max(0, d(anchor, positive) - d(anchor, negative) + margin) with d the pairwise_distance of order p, " +
			"reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) {
			c.Return(reduce(triplet(c, c.T(0), c.T(1), c.T(2), c.Float(3), c.Float(4), c.Float(5), c.Bool(6)),
				c.Int(7)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor", Go: "-", Out: true,
		Doc: "is the sum over all classes j but the target's of max(0, margin - self[target] + self[j])^p, divided " +
			"by the number of classes, for scores [N, C] or [C], reduced (0: not, 1: mean, 2: sum).",
		Infer: func(c *Ctx) {
			multiMarginCheck(c, c.T(0), c.T(1), c.Num(2).F, c.T(4))
			var sh []int
			if c.Int(5) == none {
				sh = c.Shape(1)
			}
			c.Alloc(0, sh, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				multiMarginForward[float64](c, c.Num(2).F, c.Num(3).F)
			} else {
				multiMarginForward[float32](c, c.Num(2).F, c.Num(3).F)
			}
		},
		Save: "self target weight", Constant: "weight",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::multi_margin_loss_backward", g, c.T(0), c.T(1), c.Value(2), c.Value(3), c.T(4),
				c.Int(5)), nil, nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, Tensor? weight=None, int reduction=1) -> Tensor", Go: "-",
		Doc: "is the gradient of multi_margin_loss for the scores.",
		Infer: func(c *Ctx) {
			multiMarginCheck(c, c.T(1), c.T(2), c.Num(3).F, c.T(5))
			c.Alloc(0, c.Shape(1), c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				multiMarginBackward[float64](c, c.Num(3).F, c.Num(4).F)
			} else {
				multiMarginBackward[float32](c, c.Num(3).F, c.Num(4).F)
			}
		},
		Save: "grad_output self target weight",
		VJP: func(c *Ctx, u *T) []*T {
			p, margin, w := c.Num(3).F, c.Num(4).F, c.T(5)
			return append(secondOrder(c, u, c.Int(6),
				func(x, t *T) *T { return composedMultiMargin(x, t, p, margin, w) }), nil)
		},
	})
}
