package onnx

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("com.microsoft", map[string]rule{
		"DequantizeLinear":         dequantize,
		"DynamicQuantizeMatMul":    dynamicQuantizeMatMul,
		"GatherBlockQuantized":     gatherBlockQuantized,
		"MatMulIntegerToFloat":     matMulIntegerToFloat,
		"MatMulNBits":              matMulNBits,
		"QAttention":               qAttention,
		"QGemm":                    qgemm,
		"QLinearAdd":               qlinearBinary("aten::add.Tensor"),
		"QLinearAveragePool":       qlinearPool,
		"QLinearConcat":            qlinearConcat,
		"QLinearConv":              contribQLinearConv,
		"QLinearGlobalAveragePool": qlinearPool,
		"QLinearLeakyRelu":         qlinearUnary,
		"QLinearMul":               qlinearBinary("aten::mul.Tensor"),
		"QLinearReduceMean":        qlinearReduceMean,
		"QLinearSigmoid":           qlinearUnary,
		"QLinearSoftmax":           qlinearSoftmax,
		"QLinearWhere":             qlinearWhere,
		"QuantizeLinear":           quantize,
	})

	helper("unpack_bits(Tensor b, Tensor scales, Tensor? zero, Tensor? groups, int n, int k, int bits, int block)"+
		" -> Tensor",
		func(a args) any {
			return unpackBits(a.T(0), a.T(1), a.T(2), a.T(3), a.int(4), a.int(5), a.int(6), a.int(7))
		})
	helper("unpack_rows(Tensor x, int bits) -> Tensor", func(a args) any { return unpackRows(a.T(0), a.int(1)) })
}

// unpackRows takes the numbers of a few bits out of bytes, the lowest bits first.
func unpackRows(x *T, bits int) *T {
	if bits == 8 {
		return x
	}
	if bits != 1 && bits != 2 && bits != 4 || x.DType() != tensor.Uint8 || x.Dim() == 0 {
		wrong("MatMulNBits", "numbers of %d bits in %s", bits, x.DType())
	}
	per := 8 / bits
	in := tensor.Data[uint8](x.Contiguous())
	out := make([]uint8, len(in)*per)
	for i, b := range in {
		for j := range per {
			out[i*per+j] = b >> (j * bits) & (1<<bits - 1)
		}
	}
	shape := slices.Clone(x.Shape())
	shape[len(shape)-1] *= per
	return tensor.FromSlice(out, shape...)
}

// unpackBits makes the weight of a linear layer, n rows of k numbers, from blocks of numbers with few bits.
func unpackBits(b, scales, zero, groups *T, n, k, bits, block int) *T {
	if n <= 0 || k <= 0 || block <= 0 || bits <= 0 || bits > 8 || n > maxSize/k {
		wrong("MatMulNBits", "N %d, K %d, %d bits, blocks of %d", n, k, bits, block)
	}
	blocks := (k + block - 1) / block
	w := unpackRows(b, bits)
	if w.Numel() != n*blocks*block || scales.Numel() != n*blocks {
		wrong("MatMulNBits", "weights of shape %v, scales of shape %v for N %d, K %d in blocks of %d", b.Shape(),
			scales.Shape(), n, k, block)
	}
	dt := scales.DType()
	x := w.Reshape([]int{n, blocks, block}).ToDType(dt)
	switch {
	case zero == nil:
		x = x.SubScalar(float64(int(1) << (bits - 1)))
	case zero.DType() == tensor.Uint8:
		per := (blocks*bits + 7) / 8
		z := unpackRows(zero.Reshape([]int{n, per}), bits).Narrow(1, 0, blocks)
		x = x.Sub(z.Unsqueeze(2).ToDType(dt))
	default:
		x = x.Sub(zero.Reshape([]int{n, blocks, 1}))
	}
	if groups != nil { // the block of each column, where columns are in another order
		g := groups.ToDType(tensor.Int64).Reshape([]int{-1})
		if g.Numel() < k {
			wrong("MatMulNBits", "%d groups for %d columns", g.Numel(), k)
		}
		g = g.Narrow(0, 0, k)
		x = w.Reshape([]int{n, blocks * block}).Narrow(1, 0, k).ToDType(dt)
		z := scales.NewFull([]int{n, blocks}, float64(int(1)<<(bits-1)))
		if zero != nil && zero.DType() == tensor.Uint8 {
			z = unpackRows(zero.Reshape([]int{n, (blocks*bits + 7) / 8}), bits).Narrow(1, 0, blocks).ToDType(dt)
		} else if zero != nil {
			z = zero.Reshape([]int{n, blocks})
		}
		return x.Sub(z.IndexSelect(1, g)).Mul(scales.Reshape([]int{n, blocks}).IndexSelect(1, g))
	}
	return x.Mul(scales.Reshape([]int{n, blocks, 1})).Reshape([]int{n, blocks * block}).Narrow(1, 0, k).Contiguous()
}

