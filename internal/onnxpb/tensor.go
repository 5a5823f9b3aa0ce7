package onnxpb

import (
	"fmt"
	"math"
	"strconv"
)

func float32frombits(n uint64) float32 { return math.Float32frombits(uint32(n)) }

// DataType is the type of a tensor's elements, by the numbers of TensorProto.DataType.
type DataType int32

// The types of elements.
const (
	Undefined      DataType = 0
	Float          DataType = 1
	Uint8          DataType = 2
	Int8           DataType = 3
	Uint16         DataType = 4
	Int16          DataType = 5
	Int32          DataType = 6
	Int64          DataType = 7
	String         DataType = 8
	Bool           DataType = 9
	Float16        DataType = 10
	Double         DataType = 11
	Uint32         DataType = 12
	Uint64         DataType = 13
	Complex64      DataType = 14
	Complex128     DataType = 15
	BFloat16       DataType = 16
	Float8E4M3FN   DataType = 17
	Float8E4M3FNUZ DataType = 18
	Float8E5M2     DataType = 19
	Float8E5M2FNUZ DataType = 20
	Uint4          DataType = 21
	Int4           DataType = 22
	Float4E2M1     DataType = 23
	Float8E8M0     DataType = 24
	Uint2          DataType = 25
	Int2           DataType = 26
)

var dataTypes = [...]struct {
	name string
	bits int
}{
	{"undefined", 0}, {"float", 32}, {"uint8", 8}, {"int8", 8}, {"uint16", 16}, {"int16", 16}, {"int32", 32},
	{"int64", 64}, {"string", 0}, {"bool", 8}, {"float16", 16}, {"double", 64}, {"uint32", 32}, {"uint64", 64},
	{"complex64", 64}, {"complex128", 128}, {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8},
	{"float8e5m2", 8}, {"float8e5m2fnuz", 8}, {"uint4", 4}, {"int4", 4}, {"float4e2m1", 4}, {"float8e8m0", 8},
	{"uint2", 2}, {"int2", 2},
}

// String is the name that ONNX's documentation uses in tensor(…).
func (d DataType) String() string {
	if d < 0 || int(d) >= len(dataTypes) {
		return "type " + strconv.Itoa(int(d))
	}
	return dataTypes[d].name
}

// Bits is the size of an element in raw data; 0 where elements have none (strings, unknown types).
func (d DataType) Bits() int {
	if d < 0 || int(d) >= len(dataTypes) {
		return 0
	}
	return dataTypes[d].bits
}

// Tensor is a TensorProto. Elements stand in Raw, in one of the lists, or in another file (External).
type Tensor struct {
	Name     string
	Type     DataType
	Dims     []int64
	Raw      []byte
	HasRaw   bool
	Floats   []float32
	Ints32   []int64 // of all types up to 32 bits, and of 16-bit floats
	Ints64   []int64
	Doubles  []float64
	Uints64  []int64
	Strings  [][]byte
	External []Entry
	IsExtern bool
	Keep     any // what Raw is the memory of, where the collector does not see it
}

// SparseTensor is a SparseTensorProto: values at the positions that Indices tells, 0 elsewhere.
type SparseTensor struct {
	Values, Indices *Tensor
	Dims            []int64
}

// ReadTensor reads a whole TensorProto.
func ReadTensor(b []byte) (*Tensor, error) {
	t := new(Tensor)
	err := each("tensor", b, func(x field) (err error) {
		switch x.num {
		case 1:
			t.Dims, err = x.ints(t.Dims)
		case 2:
			t.Type = DataType(x.n)
		case 3:
			err = fmt.Errorf("%w: a tensor in segments", ErrFormat)
		case 4:
			t.Floats, err = x.floats(t.Floats)
		case 5:
			t.Ints32, err = x.ints(t.Ints32)
		case 6:
			t.Strings = append(t.Strings, x.data)
		case 7:
			t.Ints64, err = x.ints(t.Ints64)
		case 8:
			t.Name = string(x.data)
		case 9:
			t.Raw, t.HasRaw = x.data, true
		case 10:
			t.Doubles, err = x.doubles(t.Doubles)
		case 11:
			t.Uints64, err = x.ints(t.Uints64)
		case 13:
			t.External, err = readEntry(t.External, x.data)
		case 14:
			t.IsExtern = x.n == 1
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func readSparse(b []byte) (*SparseTensor, error) {
	t := new(SparseTensor)
	err := each("sparse tensor", b, func(x field) (err error) {
		switch x.num {
		case 1:
			t.Values, err = ReadTensor(x.data)
		case 2:
			t.Indices, err = ReadTensor(x.data)
		case 3:
			t.Dims, err = x.ints(t.Dims)
		}
		return err
	})
	if err == nil && (t.Values == nil || t.Indices == nil) {
		err = fmt.Errorf("%w: a sparse tensor without values or indices", ErrFormat)
	}
	return t, err
}

// Sequence is a SequenceProto or an OptionalProto: a list of at most one element in the latter case.
type Sequence struct {
	Name      string
	Tensors   []*Tensor
	Sequences []*Sequence
}

// ReadSequence reads a whole SequenceProto.
func ReadSequence(b []byte) (*Sequence, error) { return readSequence(b, 0) }

// ReadOptional reads a whole OptionalProto.
func ReadOptional(b []byte) (*Sequence, error) { return readSequence(b, 0) }

func readSequence(b []byte, depth int) (*Sequence, error) {
	depth, err := deeper("sequence", depth)
	if err != nil {
		return nil, err
	}
	s := new(Sequence)
	return s, each("sequence", b, func(x field) error {
		switch x.num {
		case 1:
			s.Name = string(x.data)
		case 3:
			t, err := ReadTensor(x.data)
			s.Tensors = append(s.Tensors, t)
			return err
		case 5, 7:
			q, err := readSequence(x.data, depth)
			s.Sequences = append(s.Sequences, q)
			return err
		}
		return nil
	})
}
