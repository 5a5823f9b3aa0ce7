package tensor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
)

// This file holds quantized tensors (https://pytorch.org/docs/stable/quantization.html#quantized-tensors): integers in
// memory, and among the extras that few tensors have a Quantizer, which says what number an integer stands for. Views
// share both. Operators that know quantized tensors have a kernel of their own for them (RegisterQuantized), or belong
// to the namespace quantized; composed operators run their bodies; all others refuse. Other tensors pay one test of
// their flags in each call, the one that sparse tensors need. docs/adr/0014-quantized-tensors.md says why it is done
// this way.

// QScheme is torch.qscheme: how the integers of a quantized tensor stand for numbers.
type QScheme uint8

// The schemes, in PyTorch's order. Symmetric ones are named by observers; a tensor's scheme is affine.
const (
	PerTensorAffine QScheme = iota
	PerChannelAffine
	PerTensorSymmetric
	PerChannelSymmetric
	PerChannelAffineFloatQParams
)

var qschemeNames = [...]string{"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
	"per_channel_symmetric", "per_channel_affine_float_qparams"}

// Name is PyTorch's name without the prefix: "per_tensor_affine".
func (s QScheme) Name() string {
	if int(s) < len(qschemeNames) {
		return qschemeNames[s]
	}
	return fmt.Sprintf("qscheme(%d)", s)
}

// String prints as Python does: "torch.per_tensor_affine".
func (s QScheme) String() string { return "torch." + s.Name() }

// ParseQScheme finds a scheme by its name, with or without the prefix "torch.".
func ParseQScheme(name string) (QScheme, bool) {
	name = strings.TrimPrefix(name, "torch.")
	for i, n := range qschemeNames {
		if n == name {
			return QScheme(i), true
		}
	}
	return 0, false
}

// IsPerChannel reports a scheme with a scale for each index of a dimension.
func (s QScheme) IsPerChannel() bool {
	return s == PerChannelAffine || s == PerChannelSymmetric || s == PerChannelAffineFloatQParams
}

// IsSymmetric reports a scheme whose range has its middle at 0.
func (s QScheme) IsSymmetric() bool { return s == PerTensorSymmetric || s == PerChannelSymmetric }

// Quantizer says what numbers the integers of a quantized tensor stand for: (q - zero point) * scale. It is not
// changed, and tensors share it.
type Quantizer struct {
	// Scheme is PerTensorAffine, PerChannelAffine or PerChannelAffineFloatQParams.
	Scheme QScheme
	// Scale and ZeroPoint are those of PerTensorAffine.
	Scale     float64
	ZeroPoint int
	// Scales (float64, or float32 with PerChannelAffineFloatQParams) and ZeroPoints (int64, or float32), of one
	// dimension, have an entry for each index of dimension Axis.
	Scales, ZeroPoints *Tensor
	Axis               int
}

// NewQuantized makes a quantized tensor of type dt over the memory of ints, whose elements are the integers: uint8 for
// QUInt8, int8 for QInt8, int32 for QInt32. It is for kernels and checks nothing but the type.
func NewQuantized(ints *Tensor, dt DType, q *Quantizer) *Tensor {
	if ints.dt != dt.Integer() || dt.Bits() < 8 {
		Fail(ErrDType, "NewQuantized: integers of type %s for elements of type %s", ints.dt, dt)
	}
	return newQuantized(ints, ints.shape, ints.stride, ints.off, dt, q)
}

// NewPacked makes a quantized tensor of type QUInt4x2 or QUInt2x4 and the given shape over a uint8 tensor of one
// dimension that holds its elements, the first in the lowest bits of a byte; each row begins a new byte.
func NewPacked(bytes *Tensor, shape []int, dt DType, q *Quantizer) *Tensor {
	if bytes.dt != Uint8 || dt.Bits() >= 8 || bytes.numel < PackedSize(shape, dt) || !bytes.IsContiguous() {
		Fail(ErrDType, "NewPacked: %d bytes of type %s for elements of type %s and shape %s", bytes.numel, bytes.dt, dt,
			ShapeString(shape))
	}
	return newQuantized(bytes, shape, nil, bytes.off, dt, q)
}

