package loss

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// crossEntropy is the cross entropy with class numbers or class probabilities in public operators.
func crossEntropy(c *Ctx, x, t, w *T, how, ignore int, smoothing float64) *T {
	if tensor.SameShape(x.Shape(), t.Shape()) {
		if !t.DType().IsFloat() {
			c.Fail(tensor.ErrDType, "Expected floating point type for target with class probabilities, got %s",
				t.DType().ClassName())
		}
		if ignore >= 0 {
			c.Fail(tensor.ErrValue, "ignore_index is not supported for floating point target")
		}
		return crossEntropyProb(c, x, t, w, how, smoothing)
	}
	if smoothing < 0 || smoothing > 1 {
		c.Fail(tensor.ErrValue, "label_smoothing must be between 0.0 and 1.0. Got: %v", smoothing)
	}
	return composedEntropy(c, x, t, w, how, ignore, smoothing)
}

// composedEntropy is the cross entropy with class numbers in public operators.
func composedEntropy(c *Ctx, x, t, w *T, how, ignore int, smoothing float64) *T {
	dim := classDim(x)
	lp := x.LogSoftmax(dim)
	nll := nllND(c, lp, t, w, how, ignore)
	if smoothing == 0 {
		return nll
	}
	// the uniform part: the mean of the log-probabilities over classes, weighted
	classes := x.Size(dim)
	mask := t.EqScalar(ignore)
	var smooth *T
	if w != nil {
		smooth = lp.Mul(classWeights(w, x.Dim(), dim)).SumDim([]int{dim}).Neg()
	} else {
		smooth = lp.SumDim([]int{dim}).Neg()
	}
	smooth = smooth.MaskedFillScalar(mask, 0)
	switch how {
	case meanOf:
		if w != nil { // divide by the weight of the targets that count
			valid := t.MaskedFillScalar(mask, 0)
			wt := op.Call1("aten::index_select", w, 0, valid.Reshape([]int{-1})).Reshape(t.Shape())
			smooth = smooth.Sum().Div(wt.MaskedFillScalar(mask, 0).Sum())
		} else {
			smooth = smooth.Sum().Div(mask.LogicalNot().Sum())
		}
	case sumOf:
		smooth = smooth.Sum()
	}
	return nll.MulScalar(1 - smoothing).Add(smooth.MulScalar(smoothing / float64(classes)))
}

func classDim(x *T) int {
	if x.Dim() == 1 {
		return 0
	}
	return 1
}

// classWeights shapes one weight per class for broadcasting along dim.
func classWeights(w *T, nd, dim int) *T {
	sh := make([]int, nd)
	for i := range sh {
		sh[i] = 1
	}
	sh[dim] = w.Numel()
	return w.Reshape(sh)
}

func crossEntropyProb(c *Ctx, x, t, w *T, how int, smoothing float64) *T {
	dim := classDim(x)
	classes := x.Size(dim)
	if w != nil && (w.Dim() != 1 || w.Numel() != classes) {
		c.Fail(tensor.ErrShape, "cross_entropy: weight tensor should be defined either for all %d classes or no "+
			"classes but got weight tensor of shape: %s", classes, tensor.ShapeString(w.Shape()))
	}
	if smoothing > 0 {
		if smoothing > 1 {
			c.Fail(tensor.ErrValue, "label_smoothing must be between 0.0 and 1.0. Got: %v", smoothing)
		}
		t = t.MulScalar(1 - smoothing).AddScalar(smoothing / float64(classes))
	}
	y := x.LogSoftmax(dim).Mul(t)
	if w != nil {
		y = y.Mul(classWeights(w, x.Dim(), dim))
	}
	switch how {
	case meanOf:
		n := x.Numel() / max(1, classes)
		if x.Numel() == 0 {
			n = 0
		}
		return y.Sum().Neg().DivScalar(n)
	case sumOf:
		return y.Sum().Neg()
	}
	return y.SumDim([]int{dim}).Neg()
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor", Go: "-",
		Doc: "is the cross entropy of logits [C], [N, C] or [N, C, …] and targets: class numbers, or probabilities " +
			"of the logits' shape. It is reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) { c.Return(crossEntropy(c, c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4), c.Float(5))) },
		// with class numbers one pass over the logits does it all
		Fuses: func(c *Ctx) bool { return fusesEntropy(c.T(0), c.T(1), c.T(2), c.Float(5)) },
		Infer: func(c *Ctx) {
			var out []int
			if c.Int(3) == none {
				out = c.Shape(1)
			}
			c.Alloc(0, out, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				entropyForward[float64](c)
			} else {
				entropyForward[float32](c)
			}
		},
		Save: "self target weight",
		VJP: func(c *Ctx, g *T) []*T {
			x, t, w := c.T(0), c.T(1), c.T(2)
			if tensor.IsGradEnabled() {
				return append(op.Recorded(c, g, []*T{x},
					func(in []*T) *T { return composedEntropy(c, in[0], t, w, c.Int(3), c.Int(4), c.Float(5)) }), nil,
					nil)
			}
			kept := c.Kept().([]*T)
			return []*T{op.Call1("gotorch::cross_entropy_backward", g, x, t, w, c.Int(3), c.Int(4), c.Float(5), kept[0],
				kept[1], kept[2]), nil, nil}
		},
		GradOf: func(args []tensor.Value) string {
			switch x := args[0].T; {
			case args[5].Num().F > 0:
				return "AddBackward0"
			case x != nil && x.Dim() > 2:
				return "NllLoss2DBackward0"
			}
			return "NllLossBackward0"
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, float label_smoothing, Tensor maximum, Tensor sum, Tensor total_weight) -> Tensor",
		Doc:    "is the gradient of the logits, from each sample's maximum and sum of exponentials.",
		Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			entropyBackwardCheck(c)
			c.Alloc(0, c.Shape(1), c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				entropyBackward[float64](c)
			} else {
				entropyBackward[float32](c)
			}
		},
	})
	function("F::cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
		"is -weight[target] * log(softmax(input))[target] of logits [C], [N, C] or [N, C, …] and class numbers [], "+
			"[N] or [N, …]; positions whose class is ignoreIndex count nothing. Targets may also be probabilities of "+
			"the input's shape. "+
			"weight [C] gives each class a weight, and the mean divides by the sum of the targets' weights. "+
			"labelSmoothing mixes the target with the uniform distribution. "+reductionDoc+"\n"+site+"cross_entropy.html", reductionAt(3, 5, 6),
		func(c *Ctx, how int) *T {
			return op.Call1("aten::cross_entropy_loss", c.T(0), c.T(1), c.T(2), how, c.Int(4), c.Float(7))
		})
}
