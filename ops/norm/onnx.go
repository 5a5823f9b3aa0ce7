package norm

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	ox.Register(ox.One(exportBatchNorm), "aten::batch_norm")
	ox.Register(exportLayerNorm, "aten::layer_norm", "aten::native_layer_norm")
	ox.Register(ox.One(exportGroupNorm), "aten::group_norm")
	ox.Register(ox.One(exportInstanceNorm), "aten::instance_norm")
	ox.Register(ox.One(exportRMSNorm), "aten::rms_norm")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // v g / |v|, the norm over all dimensions but dim
		v, g := c.T(0), c.T(1)
		dim := c.Dim(v, c.Int(2))
		var axes []int
		for i := range c.Rank(v) {
			if i != dim {
				axes = append(axes, i)
			}
		}
		return c.Node("Mul", nil, v, c.Node("Div", nil, g, c.Reduce("ReduceL2", v, axes, true)))
	}), "aten::_weight_norm")
}

// ones and zeros stand for a scale and a shift that are not there, one number to a channel.
func filled(c *ox.Call, x float64, n any, dt tensor.DType) *ox.Value {
	size, ok := n.(int)
	if !ok {
		c.Fail("the number of channels is known only when the file runs")
	}
	return c.Const(tensor.FromSlice([]float64{x}).Expand([]int{size}).Contiguous().ToDType(dt))
}

// exportBatchNorm takes input, weight, bias, running_mean, running_var, training, momentum, eps.
func exportBatchNorm(c *ox.Call) *ox.Value {
	x := c.T(0)
	rank := c.Rank(x)
	var n any = 0
	if rank > 1 {
		n = c.SizeOf(x, 1)
	} else {
		c.Fail("batch norm of %d dimensions", rank)
	}
	or := func(i int, def float64) *ox.Value {
		if c.Has(i) {
			return c.T(i)
		}
		return filled(c, def, n, x.DType)
	}
	w, b := or(1, 1), or(2, 0)
	if c.Bool(5) || !c.Has(3) {
		if !c.Has(3) { // statistics of the batch, always
			return normalized(c, x, append([]int{0}, from(2, rank)...), channels(c, w, rank), channels(c, b, rank),
				c.Float(7))
		}
		if c.Opset < 14 {
			c.Fail("batch norm in training exists from opset 14 on")
		}
		out := c.Nodes(3, "BatchNormalization", ox.A{"epsilon": c.Float(7), "momentum": 1 - c.Float(6),
			"training_mode": 1}, x, w, b, c.T(3), c.T(4))
		return out[0]
	}
	return c.Node("BatchNormalization", ox.A{"epsilon": c.Float(7), "momentum": 1 - c.Float(6)}, x, w, b, c.T(3),
		c.T(4))
}

// from are the numbers from i to n.
func from(i, n int) []int {
	var l []int
	for ; i < n; i++ {
		l = append(l, i)
	}
	return l
}

// channels gives a vector of channels the dimensions of the input: [C, 1, 1, …].
func channels(c *ox.Call, v *ox.Value, rank int) *ox.Value {
	if v == nil || rank <= 2 {
		return v
	}
	return c.Unsqueeze(v, from(1, rank-1)...)
}

// normalized is (x - mean) / sqrt(var + eps) w + b with the mean and the variance over some axes.
func normalized(c *ox.Call, x *ox.Value, axes []int, w, b *ox.Value, eps float64) *ox.Value {
	d := c.Node("Sub", nil, x, c.Reduce("ReduceMean", x, axes, true))
	v := c.Reduce("ReduceMean", c.Node("Mul", nil, d, d), axes, true)
	y := c.Node("Div", nil, d, c.Node("Sqrt", nil, c.Node("Add", nil, v, c.Scalar(eps, x.DType))))
	if w != nil {
		y = c.Node("Mul", nil, y, w)
	}
	if b != nil {
		y = c.Node("Add", nil, y, b)
	}
	return y
}

// exportLayerNorm takes input, normalized_shape, weight, bias, eps. Its node exists from opset 17 on.
func exportLayerNorm(c *ox.Call) []*ox.Value {
	x := c.T(0)
	n := len(c.Elems(1))
	var y *ox.Value
	if c.Opset < 17 {
		rank := c.Rank(x)
		y = normalized(c, x, from(rank-n, rank), c.T(2), c.T(3), c.Float(4))
	} else {
		w := c.T(2)
		if w == nil {
			w = c.Expand(c.Scalar(1, x.DType), c.IntsValue(1)).Typed(x.DType)
			if shape := c.IntsValue(1); shape.Folds() {
				w = c.Const(tensor.FromSlice([]float64{1}).Expand(c.Ints(1)).Contiguous().ToDType(x.DType))
			}
		}
		y = c.Node("LayerNormalization", ox.A{"axis": -n, "epsilon": c.Float(4)}, x, w, c.T(3))
	}
	return []*ox.Value{y, nil, nil}
}

// exportRMSNorm takes input, normalized_shape, weight, eps.
func exportRMSNorm(c *ox.Call) *ox.Value {
	x := c.T(0)
	n, rank := len(c.Elems(1)), c.Rank(x)
	eps := c.Float(3)
	if !c.Has(3) {
		eps = map[tensor.DType]float64{tensor.Float64: 0x1p-52, tensor.Float16: 0x1p-10,
			tensor.BFloat16: 0x1p-7}[x.DType]
		if eps == 0 {
			eps = 0x1p-23
		}
	}
	square := c.Reduce("ReduceMean", c.Node("Mul", nil, x, x), from(rank-n, rank), true)
	y := c.Node("Div", nil, x, c.Node("Sqrt", nil, c.Node("Add", nil, square, c.Scalar(eps, x.DType))))
	if c.Has(2) {
		y = c.Node("Mul", nil, y, c.T(2))
	}
	return y
}

// exportGroupNorm takes input, num_groups, weight, bias, eps: instance norm of the groups, then scale and shift of the
// channels.
func exportGroupNorm(c *ox.Call) *ox.Value {
	x := c.T(0)
	rank, g := c.Rank(x), c.Int(1)
	y := c.Node("Reshape", nil, x, c.I64(0, g, -1))
	y = c.Node("InstanceNormalization", ox.A{"epsilon": c.Float(4)}, y, filled(c, 1, g, x.DType),
		filled(c, 0, g, x.DType))
	y = c.ReshapeTo(y, c.ShapeOf(x)).Typed(x.DType)
	if w := channels(c, c.T(2), rank); w != nil {
		y = c.Node("Mul", nil, y, w)
	}
	if b := channels(c, c.T(3), rank); b != nil {
		y = c.Node("Add", nil, y, b)
	}
	return y
}

// exportInstanceNorm takes input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps.
func exportInstanceNorm(c *ox.Call) *ox.Value {
	x := c.T(0)
	n := c.SizeOf(x, 1)
	w, b := c.T(1), c.T(2)
	if w == nil {
		w = filled(c, 1, n, x.DType)
	}
	if b == nil {
		b = filled(c, 0, n, x.DType)
	}
	if !c.Bool(5) {
		return c.Node("BatchNormalization", ox.A{"epsilon": c.Float(7)}, x, w, b, c.T(3), c.T(4))
	}
	return c.Node("InstanceNormalization", ox.A{"epsilon": c.Float(7)}, x, w, b)
}
