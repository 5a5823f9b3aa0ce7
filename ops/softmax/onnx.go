package softmax

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.RegisterONNX(`
		LogSoftmax 13: log_softmax.int($0, axis=-1)
		Softmax 13: softmax.int($0, axis=-1)
	`)
	for op, names := range map[string][]string{"Softmax": {"aten::softmax.int", "aten::_softmax"},
		"LogSoftmax": {"aten::log_softmax.int", "aten::_log_softmax"}} {
		ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, dim, dtype
			x := c.Cast(c.T(0), c.OutType(0))
			if c.Rank(x) == 0 {
				return c.Squeeze(c.Node(op, ox.A{"axis": 0}, c.Unsqueeze(x, 0)), 0)
			}
			return c.Node(op, ox.A{"axis": c.Int(1)}, x)
		}), names...)
	}
}