// PackedSize is the number of bytes that hold a tensor of type QUInt4x2 or QUInt2x4.
func PackedSize(shape []int, dt DType) int {
	n := 1
	for i, s := range shape {
		if i == len(shape)-1 {
			per := 8 / dt.Bits()
			s = (s + per - 1) / per
		}
		n *= s
	}
	return n
}

func newQuantized(mem *Tensor, shape, stride []int, off int, dt DType, q *Quantizer) *Tensor {
	t := &Tensor{st: mem.st, ver: mem.ver, off: off, dt: dt, dev: mem.dev, flags: flagQuantized}
	t.setDims(shape, stride)
	t.meta().quant = q
	return t
}

// refuseQuantizedType refuses to make a tensor of a quantized type without a quantizer.
func refuseQuantizedType(dt DType) {
	if dt.IsQuantized() {
		FailHint(ErrDType, "in Go: x.QuantizePerTensor(scale, zeroPoint, dtype)",
			"a tensor of type %s needs a scale and "+
				"a zero point: it is made by quantize_per_tensor and quantize_per_channel", dt)
	}
}

// copyQuantized is copyRaw where one of the two is quantized: integers of one type are copied as they are, and other
// tensors get the numbers that the integers stand for.
func copyQuantized(dst, src *Tensor) {
	switch {
	case dst.flags&flagQuantized == 0:
		copyRaw(dst, src.dequantized())
	case src.dt == dst.dt && (dst.dt.Bits() >= 8 || SameShape(dst.shape, src.shape)):
		copyRaw(QuantizedInts(dst), QuantizedInts(src))
	default:
		Fail(ErrDType, "a tensor of type %s cannot be copied into a quantized one of type %s", src.dt, dst.dt)
	}
}

// IsQuantized reports a quantized tensor.
func (t *Tensor) IsQuantized() bool {
	if t == nil {
		panic(noTensor("Tensor.IsQuantized"))
	}
	return t.flags&flagQuantized != 0
}

// QuantizerOf is the quantizer of a quantized tensor, nil for other tensors. It is for kernels.
func QuantizerOf(t *Tensor) *Quantizer {
	if t == nil || t.flags&flagQuantized == 0 {
		return nil
	}
	return t.ag.quant
}

// QuantizedInts is an ordinary tensor over the memory of a quantized one: its integers, of the same shape and strides,
// or for types of less than 8 bits the packed bytes in one dimension. It is for kernels.
func QuantizedInts(t *Tensor) *Tensor {
	v := &Tensor{st: t.st, ver: t.ver, off: t.off, dt: t.dt.Integer(), dev: t.dev}
	if t.dt.Bits() < 8 {
		v.setDims([]int{PackedSize(t.shape, t.dt)}, nil)
		return v
	}
	v.setDims(t.shape, t.stride)
	return v
}

// quantizeAs makes v, a new view of the quantized tensor t, refer to t's quantizer. With a scale for each channel it
// gets those of the channels that it sees. A view that walks through channels in more than one of its dimensions, as
// flatten's may, is an error.
func (v *Tensor) quantizeAs(t *Tensor) {
	if t.dt.Bits() < 8 {
		Fail(ErrNotImpl, "views of tensors of type %s are not supported", t.dt)
	}
	v.flags |= flagQuantized
	q := t.ag.quant
	if q.Scheme != PerTensorAffine && t.numel > 0 && v.numel > 0 {
		q = q.seenBy(t, v)
	}
	v.meta().quant = q
}

