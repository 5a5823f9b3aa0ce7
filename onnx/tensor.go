package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// dtypeOf is the dtype of the tensors that hold elements of an ONNX type; tensor.Invalid where there is none.
//
// Integers of two and four bits lie in int8 and uint8, one to a byte, and float4e2m1 in float32: these dtypes hold all
// their values.
func dtypeOf(d onnxpb.DataType) tensor.DType {
	switch d {
	case onnxpb.Float, onnxpb.Float4E2M1:
		return tensor.Float32
	case onnxpb.Double:
		return tensor.Float64
	case onnxpb.Float16:
		return tensor.Float16
	case onnxpb.BFloat16:
		return tensor.BFloat16
	case onnxpb.Int8, onnxpb.Int4, onnxpb.Int2:
		return tensor.Int8
	case onnxpb.Uint8, onnxpb.Uint4, onnxpb.Uint2:
		return tensor.Uint8
	case onnxpb.Int16:
		return tensor.Int16
	case onnxpb.Int32:
		return tensor.Int32
	case onnxpb.Int64:
		return tensor.Int64
	case onnxpb.Bool:
		return tensor.Bool
	case onnxpb.Complex64:
		return tensor.Complex64
	case onnxpb.Complex128:
		return tensor.Complex128
	case onnxpb.Uint16, onnxpb.Uint32, onnxpb.Uint64:
		return dtype.Parse(d.String())
	case onnxpb.Float8E4M3FN:
		return dtype.Parse("float8_e4m3fn")
	case onnxpb.Float8E4M3FNUZ:
		return dtype.Parse("float8_e4m3fnuz")
	case onnxpb.Float8E5M2:
		return dtype.Parse("float8_e5m2")
	case onnxpb.Float8E5M2FNUZ:
		return dtype.Parse("float8_e5m2fnuz")
	case onnxpb.Float8E8M0:
		return dtype.Parse("float8_e8m0fnu")
	}
	return tensor.Invalid
}

// elemOf is the ONNX type of a tensor's elements.
func elemOf(d tensor.DType) onnxpb.DataType {
	for e := onnxpb.Float; e <= onnxpb.Float8E8M0; e++ {
		if dtypeOf(e) == d && e != onnxpb.Int4 && e != onnxpb.Uint4 && e != onnxpb.Float4E2M1 {
			return e
		}
	}
	return onnxpb.Undefined
}

// numelOf multiplies the sizes of a shape that a file claims; it fails where they are negative or their product is
// beyond what the machine counts.
func numelOf(dims []int64) (shape []int, n int, err error) {
	shape, n = make([]int, len(dims)), 1
	for i, d := range dims {
		if d < 0 || d > math.MaxInt32*int64(1<<16) {
			return nil, 0, fmt.Errorf("%w: size %d", onnxpb.ErrFormat, d)
		}
		shape[i] = int(d)
		if d > 0 && n > math.MaxInt64/16/int(d) {
			return nil, 0, fmt.Errorf("%w: shape %v has too many elements", onnxpb.ErrFormat, dims)
		}
		n *= int(d)
	}
	return shape, n, nil
}

// decodeTensor makes a tensor of a message. external reads data that lies in another file.
func decodeTensor(p *onnxpb.Tensor, external func([]onnxpb.Entry) ([]byte, error)) (*tensor.Tensor, error) {
	shape, n, err := numelOf(p.Dims)
	if err != nil {
		return nil, err
	}
	dt := dtypeOf(p.Type)
	if dt == tensor.Invalid {
		return nil, &unsupportedError{fmt.Sprintf("elements of type %s", p.Type)}
	}
	raw := p.Raw
	if p.IsExtern {
		if external == nil {
			return nil, fmt.Errorf("%w: data outside of the message", onnxpb.ErrFormat)
		}
		if raw, err = external(p.External); err != nil {
			return nil, err
		}
	}
	bits := p.Type.Bits()
	if p.HasRaw || p.IsExtern {
		if want := (n*bits + 7) / 8; len(raw) != want {
			return nil, fmt.Errorf("%w: shape %v of %s takes %d bytes, there are %d", onnxpb.ErrFormat, p.Dims, p.Type,
				want, len(raw))
		}
		return fromRaw(p.Type, dt, shape, n, raw), nil
	}
	have := max(len(p.Floats), len(p.Ints32), len(p.Ints64), len(p.Doubles), len(p.Uints64))
	want := n
	switch {
	case bits < 8:
		want = (n*bits + 7) / 8
	case p.Type == onnxpb.Complex64 || p.Type == onnxpb.Complex128:
		want = 2 * n
	}
	if have != want {
		return nil, fmt.Errorf("%w: shape %v of %s takes %d numbers, there are %d", onnxpb.ErrFormat, p.Dims, p.Type, want,
			have)
	}
	return fromRaw(p.Type, dt, shape, n, typedBytes(p, bits)), nil
}

