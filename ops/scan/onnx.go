package scan

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, dim, dtype
		x := c.Cast(c.T(0), c.OutType(0))
		if c.Rank(x) == 0 {
			return x
		}
		return c.Node("CumSum", nil, x, c.Scalar(float64(c.Int(1)), tensor.Int64))
	}), "aten::cumsum")
	// The sums are of exp(x - m) for the largest element m of each row, so that none of them overflows; elements that
	// are smaller than m by more than exp can tell apart from 0 are lost where they come first.
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, dim
		x := c.T(0)
		if c.Rank(x) == 0 {
			return x
		}
		dim := c.Dim(x, c.Int(1))
		m := c.Reduce("ReduceMax", x, []int{dim}, true)
		m = c.Node("Where", nil, c.Node("IsInf", nil, m).Typed(tensor.Bool), c.Scalar(0, x.DType), m).Typed(x.DType)
		e := c.Node("Exp", nil, c.Bin("Sub", x, m))
		return c.Bin("Add", c.Node("Log", nil, c.Node("CumSum", nil, e, c.Scalar(float64(dim), tensor.Int64))), m)
	}), "aten::logcumsumexp")
}
