package recordio

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"google.golang.org/protobuf/encoding/protowire"
)

// ProtoKind is the type of a [ProtoValue]; the numbers are the field numbers of
// SageMaker's schema.
type ProtoKind int

const (
	ProtoNone    ProtoKind = 0 // no value set
	ProtoFloat32 ProtoKind = 2
	ProtoFloat64 ProtoKind = 3
	ProtoInt32   ProtoKind = 7
	ProtoBytes   ProtoKind = 9
)

// String returns the kind's name, for example "float32".
func (k ProtoKind) String() string {
	switch k {
	case ProtoNone:
		return "none"
	case ProtoFloat32:
		return "float32"
	case ProtoFloat64:
		return "float64"
	case ProtoInt32:
		return "int32"
	case ProtoBytes:
		return "bytes"
	}
	return fmt.Sprintf("ProtoKind(%d)", int(k))
}

// ProtoValue is one feature or label: a dense or sparse tensor of one of three
// types, or raw bytes. Only the slice that belongs to Kind is set.
type ProtoValue struct {
	Kind    ProtoKind
	Float32 []float32
	Float64 []float64
	Int32   []int32

	// Keys makes the tensor sparse: value i stands at flat position Keys[i] of a
	// tensor of size Shape. Both are empty for a plain vector.
	Keys  []uint64
	Shape []uint64

	Bytes       [][]byte
	ContentType string
}

// ProtoRecord is one record of SageMaker's RecordIO-protobuf format
// (application/x-recordio-protobuf): the message aialgs.data.Record, stored as
// the payload of a RecordIO record. The key of a plain vector is "values".
type ProtoRecord struct {
	Features      map[string]ProtoValue
	Label         map[string]ProtoValue
	UID           string
	Metadata      string
	Configuration string
}

