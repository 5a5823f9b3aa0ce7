package quantized

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the operators of graphs that are quantized (PT2E): integers are plain tensors, and scale and zero
// point are arguments. PyTorch defines them in torch/ao/quantization/fx/_decomposed.py.

// integerLimits are the least and the largest number of a plain integer type.
func integerLimits(c *Ctx, dt tensor.DType) (lo, hi int) {
	switch dt {
	case tensor.Uint8:
		return 0, 255
	case tensor.Int8:
		return -128, 127
	case tensor.Uint16:
		return 0, math.MaxUint16
	case tensor.Int16:
		return math.MinInt16, math.MaxInt16
	case tensor.Int32:
		return math.MinInt32, math.MaxInt32
	}
	c.Fail(tensor.ErrDType, "Unsupported dtype: %s", dt)
	return 0, 0
}

// quantizedFloats checks the input of a quantization and its limits, which are arguments lo and lo+1.
func quantizedFloats(c *Ctx, lo int, dt tensor.DType) {
	switch x := c.T(0); x.DType() {
	case tensor.Float32, tensor.Float16, tensor.BFloat16:
	default:
		c.Fail(tensor.ErrDType, "Expecting input to have dtype torch.float32, but got dtype: %s", x.DType())
	}
	boundsWithin(c, c.Int(lo), c.Int(lo+1), dt)
}

func boundsWithin(c *Ctx, lo, hi int, dt tensor.DType) {
	least, most := integerLimits(c, dt)
	if lo < least {
		c.Fail(tensor.ErrValue, "quant_min out of bounds for dtype, quant_min_lower_bound: %d quant_min: %d", least, lo)
	}
	if hi > most {
		c.Fail(tensor.ErrValue, "quant_max out of bounds for dtype, quant_max_upper_bound: %d quant_max: %d", most, hi)
	}
}

// rounded is clamp(round(x·factor) + zero, lo, hi), where factor and zero broadcast.
func rounded(x, factor, zero *T, lo, hi int) *T {
	y := x.Mul(factor).Round().Add(zero)
	return y.ClampScalar(tensor.ClampScalarOptions{Min: lo, Max: hi})
}

// oneNumber is the only element of a tensor of a scale or zero point.
func oneNumber(c *Ctx, t *T, what string) tensor.Num {
	if t.Numel() != 1 {
		c.Fail(tensor.ErrShape, "Expecting %s tensor to be one element, but received : %d", what, t.Numel())
	}
	return t.Num()
}

