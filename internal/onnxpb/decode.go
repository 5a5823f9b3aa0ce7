package onnxpb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

// DTypeOf is the dtype of the tensors that hold elements of an ONNX type; dtype.Invalid where there is none.
//
// Integers of two and four bits lie in int8 and uint8, one to a byte, and float4e2m1 in float32: these dtypes hold all
// their values.
func DTypeOf(d DataType) tensor.DType {
	switch d {
	case Float, Float4E2M1:
		return tensor.Float32
	case Double:
		return tensor.Float64
	case Float16:
		return tensor.Float16
	case BFloat16:
		return tensor.BFloat16
	case Int8, Int4, Int2:
		return tensor.Int8
	case Uint8, Uint4, Uint2:
		return tensor.Uint8
	case Int16:
		return tensor.Int16
	case Int32:
		return tensor.Int32
	case Int64:
		return tensor.Int64
	case Bool:
		return tensor.Bool
	case Complex64:
		return tensor.Complex64
	case Complex128:
		return tensor.Complex128
	case Uint16, Uint32, Uint64:
		return dtype.Parse(d.String())
	case Float8E4M3FN:
		return dtype.Parse("float8_e4m3fn")
	case Float8E4M3FNUZ:
		return dtype.Parse("float8_e4m3fnuz")
	case Float8E5M2:
		return dtype.Parse("float8_e5m2")
	case Float8E5M2FNUZ:
		return dtype.Parse("float8_e5m2fnuz")
	case Float8E8M0:
		return dtype.Parse("float8_e8m0fnu")
	}
	return dtype.Invalid
}

// ElemOf is the ONNX type of a tensor's elements.
func ElemOf(d tensor.DType) DataType {
	for e := Float; e <= Float8E8M0; e++ {
		if DTypeOf(e) == d && e != Int4 && e != Uint4 && e != Float4E2M1 {
			return e
		}
	}
	return Undefined
}

// numelOf multiplies the sizes of a shape that a file claims; it fails where they are negative or their product is
// beyond what the machine counts.
func numelOf(dims []int64) (shape []int, n int, err error) {
	shape, n = make([]int, len(dims)), 1
	for i, d := range dims {
		if d < 0 || d > math.MaxInt32*int64(1<<16) {
			return nil, 0, fmt.Errorf("%w: size %d", ErrFormat, d)
		}
		shape[i] = int(d)
		if d > 0 && n > math.MaxInt64/16/int(d) {
			return nil, 0, fmt.Errorf("%w: shape %v has too many elements", ErrFormat, dims)
		}
		n *= int(d)
	}
	return shape, n, nil
}

// ErrUnsupported is wrapped by the errors about tensors whose elements no tensor here can hold.
var ErrUnsupported = errors.New("not supported")

// DecodeStrings reads a message whose elements are strings: the shape and the elements in row-major order.
func (p *Tensor) DecodeStrings() (shape []int, elems []string, err error) {
	shape, n, err := numelOf(p.Dims)
	if err != nil {
		return nil, nil, err
	}
	if p.Type != String || p.HasRaw || p.IsExtern || n != len(p.Strings) {
		return nil, nil, fmt.Errorf("%w: shape %v of %s with %d strings", ErrFormat, p.Dims, p.Type, len(p.Strings))
	}
	elems = make([]string, n)
	for i, s := range p.Strings {
		elems[i] = string(s)
	}
	return shape, elems, nil
}

// Decode makes a tensor of a message. external reads data that lies in another file; nil: such data is an error.
func (p *Tensor) Decode(external func([]Entry) ([]byte, error)) (*tensor.Tensor, error) {
	shape, n, err := numelOf(p.Dims)
	if err != nil {
		return nil, err
	}
	dt := DTypeOf(p.Type)
	if dt == dtype.Invalid {
		return nil, fmt.Errorf("%w: elements of type %s", ErrUnsupported, p.Type)
	}
	raw := p.Raw
	if p.IsExtern {
		if external == nil {
			return nil, fmt.Errorf("%w: data outside of the message", ErrFormat)
		}
		if raw, err = external(p.External); err != nil {
			return nil, err
		}
	}
	bits := p.Type.Bits()
	if p.HasRaw || p.IsExtern {
		if want := (n*bits + 7) / 8; len(raw) != want {
			return nil, fmt.Errorf("%w: shape %v of %s takes %d bytes, there are %d", ErrFormat, p.Dims, p.Type,
				want, len(raw))
		}
		return fromRaw(p.Type, dt, shape, n, raw), nil
	}
	have := max(len(p.Floats), len(p.Ints32), len(p.Ints64), len(p.Doubles), len(p.Uints64))
	want := n
	switch {
	case bits < 8:
		want = (n*bits + 7) / 8
	case p.Type == Complex64 || p.Type == Complex128:
		want = 2 * n
	}
	if have != want {
		return nil, fmt.Errorf("%w: shape %v of %s takes %d numbers, there are %d", ErrFormat, p.Dims, p.Type, want,
			have)
	}
	return fromRaw(p.Type, dt, shape, n, typedBytes(p, bits)), nil
}

// typedBytes lays out the numbers of a typed list as raw data does.
func typedBytes(p *Tensor, bits int) []byte {
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
func fromRaw(p DataType, dt tensor.DType, shape []int, n int, raw []byte) *tensor.Tensor {
	t := tensor.New(shape, dt)
	if n == 0 {
		return t
	}
	to := unsafe.Slice((*byte)(tensor.Ptr(t)), n*dt.Size())
	switch bits := p.Bits(); {
	case bits < 8:
		per, mask := 8/bits, byte(1)<<bits-1
		signed := p == Int4 || p == Int2
		for i := range n {
			x := raw[i/per] >> (i % per * bits) & mask
			if p == Float4E2M1 {
				binary.NativeEndian.PutUint32(to[4*i:], math.Float32bits(float4Values[x]))
				continue
			}
			if signed && x>>(bits-1) != 0 {
				x |= ^mask
			}
			to[i] = x
		}
	case p == Bool:
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

// Decode makes the dense tensor of a sparse one.
func (p *SparseTensor) Decode() (*tensor.Tensor, error) {
	shape, n, err := numelOf(p.Dims)
	if err != nil {
		return nil, err
	}
	values, err := p.Values.Decode(nil)
	if err != nil {
		return nil, err
	}
	indices, err := p.Indices.Decode(nil)
	if err != nil {
		return nil, err
	}
	nnz := values.Numel()
	if indices.DType() != tensor.Int64 || values.Dim() != 1 ||
		!(indices.Dim() == 1 && indices.Numel() == nnz || indices.Dim() == 2 && indices.Size(0) == nnz &&
			indices.Size(1) == len(shape)) {
		return nil, fmt.Errorf("%w: sparse tensor with indices %v for %d values", ErrFormat, indices.Shape(), nnz)
	}
	// The shape is that of a dense tensor which may be far larger than the file.
	if n > maxSparse {
		return nil, fmt.Errorf("%w: a sparse tensor of %d elements", ErrUnsupported, n)
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
					return nil, fmt.Errorf("%w: index %d of a sparse tensor", ErrFormat, x)
				}
				where[i] = where[i]*int64(size) + x
			}
		}
		if where[i] < 0 || where[i] >= int64(n) {
			return nil, fmt.Errorf("%w: index %d of a sparse tensor", ErrFormat, where[i])
		}
	}
	flat.ZeroInPlace()
	flat = flat.IndexCopy(0, tensor.FromSlice(where), values)
	return flat.Reshape(shape), nil
}

const maxSparse = 1 << 28
