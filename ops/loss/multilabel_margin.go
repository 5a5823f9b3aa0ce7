package loss

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// A row of the target lists classes; the list ends at the first negative number.

// multilabelCheck refuses arguments that do not fit.
func multilabelCheck(c *Ctx, x, t *T) {
	needScores(c, x)
	nd := x.Dim()
	if x.Numel() != t.Numel() || nd == 2 && !tensor.SameShape(x.Shape(), t.Shape()) || nd < 2 && t.Dim() > 1 {
		c.Fail(tensor.ErrShape, "inconsistent target size: %s for input of size: %s", tensor.ShapeString(t.Shape()),
			tensor.ShapeString(x.Shape()))
	}
	needLong(c, t)
	if !x.DType().IsFloat() {
		c.FailDType(tensor.ErrNotImpl, "multilabel_margin_loss_forward_out_frame", x.DType())
	}
}

// checkListed refuses lists with what is no class, also behind their ends. arg counts the arguments from 1.
func checkListed(c *Ctx, t *T, arg, classes int) {
	for _, k := range op.Raw[int64](tensor.DenseAs(t, tensor.Int64)) {
		if k < -1 || k >= int64(classes) {
			c.Fail(tensor.ErrIndex, "argument #%d 'target' is out of range: got the class %d of %d", arg, k, classes)
		}
	}
}

// composedMultilabelMargin is the loss of each sample in public operators.
func composedMultilabelMargin(x, t, isTarget *T) *T {
	n, classes := samplesOfClasses(x)
	m, list := x.Reshape([]int{n, classes}), t.Reshape([]int{n, classes})
	counts := list.LtScalar(0).CumSum(1).EqScalar(0) // before the end of the list
	others := isTarget.Reshape([]int{n, 1, classes}).RsubScalar(1)
	z := m.Gather(1, list.ClampMinScalar(0)).RsubScalar(1).Unsqueeze(2).Add(m.Unsqueeze(1)).ReLU()
	y := z.Mul(counts.Unsqueeze(2)).Mul(others).SumDim([]int{1, 2}).DivScalar(classes)
	if x.Dim() < 2 {
		y = y.Reshape(nil)
	}
	return y
}

// multilabelRows calls f for every sample: list has the classes in its list, in rising order, times says how often each
// class is listed, and others has the logits of all classes that are not listed.
func multilabelRows[E real](x *T, t *T, f func(row int, x, times, others []E, list []int)) {
	n, classes := samplesOfClasses(x)
	v, src := op.Raw[E](tensor.DenseAs(x, tensor.DTypeOf[E]())), op.Raw[int64](tensor.DenseAs(t, tensor.Int64))
	par.For(n, max(1, 1<<13/(classes*classes)), func(lo, hi int) {
		times, others, order := make([]E, classes), make([]E, classes), make([]int, 0, classes)
		for r := lo; r < hi; r++ {
			x, list := v[r*classes:][:classes], order
			for _, k := range src[r*classes:][:classes] {
				if k < 0 {
					break
				}
				if times[k]++; times[k] == 1 {
					list = append(list, int(k))
				}
			}
			slices.Sort(list)
			f(r, x, times, others[:unlisted(x, others, list, false)], list)
			for _, k := range list {
				times[k] = 0
			}
		}
	})
}

// unlisted copies what x has for the classes that are not in list to others, or back, and returns their number.
func unlisted[E real](x, others []E, list []int, back bool) int {
	at, from := 0, 0
	for i := 0; i <= len(list); i++ {
		to := len(x)
		if i < len(list) {
			to = list[i]
		}
		if back {
			copy(x[from:to], others[at:])
		} else {
			copy(others[at:], x[from:to])
		}
		at, from = at+to-from, to+1
	}
	return at
}

// inOrder is t, where it has the type E and is contiguous, or else a new tensor of its shape.
func inOrder[E real](t *T) *T {
	if t.DType() == tensor.DTypeOf[E]() && t.IsContiguous() {
		return t
	}
	return tensor.New(t.Shape(), tensor.DTypeOf[E]())
}

// hinges is the sum of max(0, one + x) over the elements, NaN where one of them is NaN.
func hinges[E real](x []E, one E) float64 {
	sum := 0.0
	switch x := any(x).(type) {
	case []float32:
		var run [512]float32
		for len(x) > 0 {
			n := min(len(run), len(x))
			vec.AddScalarF32(run[:n], x[:n], float32(one))
			vec.ReLUF32(run[:n], run[:n])
			sum += vec.SumF32As64(run[:n])
			x = x[n:]
		}
	case []float64:
		var run [512]float64
		for len(x) > 0 {
			n := min(len(run), len(x))
			vec.AddScalarF64(run[:n], x[:n], float64(one))
			vec.ReLUF64(run[:n], run[:n])
			sum += vec.SumF64(run[:n])
			x = x[n:]
		}
	}
	return sum
}

