package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"ConvInteger":           convInteger,
		"DequantizeLinear":      dequantize,
		"DynamicQuantizeLinear": dynamicQuantize,
		"MatMulInteger":         matMulInteger,
		"QLinearConv":           qlinearConv,
		"QLinearMatMul":         qlinearMatMul,
		"QuantizeLinear":        quantize,
	})

	helper("dequantize(Tensor x, Tensor scale, Tensor? zero, int axis, int block, ScalarType dtype) -> Tensor",
		func(a args) any { return dequantized(a.T(0), a.T(1), a.T(2), a.int(3), a.int(4), a.dtype(5)) })
	helper("quantize(Tensor x, Tensor scale, Tensor? zero, int axis, int block, float low, float high, ScalarType "+
		"dtype)"+
		" -> Tensor", func(a args) any {
		x, dt := a.T(0), a.dtype(7)
		scale, ok := wholeScale(a.T(1))
		zero, whole := wholeZero(a.T(2))
		if ok && whole && a.int(4) == 0 && isFloats(x) && (dt == tensor.Uint8 || dt == tensor.Int8) {
			return quantized.QuantizeBytes(x, scale, zero, dt)
		}
		return quantizedTo(x, a.T(1), a.T(2), a.int(3), a.int(4), a.float(5), a.float(6)).ToDType(dt)
	})
	helper("quantize_float(Tensor x, Tensor scale, int axis, int block) -> Tensor", func(a args) any {
		return a.T(0).Div(along(a.T(1).ToDType(a.T(0).DType()), a.T(0), a.int(2), a.int(3)))
	})
	helper("dynamic_quantize(Tensor x) -> (Tensor, Tensor, Tensor)", func(a args) any {
		y, scale, zero := dynamic(a.T(0))
		return []any{y, scale, zero}
	})
	helper("int_matmul(Tensor a, Tensor b, Tensor? a_zero, Tensor? b_zero, Any packed) -> Tensor", func(a args) any {
		return intMatMul(a.T(0), a.T(1), a.T(2), a.T(3), a.factor(4))
	})
	helper("int_conv(Tensor x, Tensor w, Tensor? x_zero, Tensor? w_zero, Tensor? b, int[]? strides, int[]? pads, "+
		"int[]? dilations, int groups, str auto, Any packed) -> Tensor", func(a args) any {
		return intConv(a.T(0), a.T(1), a.T(2), a.T(3), a.T(4), a.conv(5), a.factor(10))
	})
}

// factor is a packed factor of a product of bytes, nil where it is not constant.
func (a args) factor(i int) *quantized.Factor {
	f, _ := a[i].X.(*quantized.Factor)
	return f
}

// conv reads the attributes of a convolution from argument i on.
func (a args) conv(i int) convAttrs {
	return convAttrs{a.ints(i), a.ints(i + 1), a.ints(i + 2), a.int(i + 3), a.str(i + 4)}
}

// wholeScale is a scale of float32 for all elements.
func wholeScale(s *T) (float32, bool) {
	if s.Numel() != 1 || s.DType() != tensor.Float32 || s.IsMeta() {
		return 0, false
	}
	return float32(s.Num().F), true
}

// wholeZero is a zero point of a byte for all elements; nil stands for 0.
func wholeZero(z *T) (int, bool) {
	if z == nil {
		return 0, true
	}
	if z.Numel() != 1 || z.DType() != tensor.Uint8 && z.DType() != tensor.Int8 || z.IsMeta() {
		return 0, false
	}
	return int(z.Num().I), true
}

