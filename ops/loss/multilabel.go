package loss

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// multilabelMargin takes lists of classes that end at the first negative number.
func multilabelMargin(c *Ctx, x, t *T) *T {
	needScores(c, x)
	n, classes := samplesOfClasses(x)
	nd := x.Dim()
	if x.Numel() != t.Numel() || nd == 2 && !tensor.SameShape(x.Shape(), t.Shape()) || nd < 2 && t.Dim() > 1 {
		c.Fail(tensor.ErrShape, "inconsistent target size: %s for input of size: %s", tensor.ShapeString(t.Shape()), tensor.ShapeString(x.Shape()))
	}
	needLong(c, t)
	if !x.DType().IsFloat() || x.Numel() == 0 {
		return composedMultilabelMargin(x, t)
	}
	for i, src := 0, op.Raw[int64](tensor.DenseAs(t, tensor.Int64)); i < n; i++ {
		for _, k := range src[i*classes:][:classes] {
			if k < 0 {
				break
			}
			if k >= int64(classes) {
				c.Fail(tensor.ErrIndex, "argument #2 'target' is out of range")
			}
		}
	}
	return op.Call1("aten::_multilabel_margin", x, t)
}

// listedClasses counts in d, which is zero, how often each class of a sample is in its list.
func listedClasses[E real](d []E, list []int64) {
	for _, k := range list {
		if k < 0 {
			break
		}
		d[k]++
	}
}

// composedMultilabelMargin is the loss in public operators, for gradients of gradients.
func composedMultilabelMargin(x, t *T) *T {
	nd := x.Dim()
	n, classes := samplesOfClasses(x)
	listed := tensor.New([]int{n, classes}, tensor.Float64)
	tensor.ZeroRaw(listed)
	d, src := op.Raw[float64](listed), op.Raw[int64](tensor.DenseAs(t, tensor.Int64))
	for i := range n {
		listedClasses(d[i*classes:][:classes], src[i*classes:][:classes])
	}
	pairs := listed.Reshape([]int{n, classes, 1}).Mul(listed.EqScalar(0).Reshape([]int{n, 1, classes})).ToDType(x.DType())
	z := x.Reshape([]int{n, 1, classes}).Sub(x.Reshape([]int{n, classes, 1})).AddScalar(1).ReLU()
	y := z.Mul(pairs).SumDim([]int{1, 2}).DivScalar(classes)
	if nd < 2 {
		y = y.Reshape(nil)
	}
	return y
}

// multilabelRows calls f for every sample: its logits, and in list and rest the classes that are listed and those that are not; times
// says how often a class is listed.
func multilabelRows[E real](x *T, t *T, f func(row int, x, times []E, list, rest []int)) {
	n, classes := samplesOfClasses(x)
	v, src := op.Raw[E](tensor.DenseAs(x, tensor.DTypeOf[E]())), op.Raw[int64](tensor.DenseAs(t, tensor.Int64))
	par.For(n, max(1, 1<<13/(classes*classes)), func(lo, hi int) {
		times, order := make([]E, classes), make([]int, 2*classes)
		for r := lo; r < hi; r++ {
			clear(times)
			listedClasses(times, src[r*classes:][:classes])
			list, rest := order[:0:classes], order[classes:classes]
			for k, m := range times {
				if m > 0 {
					list = append(list, k)
				} else {
					rest = append(rest, k)
				}
			}
			f(r, v[r*classes:][:classes], times, list, rest)
		}
	})
}

func multilabelForward[E real](c *Ctx) {
	out := tensor.New(c.Out(0).Shape(), tensor.DTypeOf[E]())
	o := op.Raw[E](out)
	multilabelRows(c.T(0), c.T(1), func(row int, x, times []E, list, rest []int) {
		sum := 0.0
		for _, k := range list {
			one, s := 1-x[k], 0.0
			for _, j := range rest {
				// max(0, NaN) is NaN
				s += float64(max(0, one+x[j]))
			}
			sum += s * float64(times[k])
		}
		o[row] = E(sum / float64(len(x)))
	})
	tensor.CopyRaw(c.Out(0), out)
}

func multilabelBackward[E real](c *Ctx) {
	out := tensor.New(c.Out(0).Shape(), tensor.DTypeOf[E]())
	o, g := op.Raw[E](out), op.Raw[E](tensor.DenseAs(c.T(0), tensor.DTypeOf[E]()))
	multilabelRows(c.T(1), c.T(2), func(row int, x, times []E, list, rest []int) {
		d := o[row*len(x):][:len(x)]
		clear(d)
		s := g[row] / E(len(x))
		for _, k := range list {
			one, w, n := 1-x[k], s*times[k], 0
			for _, j := range rest {
				if one+x[j] > 0 {
					d[j] += w
					n++
				}
			}
			d[k] -= w * E(n)
		}
	})
	tensor.CopyRaw(c.Out(0), out)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_multilabel_margin(Tensor self, Tensor target) -> Tensor",
		Doc:    "is multilabel_margin_loss of each sample.",
		Go:     "-", Grad: "MultilabelMarginLossBackward0",
		Infer: func(c *Ctx) {
			var out []int
			if sh := c.Shape(0); len(sh) == 2 {
				out = sh[:1]
			}
			c.Alloc(0, out, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				multilabelForward[float64](c)
			} else {
				multilabelForward[float32](c)
			}
		},
		Save: "self target",
		VJP: func(c *Ctx, g *T) []*T {
			x, t := c.T(0), c.T(1)
			if tensor.IsGradEnabled() { // recorded itself: the composed form's
				x = x.AliasView()
				return []*T{tensor.Grad([]*T{composedMultilabelMargin(x, t)}, []*T{x}, tensor.GradOptions{GradOutputs: []*T{g}, CreateGraph: true})[0], nil}
			}
			return []*T{op.Call1("aten::_multilabel_margin_backward", g, x, t), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_multilabel_margin_backward(Tensor grad_output, Tensor self, Tensor target) -> Tensor",
		Doc:    "is the gradient of self.",
		Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(1), c.ArgDType(1)) },
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				multilabelBackward[float64](c)
			} else {
				multilabelBackward[float32](c)
			}
		},
	})
}