// addOver adds w to those of sums where one + x is above 0, and returns their number.
func addOver[E real](sums, x []E, one, w E) int {
	count := 0
	switch x := any(x).(type) {
	case []float32:
		sums := any(sums).([]float32)
		var run [512]float32
		var over [512]uint8
		for len(x) > 0 {
			n := min(len(run), len(x))
			vec.AddScalarF32(run[:n], x[:n], float32(one))
			vec.GtScalarF32(over[:n], run[:n], 0)
			count += vec.CountNonzeroU8(over[:n])
			vec.U8ToF32s(run[:n], over[:n])
			vec.AddScaledF32(sums[:n], sums[:n], run[:n], float32(w))
			x, sums = x[n:], sums[n:]
		}
	case []float64:
		for i, v := range x {
			if float64(one)+v > 0 {
				sums[i] += w
				count++
			}
		}
	}
	return count
}

// multilabelForward computes the losses, reduced, and marks the listed classes in is_target.
func multilabelForward[E real](c *Ctx) {
	x, t := c.T(0), c.T(1)
	n, classes := samplesOfClasses(x)
	checkListed(c, t, 2, classes)
	losses, marks := tensor.New([]int{n}, tensor.DTypeOf[E]()), inOrder[E](c.Out(1))
	o, isTarget := op.Raw[E](losses), op.Raw[E](marks)
	multilabelRows(x, t, func(row int, x, times, others []E, list []int) {
		sum := 0.0
		for _, k := range list {
			sum += hinges(others, 1-x[k]) * float64(times[k])
		}
		o[row] = E(sum / float64(len(x)))
		mark := isTarget[row*classes:][:classes] // perhaps the memory of x
		clear(mark)
		for _, k := range list {
			mark[k] = 1
		}
	})
	y := reduce(losses, c.Int(2))
	if c.Int(2) == none && x.Dim() < 2 {
		y = y.Reshape(nil)
	}
	tensor.CopyRaw(c.Out(0), y)
	if marks != c.Out(1) {
		tensor.CopyRaw(c.Out(1), marks)
	}
}

func multilabelBackward[E real](c *Ctx) {
	x, how := c.T(1), c.Int(3)
	n, classes := samplesOfClasses(x)
	checkListed(c, c.T(2), 3, classes)
	out := inOrder[E](c.Out(0))
	g := c.T(0).Detach()
	if g.Numel() == 1 {
		g = g.Reshape(nil)
	}
	o, each := op.Raw[E](out), op.Raw[E](tensor.DenseAs(expandRaw(g, []int{n}), tensor.DTypeOf[E]()))
	scale := E(reductionScale(how, n))
	multilabelRows(x, c.T(2), func(row int, x, times, others []E, list []int) {
		d := o[row*len(x):][:len(x)]
		s := each[row] * scale / E(len(x))
		sums := make([]E, len(others))
		for _, k := range list {
			w := s * times[k]
			d[k] = -w * E(addOver(sums, others, 1-x[k], w))
		}
		unlisted(d, sums, list, true)
	})
	if out != c.Out(0) {
		tensor.CopyRaw(c.Out(0), out)
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", Go: "-", Out: true,
		Doc: "is the sum of max(0, 1 - self[k] + self[j]) over the listed classes k and the others j, divided by " +
			"the number of classes, for scores [N, C] or [C], reduced (0: not, 1: mean, 2: sum).",
		Body: func(c *Ctx) { c.Return(op.Call("aten::multilabel_margin_loss_forward", c.T(0), c.T(1), c.Int(2))[0]) },
	})
	tensor.Register(tensor.Def{
		Schema: "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)",
		Doc:    "is multilabel_margin_loss, and 1 for the classes that are in their sample's list.",
		Go:     "-", Grad: "MultilabelMarginLossBackward0",
		Infer: func(c *Ctx) {
			multilabelCheck(c, c.T(0), c.T(1))
			wantReduction(c, c.Int(2))
			var out []int
			if sh := c.Shape(0); len(sh) == 2 && c.Int(2) == none {
				out = sh[:1]
			}
			c.Alloc(0, out, c.ArgDType(0))
			c.Alloc(1, c.Shape(1), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				multilabelForward[float64](c)
			} else {
				multilabelForward[float32](c)
			}
		},
		Save: "self target is_target",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::multilabel_margin_loss_backward", g, c.T(0), c.T(1), c.Int(2), c.Out(1)), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor is_target) -> Tensor",
		Doc:    "is the gradient of multilabel_margin_loss for the scores.",
		Go:     "-",
		Infer: func(c *Ctx) {
			multilabelCheck(c, c.T(1), c.T(2))
			wantReduction(c, c.Int(3))
			c.Alloc(0, c.Shape(1), c.ArgDType(1))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				multilabelBackward[float64](c)
			} else {
				multilabelBackward[float32](c)
			}
		},
		Save: "grad_output self target is_target",
		VJP: func(c *Ctx, u *T) []*T {
			return append(secondOrder(c, u, c.Int(3),
				func(x, t *T) *T { return composedMultilabelMargin(x, t, c.T(4)) }), nil)
		},
	})
}
