package pointwise

import (
	"math"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.RegisterONNX(`
		Abs: abs($0)
		Acos: acos($0)
		Acosh: acosh($0)
		Asin: asin($0)
		Asinh: asinh($0)
		Atan: atan($0)
		Atanh: atanh($0)
		Ceil: ceil($0)
		Cos: cos($0)
		Cosh: cosh($0)
		Erf: erf($0)
		Exp: exp($0)
		Floor: floor($0)
		IsNaN: isnan($0)
		Log: log($0)
		Neg: neg($0)
		Reciprocal: reciprocal($0)
		Round: round($0)
		Sigmoid: sigmoid($0)
		Sign: sign($0)
		Sin: sin($0)
		Sinh: sinh($0)
		Sqrt: sqrt($0)
		Tan: tan($0)
		Tanh: tanh($0)

		Add: add.Tensor($0, $1)
		Sub: sub.Tensor($0, $1)
		Mul: mul.Tensor($0, $1)
		And: logical_and($0, $1)
		Or: logical_or($0, $1)
		Xor: logical_xor($0, $1)
		Not: logical_not($0)
		BitwiseAnd: bitwise_and.Tensor($0, $1)
		BitwiseOr: bitwise_or.Tensor($0, $1)
		BitwiseXor: bitwise_xor.Tensor($0, $1)
		BitwiseNot: bitwise_not($0)
		Equal: eq.Tensor($0, $1)
		Greater: gt.Tensor($0, $1)
		GreaterOrEqual: ge.Tensor($0, $1)
		Less: lt.Tensor($0, $1)
		LessOrEqual: le.Tensor($0, $1)
		Where: where.self($0, $1, $2)

		Celu: celu($0, alpha=1.0)
		Elu: elu($0, alpha=1.0)
		Gelu: gelu($0, approximate='none')
		HardSwish: hardswish($0)
		LeakyRelu: leaky_relu($0, alpha=0.01)
		Mish 18: mish($0)
		Relu: relu($0)
		Softplus: softplus($0)
		ThresholdedRelu: threshold($0, alpha=1.0, 0)
	`)
}