// seenBy is the quantizer of v, a view of t, which has the quantizer q with a scale for each channel.
func (q *Quantizer) seenBy(t, v *Tensor) *Quantizer {
	n, step := t.shape[q.Axis], t.stride[q.Axis]
	if n == 1 {
		step = t.numel // no dimension moves to another channel
	}
	// Strides below that of the channels must stay inside a channel, strides above be those of whole periods of them.
	for d, s := range t.stride {
		if d != q.Axis && t.shape[d] > 1 && s >= step && s < step*n {
			Fail(ErrNotImpl, "a view of a per-channel quantized tensor of shape %s and strides %s is not supported",
				ShapeString(t.shape), ShapeString(t.stride))
		}
	}
	first := (v.off - t.off) / step % n
	axis, by := -1, 0
	for d, s := range v.stride {
		switch size := v.shape[d]; {
		case size == 1 || s == 0 || s%(step*n) == 0 || s*(size-1) < step:
		case s%step == 0 && first+s/step*(size-1) < n && axis < 0:
			axis, by = d, s/step
		default:
			Fail(ErrNotImpl, "a view of shape %s of a per-channel quantized tensor of shape %s and axis %d has no axis "+
				"of its own: dequantize the tensor first", ShapeString(v.shape), ShapeString(t.shape), q.Axis)
		}
	}
	out := *q
	if axis < 0 {
		if q.Scheme != PerChannelAffine {
			Fail(ErrNotImpl, "a view of a single channel with a zero point that is no integer is not supported")
		}
		return &Quantizer{Scale: q.Scales.flat(first).Num().F, ZeroPoint: int(q.ZeroPoints.flat(first).Num().I)}
	}
	out.Axis = axis
	if v.shape[axis] != n || by != 1 {
		out.Scales, out.ZeroPoints = q.Scales.every(first, v.shape[axis], by),
			q.ZeroPoints.every(first, v.shape[axis], by)
	}
	return &out
}

// flat is element i of a tensor of one dimension, as a tensor.
func (t *Tensor) flat(i int) *Tensor { return Alias(t, nil, nil, t.off+i*t.stride[0]) }

// every is n elements of a tensor of one dimension, beginning at first, by steps.
func (t *Tensor) every(first, n, by int) *Tensor {
	return Alias(t, []int{n}, []int{t.stride[0] * by}, t.off+first*t.stride[0])
}

// SetQuantizer exchanges the quantizer of a quantized tensor, for in-place kernels.
func SetQuantizer(t *Tensor, q *Quantizer) { t.meta().quant = q }

// RegisterQuantized adds a kernel that computes an operator where an argument is a quantized tensor, as RegisterSparse
// does for sparse ones.
func RegisterQuantized(full string, kernel func(c *Ctx)) { registerRare(full, quantizedKernel, kernel) }

// HasQuantized reports that the operator has a kernel for quantized tensors.
func (o *Op) HasQuantized() bool { return o.Def != nil && o.Def.rare[quantizedKernel] != nil }

// dispatchQuantized is dispatch where an argument is a quantized tensor.
func (c *Ctx) dispatchQuantized() {
	op := c.op
	switch {
	case op.target != nil:
		c.runTarget()
	case op.rare[quantizedKernel] != nil && !c.outForm && op.variant != outVariant:
		c.runRare(op.rare[quantizedKernel])
	case op.View != nil && op.variant == functional:
		for i := range c.args {
			if t := c.args[i].T; t != nil && t.dt.IsQuantized() && t.dt.Bits() < 8 {
				c.refuseQuantized()
			}
		}
		c.isView = true
		if v := op.View(c); v != nil {
			c.SetOut(0, v)
		}
	case op.Body != nil && (op.variant == functional || op.variant == inPlace && op.base == nil) && !c.outForm:
		op.Body(c)
	default:
		c.refuseQuantized()
	}
}

// refuseQuantized says that an operator knows no quantized tensors.
func (c *Ctx) refuseQuantized() {
	c.FailHint(ErrNotImpl, "in Go: x.Dequantize() gives a float32 tensor",
		"Could not run '%s' with arguments from the 'QuantizedCPU' backend.", c.op.kernelName())
}

