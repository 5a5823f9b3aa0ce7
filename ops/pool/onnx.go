package pool

import (
	"math"
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	for n := 1; n <= 3; n++ {
		d := string(rune('0'+n)) + "d"
		// self, kernel_size, stride, padding, dilation, ceil_mode
		ox.Register(func(c *ox.Call) []*ox.Value { return exportMaxPool(c, n, false) }, "aten::max_pool"+d)
		ox.Register(func(c *ox.Call) []*ox.Value { return exportMaxPool(c, n, true) },
			"aten::max_pool"+d+"_with_indices")
		ox.Register(ox.One(func(c *ox.Call) *ox.Value { return exportAvgPool(c, n) }), "aten::avg_pool"+d)
		ox.Register(ox.One(func(c *ox.Call) *ox.Value { return exportAdaptive(c, n, "Average") }),
			"aten::adaptive_avg_pool"+d)
		ox.Register(func(c *ox.Call) []*ox.Value {
			return []*ox.Value{exportAdaptive(c, n, "Max"), nil}
		}, "aten::adaptive_max_pool"+d)
	}
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { return exportUnpool(c, 2) }), "aten::max_unpool2d")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { return exportUnpool(c, 3) }), "aten::max_unpool3d")
}

// exportUnpool puts the elements at their positions in planes of zeros. ONNX's MaxUnpool counts positions in the whole
// input, PyTorch in a plane. The arguments are self, indices and output_size.
func exportUnpool(c *ox.Call, n int) *ox.Value {
	x, dt := c.T(0), c.T(0).DType
	lead := c.Rank(x) - n
	flat := append(make([]int, lead), -1) // 0 keeps a size
	outer := c.Sizes(x)[:lead]
	size := c.Elems(2)
	plane := c.Node("ReduceProd", ox.A{"keepdims": 0}, c.Vector(size...)).Typed(tensor.Int64).Shaped()
	zeros := c.Filled(c.Vector(append(slices.Clone(outer), plane)...), c.Scalar(0, dt))
	y := c.Node("ScatterElements", ox.A{"axis": lead}, zeros, c.Reshape(c.T(1), flat...).Typed(tensor.Int64),
		c.Reshape(x, flat...).Typed(dt)).Typed(dt)
	return c.ReshapeTo(y, c.Vector(append(outer, size...)...))
}

// windows are the attributes that all pools have.
func windows(c *ox.Call, n int) ox.A {
	kernel := c.IntsOf(1, n, 1)
	stride := kernel
	if len(c.Ints(2)) > 0 {
		stride = c.IntsOf(2, n, 1)
	}
	padding := c.IntsOf(3, n, 0)
	return ox.A{"kernel_shape": kernel, "strides": stride, "pads": slices.Concat(padding, padding)}
}

// withBatch runs f on an input with a batch, which is added where there is none.
func withBatch(c *ox.Call, n int, f func(x *ox.Value) []*ox.Value) []*ox.Value {
	x := c.T(0)
	if c.Rank(x) == n+2 {
		return f(x)
	}
	out := f(c.Unsqueeze(x, 0))
	for i, v := range out {
		if v != nil {
			dt := v.DType
			out[i] = c.Squeeze(v, 0).Typed(dt)
		}
	}
	return out
}

// exportMaxPool takes self, kernel_size, stride, padding, dilation, ceil_mode. ONNX counts positions through the whole
// input, PyTorch in each plane: the position is the remainder of ONNX's.
func exportMaxPool(c *ox.Call, n int, indices bool) []*ox.Value {
	a := windows(c, n)
	a["dilations"], a["ceil_mode"] = c.IntsOf(4, n, 1), c.Bool(5)
	return withBatch(c, n, func(x *ox.Value) []*ox.Value {
		if !indices {
			return []*ox.Value{c.Node("MaxPool", a, x)}
		}
		out := c.Nodes(2, "MaxPool", a, x)
		plane := c.Node("Slice", nil, c.ShapeOf(x), c.I64(2), c.I64(n+2)).Typed(tensor.Int64)
		out[1] = c.Node("Mod", nil, out[1].Typed(tensor.Int64),
			c.Reduce("ReduceProd", plane, nil, false)).Typed(tensor.Int64)
		return out
	})
}

// exportAvgPool takes self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override. ONNX's node
// counts padding in the last windows of ceil_mode in another way than PyTorch: there the padding is put on by hand.
func exportAvgPool(c *ox.Call, n int) *ox.Value {
	a := windows(c, n)
	a["ceil_mode"], a["count_include_pad"] = c.Bool(4), c.Bool(5)
	return withBatch(c, n, func(x *ox.Value) []*ox.Value {
		if !c.Has(6) {
			return []*ox.Value{c.Node("AveragePool", a, x)}
		}
		a["count_include_pad"] = true
		size := 1.0
		for _, k := range c.IntsOf(1, n, 1) {
			size *= float64(k)
		}
		y := c.Node("AveragePool", a, x)
		return []*ox.Value{c.Node("Mul", nil, y, c.Scalar(size/c.Float(6), x.DType))}
	})[0]
}

// exportAdaptive pools to an output of a given size: a global pool for size 1, a plain pool where the windows are
// equal, and otherwise one slice for each window.
func exportAdaptive(c *ox.Call, n int, kind string) *ox.Value {
	return withBatch(c, n, func(x *ox.Value) []*ox.Value {
		out := make([]any, n)
		for i, e := range c.Elems(1) {
			if len(c.Elems(1)) == 1 {
				for k := range out {
					out[k] = e
				}
				break
			}
			out[i] = e
		}
		if l, ok := c.Arg(1).X.([]tensor.Value); ok { // None keeps a size
			for i, e := range l {
				if e.K == tensor.KNone {
					out[i] = c.SizeOf(x, i+2)
				}
			}
		}
		if !slices.ContainsFunc(out, func(e any) bool { return e != 1 }) {
			return []*ox.Value{c.Node("Global"+kind+"Pool", nil, x)}
		}
		kernel := make([]int, n)
		var sizes [][2]int
		even := true
		for i, e := range out {
			o, ok := e.(int)
			in, ok2 := c.SizeOf(x, i+2).(int)
			if !ok || !ok2 || o < 1 {
				c.Fail("the windows of an adaptive pool depend on a dynamic size")
			}
			even = even && in%o == 0
			kernel[i] = in / max(o, 1)
			sizes = append(sizes, [2]int{in, o})
		}
		if even {
			return []*ox.Value{c.Node(kind+"Pool", ox.A{"kernel_shape": kernel, "strides": kernel}, x)}
		}
		op := map[string]string{"Average": "ReduceMean", "Max": "ReduceMax"}[kind]
		for i, s := range sizes { // the mean of a box is the mean of means, one dimension after the other
			if s[0] == s[1] {
				continue
			}
			var parts []*ox.Value
			for k := range s[1] {
				start := k * s[0] / s[1]
				end := int(math.Ceil(float64((k+1)*s[0]) / float64(s[1])))
				parts = append(parts, c.Reduce(op, c.Slice(x, i+2, start, end, 1), []int{i + 2}, true))
			}
			shape := slices.Clone(x.Shape)
			shape[i+2] = s[1]
			dt := x.DType
			x = c.Concat(i+2, parts...).Typed(dt).Shaped(shape...)
		}
		return []*ox.Value{x}
	})[0]
}
