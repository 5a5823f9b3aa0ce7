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
	ox.RegisterSized(ox.One(exportBinCount), "aten::bincount")
	ox.Register(ox.One(exportHistC), "aten::histc")
	// self, sorted, return_inverse, return_counts
	ox.RegisterSized(func(c *ox.Call) []*ox.Value { return exportUnique(c, nil) }, "aten::_unique2")
	ox.RegisterSized(func(c *ox.Call) []*ox.Value { // self, dim, …
		dim := c.Dim(c.T(0), c.Int(1))
		return exportUnique(c, &dim)
	}, "aten::unique_dim")
}

// addAt adds the elements of values at the positions at to a vector of so many zeros.
func addAt(c *ox.Call, size, at, values *ox.Value) *ox.Value {
	if c.Opset < 16 {
		c.Fail("ScatterElements with a reduction exists from opset 16 on")
	}
	zeros := c.Filled(size, c.Scalar(0, values.DType)).Typed(values.DType)
	return c.Node("ScatterElements", ox.A{"axis": 0, "reduction": "add"}, zeros, at, values).Typed(values.DType)
}

// exportBinCount adds ones, or the weights, at the positions that the elements are.
func exportBinCount(c *ox.Call) *ox.Value { // self, weights, minlength
	x := c.Cast(c.T(0), tensor.Int64)
	largest := c.Reduce("ReduceMax", c.Concat(0, x, c.I64(-1)).Typed(tensor.Int64), nil, false).Typed(tensor.Int64)
	size := c.Bin("Max", c.Bin("Add", largest, c.Scalar(1, tensor.Int64)), c.Num(2, tensor.Int64))
	ones := c.Filled(c.ShapeOf(x), c.Scalar(1, tensor.Int64)).Typed(tensor.Int64)
	if c.Has(1) {
		ones = c.Cast(c.T(1), c.OutType(0))
	}
	return addAt(c, c.Reshape(size, 1).Typed(tensor.Int64), x, ones).Shaped(-1)
}

// exportHistC adds ones at the bins of the elements, or zeros for those outside of the limits.
func exportHistC(c *ox.Call) *ox.Value { // self, bins, min, max
	x, bins := c.Reshape(c.T(0), -1).Typed(c.T(0).DType), c.Int(1)
	dt := x.DType
	low, high := c.Scalar(c.Float(2), dt), c.Scalar(c.Float(3), dt)
	if c.Float(2) == c.Float(3) { // the limits are those of the data
		low = c.Reduce("ReduceMin", x, nil, false).Typed(dt)
		high = c.Reduce("ReduceMax", x, nil, false).Typed(dt)
		same := c.Cast(c.Node("Equal", nil, low, high).Typed(tensor.Bool), dt)
		low, high = c.Bin("Sub", low, same), c.Bin("Add", high, same)
	}
	inside := c.Node("And", nil, c.Node("Not", nil, c.Node("Less", nil, x, low).Typed(tensor.Bool)).Typed(tensor.Bool),
		c.Node("Not", nil, c.Node("Less", nil, high, x).Typed(tensor.Bool)).Typed(tensor.Bool)).Typed(tensor.Bool)
	inside = c.Node("And", nil, inside, c.Node("Equal", nil, x, x).Typed(tensor.Bool)).Typed(tensor.Bool) // no NaN
	at := c.Bin("Div", c.Bin("Mul", c.Bin("Sub", x, low), c.Scalar(float64(bins), dt)), c.Bin("Sub", high, low))
	at = c.Node("Min", nil, c.Node("Floor", nil, at), c.Scalar(float64(bins-1), dt))
	at = c.Node("Where", nil, inside, at, c.Scalar(0, dt)).Typed(dt)
	return addAt(c, c.I64(bins), c.Cast(at, tensor.Int64), c.Cast(inside, dt))
}

// exportUnique is ONNX's Unique, of which runtimes have kernels for some dtypes only.
func exportUnique(c *ox.Call, dim *int) []*ox.Value {
	x := c.T(0)
	dt := x.DType
	switch {
	case dt == tensor.Float16 || dt == tensor.BFloat16:
		x = c.Cast(x, tensor.Float32)
	case !dt.IsFloat():
		x = c.Cast(x, tensor.Int64)
	}
	a := ox.A{"sorted": 1}
	shape := []int{-1}
	if dim != nil {
		a["axis"] = *dim
		shape = append([]int(nil), x.Shape...)
		shape[*dim] = -1
	}
	out := c.Nodes(4, "Unique", a, x)
	inverse := out[2].Typed(tensor.Int64).Shaped(-1)
	if dim == nil {
		inverse = c.ReshapeTo(inverse, c.ShapeOf(c.T(0))).Typed(tensor.Int64).Shaped(c.T(0).Shape...)
	}
	return []*ox.Value{c.Cast(out[0], dt).Typed(dt).Shaped(shape...), inverse, out[3].Typed(tensor.Int64).Shaped(-1)}
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