// along makes a scale or zero point broadcast over x: one number for all, one for each slice along an axis, or one for
// each block of elements along it.
func along(s, x *T, axis, block int) *T {
	if s.Numel() == 1 && (block == 0 || s.Dim() <= 1) {
		return s.Reshape([]int{})
	}
	if s.Dim() == x.Dim() && x.Dim() != 1 {
		axis = dim("QuantizeLinear", axis, x.Dim())
		if block <= 0 {
			return s
		}
		out := s.RepeatInterleave(block, tensor.RepeatInterleaveOptions{Dim: tensor.Some(axis)})
		if out.Size(axis) < x.Size(axis) {
			wrong("QuantizeLinear", "blocks of %d, scale of shape %v, tensor of shape %v", block, s.Shape(), x.Shape())
		}
		return out.Narrow(axis, 0, x.Size(axis))
	}
	axis = dim("QuantizeLinear", axis, x.Dim())
	if s.Dim() != 1 {
		wrong("QuantizeLinear", "a scale of shape %v for a tensor of shape %v", s.Shape(), x.Shape())
	}
	shape := make([]int, x.Dim())
	for i := range shape {
		shape[i] = 1
	}
	if block > 0 {
		s = s.RepeatInterleave(block).Narrow(0, 0, min(s.Numel()*block, x.Size(axis)))
	}
	if s.Numel() != x.Size(axis) {
		wrong("QuantizeLinear", "%d scales along an axis of size %d", s.Numel(), x.Size(axis))
	}
	shape[axis] = s.Numel()
	return s.Reshape(shape)
}

// isFloats reports a tensor of float32 in memory.
func isFloats(x *T) bool { return x.DType() == tensor.Float32 && x.Device().Type == tensor.CPUDevice }

func dequantized(x, scale, zero *T, axis, block int, dt tensor.DType) *T {
	if s, ok := wholeScale(scale); ok && block == 0 && dt == tensor.Float32 && (x.DType() == tensor.Uint8 ||
		x.DType() == tensor.Int8) && x.Device().Type == tensor.CPUDevice {
		if z, ok := wholeZero(zero); ok {
			return quantized.DequantizeBytes(x, s, z)
		}
	}
	work := dt.Compute()
	y := x.ToDType(work)
	if x.DType() == tensor.Int32 {
		y = x.ToDType(tensor.Float64)
	}
	if zero != nil {
		y = y.Sub(along(zero.ToDType(y.DType()), y, axis, block))
	}
	return y.Mul(along(scale.ToDType(y.DType()), y, axis, block)).ToDType(dt)
}

// quantizedTo divides by the scale, rounds to even, adds the zero point, and limits.
func quantizedTo(x, scale, zero *T, axis, block int, low, high float64) *T {
	work := x.DType().Compute()
	y := x.ToDType(work).Div(along(scale.ToDType(work), x, axis, block)).Round()
	if zero != nil {
		y = y.Add(along(zero.ToDType(work), x, axis, block))
	}
	return y.ClampScalar(tensor.ClampScalarOptions{Min: low, Max: high}).MaskedFillScalar(y.IsNaN(), low)
}

// dynamic quantizes to uint8 by the range of the elements, which always holds 0.
func dynamic(x *T) (y, scale, zero *T) {
	var lo, hi float64
	if isFloats(x) {
		a, b := quantized.Range(x)
		lo, hi = math.Min(float64(a), 0), math.Max(float64(b), 0)
	} else {
		lo, hi = math.Min(x.Min().Num().F, 0), math.Max(x.Max().Num().F, 0)
	}
	s := float32(hi-lo) / 255
	z := float32(0)
	if s != 0 {
		z = float32(math.RoundToEven(float64((0 - float32(lo)) / s)))
	}
	z = min(max(z, 0), 255)
	scale = tensor.FromSlice([]float32{s}).Reshape([]int{})
	zero = tensor.FromSlice([]uint8{uint8(z)}).Reshape([]int{})
	if s == 0 {
		return x.ZerosLike(tensor.ZerosLikeOptions{DType: tensor.Uint8}), scale, zero
	}
	if isFloats(x) {
		return quantized.QuantizeBytes(x, s, int(z), tensor.Uint8), scale, zero
	}
	return quantizedTo(x, scale, zero, 0, 0, 0, 255).ToDType(tensor.Uint8), scale, zero
}

