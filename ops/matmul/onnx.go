package matmul

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.RegisterONNX(`MatMul: matmul($0, $1)`)

	product := ox.One(func(c *ox.Call) *ox.Value { return c.Node("MatMul", nil, c.T(0), c.T(1)) })
	ox.Register(product, "aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::linalg_matmul")
	ox.Register(ox.One(exportCross), "aten::linalg_cross")
	ox.Register(ox.One(exportLinear), "aten::linear")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // beta self + alpha mat1 mat2
		return c.Node("Gemm", ox.A{"alpha": c.Float(4), "beta": c.Float(3)}, c.T(1), c.T(2), c.T(0))
	}), "aten::addmm")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		y := c.Node("MatMul", nil, c.T(1), c.T(2))
		return c.Node("Add", nil, scaled(c, y, 4), scaled(c, c.T(0), 3))
	}), "aten::baddbmm", "aten::addmv", "aten::addbmm")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		return c.Node("Mul", nil, c.Unsqueeze(c.T(0), 1), c.T(1))
	}), "aten::outer", "aten::ger")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		return c.Node("Einsum", ox.A{"equation": c.Str(0)}, c.Ts(1)...)
	}), "aten::einsum")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // input1, input2, weight, bias
		y := c.Node("Einsum", ox.A{"equation": "...i,oij,...j->...o"}, c.T(0), c.T(2), c.T(1))
		if c.Has(3) {
			y = c.Node("Add", nil, y, c.T(3))
		}
		return y
	}), "aten::bilinear")
}

func scaled(c *ox.Call, v *ox.Value, arg int) *ox.Value {
	if c.IsNum(arg, 1) {
		return v
	}
	return c.Node("Mul", nil, v, c.Num(arg, v.DType))
}

// exportLinear is Gemm for two dimensions, which takes the weight as it is, and MatMul with the weight transposed for
// others.
func exportLinear(c *ox.Call) *ox.Value {
	x, w, b := c.T(0), c.T(1), c.T(2)
	if c.Rank(x) == 2 && c.Rank(w) == 2 {
		return c.Node("Gemm", ox.A{"transB": 1}, x, w, b)
	}
	if c.Rank(w) == 2 {
		w = c.Transpose(w, 1, 0)
	}
	y := c.Node("MatMul", nil, x, w)
	if b != nil {
		y = c.Node("Add", nil, y, b)
	}
	return y
}

// exportCross is a x b along a dimension of 3: each element is a product of the next two, less that in the other order.
func exportCross(c *ox.Call) *ox.Value {
	a, b := c.T(0), c.T(1)
	dt := c.OutType(0)
	a, b = c.Cast(a, dt), c.Cast(b, dt)
	dim := c.Int(2)
	turn := func(v *ox.Value, by int) *ox.Value {
		return c.Concat(c.Dim(v, dim), c.Slice(v, dim, by, 3, 1).Typed(dt), c.Slice(v, dim, 0, by, 1).Typed(dt)).Typed(dt)
	}
	mul := func(x, y *ox.Value) *ox.Value { return c.Node("Mul", nil, x, y).Typed(dt) }
	return c.Node("Sub", nil, mul(turn(a, 1), turn(b, 2)), mul(turn(a, 2), turn(b, 1))).Typed(dt)
}