func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	for name, op := range map[string]string{"mul": "Mul", "pow": "Pow"} {
		f := func(c *ox.Call) *ox.Value { a, b := operands(c); return c.Node(op, nil, a, b) }
		if name == "pow" {
			one(f, "aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar")
		} else {
			one(f, "aten::mul.Tensor", "aten::mul.Scalar", "aten::multiply.Tensor", "aten::multiply.Scalar")
		}
	}
	scaled := func(op string, swap bool) func(c *ox.Call) *ox.Value {
		return func(c *ox.Call) *ox.Value { // self + alpha * other
			a, b := operands(c)
			if swap {
				a, b = b, a
			}
			if !c.IsNum(2, 1) && c.Has(2) {
				b = c.Node("Mul", nil, b, c.Num(2, c.OutType(0)))
			}
			if op == "Add" && c.OutType(0) == tensor.Bool {
				return c.Node("Or", nil, a, b)
			}
			return c.Node(op, nil, a, b)
		}
	}
	one(scaled("Add", false), "aten::add.Tensor", "aten::add.Scalar")
	one(scaled("Sub", false), "aten::sub.Tensor", "aten::sub.Scalar", "aten::subtract.Tensor", "aten::subtract.Scalar")
	one(scaled("Sub", true), "aten::rsub.Tensor", "aten::rsub.Scalar")

	div := func(c *ox.Call) *ox.Value {
		a, b := operands(c)
		switch c.Str(2) {
		case "floor":
			return floorDiv(c, a, b)
		case "trunc":
			if c.OutType(0).IsFloat() {
				return trunc(c, c.Node("Div", nil, a, b))
			}
		}
		return c.Node("Div", nil, a, b)
	}
	one(div, "aten::div.Tensor", "aten::div.Scalar", "aten::true_divide.Tensor", "aten::true_divide.Scalar",
		"aten::div.Tensor_mode", "aten::div.Scalar_mode", "aten::divide.Tensor", "aten::divide.Scalar")
	one(func(c *ox.Call) *ox.Value { a, b := operands(c); return floorDiv(c, a, b) }, "aten::floor_divide",
		"aten::floor_divide.Scalar")
	one(func(c *ox.Call) *ox.Value {
		a, b := operands(c)
		if c.OutType(0).IsFloat() { // a - floor(a / b) b
			return c.Node("Sub", nil, a, c.Node("Mul", nil, floorDiv(c, a, b), b))
		}
		return c.Node("Mod", nil, a, b)
	}, "aten::remainder.Tensor", "aten::remainder.Scalar")
	one(func(c *ox.Call) *ox.Value { a, b := operands(c); return c.Node("Mod", ox.A{"fmod": 1}, a, b) },
		"aten::fmod.Tensor", "aten::fmod.Scalar")

	for name, op := range map[string]string{"eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater",
		"ge": "GreaterOrEqual", "ne": "Equal"} {
		one(func(c *ox.Call) *ox.Value {
			a, b := compared(c)
			v := c.Node(op, nil, a, b).Typed(tensor.Bool)
			if name == "ne" {
				v = c.Node("Not", nil, v)
			}
			return v
		}, "aten::"+name+".Tensor", "aten::"+name+".Scalar")
	}
	for name, op := range map[string]string{"and": "And", "or": "Or", "xor": "Xor"} {
		one(func(c *ox.Call) *ox.Value {
			return c.Node(op, nil, c.Cast(c.T(0), tensor.Bool), c.Cast(c.T(1), tensor.Bool)).Typed(tensor.Bool)
		}, "aten::logical_"+name)
		bitwise := func(c *ox.Call) *ox.Value {
			a, b := operands(c)
			if c.OutType(0) == tensor.Bool {
				return c.Node(op, nil, a, b)
			}
			if c.Opset < 18 {
				c.Fail("operators on bits exist from opset 18 on")
			}
			return c.Node("Bitwise"+op, nil, a, b)
		}
		one(bitwise, "aten::bitwise_"+name+".Tensor", "aten::bitwise_"+name+".Scalar", "aten::__"+name+"__.Tensor",
			"aten::__"+name+"__.Scalar")
	}
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Not", nil, c.Cast(c.T(0), tensor.Bool)).Typed(tensor.Bool)
	},
		"aten::logical_not")
	one(func(c *ox.Call) *ox.Value {
		if c.OutType(0) == tensor.Bool {
			return c.Node("Not", nil, c.T(0))
		}
		return c.Node("BitwiseNot", nil, c.T(0))
	}, "aten::bitwise_not")

	for name, op := range map[string]string{"maximum": "Max", "minimum": "Min"} {
		f := func(c *ox.Call) *ox.Value { a, b := operands(c); return c.Node(op, nil, a, b) }
		one(f, "aten::"+name, "aten::"+name[:3]+".other")
	}
	one(func(c *ox.Call) *ox.Value { return clamp(c, c.Arg(1), c.Arg(2)) }, "aten::clamp", "aten::clip",
		"aten::hardtanh",
		"aten::clamp.Tensor", "aten::clip.Tensor")
	one(func(c *ox.Call) *ox.Value { return clamp(c, c.Arg(1), tensor.Value{}) }, "aten::clamp_min",
		"aten::clamp_min.Tensor")
	one(func(c *ox.Call) *ox.Value { return clamp(c, tensor.Value{}, c.Arg(1)) }, "aten::clamp_max",
		"aten::clamp_max.Tensor")
	one(func(c *ox.Call) *ox.Value { return clamp(c, tensor.IntValue(0), tensor.IntValue(6)) }, "aten::relu6")
	exportActivations(one)
	exportUnary(one)

	one(func(c *ox.Call) *ox.Value { // self + value * t1 * t2
		return c.Node("Add", nil, c.T(0), times(c, c.Node("Mul", nil, c.T(1), c.T(2)), 3))
	}, "aten::addcmul")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Add", nil, c.T(0), times(c, c.Node("Div", nil, c.T(1), c.T(2)), 3))
	}, "aten::addcdiv")
	lerp := func(c *ox.Call) *ox.Value {
		w := c.T(2)
		return c.Node("Add", nil, c.T(0),
			c.Node("Mul", nil, c.Node("Sub", nil, c.T(1), c.T(0)), c.Cast(w, c.OutType(0))))
	}
	one(lerp, "aten::lerp.Scalar", "aten::lerp.Tensor")
	one(func(c *ox.Call) *ox.Value {
		dt := c.OutType(0)
		return c.Node("Where", nil, c.Cast(c.T(0), tensor.Bool), c.Cast(c.T(1), dt), c.Cast(c.T(2), dt)).Typed(dt)
	}, "aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar")
	one(func(c *ox.Call) *ox.Value { // the angle of (other, self), by the quadrant of the point
		y, x := operands(c)
		dt := c.OutType(0)
		zero, pi := c.Scalar(0, dt), c.Scalar(math.Pi, dt)
		a := c.Node("Atan", nil, c.Node("Div", nil, y, x))
		side := c.Node("Where", nil, c.Node("Less", nil, y, zero).Typed(tensor.Bool), c.Node("Sub", nil, a, pi),
			c.Node("Add", nil, a, pi)).Typed(dt)
		got := c.Node("Where", nil, c.Node("Less", nil, x, zero).Typed(tensor.Bool), side, a).Typed(dt)
		origin := c.Node("And", nil, c.Node("Equal", nil, x, zero).Typed(tensor.Bool),
			c.Node("Equal", nil, y, zero).Typed(tensor.Bool))
		return c.Node("Where", nil, origin, zero, got).Typed(dt)
	}, "aten::atan2")
}