// exact is the float type in which sums of count products of numbers of 8 bits are exact.
func exact(count int) tensor.DType {
	if count <= 1<<24/(255*255) {
		return tensor.Float32
	}
	return tensor.Float64
}

// intMatMul multiplies integers of 8 bits, less their zero points, to int32. The zero point of a may be one for each
// row, that of b one for each column. packed is b, with its zero points, where it is constant.
func intMatMul(a, b, za, zb *T, packed *quantized.Factor) *T {
	if zero, ok := wholeZero(za); ok && packed != nil {
		if y := packed.Multiply(a, zero, nil); y != nil {
			return y
		}
	}
	if a.Dim() == 0 || b.Dim() == 0 {
		wrong("MatMulInteger", "a factor without dimensions")
	}
	dt := exact(a.Size(-1))
	x, y := a.ToDType(dt), b.ToDType(dt)
	if za != nil {
		z := za.ToDType(dt)
		if z.Dim() == 1 && z.Numel() > 1 {
			z = z.Unsqueeze(1)
		} else if z.Numel() == 1 {
			z = z.Reshape([]int{})
		}
		x = x.Sub(z)
	}
	if zb != nil {
		z := zb.ToDType(dt)
		if z.Numel() == 1 {
			z = z.Reshape([]int{})
		}
		y = y.Sub(z)
	}
	return x.MatMul(y).ToDType(tensor.Int32)
}

// convAttrs are the attributes of a convolution.
type convAttrs struct {
	strides, pads, dilations []int
	groups                   int
	auto                     string
}

// filled are strides, dilations and pads for an input x and a weight w of k dimensions behind batch and channels.
func (c *convAttrs) filled(x, w *T, k int) (strides, dilations, pads []int) {
	strides, dilations, pads = fill(c.strides, k, 1), fill(c.dilations, k, 1), fill(c.pads, 2*k, 0)
	if c.auto == "SAME_UPPER" || c.auto == "SAME_LOWER" {
		pads = samePads(x.Shape()[2:], w.Shape()[2:], strides, dilations, c.auto == "SAME_UPPER")
	}
	return strides, dilations, pads
}

// run convolves with a packed weight; nil where there is none or where the input does not fit.
func (c *convAttrs) run(packed *quantized.Factor, x, w *T, zero int) *T {
	k := w.Dim() - 2
	if packed == nil || k < 1 || x.Dim() != k+2 {
		return nil
	}
	strides, _, pads := c.filled(x, w, k)
	return packed.Convolve(x, zero, strides, pads, nil)
}

// intConv is a convolution of integers of 8 bits, less their zero points, with a bias of int32, to int32. packed is the
// weight, with its zero points and the bias, where these are constant.
func intConv(x, w, zx, zw, b *T, c convAttrs, packed *quantized.Factor) *T {
	if zero, ok := wholeZero(zx); ok {
		if y := c.run(packed, x, w, zero); y != nil {
			return y
		}
	}
	k := w.Dim() - 2
	if k < 1 || x.Dim() != k+2 {
		wrong("ConvInteger", "input of shape %v, weight of shape %v", x.Shape(), w.Shape())
	}
	dt := exact(product(w.Shape()[1:]))
	p, q := x.ToDType(dt), w.ToDType(dt)
	if zx != nil {
		p = p.Sub(zx.ToDType(dt).Reshape([]int{}))
	}
	if zw != nil {
		z := zw.ToDType(dt)
		if z.Numel() > 1 {
			shape := make([]int, w.Dim())
			for i := range shape {
				shape[i] = 1
			}
			shape[0] = z.Numel()
			z = z.Reshape(shape)
		} else {
			z = z.Reshape([]int{})
		}
		q = q.Sub(z)
	}
	strides, dilations, pads := c.filled(x, w, k)
	sym := slices.Equal(pads[:k], pads[k:])
	inner := pads[:k]
	if !sym {
		p, inner = padSpatial(p, pads, 0), make([]int, k)
	}
	y := call("aten::convolution", p, q, nil, strides, inner, dilations, false, make([]int, k),
		c.groups).ToDType(tensor.Int32)
	if b != nil {
		y = y.Add(channels(b.ToDType(tensor.Int32), y.Dim()))
	}
	return y
}