// kernelName is the operator that PyTorch names where one has no kernel for a kind of tensor: of structured operators
// the form that writes to a given tensor, which has the kernel.
func (o *Op) kernelName() string {
	if o.Def != nil && o.Out && o.Elementwise {
		if name, overload, _ := strings.Cut(o.full, "."); overload == "" || overload == "Tensor" {
			return strings.TrimSuffix(name, "_") + ".out"
		}
	}
	return o.full
}

// refuseQuantizedRead is what Go code gets that asks for the memory of a quantized tensor as a slice of numbers.
func refuseQuantizedRead(what string) {
	FailHint(ErrDType, "in Go: x.IntRepr() for the integers, x.Dequantize() for the numbers",
		"%s: a quantized tensor has no elements of a Go type", what)
}

// quantizedRepr is the dequantized copy that prints in place of a quantized tensor, and what stands behind the
// elements.
func (t *Tensor) quantizedRepr() (shown *Tensor, suffixes []string) {
	shown = t.dequantized()
	q := t.ag.quant
	suffixes = []string{"size=" + tupleString(t.shape), "dtype=" + t.dt.String(), "quantization_scheme=" +
		q.Scheme.String()}
	if q.Scheme == PerTensorAffine {
		return shown, append(suffixes, "scale="+pyfmt.Float(q.Scale), "zero_point="+strconv.Itoa(q.ZeroPoint))
	}
	return shown, append(suffixes, "scale="+q.Scales.String(), "zero_point="+q.ZeroPoints.String(),
		"axis="+strconv.Itoa(q.Axis))
}

// dequantized is the float32 tensor that a quantized one stands for.
func (t *Tensor) dequantized() (x *Tensor) {
	NoGrad(func() {
		c := NewCall(slotDequantize, 1)
		*c.Arg(0) = TensorValue(t.Detach())
		x = c.Do1()
	})
	return x
}

var (
	slotIntRepr                             = slot("aten::int_repr")
	slotQScale, slotQZeroPoint              = slot("aten::q_scale"), slot("aten::q_zero_point")
	slotQScales, slotQZeroPoints, slotQAxis = slot("aten::q_per_channel_scales"),
		slot("aten::q_per_channel_zero_points"), slot("aten::q_per_channel_axis")
	slotQScheme = slot("aten::qscheme")
)

// IntRepr is the integers of a quantized tensor, as uint8, int8 or int32; those of less than 8 bits as packed bytes.
// https://pytorch.org/docs/stable/generated/torch.Tensor.int_repr.html
func (t *Tensor) IntRepr() *Tensor { return t.ask(slotIntRepr).T }

// QScale is the scale of a tensor that is quantized per tensor, as Python's q_scale.
func (t *Tensor) QScale() float64 { return t.ask(slotQScale).Float() }

// QZeroPoint is the zero point of a tensor that is quantized per tensor.
func (t *Tensor) QZeroPoint() int { return int(t.ask(slotQZeroPoint).N) }

// QPerChannelScales is the scales of a tensor that is quantized per channel, float64.
func (t *Tensor) QPerChannelScales() *Tensor { return t.ask(slotQScales).T }

// QPerChannelZeroPoints is the zero points of a tensor that is quantized per channel, int64.
func (t *Tensor) QPerChannelZeroPoints() *Tensor { return t.ask(slotQZeroPoints).T }

// QPerChannelAxis is the dimension whose indices have scales of their own.
func (t *Tensor) QPerChannelAxis() int { return int(t.ask(slotQAxis).N) }

// QScheme is the scheme of a quantized tensor.
func (t *Tensor) QScheme() QScheme { return QScheme(t.ask(slotQScheme).N) }

// ask calls an operator with one argument and one result of any kind.
func (t *Tensor) ask(op *Op) Value {
	r, err := CallOp(op.full, TensorValue(t))
	if err != nil {
		panic(err)
	}
	return r[0]
}
