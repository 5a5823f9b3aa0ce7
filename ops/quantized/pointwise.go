package quantized

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// define registers an operator of the namespace quantized: a kernel that takes quantized tensors and sets the results.
func define(schema, doc string, kernel func(c *Ctx)) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Go: "-", NoGrad: noGrad, DataDependent: true,
		Storage: tensor.TakesQuantized, CPU: kernel})
	name, _, _ := cut(schema)
	tensor.RegisterNoSamples(name, noSamples)
}

// through computes with the numbers that x stands for and quantizes the result.
func through(c *Ctx, x *T, scale float64, zero int, f func(x *T) *T) {
	checkScale(c, scale)
	checkZero(c, "quantize_tensor_per_tensor_affine", zero, x.DType())
	c.SetOut(0, quantize(f(dequantize(x)), scale, zero, x.DType()))
}

// likeInput is a kernel whose result has the scale and zero point of its argument.
func likeInput(f func(c *Ctx, x *T) *T) func(c *Ctx) {
	return func(c *Ctx) {
		x, q := each(c, 0)
		writeBack(c, x, quantize(f(c, dequantize(x)), q.Scale, q.ZeroPoint, x.DType()))
	}
}

// writeBack sets the result, or in an in-place form the argument.
func writeBack(c *Ctx, x, r *T) {
	if c.Op().IsInPlace() || c.Op().Sch.Params[0].Writes {
		tensor.CopyRaw(ints(x), ints(r))
		r = x
	}
	c.SetOut(0, r)
}

// clamped is a kernel that limits the integers to those of lo..hi; NaN stands for no limit.
func clamped(limit func(c *Ctx) (lo, hi float64)) func(c *Ctx) {
	return func(c *Ctx) {
		x, q := each(c, 0)
		lo, hi := limit(c)
		from, to := limits(x.DType())
		if !math.IsNaN(lo) {
			from = nearest(x.DType(), lo, q)
		}
		if !math.IsNaN(hi) {
			to = nearest(x.DType(), hi, q)
		}
		writeBack(c, x, withInts(x, call1("aten::clamp", ints(x), from, to)))
	}
}

// bounds reads two optional numbers.
func bounds(i int) func(c *Ctx) (lo, hi float64) {
	return func(c *Ctx) (lo, hi float64) {
		lo, hi = math.NaN(), math.NaN()
		if c.Has(i) {
			lo = c.Num(i).F
		}
		if c.Has(i + 1) {
			hi = c.Num(i + 1).F
		}
		return lo, hi
	}
}

// fixedRange is a kernel whose result always has the same range: 0..1 or -1..1 over all integers of the type.
func fixedRange(signed bool, f func(c *Ctx, x *T) *T) func(c *Ctx) {
	return func(c *Ctx) {
		x, _ := each(c, 0)
		scale, zero := 1.0/256, 0
		if signed {
			scale, zero = 2.0/256, 128
		}
		switch x.DType() {
		case tensor.QInt8:
			zero -= 128
		case tensor.QInt32:
			scale, zero = 1.0/(1<<32), 0
			if signed {
				scale = 2.0 / (1 << 32)
			}
		}
		writeBack(c, x, quantize(f(c, dequantize(x)), scale, zero, x.DType()))
	}
}