// limits are the smallest and the largest number of an integer type.
func limits(e onnxpb.DataType) (low, high float64, ok bool) {
	if !isInteger(e) || e == onnxpb.Int64 || e == onnxpb.Uint64 {
		return 0, 0, false
	}
	bits := e.Bits()
	switch e {
	case onnxpb.Uint2, onnxpb.Uint4, onnxpb.Uint8, onnxpb.Uint16, onnxpb.Uint32:
		return 0, math.Ldexp(1, bits) - 1, true
	}
	return -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1) - 1, true
}

// quantizeTo adds a quantization to elements of type e.
func (n *node) quantizeTo(x, scale, zero *value, e onnxpb.DataType, axis, block int) *graph.Value {
	low, high, ok := limits(e)
	if !ok {
		unsupported("quantization to elements of type %s", e)
	}
	return n.call("onnx::quantize", x, scale, zero, axis, block, low, high, n.dtype(e))
}

func quantize(n *node) []*value {
	x, scale, zero := n.T(0), n.T(1), n.opt(2)
	e := n.elemAttr("output_dtype", onnxpb.Uint8)
	if zero != nil && zero.elem != 0 {
		e = zero.elem
	}
	axis, block := n.int("axis", 1), n.int("block_size", 0)
	if _, _, ok := limits(e); ok {
		v := n.same(n.quantizeTo(x, scale, zero, e, axis, block))
		v.elem = e
		return one(v)
	}
	// a type of few bits with a floating point
	y := n.tensor(n.call("onnx::quantize_float", x, scale, axis, block), onnxpb.Float)
	y.rank = x.rank
	return one(n.convert(y, e, n.bool("saturate", true), "up"))
}

func dequantize(n *node) []*value {
	x, scale := n.T(0), n.T(1)
	e := n.elemAttr("output_dtype", scale.elem)
	if e == 0 {
		e = onnxpb.Float
	}
	v := n.same(n.call("onnx::dequantize", x, scale, n.opt(2), n.int("axis", 1), n.int("block_size", 0), n.dtype(e)))
	v.elem = e
	return one(v)
}

// keepBytes has the program dequantize constant bytes itself, although what comes out is known: package graph may find
// an operator that computes with the bytes.
func (n *node) keepBytes(outs []*value) {
	if n.pb.Op != "DequantizeLinear" || len(outs) != 1 || n.int("block_size", 0) != 0 || outs[0].elem != onnxpb.Float {
		return
	}
	if x := n.T(0).konst; x.DType() != tensor.Uint8 && x.DType() != tensor.Int8 || x.Dim() < 2 {
		return
	}
	block, x, scale, zero, axis := n.root, n.T(0), n.T(1), n.opt(2), n.int("axis", 1)
	outs[0].made = func() *graph.Value {
		var z any
		if zero != nil {
			z = zero.konst
		}
		return block.Call1("onnx::dequantize", x.konst, scale.konst, z, axis, 0, tensor.Float32)
	}
}

func dynamicQuantize(n *node) []*value {
	out := n.calls("onnx::dynamic_quantize", n.T(0))
	y := n.same(out[0])
	y.elem = onnxpb.Uint8
	return []*value{y, n.scalar(out[1], onnxpb.Float), n.scalar(out[2], onnxpb.Uint8)}
}

// factor packs a constant matrix of bytes, or with kernel the weight of a convolution, whose zero points are constant,
// too, or nil. It is nil where something is not constant.
func (n *node) factor(w, zero *value, kernel bool) (f *quantized.Factor) {
	var num quantized.FactorNumbers
	for _, v := range []*value{w, zero} {
		if v != nil && (v.konst == nil || v.konst.Device().Type != tensor.CPUDevice) {
			return nil
		}
	}
	if zero != nil {
		if zero.konst.DType() != w.konst.DType() || zero.konst.Dim() > 1 {
			return nil
		}
		num.Zeros = tensor.Data[int32](tensor.DenseAs(zero.konst, tensor.Int32))
	}
	if !kernel {
		return quantized.PackMatrix(w.konst, num)
	}
	return quantized.PackKernel(w.konst, n.int("group", 1), fill(n.ints("dilations"), w.konst.Dim()-2, 1), num)
}

