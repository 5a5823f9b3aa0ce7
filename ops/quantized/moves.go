package quantized

import (
	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// onInts calls the operator itself on the integers of its quantized arguments, which moves or compares them.
func onInts(c *Ctx) []*T {
	args := make([]any, len(c.Op().Sch.Params))
	for i := range args {
		v := c.Value(i)
		switch {
		case v.T != nil && v.T.IsQuantized():
			v = tensor.TensorValue(ints(v.T))
		case v.K == tensor.KTensors:
			l := make([]*T, len(c.Tensors(i)))
			for j, t := range c.Tensors(i) {
				if l[j] = t; t.IsQuantized() {
					l[j] = ints(t)
				}
			}
			v = tensor.TensorsValue(l)
		}
		args[i] = v
	}
	return op.Call(c.Op().FullName(), args...)
}

// refuseChannels refuses a first argument with a scale for each channel, and types of less than 8 bits.
func refuseChannels(c *Ctx) *T {
	t := c.T(0)
	uniform(c, t, "Only per_tensor quantized quantized tensors are supported by "+c.Op().Sch.Name+".")
	return t
}

// moves registers operators whose first n results are elements of the first argument.
func moves(n int, names ...string) {
	for _, name := range names {
		tensor.RegisterQuantized("aten::"+name, func(c *Ctx) {
			t := refuseChannels(c)
			for i, r := range onInts(c) {
				if i < n {
					r = withInts(t, r)
				}
				c.SetOut(i, r)
			}
		})
	}
}

// copies registers operators that copy all elements to new memory.
func copies(names ...string) {
	for _, name := range names {
		tensor.RegisterQuantized("aten::"+name, func(c *Ctx) {
			t := c.T(0)
			if t.DType().Bits() < 8 {
				c.SetOut(0, tensor.NewPacked(tensor.CloneRaw(ints(t)), t.Shape(), t.DType(), tensor.QuantizerOf(t)))
				return
			}
			c.SetOut(0, withInts(t, onInts(c)[0]))
		})
	}
}

func init() {
	copies("clone")
	moves(1, "index_select", "flip", "max", "min", "sort", "sort.stable", "topk", "index.Tensor", "gather", "repeat",
		"roll", "masked_select", "take", "unfold")
	tensor.RegisterQuantized("aten::contiguous", func(c *Ctx) {
		t := c.T(0)
		if t.DType().Bits() < 8 {
			c.SetOut(0, t)
			return
		}
		f := c.Format(1)
		if f == tensor.NoFormat || f == tensor.PreserveFormat {
			f = tensor.ContiguousFormat
		}
		if t.IsContiguousFormat(f) {
			c.SetOut(0, t)
			return
		}
		c.SetOut(0, withInts(t, tensor.DenseIn(ints(t), f, t.DType().Integer())))
	})
	tensor.RegisterQuantized("aten::_to_copy", func(c *Ctx) {
		t := c.T(0)
		if c.Has(1) && c.DType(1) != t.DType() {
			c.FailHint(tensor.ErrDType, "in Go: x.Dequantize()",
				"Creation of quantized tensor requires quantized dtype like torch.quint8")
		}
		if d, ok := c.Any(3).(tensor.Device); ok && d.Type != tensor.CPUDevice {
			c.Fail(tensor.ErrNotImpl, "quantized tensors on device %s are not supported", d)
		}
		if t.DType().Bits() < 8 {
			c.SetOut(0, tensor.NewPacked(tensor.CloneRaw(ints(t)), t.Shape(), t.DType(), tensor.QuantizerOf(t)))
			return
		}
		x := ints(t)
		if f := c.Format(6); f != tensor.NoFormat && f != tensor.PreserveFormat {
			d := tensor.NewStrided(x.Shape(), tensor.FormatStrides(x.Shape(), f), x.DType())
			tensor.CopyRaw(d, x)
			c.SetOut(0, withInts(t, d))
			return
		}
		c.SetOut(0, withInts(t, tensor.CloneRaw(x)))
	})
	tensor.RegisterQuantized("aten::copy_", copyInto)
	tensor.RegisterQuantized("aten::fill.Tensor", func(c *Ctx) {
		t := c.T(0)
		q := uniform(c, t, "fill_: only tensors that are quantized per tensor are supported")
		if !c.Op().IsInPlace() {
			t = withInts(t, tensor.CloneRaw(ints(t)))
		}
		setAll(ints(t), nearest(t.DType(), c.Num(1).F, q))
		c.SetOut(0, t)
	})
	for _, name := range []string{"masked_fill.Scalar", "masked_fill.Tensor"} {
		tensor.RegisterQuantized("aten::"+name, func(c *Ctx) {
			t := refuseChannels(c)
			q := tensor.QuantizerOf(t)
			n := nearest(t.DType(), c.Num(2).F, q)
			if !c.Op().IsInPlace() {
				t = withInts(t, tensor.CloneRaw(ints(t)))
			}
			x := ints(t)
			tensor.CopyRaw(x, call1("aten::masked_fill.Scalar", x, c.T(1), n))
			c.SetOut(0, t)
		})
	}
	tensor.RegisterQuantized("aten::equal", func(c *Ctx) {
		c.ReturnValue(tensor.BoolValue(equal(c.T(0), c.T(1))))
	})
	for _, name := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		full := "aten::" + name + ".Tensor"
		tensor.RegisterQuantized(full, func(c *Ctx) {
			if c.Op().IsInPlace() {
				c.Fail(tensor.ErrNotImpl, "Could not run '%s' with arguments from the 'QuantizedCPU' backend.",
					c.Op().FullName())
			}
			c.SetOut(0, call1(full, dequantize(c.T(0)), dequantize(c.T(1))))
		})
	}
	tensor.RegisterQuantized("aten::cat", func(c *Ctx) {
		for _, t := range c.Tensors(0) {
			if q := tensor.QuantizerOf(t); q == nil || q.Scheme != tensor.PerTensorAffine {
				c.Fail(tensor.ErrNotImpl, "Only per-tensor quantization is supported in 'cat'!")
			}
		}
		l := c.Tensors(0)
		q := tensor.QuantizerOf(l[0])
		c.SetOut(0, concat(c, l, c.Int(1), q.Scale, q.ZeroPoint, false))
	})
	tensor.Register(tensor.Def{
		Schema: "empty_quantized(int[] size, Tensor qtensor, *, ScalarType? dtype=None, Layout? layout=None, " +
			"Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
		Go: "-", Doc: "is a quantized tensor with the type, scale and zero point of another; its elements are not set.",
		NoGrad: noGrad, DataDependent: true, Storage: tensor.TakesQuantized,
		CPU: func(c *Ctx) {
			t, q := each(c, 1)
			d := tensor.New(c.Ints(0), t.DType().Integer())
			c.SetOut(0, tensor.NewQuantized(d, t.DType(), q))
		},
	})
}