// typedBytes lays out the numbers of a typed list as raw data does.
func typedBytes(p *onnxpb.Tensor, bits int) []byte {
	var b []byte
	le := binary.LittleEndian
	switch {
	case len(p.Floats) > 0:
		for _, x := range p.Floats {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
	case len(p.Doubles) > 0:
		for _, x := range p.Doubles {
			b = le.AppendUint64(b, math.Float64bits(x))
		}
	default:
		list := p.Ints32
		if len(list) == 0 {
			list = p.Ints64
		}
		if len(list) == 0 {
			list = p.Uints64
		}
		for _, x := range list {
			switch {
			case bits <= 8:
				b = append(b, byte(x))
			case bits == 16:
				b = le.AppendUint16(b, uint16(x))
			case bits == 32:
				b = le.AppendUint32(b, uint32(x))
			default:
				b = le.AppendUint64(b, uint64(x))
			}
		}
	}
	return b
}

// fromRaw copies raw data, which has the right length, into a new tensor.
func fromRaw(p onnxpb.DataType, dt tensor.DType, shape []int, n int, raw []byte) *tensor.Tensor {
	t := tensor.New(shape, dt)
	if n == 0 {
		return t
	}
	to := unsafe.Slice((*byte)(tensor.Ptr(t)), n*dt.Size())
	switch bits := p.Bits(); {
	case bits < 8:
		per, mask := 8/bits, byte(1)<<bits-1
		signed := p == onnxpb.Int4 || p == onnxpb.Int2
		for i := range n {
			x := raw[i/per] >> (i % per * bits) & mask
			if p == onnxpb.Float4E2M1 {
				binary.NativeEndian.PutUint32(to[4*i:], math.Float32bits(float4Values[x]))
				continue
			}
			if signed && x>>(bits-1) != 0 {
				x |= ^mask
			}
			to[i] = x
		}
	case p == onnxpb.Bool:
		for i, x := range raw {
			if x != 0 {
				x = 1
			}
			to[i] = x
		}
	default:
		copy(to, raw)
	}
	return t
}

// float4Values are the values of the 16 codes of float4e2m1: one bit of sign, two of exponent, one of mantissa.
// https://onnx.ai/onnx/technical/float4.html
var float4Values = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6,
	float32(math.Copysign(0, -1)), -0.5, -1, -1.5, -2, -3, -4, -6}

// decodeSparse makes the dense tensor of a sparse one.
func decodeSparse(p *onnxpb.SparseTensor) (*tensor.Tensor, error) {
	shape, n, err := numelOf(p.Dims)
	if err != nil {
		return nil, err
	}
	values, err := decodeTensor(p.Values, nil)
	if err != nil {
		return nil, err
	}
	indices, err := decodeTensor(p.Indices, nil)
	if err != nil {
		return nil, err
	}
	nnz := values.Numel()
	if indices.DType() != tensor.Int64 || values.Dim() != 1 ||
		!(indices.Dim() == 1 && indices.Numel() == nnz || indices.Dim() == 2 && indices.Size(0) == nnz &&
			indices.Size(1) == len(shape)) {
		return nil, fmt.Errorf("%w: sparse tensor with indices %v for %d values", onnxpb.ErrFormat, indices.Shape(), nnz)
	}
	// The shape is that of a dense tensor which may be far larger than the file.
	if n > maxSparse {
		return nil, &unsupportedError{fmt.Sprintf("a sparse tensor of %d elements", n)}
	}
	flat := tensor.New([]int{n}, values.DType())
	at := tensor.Data[int64](indices)
	where := make([]int64, nnz)
	for i := range where {
		if indices.Dim() == 1 {
			where[i] = at[i]
		} else {
			for j, size := range shape {
				x := at[i*len(shape)+j]
				if x < 0 || x >= int64(size) {
					return nil, fmt.Errorf("%w: index %d of a sparse tensor", onnxpb.ErrFormat, x)
				}
				where[i] = where[i]*int64(size) + x
			}
		}
		if where[i] < 0 || where[i] >= int64(n) {
			return nil, fmt.Errorf("%w: index %d of a sparse tensor", onnxpb.ErrFormat, where[i])
		}
	}
	flat.ZeroInPlace()
	flat = flat.IndexCopy(0, tensor.FromSlice(where), values)
	return flat.Reshape(shape...), nil
}

const maxSparse = 1 << 28
