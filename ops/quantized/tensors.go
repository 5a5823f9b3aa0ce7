package quantized

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// T and Ctx are short for this package.
type (
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

var call1 = op.Call1

// value is the quantizer with one scale and zero point.
func value(scale float64, zero int) *tensor.Quantizer {
	return &tensor.Quantizer{Scale: scale, ZeroPoint: zero}
}

// ints are the integers of a quantized tensor, over the same memory.
func ints(t *T) *T { return tensor.QuantizedInts(t) }

// withInts is a tensor like t with other integers.
func withInts(t, q *T) *T { return tensor.NewQuantized(q, t.DType(), tensor.QuantizerOf(t)) }

// uniform is the quantizer of t, which must have one scale for all elements; name is what the error names.
func uniform(c *Ctx, t *T, what string) *tensor.Quantizer {
	q := tensor.QuantizerOf(t)
	switch {
	case q == nil:
		c.Fail(tensor.ErrNotImpl, "Could not run '%s' with arguments from the 'CPU' backend.", c.Op().FullName())
	case q.Scheme != tensor.PerTensorAffine:
		c.Fail(tensor.ErrNotImpl, "%s", what)
	case t.DType().Bits() < 8:
		c.Fail(tensor.ErrDType, "%s: elements of type %s are not supported", c.Op().FullName(), t.DType())
	}
	return q
}

// each is a quantized argument with one scale for all elements.
func each(c *Ctx, i int) (*T, *tensor.Quantizer) {
	t := c.T(i)
	return t, uniform(c, t, c.Op().FullName()+": only tensors that are quantized per tensor are supported")
}

// limits are the least and the largest integer of a quantized type.
func limits(dt tensor.DType) (lo, hi int) {
	switch dt {
	case tensor.QUInt8:
		return 0, 255
	case tensor.QInt8:
		return -128, 127
	case tensor.QUInt4x2:
		return 0, 15
	case tensor.QUInt2x4:
		return 0, 3
	}
	return math.MinInt32, math.MaxInt32
}

// checkZero refuses a zero point that the type does not hold, in the words of the given function of PyTorch's.
func checkZero(c *Ctx, function string, zero int, dt tensor.DType) {
	switch lo, hi := limits(dt); {
	case zero < lo:
		c.Fail(tensor.ErrValue, "%s zero_point %d is below lower bound.", function, zero)
	case zero > hi:
		c.Fail(tensor.ErrValue, "%s zero_point %d is above upper bound.", function, zero)
	}
}

// checkScale refuses a scale that is no positive number.
func checkScale(c *Ctx, scale float64) {
	if !(float32(scale) >= 0) || math.IsInf(float64(float32(scale)), 0) {
		c.Fail(tensor.ErrValue, "%s: a scale must be a number from 0 on, got %v", c.Op().FullName(), scale)
	}
}

// quantize is x, of float32, as a quantized tensor of type dt in the layout of x.
func quantize(x *T, scale float64, zero int, dt tensor.DType) *T {
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	return quantizeInto(tensor.NewStrided(x.Shape(), x.Strides(), dt.Integer()), x, scale, zero, dt)
}

// quantizeInto is quantize with memory q of x's layout.
func quantizeInto(q, x *T, scale float64, zero int, dt tensor.DType) *T {
	src := tensor.Memory[float32](x)
	switch dt {
	case tensor.QUInt8:
		quant.Quantize(tensor.Memory[uint8](q), src, float32(scale), zero)
	case tensor.QInt8:
		quant.Quantize(tensor.Memory[int8](q), src, float32(scale), zero)
	default:
		quant.Quantize(tensor.Memory[int32](q), src, float32(scale), zero)
	}
	return tensor.NewQuantized(q, dt, value(scale, zero))
}

// checkFloats refuses what cannot be quantized.
func checkFloats(c *Ctx, x *T, dt tensor.DType) {
	if x.DType() != tensor.Float32 {
		c.Fail(tensor.ErrDType, "Quantize only works on Float Tensor, got %s", x.DType().ClassName())
	}
	if !dt.IsQuantized() {
		c.Fail(tensor.ErrDType, "ScalarType %s is not supported in new_qtensor.", dt.ClassName())
	}
}

func quantizePerTensor(c *Ctx, x *T, scale float64, zero int, dt tensor.DType) *T {
	checkFloats(c, x, dt)
	if dt.Bits() < 8 {
		c.Fail(tensor.ErrNotImpl, "%s: elements of type %s are not supported", c.Op().FullName(), dt)
	}
	checkScale(c, scale)
	checkZero(c, "quantize_tensor_per_tensor_affine", zero, dt)
	return quantize(x, scale, zero, dt)
}

const quantizeDoc = "makes a quantized tensor: element x becomes the integer nearest to x/scale + zero_point, which " +
	"the " +
	"type (QUInt8, QInt8, QInt32) limits. x is float32.\n" +
	"https://pytorch.org/docs/stable/generated/torch.quantize_per_tensor.html"

const noGrad = "a quantized tensor has no gradient"

func init() {
	tensor.Register(tensor.Def{
		Schema: "quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
		Doc:    quantizeDoc, NoGrad: noGrad, DataDependent: true,
		CPU: func(c *Ctx) { c.SetOut(0, quantizePerTensor(c, c.T(0), c.Float(1), c.Int(2), c.DType(3))) },
	})
	tensor.Register(tensor.Def{
		Schema: "quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> Tensor",
		Doc:    quantizeDoc, NoGrad: noGrad, DataDependent: true, Go: "-",
		CPU: func(c *Ctx) {
			c.SetOut(0, quantizePerTensor(c, c.T(0), c.T(1).Num().F, int(c.T(2).Num().I), c.DType(3)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) -> " +
			"Tensor[]",
		Doc: "quantizes each tensor with its own scale and zero point.", Go: "-", NoGrad: noGrad, DataDependent: true,
		CPU: func(c *Ctx) {
			l := c.Tensors(0)
			if c.T(1).Numel() != len(l) || c.T(2).Numel() != len(l) {
				c.Fail(tensor.ErrShape, "%s: %d tensors, but %d scales and %d zero points", c.Op().FullName(), len(l),
					c.T(1).Numel(), c.T(2).Numel())
			}
			s := tensor.Data[float64](tensor.DenseAs(c.T(1).Detach(), tensor.Float64))
			z := tensor.Data[int64](tensor.DenseAs(c.T(2).Detach(), tensor.Int64))
			for i, x := range l {
				c.SetOut(i, quantizePerTensor(c, x, s[i], int(z[i]), c.DType(3)))
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
		Doc: "is quantize_per_tensor with the scale and zero point that the range of the elements asks for; with " +
			"reduce_range one bit less is used (QUInt8 and QInt8).\n" +
			"https://pytorch.org/docs/stable/generated/torch.quantize_per_tensor_dynamic.html",
		NoGrad: noGrad, DataDependent: true,
		CPU: func(c *Ctx) {
			x, dt := c.T(0), c.DType(1)
			checkFloats(c, x, dt)
			if dt != tensor.QUInt8 && dt != tensor.QInt8 {
				c.Fail(tensor.ErrDType, "dtype %s not supported", dt.ClassName())
			}
			qmin, qmax := limits(dt)
			scale, zero := dynamicParams(x, qmin, qmax, c.Bool(2))
			c.SetOut(0, quantize(x, scale, zero, dt))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) -> Tensor",
		Doc: "makes a quantized tensor with a scale and a zero point for each index of dimension axis. Zero points of " +
			"float32 are not rounded, and the tensor's scheme is per_channel_affine_float_qparams, which QUInt4x2 and " +
			"QUInt2x4 need.\nhttps://pytorch.org/docs/stable/generated/torch.quantize_per_channel.html",
		NoGrad: noGrad, DataDependent: true,
		CPU: func(c *Ctx) { c.SetOut(0, quantizePerChannel(c)) },
	})
	tensor.Register(tensor.Def{
		Schema: "dequantize.self(Tensor self) -> Tensor", Go: "Dequantize",
		Doc: "is the float32 tensor that a quantized one stands for: (q - zero_point) * scale. Another tensor is " +
			"converted to float32.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.dequantize.html",
		Body: func(c *Ctx) { c.Return(c.T(0).To(tensor.Float32)) },
	})
	tensor.RegisterQuantized("aten::dequantize.self", func(c *Ctx) { c.SetOut(0, dequantize(c.T(0))) })
	tensor.Register(tensor.Def{
		Schema: "dequantize.tensors(Tensor[] tensors) -> Tensor[]", Go: "-",
		Doc: "dequantizes each tensor.",
		Body: func(c *Ctx) {
			out := make([]*T, len(c.Tensors(0)))
			for i, t := range c.Tensors(0) {
				out[i] = call1("aten::dequantize.self", t)
			}
			c.Return(out...)
		},
	})
	known := func(schema, goName, doc string, kernel func(c *Ctx)) {
		tensor.Register(tensor.Def{Schema: schema, Go: goName, Doc: doc, NoGrad: noGrad, DataDependent: true,
			CPU: func(c *Ctx) {
				c.Fail(tensor.ErrNotImpl, "Could not run '%s' with arguments from the 'CPU' backend.",
					c.Op().FullName())
			}})
		full, _, _ := cut(schema)
		tensor.RegisterQuantized("aten::"+full, kernel)
	}
	known("int_repr(Tensor self) -> Tensor", "",
		"is the integers of a quantized tensor, as uint8, int8 or int32; those "+
			"of less than 8 bits as packed bytes.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.int_repr.html",
		func(c *Ctx) { c.SetOut(0, tensor.CloneRaw(ints(c.T(0)))) })
	one := func(c *Ctx) *tensor.Quantizer {
		q := tensor.QuantizerOf(c.T(0))
		if q.Scheme != tensor.PerTensorAffine {
			c.Fail(tensor.ErrValue, "Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.  "+
				"(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
		}
		return q
	}
	many := func(c *Ctx) *tensor.Quantizer {
		q := tensor.QuantizerOf(c.T(0))
		if !q.Scheme.IsPerChannel() {
			c.Fail(tensor.ErrValue, "Expected quantizer->qscheme() == kPerChannelAffine || quantizer->qscheme() == "+
				"kPerChannelAffineFloatQParams to be true, but got false.  (Could this error message be improved?  "+
				"If so, please report an enhancement request to PyTorch.)")
		}
		return q
	}
	known("q_scale(Tensor self) -> float", "", "is the scale of a tensor that is quantized per tensor.",
		func(c *Ctx) { c.ReturnValue(tensor.FloatValue(one(c).Scale)) })
	known("q_zero_point(Tensor self) -> int", "", "is the zero point of a tensor that is quantized per tensor.",
		func(c *Ctx) { c.ReturnValue(tensor.IntValue(one(c).ZeroPoint)) })
	known("q_per_channel_scales(Tensor self) -> Tensor", "", "is the scales of a tensor that is quantized per channel.",
		func(c *Ctx) { c.SetOut(0, tensor.CloneRaw(many(c).Scales)) })
	known("q_per_channel_zero_points(Tensor self) -> Tensor", "",
		"is the zero points of a tensor that is quantized per channel.",
		func(c *Ctx) { c.SetOut(0, tensor.CloneRaw(many(c).ZeroPoints)) })
	known("q_per_channel_axis(Tensor self) -> int", "",
		"is the dimension whose indices have scales of their own.",
		func(c *Ctx) { c.ReturnValue(tensor.IntValue(many(c).Axis)) })
	known("qscheme(Tensor self) -> QScheme", "-", "is the scheme of a quantized tensor as its number.",
		func(c *Ctx) { c.ReturnValue(tensor.IntValue(int(tensor.QuantizerOf(c.T(0)).Scheme))) })
	tensor.Register(tensor.Def{
		Schema: "_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor", Go: "-",
		Doc: "makes a quantized tensor of integers: uint8, int8 or int32.", NoGrad: noGrad, DataDependent: true,
		CPU: func(c *Ctx) {
			x := c.T(0)
			c.SetOut(0, tensor.NewQuantized(tensor.CloneRaw(x), quantizedType(c, x.DType()),
				value(c.Float(1), c.Int(2))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, int axis) -> Tensor",
		Go:     "-", NoGrad: noGrad, DataDependent: true,
		Doc: "makes a quantized tensor of integers with a scale for each index of dimension axis.",
		CPU: func(c *Ctx) {
			x := c.T(0)
			dt := quantizedType(c, x.DType())
			c.SetOut(0, tensor.NewQuantized(tensor.CloneRaw(x), dt, channels(c, x, c.T(1), c.T(2), c.Int(3))))
		},
	})
}

// cut splits a schema before its arguments.
func cut(schema string) (name, rest string, ok bool) {
	for i := range schema {
		if schema[i] == '(' {
			return schema[:i], schema[i:], true
		}
	}
	return schema, "", false
}

// quantizedType is the quantized type with integers of the given type.
func quantizedType(c *Ctx, dt tensor.DType) tensor.DType {
	for _, q := range [...]tensor.DType{tensor.QUInt8, tensor.QInt8, tensor.QInt32} {
		if q.Integer() == dt {
			return q
		}
	}
	c.Fail(tensor.ErrDType, "%s: integers of type uint8, int8 or int32 are wanted, not %s", c.Op().FullName(), dt)
	return 0
}

// channels is the quantizer of a tensor of x's shape with scales and zero points along an axis.
func channels(c *Ctx, x, scales, zeros *T, axis int) *tensor.Quantizer {
	axis = op.Wrap(c, axis, x.Dim())
	if x.Dim() == 0 {
		c.Fail(tensor.ErrShape, "Channel axis out of range in per channel affine quantization. Got: %d, expected 0 <= "+
			"axis < 0", axis)
	}
	switch {
	case scales.Dim() != 1:
		c.Fail(tensor.ErrShape, "scale tensor must have dimension 1")
	case zeros.Dim() != 1:
		c.Fail(tensor.ErrShape, "zero_points tensor must have dimension 1")
	case scales.Numel() != x.Size(axis):
		c.Fail(tensor.ErrShape, "length of scales must equal to channel, expected %d got, %d", x.Size(axis),
			scales.Numel())
	case zeros.Numel() != x.Size(axis):
		c.Fail(tensor.ErrShape, "length of zero_points must equal to channel, expected %d got, %d", x.Size(axis),
			zeros.Numel())
	case !scales.DType().IsFloat():
		c.Fail(tensor.ErrDType, "scales must be a floating-point tensor, got %s", scales.DType())
	}
	q := &tensor.Quantizer{Scheme: tensor.PerChannelAffine, Axis: axis}
	s, z := tensor.Float64, tensor.Int64
	if zeros.DType().IsFloat() {
		q.Scheme, s, z = tensor.PerChannelAffineFloatQParams, tensor.Float32, tensor.Float32
	}
	q.Scales, q.ZeroPoints = copyAs(scales, s), copyAs(zeros, z)
	return q
}

// copyAs is a contiguous copy of a tensor of numbers as another type.
func copyAs(t *T, dt tensor.DType) *T {
	d := tensor.New(t.Shape(), dt)
	tensor.CopyRaw(d, t)
	return d
}

// dynamicParams chooses scale and zero point for the range of x.
func dynamicParams(x *T, qmin, qmax int, reduceRange bool) (float64, int) {
	if !x.IsDense() {
		x = tensor.Dense(x)
	}
	lo, hi := quant.Range(tensor.Memory[float32](x))
	return quant.Params(lo, hi, qmin, qmax, false, reduceRange)
}

// spans calls f for the elements of each channel of a contiguous tensor, from..to.
func spans(shape []int, axis int, f func(channel, from, to int)) {
	inner, outer := 1, 1
	for _, s := range shape[axis+1:] {
		inner *= s
	}
	for _, s := range shape[:axis] {
		outer *= s
	}
	n := shape[axis]
	for o := range outer {
		for ch := range n {
			at := (o*n + ch) * inner
			f(ch, at, at+inner)
		}
	}
}

func quantizePerChannel(c *Ctx) *T {
	x, dt := c.T(0), c.DType(4)
	checkFloats(c, x, dt)
	q := channels(c, x, c.T(1), c.T(2), c.Int(3))
	layout := x.Strides()
	if !x.IsDense() {
		layout = nil
	}
	x = tensor.Dense(x)
	src := tensor.Data[float32](x)
	if q.Scheme == tensor.PerChannelAffineFloatQParams {
		if dt != tensor.QUInt8 && dt.Bits() == 8 || dt == tensor.QInt32 {
			c.Fail(tensor.ErrDType, "%s: zero points of float32 go with quint8, quint4x2 and quint2x4, not %s",
				c.Op().FullName(), dt)
		}
		return quantizeFloatZero(x, q, dt)
	}
	if dt.Bits() < 8 {
		c.Fail(tensor.ErrDType, "%s: elements of type %s need zero points of float32", c.Op().FullName(), dt)
	}
	scales, zeros := tensor.Data[float64](q.Scales), tensor.Data[int64](q.ZeroPoints)
	for i := range scales {
		checkScale(c, scales[i])
		checkZero(c, "quantize_tensor_per_channel_affine", int(zeros[i]), dt)
	}
	d := tensor.New(x.Shape(), dt.Integer())
	spans(x.Shape(), q.Axis, func(ch, lo, hi int) {
		s, z := float32(scales[ch]), int(zeros[ch])
		switch dt {
		case tensor.QUInt8:
			quant.Quantize(tensor.Data[uint8](d)[lo:hi], src[lo:hi], s, z)
		case tensor.QInt8:
			quant.Quantize(tensor.Data[int8](d)[lo:hi], src[lo:hi], s, z)
		default:
			quant.Quantize(tensor.Data[int32](d)[lo:hi], src[lo:hi], s, z)
		}
	})
	if layout != nil && !tensor.SameShape(layout, d.Strides()) {
		y := tensor.NewStrided(x.Shape(), layout, dt.Integer())
		tensor.CopyRaw(y, d)
		d = y
	}
	return tensor.NewQuantized(d, dt, q)
}

// quantizeFloatZero quantizes a contiguous x with zero points that are no integers.
func quantizeFloatZero(x *T, q *tensor.Quantizer, dt tensor.DType) *T {
	scales, zeros := tensor.Data[float32](q.Scales), tensor.Data[float32](q.ZeroPoints)
	_, top := limits(dt)
	flat, src := make([]uint8, x.Numel()), tensor.Data[float32](x)
	spans(x.Shape(), q.Axis, func(ch, lo, hi int) {
		quant.QuantizeFloatZero(flat[lo:hi], src[lo:hi], scales[ch], zeros[ch], float64(top))
	})
	if dt == tensor.QUInt8 {
		d := tensor.New(x.Shape(), tensor.Uint8)
		copy(tensor.Data[uint8](d), flat)
		return tensor.NewQuantized(d, dt, q)
	}
	return tensor.NewPacked(pack(flat, x.Shape(), dt), x.Shape(), dt, q)
}

// rowLength is the last size of a shape.
func rowLength(shape []int) int {
	if len(shape) == 0 {
		return 1
	}
	return shape[len(shape)-1]
}

// pack joins numbers of less than 8 bits in bytes, the first in the lowest bits.
func pack(flat []uint8, shape []int, dt tensor.DType) *T {
	d := tensor.New([]int{tensor.PackedSize(shape, dt)}, tensor.Uint8)
	b := tensor.Data[uint8](d)
	clear(b)
	n, bits := rowLength(shape), dt.Bits()
	per := 8 / bits
	width := (n + per - 1) / per
	for i, q := range flat {
		r, col := i/n, i%n
		b[r*width+col/per] |= q << (bits * (col % per))
	}
	return d
}

// unpack is the opposite of pack.
func unpack(b []uint8, shape []int, dt tensor.DType) []uint8 {
	out := make([]uint8, tensor.Size(shape).Numel())
	n, bits := rowLength(shape), dt.Bits()
	per := 8 / bits
	width := (n + per - 1) / per
	for i := range out {
		r, col := i/n, i%n
		out[i] = b[r*width+col/per] >> (bits * (col % per)) & (1<<bits - 1)
	}
	return out
}

// dequantize is the float32 tensor that t stands for.
func dequantize(t *T) *T {
	q := tensor.QuantizerOf(t)
	if q == nil {
		return tensor.DenseAs(t, tensor.Float32)
	}
	if q.Scheme == tensor.PerTensorAffine {
		x := ints(t)
		if !x.IsDense() {
			x = tensor.Dense(x)
		}
		d := tensor.NewStrided(x.Shape(), x.Strides(), tensor.Float32)
		dst, s, z := tensor.Memory[float32](d), float32(q.Scale), q.ZeroPoint
		switch t.DType() {
		case tensor.QUInt8:
			quant.Dequantize(dst, tensor.Memory[uint8](x), s, z)
		case tensor.QInt8:
			quant.Dequantize(dst, tensor.Memory[int8](x), s, z)
		default:
			quant.Dequantize(dst, tensor.Memory[int32](x), s, z)
		}
		return d
	}
	d := tensor.New(t.Shape(), tensor.Float32)
	if d.Numel() == 0 {
		return d
	}
	dst := tensor.Data[float32](d)
	x := tensor.Dense(ints(t))
	if q.Scheme == tensor.PerChannelAffineFloatQParams {
		scales, zeros := tensor.Data[float32](tensor.Dense(q.Scales)), tensor.Data[float32](tensor.Dense(q.ZeroPoints))
		src := tensor.Data[uint8](x)
		if t.DType().Bits() < 8 {
			src = unpack(src, t.Shape(), t.DType())
		}
		spans(t.Shape(), q.Axis, func(ch, lo, hi int) {
			quant.DequantizeFloatZero(dst[lo:hi], src[lo:hi], scales[ch], zeros[ch])
		})
		return d
	}
	scales, zeros := tensor.Data[float64](tensor.Dense(q.Scales)), tensor.Data[int64](tensor.Dense(q.ZeroPoints))
	spans(t.Shape(), q.Axis, func(ch, lo, hi int) {
		s, z := float32(scales[ch]), int(zeros[ch])
		switch t.DType() {
		case tensor.QUInt8:
			quant.Dequantize(dst[lo:hi], tensor.Data[uint8](x)[lo:hi], s, z)
		case tensor.QInt8:
			quant.Dequantize(dst[lo:hi], tensor.Data[int8](x)[lo:hi], s, z)
		default:
			quant.Dequantize(dst[lo:hi], tensor.Data[int32](x)[lo:hi], s, z)
		}
	})
	return d
}