func matMulInteger(n *node) []*value { return one(n.tensor(n.intMatMul(0, 1, 2, 3), onnxpb.Int32)) }

// intMatMul multiplies inputs a and b with zero points za and zb.
func (n *node) intMatMul(a, b, za, zb int) *graph.Value {
	return n.call("onnx::int_matmul", n.T(a), n.T(b), n.opt(za), n.opt(zb),
		n.factor(n.T(b), n.opt(zb), false))
}

// convArgs are the arguments of helpers for the attributes of a convolution.
func (n *node) convArgs() []any {
	return []any{n.optInts("strides"), n.optInts("pads"), n.optInts("dilations"), n.int("group", 1),
		n.str("auto_pad", "NOTSET")}
}

func convInteger(n *node) []*value {
	args := append([]any{n.T(0), n.T(1), n.opt(2), n.opt(3), nil}, n.convArgs()...)
	v := n.same(n.call("onnx::int_conv", append(args, n.factor(n.T(1), n.opt(3), true))...))
	v.elem = onnxpb.Int32
	return one(v)
}

// The operators QLinear… are a dequantization of their inputs, an operator on floats and a quantization of its result.
// Package graph calls operators on bytes in the place of all these where the numbers are constants.

// dequantAlong is a quantized input, whose scale and zero point are the inputs behind it, one for each index of an axis
// or for all.
func (n *node) dequantAlong(i, axis int) *value {
	v := n.tensor(n.call("onnx::dequantize", n.T(i), n.T(i+1), n.opt(i+2), axis, 0, tensor.Float32), onnxpb.Float)
	v.rank = n.T(i).rank
	return v
}

// dequantBias is a bias of int32, which counts products of both scales.
func (n *node) dequantBias(b, s1, s2 *value) *value {
	if b == nil {
		return nil
	}
	if b.konst != nil && s1.konst != nil && s2.konst != nil && s1.konst.Numel() == 1 {
		scale := s2.konst.ToDType(tensor.Float64).Mul(s1.konst.ToDType(tensor.Float64).Reshape([]int{}))
		return constant(b.konst.ToDType(tensor.Float64).Mul(scale).ToDType(tensor.Float32), onnxpb.Float)
	}
	g := n.call("aten::mul.Tensor", n.call("aten::mul.Tensor", n.call("aten::to.dtype", b, tensor.Float32), s1), s2)
	return n.tensor(g, onnxpb.Float)
}

// quantAlong quantizes a result by inputs i and i+1; elem is the type without a zero point.
func (n *node) quantAlong(v *value, i, axis int, elem onnxpb.DataType) *value {
	if z := n.opt(i + 1); z != nil && z.elem != 0 {
		elem = z.elem
	}
	out := n.tensor(n.quantizeTo(v, n.T(i), n.opt(i+1), elem, axis, 0), elem)
	out.rank = v.rank
	return out
}

func qlinearConv(n *node) []*value {
	w := n.dequantAlong(3, 0)
	w.konst = n.T(3).konst // for its shape: its place in the program is known
	y := n.conv(n.dequantAlong(0, 1), w, n.dequantBias(n.opt(8), n.T(1), n.T(4)))
	y.elem = onnxpb.Float
	return one(n.quantAlong(y, 6, 1, n.T(0).elem))
}

func qlinearMatMul(n *node) []*value {
	y := n.tensor(n.call("aten::matmul", n.dequantAlong(0, -2), n.dequantAlong(3, -1)), onnxpb.Float)
	return one(n.quantAlong(y, 6, -1, n.T(0).elem))
}