// concat is the concatenation of tensors, requantized to one scale and zero point.
func concat(c *Ctx, l []*T, dim int, scale float64, zero int, relu bool) *T {
	dt := l[0].DType()
	xs := make([]*T, len(l))
	same := !relu
	for _, t := range l {
		q := tensor.QuantizerOf(t)
		if q == nil || q.Scheme != tensor.PerTensorAffine || t.DType() != dt || dt.Bits() < 8 {
			c.Fail(tensor.ErrType, "%s: all tensors must be of the same quantized type and quantized per tensor",
				c.Op().FullName())
		}
		same = same && float32(q.Scale) == float32(scale) && q.ZeroPoint == zero
	}
	for i, t := range l {
		switch xs[i] = ints(t); {
		case same:
		case dt == tensor.QInt32:
			xs[i] = dequantize(t)
		default:
			xs[i] = ints(requantized(t, scale, zero, relu))
		}
	}
	r := call1("aten::cat", xs, dim)
	if same || dt != tensor.QInt32 {
		return tensor.NewQuantized(r, dt, value(scale, zero))
	}
	if relu {
		r = r.ReLU()
	}
	return quantize(r, scale, zero, dt)
}

// nearest is the integer nearest to a number.
func nearest(dt tensor.DType, x float64, q *tensor.Quantizer) int {
	switch dt {
	case tensor.QUInt8:
		return int(quant.One[uint8](float32(x), float32(q.Scale), q.ZeroPoint))
	case tensor.QInt8:
		return int(quant.One[int8](float32(x), float32(q.Scale), q.ZeroPoint))
	}
	return int(quant.One[int32](float32(x), float32(q.Scale), q.ZeroPoint))
}