// matMulNBits multiplies by a weight whose numbers have few bits. A constant weight is unpacked when the model is
// loaded.
func matMulNBits(n *node) []*value {
	a, scales := n.T(0), n.T(2)
	count, k, bits, block := n.int("N", 0), n.int("K", 0), n.int("bits", 4), n.int("block_size", 32)
	v := n.same(nil)
	var w any
	known := true
	for i := 1; i <= 4; i++ {
		known = known && (!n.has(i) || n.in[i].konst != nil)
	}
	if known {
		k0 := func(i int) *T {
			if n.has(i) {
				return n.in[i].konst
			}
			return nil
		}
		w = constant(unpackBits(k0(1), k0(2), k0(3), k0(4), count, k, bits, block), scales.elem)
	} else {
		w = n.call("onnx::unpack_bits", n.T(1), scales, n.opt(3), n.opt(4), count, k, bits, block)
	}
	v.g = n.call("aten::linear", a, w, n.opt(5))
	return one(v)
}

// gatherBlockQuantized picks rows of a table of quantized numbers.
func gatherBlockQuantized(n *node) []*value {
	data, index, scales, zero := n.T(0), n.T(1), n.T(2), n.opt(3)
	axis, block, bits := n.int("quantize_axis", 1), n.int("block_size", 128), n.int("bits", 4)
	if data.elem == onnxpb.Uint8 {
		x := n.tensor(n.call("onnx::unpack_rows", data, bits), onnxpb.Uint8)
		if data.konst != nil {
			x = constant(unpackRows(data.konst, bits), onnxpb.Uint8)
		}
		data = x
		if zero != nil {
			zero = n.tensor(n.call("onnx::unpack_rows", zero, bits), onnxpb.Uint8)
		} else {
			zero = constant(tensor.FromSlice([]uint8{1 << (bits - 1)}), onnxpb.Uint8)
			if scales.konst != nil {
				zero.konst = zero.konst.Expand(scales.konst.Shape()).Contiguous()
			} else {
				zero = n.tensor(n.call("aten::full_like", scales, int(1)<<(bits-1), tensor.Uint8), onnxpb.Uint8)
			}
		}
	}
	w := n.call("onnx::dequantize", data, scales, zero, axis, block, n.dtypeOr(scales.elem))
	return one(n.tensor(n.call("onnx::gather", w, index, n.int("gather_axis", 0)), scales.elem))
}

// dequant is the value of a quantized input: x, scale and zero point are inputs i, i+1 and i+2.
func (n *node) dequant(i int) *graph.Value { return n.dequantAlong(i, 1).g }

// requant quantizes a result; scale and zero point are inputs i and i+1. elem is the type where there is no zero point.
func (n *node) requant(g *graph.Value, i int, elem onnxpb.DataType) *value {
	return n.quantAlong(n.tensor(g, onnxpb.Float), i, 1, elem)
}

func qlinearBinary(op string) rule {
	return func(n *node) []*value {
		return one(n.requant(n.call(op, n.dequant(0), n.dequant(3)), 6, n.T(0).elem))
	}
}

func qlinearUnary(n *node) []*value {
	x := n.dequant(0)
	if n.pb.Op == "QLinearSigmoid" {
		x = n.call("aten::sigmoid", x)
	} else {
		x = n.call("aten::leaky_relu", x, n.float("alpha", 0.01))
	}
	return one(n.requant(x, 3, n.T(0).elem))
}

func qlinearSoftmax(n *node) []*value {
	x := n.dequant(0)
	axis := n.int("axis", -1)
	if n.int("opset", 13) < 13 {
		x = n.call("onnx::softmax_from", x, axis, false)
	} else {
		x = n.call("aten::softmax.int", x, axis)
	}
	return one(n.requant(x, 3, n.T(0).elem))
}

func qlinearReduceMean(n *node) []*value {
	x := n.call("onnx::reduce", n.dequant(0), n.optInts("axes"), n.bool("keepdims", true), false, "Mean")
	return one(n.requant(x, 3, n.T(0).elem))
}

func qlinearWhere(n *node) []*value {
	return one(n.requant(n.call("aten::where.self", n.T(0), n.dequant(1), n.dequant(4)), 7, n.T(1).elem))
}