// operands are the two operands in the dtype of the result.
func operands(c *ox.Call) (a, b *ox.Value) {
	dt := c.OutType(0)
	return c.Cast(c.T(0), dt), c.Cast(c.T(1), dt)
}

// compared are the two operands in the dtype in which PyTorch compares them.
func compared(c *ox.Call) (a, b *ox.Value) {
	a, b = c.T(0), c.T(1)
	dt := c.Common(a, b)
	if c.Arg(1).K != tensor.KAny { // a number does not widen a tensor of its own category
		dt = numbered(c, a.DType, c.Arg(1))
	}
	if dt == tensor.Bool && c.Op[:9] != "aten::eq." && c.Op[:9] != "aten::ne." {
		dt = tensor.Int32
	}
	return c.Cast(a, dt), c.Cast(b, dt)
}

func numbered(c *ox.Call, dt tensor.DType, n tensor.Value) tensor.DType {
	switch {
	case n.K == tensor.KFloat && !dt.IsFloat():
		return tensor.DefaultDType()
	case n.K == tensor.KInt && dt == tensor.Bool:
		return tensor.Int64
	}
	return dt
}

func times(c *ox.Call, v *ox.Value, arg int) *ox.Value {
	if c.IsNum(arg, 1) {
		return v
	}
	return c.Node("Mul", nil, v, c.Num(arg, v.DType))
}

func trunc(c *ox.Call, v *ox.Value) *ox.Value {
	return c.Node("Mul", nil, c.Node("Sign", nil, v), c.Node("Floor", nil, c.Node("Abs", nil, v)))
}

// floorDiv rounds a quotient down. For integers it is (a - a mod b) / b, which is exact.
func floorDiv(c *ox.Call, a, b *ox.Value) *ox.Value {
	if c.OutType(0).IsFloat() {
		return c.Node("Floor", nil, c.Node("Div", nil, a, b))
	}
	return c.Node("Div", nil, c.Node("Sub", nil, a, c.Node("Mod", nil, a, b)), b)
}

// clamp limits the first argument. Limits that are tensors with dimensions take Min and Max.
func clamp(c *ox.Call, lo, hi tensor.Value) *ox.Value {
	dt := c.OutType(0)
	x := c.Cast(c.T(0), dt)
	limit := func(v tensor.Value) (l *ox.Value, wide bool) {
		if v.K == tensor.KNone {
			return nil, false
		}
		if l, ok := v.X.(*ox.Value); ok {
			return c.Cast(l, dt), l.Rank() != 0
		}
		return c.Const(v.Num().Tensor().ToDType(dt)), false
	}
	l, wide := limit(lo)
	h, wide2 := limit(hi)
	if wide || wide2 {
		if l != nil {
			x = c.Node("Max", nil, x, l)
		}
		if h != nil {
			x = c.Node("Min", nil, x, h)
		}
		return x
	}
	return c.Node("Clip", nil, x, l, h)
}