// setAll gives all elements of x a value.
func setAll(x *T, n int) {
	one := tensor.New([]int{}, tensor.Int64)
	tensor.Data[int64](one)[0] = int64(n)
	tensor.CopyRaw(x, one)
}

// copyInto is copy_ where one of the two is quantized.
func copyInto(c *Ctx) {
	self, src := c.T(0), c.T(1)
	switch {
	case !self.IsQuantized():
		c.FailHint(tensor.ErrType, "in Go: x.CopyInPlace(q.Dequantize())",
			"Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a float "+
				"Tensor from a quantized Tensor")
	case self.DType().Bits() < 8 && (self.DType() != src.DType() || !tensor.SameShape(self.Shape(), src.Shape())):
		c.Fail(tensor.ErrNotImpl, "copy_: only a tensor of the same type and shape can be copied into one of type %s",
			self.DType())
	case src.IsQuantized():
		if self.DType() != src.DType() {
			c.Fail(tensor.ErrDType, "Quantized Copy only works with same data type")
		}
		checkBroadcast(c, self, src)
		tensor.CopyRaw(ints(self), ints(src))
		tensor.SetQuantizer(self, tensor.QuantizerOf(src))
	default:
		if src.DType() != tensor.Float32 {
			c.Fail(tensor.ErrDType, "Quantized copy only works with kFloat as source Tensor")
		}
		checkBroadcast(c, self, src)
		q := tensor.QuantizerOf(self)
		x := tensor.New(self.Shape(), tensor.Float32)
		tensor.CopyRaw(x, src)
		tensor.CopyRaw(ints(self), ints(quantizeLike(c, x, self.DType(), q)))
	}
	tensor.Bump(self)
	c.SetOut(0, self)
}

// quantizeLike quantizes a contiguous float32 tensor with a quantizer.
func quantizeLike(c *Ctx, x *T, dt tensor.DType, q *tensor.Quantizer) *T {
	if q.Scheme == tensor.PerTensorAffine {
		return quantize(x, q.Scale, q.ZeroPoint, dt)
	}
	return call1("aten::quantize_per_channel", x, q.Scales, q.ZeroPoints, q.Axis, tensor.DTypeValue(dt))
}

func checkBroadcast(c *Ctx, self, src *T) {
	s := src.Shape()
	ok := len(s) <= self.Dim()
	for i := 0; ok && i < len(s); i++ {
		n := self.Size(self.Dim() - len(s) + i)
		ok = s[i] == n || s[i] == 1
	}
	if !ok {
		c.Fail(tensor.ErrShape, "output with shape %s doesn't match the broadcast shape %s",
			tensor.ShapeString(self.Shape()), tensor.ShapeString(s))
	}
}

// equal reports the same type, scheme, scales and integers.
func equal(a, b *T) bool {
	p, q := tensor.QuantizerOf(a), tensor.QuantizerOf(b)
	if p == nil || q == nil || a.DType() != b.DType() || p.Scheme != q.Scheme ||
		!tensor.SameShape(a.Shape(), b.Shape()) {
		return false
	}
	if p.Scheme == tensor.PerTensorAffine {
		if p.Scale != q.Scale || p.ZeroPoint != q.ZeroPoint {
			return false
		}
	} else if p.Axis != q.Axis || !p.Scales.Equal(q.Scales) || !p.ZeroPoints.Equal(q.ZeroPoints) {
		return false
	}
	return ints(a).Equal(ints(b))
}