func init() {
	relu := func(hi float64) func(c *Ctx) {
		return clamped(func(*Ctx) (float64, float64) { return 0, hi })
	}
	quantizedNames := func(kernel func(c *Ctx), names ...string) {
		for _, n := range names {
			tensor.RegisterQuantized("aten::"+n, kernel)
		}
	}
	quantizedNames(relu(math.NaN()), "relu")
	quantizedNames(relu(6), "relu6")
	quantizedNames(clamped(bounds(1)), "clamp", "hardtanh")
	quantizedNames(fixedRange(false, func(_ *Ctx, x *T) *T { return x.Sigmoid() }), "sigmoid")
	quantizedNames(fixedRange(false, func(_ *Ctx, x *T) *T { return call1("aten::hardsigmoid", x) }), "hardsigmoid")
	quantizedNames(fixedRange(true, func(_ *Ctx, x *T) *T { return x.Tanh() }), "tanh")
	quantizedNames(likeInput(func(c *Ctx, x *T) *T { return call1("aten::gelu", x, c.Value(1)) }), "gelu")
	quantizedNames(likeInput(func(c *Ctx, x *T) *T {
		return call1("aten::leaky_relu", x, c.Value(1))
	}), "leaky_relu")
	quantizedNames(likeInput(func(c *Ctx, x *T) *T {
		return call1("aten::elu", x, c.Value(1), c.Value(2), c.Value(3))
	}), "elu")
	quantizedNames(likeInput(func(_ *Ctx, x *T) *T { return call1("aten::hardswish", x) }), "hardswish")
	quantizedNames(likeInput(func(c *Ctx, x *T) *T { return call1("aten::threshold", x, c.Value(1), c.Value(2)) }),
		"threshold")

	define("quantized::relu6(Tensor qx, bool inplace=False) -> Tensor", "limits the elements to 0..6.", relu(6))
	define("quantized::clamp(Tensor qx, Scalar? min=None, Scalar? max=None) -> Tensor qy", "limits the elements.",
		clamped(bounds(1)))
	define("quantized::threshold(Tensor qx, Scalar threshold, Scalar value) -> Tensor qy",
		"is x where it is above threshold, else value.", likeInput(func(c *Ctx, x *T) *T {
			return call1("aten::threshold", x, c.Value(1), c.Value(2))
		}))
	scaled := func(schema, doc string, scale int, f func(c *Ctx, x *T) *T) {
		define(schema, doc, func(c *Ctx) {
			x, _ := each(c, 0)
			through(c, x, c.Float(scale), c.Int(scale+1), func(x *T) *T { return f(c, x) })
		})
	}
	scaled("quantized::hardswish(Tensor input, float output_scale, int output_zero_point) -> Tensor", "is hardswish.",
		1,
		func(_ *Ctx, x *T) *T { return call1("aten::hardswish", x) })
	scaled("quantized::sigmoid(Tensor qx, float output_scale, int output_zero_point) -> Tensor", "is sigmoid.", 1,
		func(_ *Ctx, x *T) *T { return x.Sigmoid() })
	scaled("quantized::leaky_relu(Tensor qx, Scalar negative_slope, bool inplace, float output_scale, int output_zero_point) -> "+
		"Tensor", "is leaky_relu.", 3,
		func(c *Ctx, x *T) *T { return call1("aten::leaky_relu", x, c.Value(1)) })
	scaled("quantized::elu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1, Scalar scale=1, "+
		"Scalar input_scale=1) -> Tensor", "is elu.", 1,
		func(c *Ctx, x *T) *T { return call1("aten::elu", x, c.Value(3), c.Value(4), c.Value(5)) })
	scaled("quantized::celu(Tensor self, float output_scale, int output_zero_point, Scalar alpha=1) -> Tensor",
		"is celu.", 1,
		func(c *Ctx, x *T) *T { return call1("aten::celu", x, c.Value(3)) })
	scaled("quantized::softmax(Tensor qx, int dim, float output_scale, int output_zero_point) -> Tensor", "is softmax.",
		2, softmax)
	scaled("quantized::dropout(Tensor self, float output_scale, int output_zero_point, Scalar p=0.5, bool training=False) -> Tensor",
		"is the argument, requantized: quantized models do not train.", 1, func(_ *Ctx, x *T) *T { return x })
	define("quantized::prelu(Tensor qx, Tensor weight, float output_scale, int output_zero_point) -> Tensor",
		"is prelu. It multiplies integers, as PyTorch does: positive ones by 1 as the weight's type holds it.", prelu)
	for _, relu := range []bool{false, true} {
		defineArith(relu)
	}
	define("quantized::matmul(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc", "multiplies matrices.",
		func(c *Ctx) {
			a, _ := each(c, 0)
			b, _ := each(c, 1)
			if a.Dim() != b.Dim() || a.Dim() < 2 {
				c.Fail(tensor.ErrShape, "Number of dimensions do not match: %d and %d", a.Dim(), b.Dim())
			}
			through(c, a, c.Float(2), c.Int(3), func(x *T) *T { return x.MatMul(dequantize(b)) })
		})
	tensor.RegisterQuantized("aten::channel_shuffle", func(c *Ctx) {
		x, _ := each(c, 0)
		if x.DType() != tensor.QUInt8 {
			c.Fail(tensor.ErrDType, "Quantized channel shuffle works only on QUInt8 but got %s", x.DType().ClassName())
		}
		c.SetOut(0, withInts(x, onInts(c)[0]))
	})
}

