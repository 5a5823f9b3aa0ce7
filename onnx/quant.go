package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
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
		return quantized(a.T(0), a.T(1), a.T(2), a.int(3), a.int(4), a.float(5), a.float(6)).ToDType(a.dtype(7))
	})
	helper("quantize_float(Tensor x, Tensor scale, int axis, int block) -> Tensor", func(a args) any {
		return a.T(0).Div(along(a.T(1).ToDType(a.T(0).DType()), a.T(0), a.int(2), a.int(3)))
	})
	helper("dynamic_quantize(Tensor x) -> (Tensor, Tensor, Tensor)", func(a args) any {
		y, scale, zero := dynamic(a.T(0))
		return []any{y, scale, zero}
	})
	helper("int_matmul(Tensor a, Tensor b, Tensor? a_zero, Tensor? b_zero) -> Tensor", func(a args) any {
		return intMatMul(a.T(0), a.T(1), a.T(2), a.T(3))
	})
	helper("int_conv(Tensor x, Tensor w, Tensor? x_zero, Tensor? w_zero, Tensor? b, int[]? strides, int[]? pads, "+
		"int[]? dilations, int groups, str auto) -> Tensor", func(a args) any {
		return intConv(a.T(0), a.T(1), a.T(2), a.T(3), a.T(4), a.ints(5), a.ints(6), a.ints(7), a.int(8), a.str(9))
	})
	helper("requantize(Tensor x, Tensor factor, Tensor? factor2, Tensor scale, Tensor? zero, int axis, float low, "+
		"float high, ScalarType dtype) -> Tensor", func(a args) any {
		// a scale of rows or columns of the second factor lies along an axis
		x, f := a.T(0).ToDType(tensor.Float32), a.T(1).ToDType(tensor.Float32)
		x = x.Mul(along(f, x, -2, 0))
		if g := a.T(2); g != nil {
			x = x.Mul(along(g.ToDType(tensor.Float32), x, a.int(5), 0))
		}
		return quantized(x, a.T(3), a.T(4), a.int(5), 0, a.float(6), a.float(7)).ToDType(a.dtype(8))
	})
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

func dequantized(x, scale, zero *T, axis, block int, dt tensor.DType) *T {
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

// quantized divides by the scale, rounds to even, adds the zero point, and limits.
func quantized(x, scale, zero *T, axis, block int, low, high float64) *T {
	work := x.DType().Compute()
	y := x.ToDType(work).Div(along(scale.ToDType(work), x, axis, block)).Round()
	if zero != nil {
		y = y.Add(along(zero.ToDType(work), x, axis, block))
	}
	return y.ClampScalar(tensor.ClampScalarOptions{Min: low, Max: high})
}

// dynamic quantizes to uint8 by the range of the elements, which always holds 0.
func dynamic(x *T) (y, scale, zero *T) {
	lo, hi := math.Min(x.Min().Num().F, 0), math.Max(x.Max().Num().F, 0)
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
	return quantized(x, scale, zero, 0, 0, 0, 255).ToDType(tensor.Uint8), scale, zero
}

// exact is the float type in which sums of count products of numbers of 8 bits are exact.
func exact(count int) tensor.DType {
	if count <= 1<<24/(255*255) {
		return tensor.Float32
	}
	return tensor.Float64
}

// intMatMul multiplies integers of 8 bits, less their zero points, to int32. The zero point of a may be one for each
// row, that of b one for each column.
func intMatMul(a, b, za, zb *T) *T {
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

// intConv is a convolution of integers of 8 bits, less their zero points, with a bias of int32, to int32.
func intConv(x, w, zx, zw, b *T, strides, pads, dilations []int, groups int, auto string) *T {
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
	strides, dilations, pads = fill(strides, k, 1), fill(dilations, k, 1), fill(pads, 2*k, 0)
	if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
		pads = samePads(x.Shape()[2:], w.Shape()[2:], strides, dilations, auto == "SAME_UPPER")
	}
	sym := slices.Equal(pads[:k], pads[k:])
	inner := pads[:k]
	if !sym {
		p, inner = padSpatial(p, pads, 0), make([]int, k)
	}
	y := call("aten::convolution", p, q, nil, strides, inner, dilations, false, make([]int, k),
		groups).ToDType(tensor.Int32)
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

func dynamicQuantize(n *node) []*value {
	out := n.calls("onnx::dynamic_quantize", n.T(0))
	y := n.same(out[0])
	y.elem = onnxpb.Uint8
	return []*value{y, n.scalar(out[1], onnxpb.Float), n.scalar(out[2], onnxpb.Uint8)}
}

func matMulInteger(n *node) []*value {
	return one(n.tensor(n.call("onnx::int_matmul", n.T(0), n.T(1), n.opt(2), n.opt(3)), onnxpb.Int32))
}

func (n *node) intConv(x, w, zx, zw, b *value) *graph.Value {
	return n.call("onnx::int_conv", x, w, zx, zw, b, n.optInts("strides"), n.optInts("pads"), n.optInts("dilations"),
		n.int("group", 1), n.str("auto_pad", "NOTSET"))
}

func convInteger(n *node) []*value {
	v := n.same(n.intConv(n.T(0), n.T(1), n.opt(2), n.opt(3), nil))
	v.elem = onnxpb.Int32
	return one(v)
}

// requantized brings sums of products back to few bits: times the scales of both factors, by the scale of the result.
func (n *node) requantized(sum *graph.Value, s1, s2, scale, zero *value, axis int, e onnxpb.DataType) *value {
	if zero != nil && zero.elem != 0 {
		e = zero.elem
	}
	low, high, ok := limits(e)
	if !ok {
		unsupported("quantization to elements of type %s", e)
	}
	return n.tensor(n.call("onnx::requantize", sum, s1, s2, scale, zero, axis, low, high, n.dtype(e)), e)
}

func qlinearConv(n *node) []*value {
	n.T(7)
	sum := n.intConv(n.T(0), n.T(3), n.T(2), n.T(5), n.opt(8))
	return one(n.requantized(sum, n.T(1), n.T(4), n.T(6), n.T(7), 1, n.T(0).elem))
}

func qlinearMatMul(n *node) []*value {
	n.T(7)
	sum := n.call("onnx::int_matmul", n.T(0), n.T(3), n.T(2), n.T(5))
	return one(n.requantized(sum, n.T(1), n.T(4), n.T(6), n.T(7), -1, n.T(0).elem))
}
