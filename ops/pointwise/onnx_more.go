package pointwise

import (
	"math"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// The forms of functions that ONNX has no operator for, by their definitions.
func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	for name, op := range map[string]string{"less": "Less", "less_equal": "LessOrEqual", "greater": "Greater",
		"greater_equal": "GreaterOrEqual", "not_equal": "Equal"} {
		one(func(c *ox.Call) *ox.Value {
			a, b := compared(c)
			v := c.Node(op, nil, a, b).Typed(tensor.Bool)
			if name == "not_equal" {
				v = c.Node("Not", nil, v).Typed(tensor.Bool)
			}
			return v
		}, "aten::"+name+".Tensor", "aten::"+name+".Scalar")
	}
	// op adds a node whose result has the dtype of its last input
	op := func(c *ox.Call, name string, in ...*ox.Value) *ox.Value {
		return c.Node(name, nil, in...).Typed(in[len(in)-1].DType)
	}
	is := func(c *ox.Call, name string, in ...*ox.Value) *ox.Value {
		return c.Node(name, nil, in...).Typed(tensor.Bool)
	}
	number := func(c *ox.Call, x float64) *ox.Value { return c.Scalar(x, c.OutType(0)) }
	in := func(c *ox.Call) *ox.Value { return c.Cast(c.T(0), c.OutType(0)) }
	for name, factor := range map[string]float64{"deg2rad": math.Pi / 180, "rad2deg": 180 / math.Pi} {
		one(func(c *ox.Call) *ox.Value { return op(c, "Mul", in(c), number(c, factor)) }, "aten::"+name)
	}
	one(func(c *ox.Call) *ox.Value { return op(c, "Erf", in(c)) }, "aten::special_erf")
	one(func(c *ox.Call) *ox.Value { return op(c, "Sub", number(c, 1), op(c, "Erf", in(c))) }, "aten::special_erfc")
	one(func(c *ox.Call) *ox.Value { return op(c, "Sub", op(c, "Exp", in(c)), number(c, 1)) }, "aten::special_expm1")
	one(func(c *ox.Call) *ox.Value { // sin(πx) / πx
		y := op(c, "Mul", in(c), number(c, math.Pi))
		zero := is(c, "Equal", y, number(c, 0))
		one := number(c, 1)
		return op(c, "Where", zero, one, op(c, "Div", op(c, "Sin", y), op(c, "Where", zero, one, y)))
	}, "aten::sinc", "aten::special_sinc")
	for name, sign := range map[string]string{"isneginf": "detect_positive", "isposinf": "detect_negative"} {
		one(func(c *ox.Call) *ox.Value {
			return c.Node("IsInf", ox.A{sign: 0}, c.Cast(c.T(0), tensor.Float32)).Typed(tensor.Bool)
		}, "aten::"+name)
	}
	one(func(c *ox.Call) *ox.Value { // of -0, too, whose reciprocal is negative
		x := c.T(0)
		if x.DType == tensor.Bool {
			c.Fail("signs of bools")
		}
		zero := c.Scalar(0, x.DType)
		below := is(c, "Less", x, zero)
		if !x.DType.IsFloat() {
			return below
		}
		return is(c, "Or", below, is(c, "Less", op(c, "Reciprocal", x), zero))
	}, "aten::signbit")
	one(func(c *ox.Call) *ox.Value { // input, values
		x, values := operands(c)
		zero := c.Scalar(0, x.DType)
		step := c.Cast(is(c, "Less", zero, x), x.DType)
		return op(c, "Where", is(c, "Equal", x, zero), values, step)
	}, "aten::heaviside")
	// log(bᵃ¹ + bᵃ²) is the larger one and what is left, so that nothing overflows; infinities would leave NaN
	for name, ln := range map[string]float64{"logaddexp": 1, "logaddexp2": math.Ln2} {
		one(func(c *ox.Call) *ox.Value {
			a, b := operands(c)
			same := is(c, "Equal", a, b)
			gap := op(c, "Where", same, number(c, 0), op(c, "Abs", op(c, "Sub", a, b)))
			rest := op(c, "Log", op(c, "Add", number(c, 1), op(c, "Exp", op(c, "Mul", gap, number(c, -ln)))))
			return op(c, "Add", op(c, "Max", a, b), op(c, "Div", rest, number(c, ln)))
		}, "aten::"+name)
	}
	one(func(c *ox.Call) *ox.Value { // 0 where x is, whatever y is, but for NaN
		x, y := operands(c)
		zero := number(c, 0)
		none := is(c, "And", is(c, "Equal", x, zero), is(c, "Not", is(c, "IsNaN", y)))
		return op(c, "Where", none, zero, op(c, "Mul", x, op(c, "Log", y)))
	}, "aten::xlogy.Tensor")
	one(func(c *ox.Call) *ox.Value {
		a, n := operands(c)
		return op(c, "Mul", a, powerOfTwo(c, n))
	}, "aten::bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_Scalar")
	one(func(c *ox.Call) *ox.Value { // rounds down, where ONNX's division of integers rounds to zero
		a, n := operands(c)
		p := powerOfTwo(c, n)
		return op(c, "Div", op(c, "Sub", a, op(c, "Mod", a, p)), p)
	}, "aten::bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_Scalar")
}

// powerOfTwo is 2 to the power of an integer below 32. Pow of ONNX Runtime computes with floats.
func powerOfTwo(c *ox.Call, n *ox.Value) *ox.Value {
	p := c.Node("Pow", nil, c.Scalar(2, tensor.Float64), c.Cast(n, tensor.Float64)).Typed(tensor.Float64)
	return c.Cast(p, n.DType)
}