// channelShape is the shape that lets numbers of an axis broadcast over x.
func channelShape(c *Ctx, x *T, n, axis int) []int {
	axis = op.Wrap(c, axis, x.Dim())
	if x.Dim() == 0 || n != x.Size(axis) && n != 1 {
		c.Fail(tensor.ErrShape, "%s: %d scales for dimension %d of a tensor of shape %s", c.Op().FullName(), n, axis,
			tensor.ShapeString(x.Shape()))
	}
	shape := make([]int, x.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = n
	return shape
}

const decomposedNoGrad = "integers have no gradients"

func init() {
	for _, f := range []struct {
		overload, params string
		tensors          bool
	}{{"", "float scale, int zero_point", false}, {".tensor", "Tensor scale, Tensor zero_point", true}} {
		// qparams reads scale and zero point
		qparams := func(c *Ctx) (scale float64, zero int) {
			if f.tensors {
				return oneNumber(c, c.T(1), "scale").F, int(oneNumber(c, c.T(2), "zero_point").F)
			}
			return c.Float(1), c.Int(2)
		}
		tensor.Register(tensor.Def{
			Schema: "quantized_decomposed::quantize_per_tensor" + f.overload + "(Tensor input, " + f.params +
				", int quant_min, int quant_max, ScalarType dtype) -> Tensor",
			Go: "-", NoGrad: decomposedNoGrad,
			Doc: "are the integers clamp(round(input/scale) + zero_point, quant_min, quant_max) of type dtype.",
			Infer: func(c *Ctx) {
				dt := c.DType(5)
				quantizedFloats(c, 3, dt)
				allocLike(c, dt)
			},
			CPU: func(c *Ctx) {
				s, z := qparams(c)
				if d, x := c.Out(0), c.T(0); x.DType() == tensor.Float32 && tensor.SameShape(x.Strides(), d.Strides()) {
					switch d.DType() {
					case tensor.Uint8:
						quant.QuantizeWithin(tensor.Memory[uint8](d), tensor.Memory[float32](x), float32(1/s), z, c.Int(3),
							c.Int(4))
						return
					case tensor.Int8:
						quant.QuantizeWithin(tensor.Memory[int8](d), tensor.Memory[float32](x), float32(1/s), z, c.Int(3),
							c.Int(4))
						return
					}
				}
				x := tensor.DenseAs(c.T(0), tensor.Float32)
				y := x.MulScalar(1 / s).Round().AddScalar(z)
				tensor.CopyRaw(c.Out(0),
					y.ClampScalar(tensor.ClampScalarOptions{Min: c.Int(3), Max: c.Int(4)}).To(c.DType(5)))
			},
		})
		tensor.Register(tensor.Def{
			Schema: "quantized_decomposed::dequantize_per_tensor" + f.overload + "(Tensor input, " + f.params +
				", int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
			Go: "-", NoGrad: decomposedNoGrad,
			Doc: "are the numbers (input - zero_point)·scale, of type float32 unless given.",
			Infer: func(c *Ctx) {
				integerLimits(c, c.DType(5))
				if dt := c.T(0).DType(); dt != c.DType(5) {
					c.Fail(tensor.ErrDType, "Expecting input to have dtype: %s, but got %s", c.DType(5), dt)
				}
				allocLike(c, outType(c, 6))
			},
			CPU: func(c *Ctx) {
				s, z := qparams(c)
				if d, x := c.Out(0), c.T(0); d.DType() == tensor.Float32 && tensor.SameShape(x.Strides(), d.Strides()) {
					switch x.DType() {
					case tensor.Uint8:
						quant.Dequantize(tensor.Memory[float32](d), tensor.Memory[uint8](x), float32(s), z)
						return
					case tensor.Int8:
						quant.Dequantize(tensor.Memory[float32](d), tensor.Memory[int8](x), float32(s), z)
						return
					}
				}
				tensor.CopyRaw(c.Out(0), c.T(0).To(outType(c, 6)).SubScalar(z).MulScalar(s))
			},
		})
	}
	tensor.Register(tensor.Def{
		Schema: "quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, " +
			"int quant_min, int quant_max, ScalarType dtype) -> Tensor",
		Go: "-", NoGrad: decomposedNoGrad,
		Doc: "is quantize_per_tensor with a scale and zero point for each index of axis.",
		Infer: func(c *Ctx) {
			quantizedFloats(c, 4, c.DType(6))
			channelShape(c, c.T(0), c.T(1).Numel(), c.Int(3))
			channelShape(c, c.T(0), c.T(2).Numel(), c.Int(3))
			c.Alloc(0, c.T(0).Shape(), c.DType(6))
		},
		CPU: func(c *Ctx) {
			x, s, z := tensor.DenseAs(c.T(0), tensor.Float32), c.T(1), c.T(2)
			shape := channelShape(c, x, s.Numel(), c.Int(3))
			y := rounded(x, s.Reshape(shape).Reciprocal(), z.Reshape(channelShape(c, x, z.Numel(), c.Int(3))), c.Int(4),
				c.Int(5))
			tensor.CopyRaw(c.Out(0), y.To(c.DType(6)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, " +
			"int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
		Go: "-", NoGrad: decomposedNoGrad,
		Doc: "is dequantize_per_tensor with a scale and zero point for each index of axis.",
		Infer: func(c *Ctx) {
			if dt := c.T(0).DType(); dt != c.DType(6) {
				c.Fail(tensor.ErrDType, "Expecting input to have dtype: %s, but got dtype: %s", c.DType(6), dt)
			}
			boundsWithin(c, c.Int(4), c.Int(5), c.DType(6))
			channelShape(c, c.T(0), c.T(1).Numel(), c.Int(3))
			c.Alloc(0, c.T(0).Shape(), outType(c, 7))
		},
		CPU: func(c *Ctx) {
			x, s := c.T(0), c.T(1)
			shape := channelShape(c, x, s.Numel(), c.Int(3))
			if z := c.T(2); z != nil {
				x = x.To(tensor.Int64).Sub(z.Reshape(channelShape(c, x, z.Numel(), c.Int(3))))
			}
			tensor.CopyRaw(c.Out(0), x.Mul(s.Reshape(shape)).To(outType(c, 7)))
		},
	})
	for _, symmetric := range []bool{false, true} {
		name := "choose_qparams"
		if symmetric {
			name += "_symmetric"
		}
		tensor.Register(tensor.Def{
			Schema: "quantized_decomposed::" + name +
				".tensor(Tensor input, int quant_min, int quant_max, float eps, " +
				"ScalarType dtype) -> (Tensor, Tensor)",
			Go: "-", NoGrad: decomposedNoGrad,
			Doc: "chooses scale (float64 of one element) and zero point (int64) for the range of the elements.",
			Infer: func(c *Ctx) {
				if !c.T(0).DType().IsFloat() || c.T(0).DType() == tensor.Float64 {
					c.Fail(tensor.ErrDType, "Expecting input to have dtype torch.float32/16/b16, but got dtype: %s",
						c.T(0).DType())
				}
				integerLimits(c, c.DType(4))
				if c.Int(1) >= c.Int(2) {
					c.Fail(tensor.ErrValue,
						"qmin must be strictly less than qmax for user-specified quantization range.")
				}
				c.Alloc(0, []int{1}, tensor.Float64)
				c.Alloc(1, []int{1}, tensor.Int64)
			},
			CPU: func(c *Ctx) { chooseRange(c, symmetric) },
		})
	}
}

// allocLike makes the result of a function of single elements, in the layout of the first argument where that is dense.
func allocLike(c *Ctx, dt tensor.DType) {
	if x := c.T(0); x.IsDense() {
		c.AllocStrided(0, x.Shape(), x.Strides(), dt)
	} else {
		c.Alloc(0, x.Shape(), dt)
	}
}

// outType is the type of dequantized numbers.
func outType(c *Ctx, i int) tensor.DType {
	if c.Value(i).K == tensor.KNone {
		return tensor.Float32
	}
	return c.DType(i)
}

// chooseRange computes scale and zero point in the type of the input, as PyTorch's determine_qparams.
func chooseRange(c *Ctx, symmetric bool) {
	scale, zero := tensor.Data[float64](c.Out(0)), tensor.Data[int64](c.Out(1))
	lo, hi := c.Int(1), c.Int(2)
	least, most := float32(0), float32(0)
	for _, v := range tensor.Data[float32](tensor.DenseAs(c.T(0), tensor.Float32)) {
		least, most = min(least, v), max(most, v)
	}
	span, eps := float32(hi-lo), float32(c.Float(3))
	if symmetric {
		scale[0], zero[0] = float64(max(max(-least, most)/(span/2), eps)), 0
		if c.DType(4) == tensor.Uint8 {
			zero[0] = 128
		}
		return
	}
	s := max((most-least)/span, eps)
	z := lo - int(math.RoundToEven(float64(least/s)))
	scale[0], zero[0] = float64(s), int64(min(max(z, lo), hi))
}
