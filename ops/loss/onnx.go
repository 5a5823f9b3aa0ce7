package loss

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// reducedForm sums or averages, as argument how says by the number of PyTorch's enumeration: none, mean, sum.
func reducedForm(c *ox.Call, v *ox.Value, how int) *ox.Value {
	switch c.Int(how) {
	case 1:
		return c.Reduce("ReduceMean", v, nil, false)
	case 2:
		return c.Reduce("ReduceSum", v, nil, false)
	}
	return v
}

func init() {
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		d := c.Node("Sub", nil, c.T(0), c.T(1))
		return reducedForm(c, c.Node("Mul", nil, d, d), 2)
	}), "aten::mse_loss")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		return reducedForm(c, c.Node("Abs", nil, c.Node("Sub", nil, c.T(0), c.T(1))), 2)
	}), "aten::l1_loss")
	reduction := []string{"none", "mean", "sum"}
	// self, target, weight, reduction, ignore_index
	class := func(c *ox.Call, op string) *ox.Value {
		a := ox.A{"reduction": reduction[c.Int(3)], "ignore_index": c.Int(4)}
		if c.Rank(c.T(0)) > 1 {
			return c.Node(op, a, c.T(0), c.T(1), c.T(2))
		}
		y := c.Node(op, a, c.Unsqueeze(c.T(0), 0), c.Unsqueeze(c.T(1), 0), c.T(2))
		if c.Int(3) == 0 {
			y = c.Squeeze(y, 0)
		}
		return y
	}
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		return class(c, "NegativeLogLikelihoodLoss")
	}), "aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // and label_smoothing
		if c.Float(5) != 0 {
			c.Fail("label smoothing")
		}
		if c.T(1).DType.IsFloat() {
			c.Fail("targets that are probabilities")
		}
		return class(c, "SoftmaxCrossEntropyLoss")
	}), "aten::cross_entropy_loss")
	ox.Register(ox.One(exportMultiMargin), "aten::multi_margin_loss")
	ox.Register(ox.One(exportMultilabelMargin), "aten::multilabel_margin_loss")
}

// classNumbers are the numbers of the classes, the last dimension of x.
func classNumbers(c *ox.Call, x *ox.Value) *ox.Value {
	return c.Range(c.Int0(0), c.Int0(c.SizeOf(x, 1)), c.Int0(1)).Typed(tensor.Int64)
}

// batched gives scores and targets a dimension for the batch, and reports that they had none.
func batched(c *ox.Call, targets ...int) (x, t *ox.Value, single bool) {
	x, t = c.T(0), c.T(1)
	if c.Rank(x) == 2 {
		return x, t, false
	}
	return c.Unsqueeze(x, 0), c.Reshape(t, targets...).Typed(tensor.Int64), true
}

// exportMultiMargin writes the loss by its definition; the arguments are self, target, p, margin, weight, reduction.
func exportMultiMargin(c *ox.Call) *ox.Value {
	x, target, single := batched(c, 1)
	dt := x.DType
	at := c.Unsqueeze(target, 1)
	right := c.Node("GatherElements", ox.A{"axis": 1}, x, at).Typed(dt)
	z := c.Node("Add", nil, c.Node("Sub", nil, c.Num(3, dt), right).Typed(dt), x).Typed(dt)
	z = c.Node("Relu", nil, z).Typed(dt)
	if c.IsNum(2, 2) {
		z = c.Node("Mul", nil, z, z).Typed(dt)
	}
	if c.Has(4) {
		w := c.Node("Gather", ox.A{"axis": 0}, c.T(4), at).Typed(dt)
		z = c.Node("Mul", nil, z, w).Typed(dt)
	}
	own := c.Node("Equal", nil, classNumbers(c, x), at).Typed(tensor.Bool)
	z = c.Node("Where", nil, own, c.Scalar(0, dt), z).Typed(dt)
	return perExample(c, c.Reduce("ReduceMean", z, []int{1}, false).Typed(dt), 5, single)
}

// exportMultilabelMargin writes the loss by its definition; the arguments are self, target, reduction. The classes of
// an example end in front of the first negative number.
func exportMultilabelMargin(c *ox.Call) *ox.Value {
	x, target, single := batched(c, 1, -1)
	dt := x.DType
	zero := c.Scalar(0, tensor.Int64)
	ends := c.Cast(c.Node("Less", nil, target, zero).Typed(tensor.Bool), tensor.Int64)
	ended := c.Node("CumSum", nil, ends, c.Scalar(1, tensor.Int64)).Typed(tensor.Int64)
	is := c.Node("Equal", nil, ended, zero).Typed(tensor.Bool)
	label := c.Node("Where", nil, is, target, zero).Typed(tensor.Int64)
	valid := c.Unsqueeze(c.Cast(is, dt), 2)
	same := c.Cast(c.Node("Equal", nil, c.Unsqueeze(label, 2), classNumbers(c, x)).Typed(tensor.Bool), dt)
	labelled := c.Reduce("ReduceMax", c.Node("Mul", nil, same, valid).Typed(dt), []int{1}, true).Typed(dt)
	right := c.Unsqueeze(c.Node("GatherElements", ox.A{"axis": 1}, x, label).Typed(dt), 2)
	z := c.Node("Add", nil, c.Node("Sub", nil, c.Scalar(1, dt), right).Typed(dt), c.Unsqueeze(x, 1)).Typed(dt)
	z = c.Node("Mul", nil, c.Node("Relu", nil, z).Typed(dt), valid).Typed(dt)
	z = c.Node("Mul", nil, z, c.Node("Sub", nil, c.Scalar(1, dt), labelled).Typed(dt)).Typed(dt)
	z = c.Reduce("ReduceSum", z, []int{1}, false).Typed(dt)
	return perExample(c, c.Reduce("ReduceMean", z, []int{1}, false).Typed(dt), 2, single)
}

// perExample reduces the losses of examples, of which there is one without a dimension where single is true.
func perExample(c *ox.Call, v *ox.Value, how int, single bool) *ox.Value {
	if single {
		return c.Squeeze(v.Shaped(1), 0)
	}
	return reducedForm(c, v, how)
}
