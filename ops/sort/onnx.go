package sort

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	ox.Register(func(c *ox.Call) []*ox.Value { // self, k, dim, largest, sorted
		return exportTopK(c, c.IntsValue(1), c.Int(2), c.Bool(3), c.Bool(4))
	}, "aten::topk")
	sorted := func(c *ox.Call, dim int, descending bool) []*ox.Value {
		x := c.T(0)
		if c.Rank(x) == 0 {
			return []*ox.Value{x, c.Scalar(0, tensor.Int64)}
		}
		return exportTopK(c, c.Vector(c.SizeOf(x, dim)), dim, descending, true)
	}
	ox.Register(func(c *ox.Call) []*ox.Value { return sorted(c, c.Int(1), c.Bool(2)) }, "aten::sort")
	ox.Register(func(c *ox.Call) []*ox.Value { return sorted(c, c.Int(2), c.Bool(3)) }, "aten::sort.stable")
	ox.Register(func(c *ox.Call) []*ox.Value { return sorted(c, c.Int(1), c.Bool(2))[1:] }, "aten::argsort")
	ox.Register(func(c *ox.Call) []*ox.Value { return sorted(c, c.Int(2), c.Bool(3))[1:] },
		"aten::argsort.stable")
}

// exportTopK is ONNX's TopK; of equal elements the one with the lower index comes first.
func exportTopK(c *ox.Call, k *ox.Value, dim int, largest, sorted bool) []*ox.Value {
	x := c.T(0)
	dt := x.DType
	if dt == tensor.Bool {
		x = c.Cast(x, tensor.Int32)
	}
	out := c.Nodes(2, "TopK", ox.A{"axis": dim, "largest": largest, "sorted": sorted}, x, k)
	return []*ox.Value{c.Cast(out[0], dt), out[1].Typed(tensor.Int64)}
}
