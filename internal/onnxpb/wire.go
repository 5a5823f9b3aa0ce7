package onnxpb

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// MaxDepth is how deeply graphs and types may nest.
const MaxDepth = 64

// ErrFormat is wrapped by every error about the bytes of a message.
var ErrFormat = errors.New("malformed ONNX message")

// field is one field of a message: num holds a number, data a byte string.
type field struct {
	num  protowire.Number
	typ  protowire.Type
	n    uint64
	data []byte
}

// each calls f for the fields of message b in order. name is that of the message, for errors.
func each(name string, b []byte, f func(x field) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %s: %v", ErrFormat, name, protowire.ParseError(n))
		}
		b = b[n:]
		x := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			x.n, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			x.n = uint64(v)
		case protowire.Fixed64Type:
			x.n, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			x.data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %s: field %d: %v", ErrFormat, name, num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// ints appends the numbers of a repeated integer field, packed or not.
func (x field) ints(to []int64) ([]int64, error) {
	if x.typ != protowire.BytesType {
		return append(to, int64(x.n)), nil
	}
	for b := x.data; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, fmt.Errorf("%w: list of integers: %v", ErrFormat, protowire.ParseError(n))
		}
		to = append(to, int64(v))
		b = b[n:]
	}
	return to, nil
}

// floats appends the numbers of a repeated float field, packed or not.
func (x field) floats(to []float32) ([]float32, error) {
	if x.typ != protowire.BytesType {
		return append(to, math.Float32frombits(uint32(x.n))), nil
	}
	for b := x.data; len(b) > 0; {
		v, n := protowire.ConsumeFixed32(b)
		if n < 0 {
			return nil, fmt.Errorf("%w: list of floats: %v", ErrFormat, protowire.ParseError(n))
		}
		to = append(to, math.Float32frombits(v))
		b = b[n:]
	}
	return to, nil
}

// doubles appends the numbers of a repeated double field, packed or not.
func (x field) doubles(to []float64) ([]float64, error) {
	if x.typ != protowire.BytesType {
		return append(to, math.Float64frombits(x.n)), nil
	}
	for b := x.data; len(b) > 0; {
		v, n := protowire.ConsumeFixed64(b)
		if n < 0 {
			return nil, fmt.Errorf("%w: list of doubles: %v", ErrFormat, protowire.ParseError(n))
		}
		to = append(to, math.Float64frombits(v))
		b = b[n:]
	}
	return to, nil
}

func deeper(name string, depth int) (int, error) {
	if depth >= MaxDepth {
		return 0, fmt.Errorf("%w: %s nests more than %d levels deep", ErrFormat, name, MaxDepth)
	}
	return depth + 1, nil
}
