package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"BitCast":  bitCast,
		"Cast":     castNode,
		"CastLike": castLike,
	})

	helper("to_small_int(Tensor x, int bits, bool signed) -> Tensor", func(a args) any {
		return smallInt(a.T(0), a.int(1), a.bool(2))
	})
	helper("to_float4(Tensor x) -> Tensor", func(a args) any { return float4(a.T(0)) })
	helper("to_float8(Tensor x, ScalarType dtype, bool saturate) -> Tensor", func(a args) any {
		return float8(a.T(0), a.dtype(1), a.bool(2))
	})
	helper("to_e8m0(Tensor x, str mode) -> Tensor", func(a args) any { return e8m0(a.T(0), a.str(1)) })
}

// smallInt converts to an integer of less than 8 bits: of an integer, or the integer part of a float, the lowest bits.
func smallInt(x *T, bits int, signed bool) *T {
	dt := tensor.Uint8
	if signed {
		dt = tensor.Int8
	}
	y := x.ToDType(tensor.Int32).BitwiseAndScalar(1<<bits - 1)
	if signed {
		y = y.SubScalar(1<<bits).Where(y.GtScalar(1<<(bits-1)-1), y)
	}
	return y.ToDType(dt)
}

// float4 rounds to the values of float4e2m1, to the even code between two of them; beyond 6 it stays at 6.
func float4(x *T) *T {
	y := x.ToDType(tensor.Float32).ClampScalar(tensor.ClampScalarOptions{Min: -6.0, Max: 6.0})
	size := y.Abs()
	// steps of 1/2 up to 2, of 1 up to 4, of 2 beyond
	y = y.MaskedFillScalar(x.IsNaN(), math.Copysign(0, -1)) // there is no NaN
	small := y.MulScalar(2).Round().DivScalar(2)
	mid := y.Round()
	large := y.DivScalar(2).Round().MulScalar(2)
	return small.Where(size.LtScalar(2), mid.Where(size.LtScalar(4), large))
}

// float8Max is the largest number of a type of 8 bits.
func float8Max(dt tensor.DType) float64 {
	switch dt.Name() {
	case "float8_e4m3fn":
		return 448
	case "float8_e4m3fnuz":
		return 240
	}
	return 57344
}

// float8 converts to a type of 8 bits. With saturate, numbers beyond its largest become that one; without, they become
// infinite, or NaN in types that have no infinity.
func float8(x *T, dt tensor.DType, saturate bool) *T {
	if saturate {
		most := float8Max(dt)
		return x.ToDType(tensor.Float32).ClampScalar(tensor.ClampScalarOptions{Min: -most, Max: most}).ToDType(dt)
	}
	if dt.Name() == "float8_e4m3fn" { // 464 lies between the largest number and the code of NaN, and is rounded to even
		x = x.MaskedFillScalar(x.Abs().GtScalar(464), math.NaN())
	}
	return x.ToDType(dt)
}

// e8m0 converts to float8e8m0, which has powers of two only.
func e8m0(x *T, mode string) *T {
	in := tensor.Data[float32](x.ToDType(tensor.Float32).Contiguous())
	out := make([]uint8, len(in))
	for i, f := range in {
		bits := math.Float32bits(f)
		exp, man := int(bits>>23&0xff), bits&(1<<23-1)
		switch {
		case exp == 0xff:
			if man == 0 { // infinity becomes the largest number
				exp = 0xfe
			}
		case mode == "up" && man > 0 && exp < 0xfe:
			if exp > 0 || man > 1<<22 {
				exp++
			}
		case mode == "nearest" && exp < 0xfe:
			half := uint32(1 << 22)
			if man > half || man == half && exp > 0 {
				exp++
			}
		}
		out[i] = uint8(exp)
	}
	dt := onnxpb.DTypeOf(onnxpb.Float8E8M0)
	return tensor.WithDType(tensor.FromSlice(out, x.Shape()...), dt)
}

// convert is a value with elements of another type.
func (n *node) convert(v *value, to onnxpb.DataType, saturate bool, mode string) *value {
	if v.elem == to {
		return v
	}
	out := &value{kind: onnxpb.KindTensor, elem: to, rank: v.rank}
	if v.elem == onnxpb.String { // integers are not read by way of floats, which would round them
		read := onnxpb.Double
		if d := n.dtype(to); !d.IsFloat() && !d.IsComplex() {
			read = onnxpb.Int64
		}
		v = &value{kind: v.kind, elem: read, rank: v.rank, g: n.call("onnx::from_strings", v, n.dtype(read))}
	}
	switch to {
	case onnxpb.String:
		out.g = n.call("onnx::to_strings", v)
	case onnxpb.Int4, onnxpb.Uint4:
		out.g = n.call("onnx::to_small_int", v, 4, to == onnxpb.Int4)
	case onnxpb.Int2, onnxpb.Uint2:
		out.g = n.call("onnx::to_small_int", v, 2, to == onnxpb.Int2)
	case onnxpb.Float4E2M1:
		out.g = n.call("onnx::to_float4", v)
	case onnxpb.Float8E4M3FN, onnxpb.Float8E4M3FNUZ, onnxpb.Float8E5M2, onnxpb.Float8E5M2FNUZ:
		out.g = n.call("onnx::to_float8", v, n.dtype(to), saturate)
	case onnxpb.Float8E8M0:
		n.dtype(to)
		out.g = n.call("onnx::to_e8m0", v, mode)
	default:
		out.g = n.call("aten::to.dtype", v, n.dtype(to))
	}
	return out
}

func castNode(n *node) []*value {
	to := onnxpb.DataType(n.int("to", 0))
	if to == 0 {
		fail("%w: attribute \"to\" is missing", onnxpb.ErrFormat)
	}
	return one(n.convert(n.T(0), to, n.bool("saturate", true), n.str("round_mode", "up")))
}

func castLike(n *node) []*value {
	to := n.T(1).elem
	if to == 0 {
		return one(n.like(n.call("aten::type_as", n.T(0), n.T(1))))
	}
	return one(n.convert(n.T(0), to, n.bool("saturate", true), n.str("round_mode", "up")))
}

// bitCast reads the bits of elements as another type of the same size.
func bitCast(n *node) []*value {
	to := onnxpb.DataType(n.int("to", 0))
	if n.T(0).elem != 0 && n.T(0).elem.Bits() != to.Bits() {
		fail("%w: elements of %s as %s", onnxpb.ErrFormat, n.T(0).elem, to)
	}
	var g *graph.Value
	if d := n.dtype(to); to.Bits() < 8 {
		unsupported("the bits of elements of type %s", to)
	} else {
		g = n.call("aten::view.dtype", n.T(0), d)
	}
	v := n.tensor(g, to)
	v.rank = n.T(0).rank
	return one(v)
}
