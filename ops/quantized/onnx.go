package quantized

import (
	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	const space = "quantized_decomposed::"
	one(onnxQuantize, space+"quantize_per_tensor", space+"quantize_per_tensor.tensor")
	one(onnxDequantize, space+"dequantize_per_tensor", space+"dequantize_per_tensor.tensor")
	one(func(c *ox.Call) *ox.Value {
		dt := c.DType(6, tensor.Int8)
		return c.Node("QuantizeLinear", ox.A{"axis": c.Int(3)}, c.Cast(c.T(0), tensor.Float32),
			c.Cast(c.T(1), tensor.Float32), typed(c, 2, dt)).Typed(dt)
	}, space+"quantize_per_channel")
	one(func(c *ox.Call) *ox.Value {
		in := []*ox.Value{c.T(0), c.Cast(c.T(1), tensor.Float32)}
		if c.Has(2) {
			in = append(in, typed(c, 2, c.DType(6, tensor.Int8)))
		}
		y := c.Node("DequantizeLinear", ox.A{"axis": c.Int(3)}, in...).Typed(tensor.Float32)
		return c.Cast(y, c.DType(7, tensor.Float32))
	}, space+"dequantize_per_channel")
	ox.Register(onnxChoose(false), space+"choose_qparams.tensor")
	ox.Register(onnxChoose(true), space+"choose_qparams_symmetric.tensor")
}

// typed is an argument of another type, a constant where the argument is one.
func typed(c *ox.Call, i int, dt tensor.DType) *ox.Value {
	v := c.T(i)
	if v.Const != nil {
		return c.Const(v.Const.To(dt))
	}
	return c.Cast(v, dt)
}

// onnxParams are scale (float32) and zero point (of the integers' type), without dimensions.
func onnxParams(c *ox.Call, dt tensor.DType) (scale, zero *ox.Value) {
	if c.Arg(1).K != tensor.KTensor && !c.Dynamic(1) {
		z := tensor.FromSlice([]int64{int64(c.Int(2))}).Reshape([]int{}).To(dt)
		return c.Scalar(c.Float(1), tensor.Float32), c.Const(z)
	}
	return c.Reshape(c.Cast(c.T(1), tensor.Float32)), c.Reshape(c.Cast(c.T(2), dt))
}

// onnxQuantize limits the numbers first where the integers have narrower limits than their type, which QuantizeLinear
// cuts off at.
func onnxQuantize(c *ox.Call) *ox.Value {
	dt := c.DType(5, tensor.Uint8)
	scale, zero := onnxParams(c, dt)
	x := c.Cast(c.T(0), tensor.Float32)
	least, most := 0, 255
	if dt == tensor.Int8 {
		least, most = -128, 127
	}
	if lo, hi := c.Int(3), c.Int(4); lo > least || hi < most {
		at := func(q int) *ox.Value {
			z := c.Cast(zero, tensor.Float32)
			return c.Bin("Mul", c.Bin("Sub", c.Scalar(float64(q), tensor.Float32), z), scale)
		}
		x = c.Node("Clip", nil, x, at(lo), at(hi))
	}
	return c.Node("QuantizeLinear", nil, x, scale, zero).Typed(dt)
}

func onnxDequantize(c *ox.Call) *ox.Value {
	scale, zero := onnxParams(c, c.DType(5, tensor.Uint8))
	y := c.Node("DequantizeLinear", nil, c.T(0), scale, zero).Typed(tensor.Float32)
	return c.Cast(y, c.DType(6, tensor.Float32))
}

// onnxChoose computes scale and zero point from the range of the elements.
func onnxChoose(symmetric bool) func(c *ox.Call) []*ox.Value {
	return func(c *ox.Call) []*ox.Value {
		num := func(x float64) *ox.Value { return c.Scalar(x, tensor.Float32) }
		x := c.Cast(c.T(0), tensor.Float32)
		lo := c.Bin("Min", c.Reduce("ReduceMin", x, nil, false), num(0))
		hi := c.Bin("Max", c.Reduce("ReduceMax", x, nil, false), num(0))
		qmin, qmax := c.Int(1), c.Int(2)
		var scale, zero *ox.Value
		if symmetric {
			top := c.Bin("Max", c.Node("Neg", nil, lo), hi)
			scale = c.Bin("Max", c.Bin("Div", top, num(float64(qmax-qmin)/2)), num(c.Float(3)))
			z := 0.0
			if c.DType(4, tensor.Int8) == tensor.Uint8 {
				z = 128
			}
			zero = num(z)
		} else {
			scale = c.Bin("Max", c.Bin("Div", c.Bin("Sub", hi, lo), num(float64(qmax-qmin))), num(c.Float(3)))
			zero = c.Bin("Sub", num(float64(qmin)), c.Node("Round", nil, c.Bin("Div", lo, scale)))
			zero = c.Node("Clip", nil, zero, num(float64(qmin)), num(float64(qmax)))
		}
		return []*ox.Value{c.Reshape(c.Cast(scale, tensor.Float64), 1), c.Reshape(c.Cast(zero, tensor.Int64), 1)}
	}
}