// suffix is the end of a name and of a documentation.
func suffix(relu bool) string { return op.Pick(relu, "_relu", "") }

// defineArith defines add, mul and cat, or with relu the forms that end in a ReLU.
func defineArith(relu bool) {
	last := func(x *T) *T {
		if relu {
			return x.ReLU()
		}
		return x
	}
	for _, o := range []struct {
		name string
		f    func(a, b *T) *T
		u8   func(dst []uint8, a, b quant.Operand[uint8], r quant.Rounding)
		i8   func(dst []int8, a, b quant.Operand[int8], r quant.Rounding)
	}{{"add", func(a, b *T) *T { return a.Add(b) }, quant.Add[uint8], quant.Add[int8]},
		{"mul", func(a, b *T) *T { return a.Mul(b) }, quant.Mul[uint8], quant.Mul[int8]}} {
		name := o.name + suffix(relu)
		both := func(c *Ctx, scale float64, zero int) {
			a, _ := each(c, 0)
			b, _ := each(c, 1)
			if a.DType() != b.DType() {
				c.Fail(tensor.ErrDType, "%s operands should have same data type.", o.name)
			}
			x, y := ints(a), ints(b)
			if a.DType() == tensor.QInt32 || !x.IsDense() || !tensor.SameShape(x.Shape(), y.Shape()) ||
				!tensor.SameShape(x.Strides(), y.Strides()) {
				through(c, a, scale, zero, func(x *T) *T { return last(o.f(x, dequantize(b))) })
				return
			}
			checkScale(c, scale)
			checkZero(c, "quantize_tensor_per_tensor_affine", zero, a.DType())
			d := tensor.NewStrided(x.Shape(), x.Strides(), x.DType())
			if a.DType() == tensor.QInt8 {
				o.i8(tensor.Memory[int8](d), operand[int8](a), operand[int8](b),
					quant.RoundingOf[int8](float32(scale), zero, relu))
			} else {
				o.u8(tensor.Memory[uint8](d), operand[uint8](a), operand[uint8](b),
					quant.RoundingOf[uint8](float32(scale), zero, relu))
			}
			c.SetOut(0, tensor.NewQuantized(d, a.DType(), value(scale, zero)))
		}
		define("quantized::"+name+"(Tensor qa, Tensor qb, float scale, int zero_point) -> Tensor qc",
			"is "+o.name+" of two tensors.",
			func(c *Ctx) { both(c, c.Float(2), c.Int(3)) })
		into := func(c *Ctx) {
			out, q := each(c, 2)
			both(c, q.Scale, q.ZeroPoint)
			copyOut(c, out, c.Out(0))
		}
		define("quantized::"+name+".out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
			"writes to out, in its scale.", into)
		define("quantized::"+name+"_out(Tensor qa, Tensor qb, Tensor(a!) out) -> Tensor(a!) out",
			"writes to out, in its scale.", into)
		number := addNumber
		if o.name == "mul" {
			number = mulNumber
		}
		with := func(x, b int) func(c *Ctx) {
			return func(c *Ctx) {
				t, q := each(c, x)
				c.SetOut(0, number(t, q, c.Num(b).F, relu))
			}
		}
		define("quantized::"+name+".Scalar(Tensor qa, Scalar b) -> Tensor qc", "is "+o.name+" with a number.",
			with(0, 1))
		define("quantized::"+name+".Scalar2(Scalar b, Tensor qa) -> Tensor qc", "is "+o.name+" with a number.",
			with(1, 0))
		define("quantized::"+o.name+"_scalar"+suffix(relu)+"(Tensor qa, Scalar b) -> Tensor qc",
			"is "+o.name+" with a number.",
			with(0, 1))
		define("quantized::"+o.name+"_scalar"+suffix(relu)+".Tensor(Tensor qa, Tensor b) -> Tensor qc",
			"is "+o.name+" with the number in a tensor of one element.", with(0, 1))
		intoNumber := func(c *Ctx) {
			t, q := each(c, 0)
			out, _ := each(c, 2)
			copyOut(c, out, number(t, q, c.Num(1).F, relu))
		}
		define("quantized::"+name+".Scalar_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
			"writes to out.", intoNumber)
		define("quantized::"+o.name+"_scalar"+suffix(relu)+"_out(Tensor qa, Scalar b, Tensor(a!) out) -> Tensor(a!) out",
			"writes to out.", intoNumber)
		define("quantized::"+o.name+"_scalar"+suffix(relu)+"_out.Tensor(Tensor qa, Tensor b, Tensor(a!) out) -> Tensor(a!) out",
			"writes to out.", intoNumber)
	}
	cat := func(c *Ctx, scale, zero tensor.Value) {
		l := c.Tensors(0)
		if len(l) == 0 {
			c.Fail(tensor.ErrValue, "%s: expected a non-empty list of tensors", c.Op().FullName())
		}
		first := tensor.QuantizerOf(l[0])
		if first == nil || first.Scheme != tensor.PerTensorAffine {
			c.Fail(tensor.ErrNotImpl, "Only per-tensor quantization is supported in 'cat'!")
		}
		s, z := first.Scale, first.ZeroPoint
		if scale.K != tensor.KNone {
			s = scale.Num().F
		}
		if zero.K != tensor.KNone {
			z = int(zero.N)
		}
		checkScale(c, s)
		checkZero(c, "quantize_tensor_per_tensor_affine", z, l[0].DType())
		c.SetOut(0, concat(c, l, c.Int(1), s, z, relu))
	}
	define("quantized::cat"+suffix(relu)+"(Tensor[] qx, int dim, float? scale, int? zero_point) -> Tensor",
		"joins tensors along a dimension, requantized to one scale.", func(c *Ctx) { cat(c, c.Value(2), c.Value(3)) })
	define("quantized::cat"+suffix(relu)+"_out(Tensor[] qx, int dim, Tensor(a!) out) -> Tensor(a!)",
		"joins tensors along a dimension in the scale of out.", func(c *Ctx) {
			out, q := each(c, 2)
			cat(c, tensor.FloatValue(q.Scale), tensor.IntValue(q.ZeroPoint))
			copyOut(c, out, c.Out(0))
		})
}