// qlinearPool averages over windows, or over whole images.
func qlinearPool(n *node) []*value {
	in := *n
	x := n.dequant(0)
	last := n.int("channels_last", 0) != 0
	if last {
		x = n.call("onnx::channels_first", x)
	}
	in.in = []*value{{g: x, kind: onnxpb.KindTensor, elem: onnxpb.Float, rank: n.T(0).rank}}
	var y *graph.Value
	if n.pb.Op == "QLinearGlobalAveragePool" {
		y = n.call("onnx::global_pool", x, "mean", 2.0)
	} else {
		y = averagePool(&in)[0].g
	}
	if last {
		y = n.call("onnx::channels_last", y)
	}
	return one(n.requant(y, 3, n.T(0).elem))
}

// qlinearConcat takes scale and zero point of the result, then those of each input behind it.
func qlinearConcat(n *node) []*value {
	if len(n.in) < 5 || (len(n.in)-2)%3 != 0 {
		fail("%w: %d inputs", onnxpb.ErrFormat, len(n.in))
	}
	var parts []*value
	for i := 2; i < len(n.in); i += 3 {
		parts = append(parts, n.tensor(n.dequant(i), onnxpb.Float))
	}
	return one(n.requant(n.call("aten::cat", parts, n.int("axis", 0)), 0, n.T(1).elem))
}

// qgemm is a Gemm of integers. Without a scale of the result it is a float.
func qgemm(n *node) []*value {
	a, b := n.dequantAlong(0, -1), n.dequantAlong(3, -1)
	if n.bool("transA", false) {
		a = n.tensor(n.call("aten::t", a), onnxpb.Float)
	}
	var g *graph.Value
	bias, alpha := n.dequantBias(n.opt(6), n.T(1), n.T(4)), n.float("alpha", 1)
	switch {
	case n.bool("transB", false): // the scales are those of the result's columns
		b = n.tensor(n.call("onnx::dequantize", n.T(3), n.T(4), n.opt(5), 0, 0, tensor.Float32), onnxpb.Float)
		g = n.call("aten::linear", a, b, nil)
	default:
		g = n.call("aten::matmul", a, b)
	}
	if bias != nil {
		g = n.call("aten::add.Tensor", g, bias)
	}
	if alpha != 1 {
		g = n.call("aten::mul.Scalar", g, alpha)
	}
	if n.opt(7) != nil {
		return one(n.quantAlong(n.tensor(g, onnxpb.Float), 7, -1, n.T(0).elem))
	}
	return one(n.tensor(g, onnxpb.Float))
}

func contribQLinearConv(n *node) []*value {
	if n.int("channels_last", 0) == 0 {
		return qlinearConv(n)
	}
	in := *n
	x := n.T(0)
	in.in = slices.Clone(n.in)
	in.in[0] = &value{g: n.call("onnx::channels_first", x), kind: x.kind, elem: x.elem, rank: x.rank}
	v := qlinearConv(&in)[0]
	v.g = n.call("onnx::channels_last", v.g)
	return one(v)
}

// scaled multiplies a sum of integers by the scales of both factors, and adds a bias.
func (n *node) scaled(sum *graph.Value, s1, s2, bias *value) []*value {
	x := n.call("aten::mul.Tensor", n.call("aten::to.dtype", sum, tensor.Float32), s1)
	x = n.call("aten::mul.Tensor", x, s2)
	return one(n.tensor(n.plus(x, bias), onnxpb.Float))
}

func matMulIntegerToFloat(n *node) []*value {
	sum := n.intMatMul(0, 1, 4, 5)
	return n.scaled(sum, n.T(2), n.T(3), n.opt(6))
}

func dynamicQuantizeMatMul(n *node) []*value {
	q := n.calls("onnx::dynamic_quantize", n.T(0))
	sum := n.call("onnx::int_matmul", q[0], n.T(1), q[2], n.opt(3), n.factor(n.T(1), n.opt(3), false))
	return n.scaled(sum, n.tensor(q[1], onnxpb.Float), n.T(2), n.opt(4))
}

// qAttention is Attention with quantized input and weights.
func qAttention(n *node) []*value {
	if n.bool("do_rotary", false) {
		unsupported("rotary positions in QAttention")
	}
	x := n.call("onnx::dequantize", n.T(0), n.T(3), n.opt(6), 1, 0, tensor.Float32)
	w := n.call("onnx::dequantize", n.T(1), n.T(4), n.opt(7), 1, 0, tensor.Float32)
	out := n.calls("onnx::ms_attention", x, w, n.T(2), n.opt(5), n.opt(8), nil, n.int("num_heads", 0), nil,
		n.optFloat("scale"), n.float("mask_filter_value", -10000), n.bool("unidirectional", false))
	return []*value{n.tensor(out[0], onnxpb.Float), n.tensor(out[1], onnxpb.Float)}
}