func exportActivations(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	sigmoid := func(c *ox.Call, x *ox.Value) *ox.Value { return c.Node("Sigmoid", nil, x) }
	number := func(c *ox.Call, x float64) *ox.Value { return c.Scalar(x, c.OutType(0)) }
	one(func(c *ox.Call) *ox.Value { return c.Node("Mul", nil, c.T(0), sigmoid(c, c.T(0))) }, "aten::silu")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Mul", nil, c.T(0), c.Node("Tanh", nil, c.Node("Softplus", nil, c.T(0))))
	}, "aten::mish")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		if c.Opset >= 20 {
			return c.Node("Gelu", ox.A{"approximate": c.Str(1)}, x)
		}
		half := c.Node("Mul", nil, x, number(c, 0.5))
		if c.Str(1) == "tanh" {
			cube := c.Node("Mul", nil, x, c.Node("Mul", nil, x, x))
			in := c.Node("Add", nil, x, c.Node("Mul", nil, cube, number(c, 0.044715)))
			t := c.Node("Tanh", nil, c.Node("Mul", nil, in, number(c, math.Sqrt(2/math.Pi))))
			return c.Node("Mul", nil, half, c.Node("Add", nil, t, number(c, 1)))
		}
		e := c.Node("Erf", nil, c.Node("Div", nil, x, number(c, math.Sqrt2)))
		return c.Node("Mul", nil, half, c.Node("Add", nil, e, number(c, 1)))
	}, "aten::gelu")
	one(func(c *ox.Call) *ox.Value { // log(1 + exp(beta x)) / beta, x beyond the threshold
		x := c.T(0)
		in := times(c, x, 1)
		v := c.Node("Softplus", nil, in)
		if !c.IsNum(1, 1) {
			v = c.Node("Div", nil, v, c.Num(1, x.DType))
		}
		if c.IsNum(2, 20) && x.DType == tensor.Float32 { // beyond 20 the two are equal in float32
			return v
		}
		return c.Node("Where", nil, c.Node("Greater", nil, in, c.Num(2, x.DType)).Typed(tensor.Bool), x,
			v).Typed(x.DType)
	}, "aten::softplus")
	one(func(c *ox.Call) *ox.Value {
		if !c.IsNum(2, 1) || !c.IsNum(3, 1) {
			c.Fail("scale and input_scale are not 1")
		}
		return c.Node("Elu", ox.A{"alpha": c.Float(1)}, c.T(0))
	}, "aten::elu")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Selu", ox.A{"alpha": 1.6732632423543772848170429916717,
			"gamma": 1.0507009873554804934193349852946},
			c.T(0))
	}, "aten::selu")
	one(func(c *ox.Call) *ox.Value {
		x, w := c.T(0), c.T(1)
		if n := c.Rank(w); n == 1 && x.Rank() > 2 && !(w.Static() && w.Shape[0] == 1) {
			axes := make([]int, 0, x.Rank()-2)
			for i := 1; i < x.Rank()-1; i++ {
				axes = append(axes, i)
			}
			w = c.Unsqueeze(w, axes...)
		}
		if x.Rank() == 0 {
			w = c.ReshapeTo(w, c.I64()).Typed(w.DType)
		}
		return c.Node("PRelu", nil, x, w)
	}, "aten::prelu", "aten::_prelu_kernel")
	one(func(c *ox.Call) *ox.Value {
		if c.Bool(3) {
			c.Fail("rrelu draws its slopes in training")
		}
		return c.Node("LeakyRelu", ox.A{"alpha": (c.Float(1) + c.Float(2)) / 2}, c.T(0))
	}, "aten::rrelu")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("HardSigmoid", ox.A{"alpha": 1.0 / 6, "beta": 0.5}, c.T(0))
	},
		"aten::hardsigmoid")
	one(func(c *ox.Call) *ox.Value {
		if c.Opset >= 14 {
			return c.Node("HardSwish", nil, c.T(0))
		}
		return c.Node("Mul", nil, c.T(0), c.Node("HardSigmoid", ox.A{"alpha": 1.0 / 6, "beta": 0.5}, c.T(0)))
	}, "aten::hardswish")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Shrink", ox.A{"lambd": c.Float(1), "bias": 0.0}, c.T(0))
	},
		"aten::hardshrink")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Shrink", ox.A{"lambd": c.Float(1), "bias": c.Float(1)}, c.T(0))
	},
		"aten::softshrink")
	one(func(c *ox.Call) *ox.Value { return c.Node("Sub", nil, c.T(0), c.Node("Tanh", nil, c.T(0))) },
		"aten::tanhshrink")
	one(func(c *ox.Call) *ox.Value { return c.Node("Softsign", nil, c.T(0)) }, "aten::softsign")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("Neg", nil, c.Node("Softplus", nil, c.Node("Neg", nil, c.T(0))))
	},
		"aten::log_sigmoid")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		above := c.Node("Greater", nil, x, c.Num(1, x.DType)).Typed(tensor.Bool)
		return c.Node("Where", nil, above, x, c.Num(2, x.DType)).Typed(x.DType)
	}, "aten::threshold")
	one(func(c *ox.Call) *ox.Value {
		x := c.T(0)
		dim := c.Dim(x, c.Int(1))
		n, ok := c.SizeOf(x, dim).(int)
		if !ok {
			c.Fail("the size of the dimension is dynamic")
		}
		p := c.Split(x, dim, n/2, n-n/2)
		return c.Node("Mul", nil, p[0], sigmoid(c, p[1]))
	}, "aten::glu")
}

