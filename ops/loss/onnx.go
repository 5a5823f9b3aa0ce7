package loss

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
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
}