// operand is the memory of a quantized tensor whose elements fill it.
func operand[A uint8 | int8](t *T) quant.Operand[A] {
	q := tensor.QuantizerOf(t)
	return quant.Operand[A]{Data: tensor.Memory[A](ints(t)), Scale: float32(q.Scale), Zero: q.ZeroPoint}
}

// requantized is a quantized tensor of bytes in another scale, in the layout of x.
func requantized(x *T, scale float64, zero int, relu bool) *T {
	i := ints(x)
	if !i.IsDense() {
		i = tensor.Dense(i)
		x = withInts(x, i)
	}
	d := tensor.NewStrided(i.Shape(), i.Strides(), i.DType())
	if x.DType() == tensor.QInt8 {
		o := operand[int8](x)
		quant.Requantize(tensor.Memory[int8](d), o.Data, o.Scale, o.Zero,
			quant.RoundingOf[int8](float32(scale), zero, relu))
	} else {
		o := operand[uint8](x)
		quant.Requantize(tensor.Memory[uint8](d), o.Data, o.Scale, o.Zero,
			quant.RoundingOf[uint8](float32(scale), zero, relu))
	}
	return tensor.NewQuantized(d, x.DType(), value(scale, zero))
}

// copyOut copies a result, quantizer included, to out.
func copyOut(c *Ctx, out, r *T) {
	if !tensor.SameShape(out.Shape(), r.Shape()) || out.DType() != r.DType() {
		c.Fail(tensor.ErrShape, "%s: out has shape %s and type %s, the result %s and %s", c.Op().FullName(),
			tensor.ShapeString(out.Shape()), out.DType(), tensor.ShapeString(r.Shape()), r.DType())
	}
	tensor.CopyRaw(ints(out), ints(r))
	tensor.SetQuantizer(out, tensor.QuantizerOf(r))
	tensor.Bump(out)
	c.SetOut(0, out)
}

// softmax is the softmax of numbers. QNNPACK computes it along the last dimension, where another one is laid out as
// that one, as PyTorch's result shows.
func softmax(c *Ctx, x *T) *T {
	dim, last := c.Int(1), x.Dim()-1
	if dim < 0 {
		dim += x.Dim()
	}
	if Engine() != quant.QNNPACK || dim < 0 || dim >= last || c.T(0).DType() != tensor.QUInt8 ||
		c.Float(2) != 1.0/256 || c.Int(3) != 0 {
		return call1("aten::softmax.int", x, c.Int(1))
	}
	return call1("aten::softmax.int", x.Transpose(dim, last).Contiguous(), last).Transpose(dim, last)
}