// ParseProto decodes the payload of a RecordIO record. Unknown fields are
// ignored, as protobuf prescribes; damage is an error with the position in the
// payload. What it allocates is bounded by the payload's length.
func ParseProto(payload []byte) (*ProtoRecord, error) {
	rec := &ProtoRecord{}
	err := protoFields(payload, 0, func(f protoField) error {
		switch f.num {
		case 1:
			return parseEntry(f, &rec.Features)
		case 2:
			return parseEntry(f, &rec.Label)
		case 3:
			return f.text(&rec.UID)
		case 4:
			return f.text(&rec.Metadata)
		case 5:
			return f.text(&rec.Configuration)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("recordio: protobuf record: %w", err)
	}
	return rec, nil
}

// protoField is one field of a message: b its contents for length-delimited and
// fixed-width types, v the number of a varint, at its position in the payload.
type protoField struct {
	num protowire.Number
	typ protowire.Type
	b   []byte
	v   uint64
	at  int
}

func (f protoField) want(t protowire.Type) error {
	if f.typ != t {
		return fmt.Errorf("offset %d: field %d has wire type %d, expected %d", f.at, f.num, f.typ, t)
	}
	return nil
}

func (f protoField) text(dst *string) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	*dst = string(f.b)
	return nil
}

// protoFields calls fn for every field of a message that starts at offset base
// of the payload.
func protoFields(b []byte, base int, fn func(protoField) error) error {
	for pos := 0; pos < len(b); {
		num, typ, n := protowire.ConsumeTag(b[pos:])
		if n < 0 {
			return fmt.Errorf("offset %d: bad field tag: %w", base+pos, protowire.ParseError(n))
		}
		m := protowire.ConsumeFieldValue(num, typ, b[pos+n:])
		if m < 0 {
			return fmt.Errorf("offset %d: field %d is cut or malformed: %w", base+pos, num, protowire.ParseError(m))
		}
		f := protoField{num: num, typ: typ, at: base + pos + n, b: b[pos+n : pos+n+m]}
		switch typ {
		case protowire.BytesType:
			v, k := protowire.ConsumeBytes(f.b)
			f.at += k - len(v)
			f.b = v
		case protowire.VarintType:
			f.v, _ = protowire.ConsumeVarint(f.b)
		}
		if err := fn(f); err != nil {
			return err
		}
		pos += n + m
	}
	return nil
}

// parseEntry decodes one entry of a map<string, Value>. A repeated key replaces
// the earlier value, an absent one is the empty string.
func parseEntry(f protoField, dst *map[string]ProtoValue) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	var key string
	var val ProtoValue
	err := protoFields(f.b, f.at, func(e protoField) error {
		switch e.num {
		case 1:
			return e.text(&key)
		case 2:
			return parseValue(e, &val)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := val.check(); err != nil {
		return fmt.Errorf("offset %d: %q: %w", f.at, key, err)
	}
	if *dst == nil {
		*dst = map[string]ProtoValue{}
	}
	(*dst)[key] = val
	return nil
}

func parseValue(f protoField, val *ProtoValue) error {
	if err := f.want(protowire.BytesType); err != nil {
		return err
	}
	return protoFields(f.b, f.at, func(e protoField) error {
		kind := ProtoKind(e.num)
		switch kind {
		case ProtoFloat32, ProtoFloat64, ProtoInt32, ProtoBytes:
		default:
			return nil
		}
		if err := e.want(protowire.BytesType); err != nil {
			return err
		}
		// The schema makes these a oneof: the last one wins, and two messages of
		// the same kind are merged.
		if val.Kind != kind {
			*val = ProtoValue{Kind: kind}
		}
		return protoFields(e.b, e.at, func(t protoField) error {
			if kind == ProtoBytes {
				switch t.num {
				case 1:
					if err := t.want(protowire.BytesType); err != nil {
						return err
					}
					val.Bytes = append(val.Bytes, append([]byte{}, t.b...))
				case 2:
					return t.text(&val.ContentType)
				}
				return nil
			}
			switch t.num {
			case 1:
				return val.appendValues(t)
			case 2:
				return appendVarints(t, func(v uint64) { val.Keys = append(val.Keys, v) })
			case 3:
				return appendVarints(t, func(v uint64) { val.Shape = append(val.Shape, v) })
			}
			return nil
		})
	})
}

func (val *ProtoValue) appendValues(t protoField) error {
	switch val.Kind {
	case ProtoFloat32:
		if t.typ != protowire.BytesType && t.typ != protowire.Fixed32Type {
			return t.want(protowire.BytesType)
		}
		if len(t.b)%4 != 0 {
			return fmt.Errorf("offset %d: %d bytes of float32 values", t.at, len(t.b))
		}
		for b := t.b; len(b) > 0; b = b[4:] {
			v, _ := protowire.ConsumeFixed32(b)
			val.Float32 = append(val.Float32, math.Float32frombits(v))
		}
	case ProtoFloat64:
		if t.typ != protowire.BytesType && t.typ != protowire.Fixed64Type {
			return t.want(protowire.BytesType)
		}
		if len(t.b)%8 != 0 {
			return fmt.Errorf("offset %d: %d bytes of float64 values", t.at, len(t.b))
		}
		for b := t.b; len(b) > 0; b = b[8:] {
			v, _ := protowire.ConsumeFixed64(b)
			val.Float64 = append(val.Float64, math.Float64frombits(v))
		}
	case ProtoInt32:
		return appendVarints(t, func(v uint64) { val.Int32 = append(val.Int32, int32(v)) })
	}
	return nil
}

// appendVarints reads a repeated integer field, packed or not: readers have to
// take both forms.
func appendVarints(t protoField, add func(uint64)) error {
	if t.typ == protowire.VarintType {
		add(t.v)
		return nil
	}
	if err := t.want(protowire.BytesType); err != nil {
		return err
	}
	for b := t.b; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return fmt.Errorf("offset %d: bad number in a packed field: %w", t.at+len(t.b)-len(b),
				protowire.ParseError(n))
		}
		add(v)
		b = b[n:]
	}
	return nil
}

// NumValues returns how many numbers are stored, for a sparse tensor fewer than
// its size.
func (v ProtoValue) NumValues() int { return len(v.Float32) + len(v.Float64) + len(v.Int32) }

// size multiplies the shape out; ok is false if the product does not fit.
func (v ProtoValue) size() (n uint64, ok bool) {
	if len(v.Shape) == 0 {
		return uint64(v.NumValues()), len(v.Keys) == 0
	}
	n = 1
	for _, d := range v.Shape {
		if d == 0 {
			return 0, true
		}
		if n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// check rejects what no tensor can be: keys without as many values, keys outside
// the shape, a dense tensor with another number of values than its shape says.
//
// A tensor with a shape but neither keys nor values is accepted: that is how
// writers store a sparse row of zeros.
func (v ProtoValue) check() error {
	if v.Kind == ProtoNone || v.Kind == ProtoBytes {
		return nil
	}
	n, ok := v.size()
	if len(v.Keys) > 0 {
		if len(v.Keys) != v.NumValues() {
			return fmt.Errorf("%d keys for %d values", len(v.Keys), v.NumValues())
		}
		if len(v.Shape) > 0 && !ok {
			return fmt.Errorf("shape %v is too large", clipInts(v.Shape))
		}
		for _, k := range v.Keys {
			if len(v.Shape) > 0 && k >= n {
				return fmt.Errorf("key %d outside the shape %v", k, clipInts(v.Shape))
			}
		}
		return nil
	}
	if len(v.Shape) > 0 && (!ok || v.NumValues() > 0 && uint64(v.NumValues()) != n) {
		return fmt.Errorf("%d values for the shape %v", v.NumValues(), clipInts(v.Shape))
	}
	return nil
}

func clipInts(s []uint64) []uint64 { return s[:min(len(s), 8)] }

// Sparse reports whether the tensor lists the positions of its values.
func (v ProtoValue) Sparse() bool { return len(v.Keys) > 0 }

// Dense returns the tensor's numbers in full, zeros included, widened to
// float64, in row-major order of Shape. Because a few bytes can claim a huge
// shape, at most limit numbers are produced; more is an error. Bytes, and a
// sparse tensor without a shape, are errors.
func (v ProtoValue) Dense(limit int) ([]float64, error) {
	if v.Kind == ProtoNone || v.Kind == ProtoBytes {
		return nil, fmt.Errorf("recordio: a %v value is no tensor", v.Kind)
	}
	if err := v.check(); err != nil {
		return nil, fmt.Errorf("recordio: %w", err)
	}
	n, ok := v.size()
	if !ok {
		return nil, errors.New("recordio: a sparse tensor needs a shape")
	}
	if n > uint64(max(limit, 0)) {
		return nil, fmt.Errorf("recordio: tensor of %d numbers exceeds the limit of %d", n, limit)
	}
	out := make([]float64, n)
	for i := range v.NumValues() {
		at := uint64(i)
		if len(v.Keys) > 0 {
			at = v.Keys[i]
		}
		switch v.Kind {
		case ProtoFloat32:
			out[at] = float64(v.Float32[i])
		case ProtoFloat64:
			out[at] = v.Float64[i]
		case ProtoInt32:
			out[at] = float64(v.Int32[i])
		}
	}
	return out, nil
}

// AppendProto appends the encoded record to dst, packed and with fields in the
// order of their numbers, map entries sorted by key: the bytes that SageMaker's
// Python library writes for one feature and one label.
func AppendProto(dst []byte, rec *ProtoRecord) []byte {
	for num, m := range []map[string]ProtoValue{1: rec.Features, 2: rec.Label} {
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			e := appendField(nil, 1, []byte(k))
			e = appendField(e, 2, appendValue(nil, m[k]))
			dst = appendField(dst, num, e)
		}
	}
	for i, s := range []string{rec.UID, rec.Metadata, rec.Configuration} {
		if s != "" {
			dst = appendField(dst, 3+i, []byte(s))
		}
	}
	return dst
}

func appendField(dst []byte, num int, b []byte) []byte {
	dst = protowire.AppendTag(dst, protowire.Number(num), protowire.BytesType)
	return protowire.AppendBytes(dst, b)
}

func appendValue(dst []byte, v ProtoValue) []byte {
	var t, vals []byte
	switch v.Kind {
	case ProtoNone:
		return dst
	case ProtoBytes:
		for _, b := range v.Bytes {
			t = appendField(t, 1, b)
		}
		if v.ContentType != "" {
			t = appendField(t, 2, []byte(v.ContentType))
		}
		return appendField(dst, int(v.Kind), t)
	case ProtoFloat32:
		for _, x := range v.Float32 {
			vals = protowire.AppendFixed32(vals, math.Float32bits(x))
		}
	case ProtoFloat64:
		for _, x := range v.Float64 {
			vals = protowire.AppendFixed64(vals, math.Float64bits(x))
		}
	case ProtoInt32:
		for _, x := range v.Int32 {
			vals = protowire.AppendVarint(vals, uint64(int64(x)))
		}
	}
	for num, ints := range [][]uint64{2: v.Keys, 3: v.Shape} {
		if num == 2 && len(vals) > 0 {
			t = appendField(t, 1, vals)
		}
		if len(ints) > 0 {
			var b []byte
			for _, x := range ints {
				b = protowire.AppendVarint(b, x)
			}
			t = appendField(t, num, b)
		}
	}
	return appendField(dst, int(v.Kind), t)
}
