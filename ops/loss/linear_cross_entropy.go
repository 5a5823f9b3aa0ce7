package loss

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// linearCrossEntropy is the body of torch.nn.functional.linear_cross_entropy: a linear layer and cross_entropy.
// PyTorch's options say how the computation is cut into chunks, which changes its memory and not its result; here it is
// done at once. With options, PyTorch has one operator for the whole, which autocast does not know: see inOneType.
func linearCrossEntropy(c *Ctx) {
	x, w, target, bias := c.T(0), c.T(1), c.T(2), c.T(3)
	if x.Dim() < 1 || x.Dim() > 2 {
		c.Fail(tensor.ErrShape, "expected input with dimensionality 1 or 2, got %d", x.Dim())
	}
	if w.Dim() < 2 {
		c.Fail(tensor.ErrShape, "expected linear_weight with dimensionality at least 2, got %d", w.Dim())
	}
	in := x.Size(-1)
	if in != w.Size(-1) {
		c.Fail(tensor.ErrShape, "expected equal input and linear_weight last dimensions (in_features), got %d and %d, "+
			"respectively", in, w.Size(-1))
	}
	// tuple is a shape as Python prints it
	tuple := func(s []int) string {
		if len(s) == 1 {
			return fmt.Sprintf("(%d,)", s[0])
		}
		text := tensor.ShapeString(s)
		return "(" + text[1:len(text)-1] + ")"
	}
	rows := w.Shape()[:w.Dim()-1] // the classes and the further dimensions of the target
	if bias != nil && !tensor.SameShape(bias.Shape(), rows) {
		c.Fail(tensor.ErrShape, "expected linear_bias shape %s, got %s", tuple(rows), tuple(bias.Shape()))
	}
	if len(rows) > 1 && x.Dim() == 1 {
		c.Fail(tensor.ErrShape, "K-dimensional loss defined by linear_weight shape %s requires batched input, (N, %d), "+
			"got unbatched input with shape %s", tuple(w.Shape()), in, tuple(x.Shape()))
	}
	shape := append(slices.Clone(x.Shape()[:x.Dim()-1]), rows...)
	ignore := -100
	if c.Has(6) {
		ignore = c.Int(6)
		if tensor.SameShape(target.Shape(), shape) {
			c.Fail(tensor.ErrValue, "ignore_index cannot be specified when target contains probabilities")
		}
	}
	if len(rows) > 1 {
		outputs := 1
		for _, n := range rows {
			outputs *= n
		}
		w = w.Reshape([]int{outputs, in})
		if bias != nil {
			bias = bias.Reshape([]int{outputs})
		}
	}
	loss := func(x, w, bias, weight *T) *T {
		logits := op.Call1("aten::linear", x, w, bias).Reshape(shape)
		return op.Call1("F::cross_entropy", logits, target, weight, nil, ignore, nil, c.Str(5), c.Float(7))
	}
	probabilities := tensor.SameShape(target.Shape(), shape) && target.DType() == x.DType() && !target.RequiresGrad()
	if c.NumArgs() > 8 && c.Has(8) && len(rows) == 1 && c.Float(7) == 0 &&
		(target.DType() == tensor.Int64 || probabilities) {
		inOneType(c, loss, x, w, bias, c.T(4))
		return
	}
	c.Return(loss(x, w, bias, c.T(4)))
}

// inOneType returns the loss as PyTorch's operator with options computes it: without autocast, in the type of the
// input. Parameters of another type are converted where the input has 16 bits, as on any GPU; the CPU refuses them
// beside wider inputs.
func inOneType(c *Ctx, loss func(x, w, bias, weight *T) *T, x, w, bias, weight *T) {
	dt := x.DType()
	if w.DType() != dt && !dt.IsReduced() && x.Device().Type == tensor.CPUDevice {
		c.Fail(tensor.ErrDType, "expected m1 and m2 to have the same dtype, but got: %s != %s", dt.CName(),
			w.DType().CName())
	}
	as := func(t *T) *T {
		if t == nil || t.DType() == dt {
			return t
		}
		return t.ToDType(dt)
	}
	tensor.InsteadOfLayers(tensor.RankAutocast, nil, func() { c.Return(loss(x, as(w), as(bias), as(weight))) })
}

func init() {
	const arguments = "Tensor input, Tensor linear_weight, Tensor target, *, Tensor? linear_bias=None, Tensor? " +
		"weight=None, " +
		"str reduction='mean', int? ignore_index=None, float label_smoothing=0.0"
	tensor.Register(tensor.Def{
		Schema: "F::linear_cross_entropy(" + arguments + ") -> Tensor",
		Doc: "is cross_entropy(linear(input, linear_weight, linear_bias), target). Shapes: input [N, in] or [in], " +
			"linear_weight [C, *, in], linear_bias [C, *], target [N, *] with class numbers or [N, C, *] with " +
			"probabilities." + "\n" + site + "linear_cross_entropy.html",
		Body: linearCrossEntropy,
	})
	tensor.Register(tensor.Def{
		Schema: "F::linear_cross_entropy.options(" + arguments + ", Any options=None) -> Tensor",
		Go:     "-", Body: linearCrossEntropy,
	})
}