// prelu is described at its definition.
func prelu(c *Ctx) {
	x, q := each(c, 0)
	w, p := each(c, 1)
	scale, zero := c.Float(2), c.Int(3)
	checkScale(c, scale)
	checkZero(c, "quantize_tensor_per_tensor_affine", zero, x.DType())
	if x.Dim() == 0 {
		c.Fail(tensor.ErrShape, "qprelu: zero-dim input tensor is not allowed.")
	}
	shape := slices.Repeat([]int{1}, x.Dim())
	if x.Dim() > 1 {
		shape[1] = w.Numel()
	}
	if w.Numel() != 1 && (x.Dim() < 2 || w.Numel() != x.Size(1)) {
		c.Fail(tensor.ErrShape, "%s: the weight has %d elements, the input shape %s", c.Op().FullName(), w.Numel(),
			tensor.ShapeString(x.Shape()))
	}
	less := func(t *T, zero int) *T { return ints(t).ToDType(tensor.Int32).SubScalar(zero) }
	lo, hi := limits(w.DType())
	one := min(max(int(math.RoundToEven(1/p.Scale))+p.ZeroPoint, lo), hi) - p.ZeroPoint
	d := less(x, q.ZeroPoint)
	factors := less(w, p.ZeroPoint).Reshape(shape)
	y := call1("aten::clamp", d, 0, nil).MulScalar(one).Add(call1("aten::clamp", d, nil, 0).Mul(factors))
	factor := float32(q.Scale) * float32(p.Scale) * (1 / float32(scale))
	c.SetOut(0, tensor.NewQuantized(scaledInts(y, factor, zero, x.DType()), x.DType(), value(scale, zero)))
}

// scaledInts are the integers round(y*factor) + zero of a quantized type, for integers y.
func scaledInts(y *T, factor float32, zero int, dt tensor.DType) *T {
	lo, hi := limits(dt)
	r := y.ToDType(tensor.Float32).MulScalar(float64(factor)).Round().AddScalar(zero)
	return call1("aten::clamp", r, lo, hi).ToDType(dt.Integer())
}

// addNumber is x + n. The zero point moves instead of the integers, as far as the type holds it; beyond that the range
// is widened, so that scale and zero point of the result depend on the number:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/quantized/cpu/BinaryOps.cpp
func addNumber(x *T, q *tensor.Quantizer, n float64, relu bool) *T {
	lo, hi := limits(x.DType())
	zero, scale := q.ZeroPoint-int(math.RoundToEven(n/q.Scale)), q.Scale
	switch {
	case zero < lo: // the largest number grows beyond the range
		scale = float64(hi-zero) / float64(hi-lo) * scale
	case zero > hi:
		scale = float64(zero-lo) / float64(hi-lo) * scale
	}
	to := min(max(zero, lo), hi)
	moved := tensor.CloneRaw(ints(x))
	if to != zero {
		y := ints(x).ToDType(tensor.Int32).SubScalar(zero)
		tensor.CopyRaw(moved, scaledInts(y, float32(q.Scale)*(1/float32(scale)), to, x.DType()))
	}
	r := tensor.NewQuantized(moved, x.DType(), value(scale, to))
	if relu {
		r = r.ReLU()
	}
	return r
}

// mulNumber is x * n: the scale is multiplied, and for a negative number the integers are mirrored.
func mulNumber(x *T, q *tensor.Quantizer, n float64, relu bool) *T {
	lo, hi := limits(x.DType())
	var r *T
	switch {
	case n > 0:
		r = tensor.NewQuantized(tensor.CloneRaw(ints(x)), x.DType(), value(q.Scale*n, q.ZeroPoint))
	case n == 0:
		d := tensor.CloneRaw(ints(x))
		setAll(d, 0)
		r = tensor.NewQuantized(d, x.DType(), value(1, 0))
	default:
		m := call1("aten::rsub.Scalar", ints(x).ToDType(tensor.Int64), lo+hi)
		d := tensor.CloneRaw(ints(x))
		tensor.CopyRaw(d, m)
		r = tensor.NewQuantized(d, x.DType(), value(q.Scale*-n, hi+lo-q.ZeroPoint))
	}
	if relu {
		r = r.ReLU()
	}
	return r
}