func exportUnary(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	number := func(c *ox.Call, x float64) *ox.Value { return c.Scalar(x, c.OutType(0)) }
	x := func(c *ox.Call) *ox.Value { return c.Cast(c.T(0), c.OutType(0)) }
	one(func(c *ox.Call) *ox.Value { return c.Node("Mul", nil, x(c), x(c)) }, "aten::square")
	one(func(c *ox.Call) *ox.Value { return c.Node("Reciprocal", nil, c.Node("Sqrt", nil, x(c))) }, "aten::rsqrt")
	one(func(c *ox.Call) *ox.Value { return c.Node("Pow", nil, number(c, 2), x(c)) }, "aten::exp2")
	one(func(c *ox.Call) *ox.Value { return c.Node("Sub", nil, c.Node("Exp", nil, x(c)), number(c, 1)) }, "aten::expm1")
	one(func(c *ox.Call) *ox.Value { return c.Node("Log", nil, c.Node("Add", nil, x(c), number(c, 1))) }, "aten::log1p")
	for name, base := range map[string]float64{"log2": math.Ln2, "log10": math.Ln10} {
		one(func(c *ox.Call) *ox.Value { return c.Node("Div", nil, c.Node("Log", nil, x(c)), number(c, base)) },
			"aten::"+name)
	}
	one(func(c *ox.Call) *ox.Value {
		if !c.OutType(0).IsFloat() {
			return c.T(0)
		}
		return trunc(c, x(c))
	}, "aten::trunc", "aten::fix")
	one(func(c *ox.Call) *ox.Value { return c.Node("Sub", nil, x(c), trunc(c, x(c))) }, "aten::frac")
	one(func(c *ox.Call) *ox.Value { return c.Node("Sub", nil, number(c, 1), c.Node("Erf", nil, x(c))) }, "aten::erfc")
	one(func(c *ox.Call) *ox.Value {
		p := x(c)
		if c.Has(1) {
			p = c.Node("Clip", nil, p, c.Num(1, p.DType), c.Scalar(1-c.Float(1), p.DType))
		}
		return c.Node("Log", nil, c.Node("Div", nil, p, c.Node("Sub", nil, number(c, 1), p)))
	}, "aten::logit")
	one(func(c *ox.Call) *ox.Value {
		return c.Node("IsInf", nil, c.Cast(c.T(0), tensor.Float32)).Typed(tensor.Bool)
	},
		"aten::isinf")
	one(func(c *ox.Call) *ox.Value { return c.Node("IsNaN", nil, c.T(0)).Typed(tensor.Bool) }, "aten::isnan")
	one(func(c *ox.Call) *ox.Value {
		v := c.Cast(c.T(0), tensor.Float32)
		bad := c.Node("Or", nil, c.Node("IsInf", nil, v).Typed(tensor.Bool), c.Node("IsNaN", nil, v).Typed(tensor.Bool))
		return c.Node("Not", nil, bad)
	}, "aten::isfinite")
	one(func(c *ox.Call) *ox.Value {
		if !c.OutType(0).IsFloat() {
			return c.T(0)
		}
		v := x(c)
		f := 1.0
		for range c.Int(1) {
			f *= 10
		}
		if f == 1 {
			return c.Node("Round", nil, v)
		}
		return c.Node("Div", nil, c.Node("Round", nil, c.Node("Mul", nil, v, number(c, f))), number(c, f))
	}, "aten::round", "aten::round.decimals")
	for name, op := range map[string]string{"ceil": "Ceil", "floor": "Floor"} {
		one(func(c *ox.Call) *ox.Value {
			if !c.OutType(0).IsFloat() {
				return c.T(0)
			}
			return c.Node(op, nil, x(c))
		}, "aten::"+name)
	}
}
