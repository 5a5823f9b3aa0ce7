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
}
