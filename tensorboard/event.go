package tensorboard

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// EventKind says which of an [Event]'s alternatives is set (field "what").
type EventKind uint8

// Kinds of events.
const (
	EventNone EventKind = iota
	EventFileVersion
	EventGraphDef
	EventSummary
	EventLogMessage
	EventSessionLog
	EventTaggedRunMetadata
	EventMetaGraphDef
)

// Event is one record of an event file (tensorflow/core/util/event.proto).
type Event struct {
	WallTime float64 // seconds since 1970
	Step     int64

	What              EventKind
	FileVersion       string // "brain.Event:2" in the first record
	GraphDef          []byte // serialized GraphDef, see [ParseGraph]
	Summary           *Summary
	LogMessage        *LogMessage
	SessionLog        *SessionLog
	TaggedRunMetadata *TaggedRunMetadata
	MetaGraphDef      []byte

	SourceMetadata *SourceMetadata
}

// Summary is a set of values logged together.
type Summary struct{ Values []*Value }

// ValueKind says which of a [Value]'s alternatives is set.
type ValueKind uint8

// Kinds of values.
const (
	ValueNone ValueKind = iota
	ValueSimple
	ValueObsoleteHistogram
	ValueImage
	ValueHistogram
	ValueAudio
	ValueTensor
)

// Value is one tagged value of a [Summary].
type Value struct {
	NodeName string
	Tag      string
	Metadata *SummaryMetadata

	Kind              ValueKind
	SimpleValue       float32
	ObsoleteHistogram []byte
	Image             *Image
	Histogram         *Histogram
	Audio             *Audio
	Tensor            *Tensor
}

// DataClass says how a plugin's data is laid out.
type DataClass int32

// Data classes.
const (
	DataClassUnknown DataClass = iota
	DataClassScalar
	DataClassTensor
	DataClassBlobSequence
)

// SummaryMetadata says which plugin shows a tag, and how.
type SummaryMetadata struct {
	HasPlugin   bool // plugin_data is present, even if both fields are empty
	PluginName  string
	Content     []byte // the plugin's own metadata, serialized
	DisplayName string
	Description string
	DataClass   DataClass
}

// Image is an encoded picture (PNG; GIF for a video).
type Image struct {
	Height, Width, Colorspace int32
	Encoded                   []byte
}

// Histogram is a histogram in the old format. Bucket i counts the values in
// [Limits[i-1], Limits[i]).
type Histogram struct {
	Min, Max, Num, Sum, SumSquares float64
	Limits, Counts                 []float64
}

// Audio is an encoded sound (WAV).
type Audio struct {
	SampleRate   float32
	NumChannels  int64
	LengthFrames int64
	Encoded      []byte
	ContentType  string
}

// LogMessage is a line of text with a level (obsolete).
type LogMessage struct {
	Level   int32
	Message string
}

// SessionStatus is what a [SessionLog] reports.
type SessionStatus int32

// Session states.
const (
	SessionUnspecified SessionStatus = iota
	SessionStart
	SessionStop
	SessionCheckpoint
)

// SessionLog marks the start or end of a session. A start at step N makes the
// events of steps N and later that came before it void.
type SessionLog struct {
	Status         SessionStatus
	CheckpointPath string
	Msg            string
}

// TaggedRunMetadata is run statistics (serialized RunMetadata) under a tag.
type TaggedRunMetadata struct {
	Tag         string
	RunMetadata []byte
}

// SourceMetadata names the program that wrote a file.
type SourceMetadata struct{ Writer string }

// DataType is a tensor's element type (tensorflow/core/framework/types.proto).
type DataType int32

// Data types that event files use.
const (
	DTInvalid    DataType = 0
	DTFloat      DataType = 1
	DTDouble     DataType = 2
	DTInt32      DataType = 3
	DTUint8      DataType = 4
	DTInt16      DataType = 5
	DTInt8       DataType = 6
	DTString     DataType = 7
	DTComplex64  DataType = 8
	DTInt64      DataType = 9
	DTBool       DataType = 10
	DTBfloat16   DataType = 14
	DTUint16     DataType = 17
	DTComplex128 DataType = 18
	DTHalf       DataType = 19
	DTUint32     DataType = 22
	DTUint64     DataType = 23
)

// Dim is one dimension of a [TensorShape].
type Dim struct {
	Size int64
	Name string
}

// TensorShape is a tensor's shape.
type TensorShape struct {
	Dims        []Dim
	UnknownRank bool
}

// Tensor is a tensor in a protocol buffer: either Content holds the raw little
// endian elements, or one of the typed lists does.
type Tensor struct {
	DType       DataType
	Shape       *TensorShape
	Version     int32
	Content     []byte
	HalfVal     []int32
	FloatVal    []float32
	DoubleVal   []float64
	IntVal      []int32
	StringVal   [][]byte
	SComplexVal []float32
	Int64Val    []int64
	BoolVal     []bool
	DComplexVal []float64
	Uint32Val   []uint32
	Uint64Val   []uint64
	Float8Val   []byte
}

// ---- decoding ----

// fields calls f for every field of a message. num is the field number, v the
// scalar bits (varint, fixed32, fixed64) and b the bytes of a length-delimited field.
func fields(b []byte, f func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("tensorboard: malformed message: %w", protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var s []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v = uint64(x)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			s, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("tensorboard: malformed field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(num, typ, v, s); err != nil {
			return err
		}
	}
	return nil
}

// A field whose wire type is not the declared one is an unknown field: skipped.
const (
	wVar = protowire.VarintType
	wI32 = protowire.Fixed32Type
	wI64 = protowire.Fixed64Type
	wLen = protowire.BytesType
)

func f64(v uint64) float64 { return math.Float64frombits(v) }
func f32(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// ParseEvent decodes an event. Byte fields alias b. Unknown fields are dropped.
// Memory is bounded by a small multiple of len(b).
func ParseEvent(b []byte) (*Event, error) {
	e := &Event{}
	err := fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		set := func(k EventKind) bool { // a later alternative replaces an earlier one
			same := e.What == k
			if !same {
				e.FileVersion, e.GraphDef, e.Summary, e.LogMessage = "", nil, nil, nil
				e.SessionLog, e.TaggedRunMetadata, e.MetaGraphDef = nil, nil, nil
				e.What = k
			}
			return same
		}
		switch {
		case num == 1 && typ == wI64:
			e.WallTime = f64(v)
		case num == 2 && typ == wVar:
			e.Step = int64(v)
		case num == 3 && typ == wLen:
			set(EventFileVersion)
			e.FileVersion = string(s)
		case num == 4 && typ == wLen:
			set(EventGraphDef)
			e.GraphDef = s
		case num == 5 && typ == wLen:
			if !set(EventSummary) {
				e.Summary = &Summary{}
			}
			return e.Summary.parse(s)
		case num == 6 && typ == wLen:
			if !set(EventLogMessage) {
				e.LogMessage = &LogMessage{}
			}
			m := e.LogMessage
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				switch {
				case num == 1 && typ == wVar:
					m.Level = int32(v)
				case num == 2 && typ == wLen:
					m.Message = string(s)
				}
				return nil
			})
		case num == 7 && typ == wLen:
			if !set(EventSessionLog) {
				e.SessionLog = &SessionLog{}
			}
			m := e.SessionLog
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				switch {
				case num == 1 && typ == wVar:
					m.Status = SessionStatus(v)
				case num == 2 && typ == wLen:
					m.CheckpointPath = string(s)
				case num == 3 && typ == wLen:
					m.Msg = string(s)
				}
				return nil
			})
		case num == 8 && typ == wLen:
			if !set(EventTaggedRunMetadata) {
				e.TaggedRunMetadata = &TaggedRunMetadata{}
			}
			m := e.TaggedRunMetadata
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				switch {
				case num == 1 && typ == wLen:
					m.Tag = string(s)
				case num == 2 && typ == wLen:
					m.RunMetadata = s
				}
				return nil
			})
		case num == 9 && typ == wLen:
			set(EventMetaGraphDef)
			e.MetaGraphDef = s
		case num == 10 && typ == wLen:
			if e.SourceMetadata == nil {
				e.SourceMetadata = &SourceMetadata{}
			}
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				if num == 1 && typ == wLen {
					e.SourceMetadata.Writer = string(s)
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (m *Summary) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		if num != 1 || typ != wLen {
			return nil
		}
		val := &Value{}
		m.Values = append(m.Values, val)
		return val.parse(s)
	})
}

func (m *Value) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		set := func(k ValueKind) bool {
			same := m.Kind == k
			if !same {
				m.SimpleValue, m.ObsoleteHistogram, m.Image = 0, nil, nil
				m.Histogram, m.Audio, m.Tensor = nil, nil, nil
				m.Kind = k
			}
			return same
		}
		switch {
		case num == 1 && typ == wLen:
			m.Tag = string(s)
		case num == 2 && typ == wI32:
			set(ValueSimple)
			m.SimpleValue = f32(v)
		case num == 3 && typ == wLen:
			set(ValueObsoleteHistogram)
			m.ObsoleteHistogram = s
		case num == 4 && typ == wLen:
			if !set(ValueImage) {
				m.Image = &Image{}
			}
			return m.Image.parse(s)
		case num == 5 && typ == wLen:
			if !set(ValueHistogram) {
				m.Histogram = &Histogram{}
			}
			return m.Histogram.parse(s)
		case num == 6 && typ == wLen:
			if !set(ValueAudio) {
				m.Audio = &Audio{}
			}
			return m.Audio.parse(s)
		case num == 7 && typ == wLen:
			m.NodeName = string(s)
		case num == 8 && typ == wLen:
			if !set(ValueTensor) {
				m.Tensor = &Tensor{}
			}
			return m.Tensor.parse(s)
		case num == 9 && typ == wLen:
			if m.Metadata == nil {
				m.Metadata = &SummaryMetadata{}
			}
			return m.Metadata.parse(s)
		}
		return nil
	})
}

func (m *SummaryMetadata) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 1 && typ == wLen:
			m.HasPlugin = true
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				switch {
				case num == 1 && typ == wLen:
					m.PluginName = string(s)
				case num == 2 && typ == wLen:
					m.Content = s
				}
				return nil
			})
		case num == 2 && typ == wLen:
			m.DisplayName = string(s)
		case num == 3 && typ == wLen:
			m.Description = string(s)
		case num == 4 && typ == wVar:
			m.DataClass = DataClass(v)
		}
		return nil
	})
}

func (m *Image) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 1 && typ == wVar:
			m.Height = int32(v)
		case num == 2 && typ == wVar:
			m.Width = int32(v)
		case num == 3 && typ == wVar:
			m.Colorspace = int32(v)
		case num == 4 && typ == wLen:
			m.Encoded = s
		}
		return nil
	})
}

func (m *Histogram) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		if typ == wI64 {
			switch num {
			case 1:
				m.Min = f64(v)
			case 2:
				m.Max = f64(v)
			case 3:
				m.Num = f64(v)
			case 4:
				m.Sum = f64(v)
			case 5:
				m.SumSquares = f64(v)
			}
		}
		switch num {
		case 6:
			return doubles(&m.Limits, typ, v, s)
		case 7:
			return doubles(&m.Counts, typ, v, s)
		}
		return nil
	})
}

func (m *Audio) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 1 && typ == wI32:
			m.SampleRate = f32(v)
		case num == 2 && typ == wVar:
			m.NumChannels = int64(v)
		case num == 3 && typ == wVar:
			m.LengthFrames = int64(v)
		case num == 4 && typ == wLen:
			m.Encoded = s
		case num == 5 && typ == wLen:
			m.ContentType = string(s)
		}
		return nil
	})
}

func (m *Tensor) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch num {
		case 1:
			if typ == wVar {
				m.DType = DataType(v)
			}
		case 2:
			if typ == wLen {
				if m.Shape == nil {
					m.Shape = &TensorShape{}
				}
				return m.Shape.parse(s)
			}
		case 3:
			if typ == wVar {
				m.Version = int32(v)
			}
		case 4:
			if typ == wLen {
				m.Content = s
			}
		case 5:
			return floats(&m.FloatVal, typ, v, s)
		case 6:
			return doubles(&m.DoubleVal, typ, v, s)
		case 7:
			return varints(&m.IntVal, typ, v, s)
		case 8:
			if typ == wLen {
				m.StringVal = append(m.StringVal, s)
			}
		case 9:
			return floats(&m.SComplexVal, typ, v, s)
		case 10:
			return varints(&m.Int64Val, typ, v, s)
		case 11:
			if typ == wVar {
				m.BoolVal = append(m.BoolVal, v != 0)
			} else if typ == wLen {
				for len(s) > 0 {
					x, n := protowire.ConsumeVarint(s)
					if n < 0 {
						return fmt.Errorf("tensorboard: malformed packed bools: %w", protowire.ParseError(n))
					}
					m.BoolVal, s = append(m.BoolVal, x != 0), s[n:]
				}
			}
		case 12:
			return doubles(&m.DComplexVal, typ, v, s)
		case 13:
			return varints(&m.HalfVal, typ, v, s)
		case 16:
			return varints(&m.Uint32Val, typ, v, s)
		case 17:
			return varints(&m.Uint64Val, typ, v, s)
		case 18:
			if typ == wLen {
				m.Float8Val = s
			}
		}
		return nil
	})
}

func (m *TensorShape) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 2 && typ == wLen:
			m.Dims = append(m.Dims, Dim{})
			d := &m.Dims[len(m.Dims)-1]
			return fields(s, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
				switch {
				case num == 1 && typ == wVar:
					d.Size = int64(v)
				case num == 2 && typ == wLen:
					d.Name = string(s)
				}
				return nil
			})
		case num == 3 && typ == wVar:
			m.UnknownRank = v != 0
		}
		return nil
	})
}

// Repeated numbers come packed or one by one; a reader takes both.

func doubles(dst *[]float64, typ protowire.Type, v uint64, s []byte) error {
	switch typ {
	case wI64:
		*dst = append(*dst, f64(v))
	case wLen:
		if len(s)%8 != 0 {
			return fmt.Errorf("tensorboard: packed doubles of %d bytes", len(s))
		}
		if *dst == nil {
			*dst = make([]float64, 0, len(s)/8)
		}
		for ; len(s) > 0; s = s[8:] {
			x, _ := protowire.ConsumeFixed64(s)
			*dst = append(*dst, f64(x))
		}
	}
	return nil
}

func floats(dst *[]float32, typ protowire.Type, v uint64, s []byte) error {
	switch typ {
	case wI32:
		*dst = append(*dst, f32(v))
	case wLen:
		if len(s)%4 != 0 {
			return fmt.Errorf("tensorboard: packed floats of %d bytes", len(s))
		}
		if *dst == nil {
			*dst = make([]float32, 0, len(s)/4)
		}
		for ; len(s) > 0; s = s[4:] {
			x, _ := protowire.ConsumeFixed32(s)
			*dst = append(*dst, math.Float32frombits(x))
		}
	}
	return nil
}

func varints[T int32 | int64 | uint32 | uint64](dst *[]T, typ protowire.Type, v uint64, s []byte) error {
	switch typ {
	case wVar:
		*dst = append(*dst, T(v))
	case wLen:
		for len(s) > 0 {
			x, n := protowire.ConsumeVarint(s)
			if n < 0 {
				return fmt.Errorf("tensorboard: malformed packed integers: %w", protowire.ParseError(n))
			}
			*dst, s = append(*dst, T(x)), s[n:]
		}
	}
	return nil
}

// ---- encoding ----

// The encoder follows proto3: fields in order of their numbers, zero values of
// plain fields left out, alternatives (oneof) and present messages always written.

func putStr(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, wLen), s)
}

func putBytes(b []byte, num protowire.Number, s []byte) []byte {
	if len(s) == 0 {
		return b
	}
	return putMsg(b, num, s)
}

// putMsg writes a length-delimited field even if it is empty.
func putMsg(b []byte, num protowire.Number, s []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, wLen), s)
}

func putInt(b []byte, num protowire.Number, v int64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, wVar), uint64(v))
}

func putBool(b []byte, num protowire.Number, v bool) []byte {
	if !v {
		return b
	}
	return putInt(b, num, 1)
}

func putDouble(b []byte, num protowire.Number, v float64) []byte {
	if math.Float64bits(v) == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, num, wI64), math.Float64bits(v))
}

func putFloat(b []byte, num protowire.Number, v float32) []byte {
	if math.Float32bits(v) == 0 {
		return b
	}
	return protowire.AppendFixed32(protowire.AppendTag(b, num, wI32), math.Float32bits(v))
}

func putDoubles(b []byte, num protowire.Number, v []float64) []byte {
	if len(v) == 0 {
		return b
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, num, wLen), uint64(len(v))*8)
	for _, x := range v {
		b = protowire.AppendFixed64(b, math.Float64bits(x))
	}
	return b
}

func putFloats(b []byte, num protowire.Number, v []float32) []byte {
	if len(v) == 0 {
		return b
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, num, wLen), uint64(len(v))*4)
	for _, x := range v {
		b = protowire.AppendFixed32(b, math.Float32bits(x))
	}
	return b
}

func putVarints[T int32 | int64 | uint32 | uint64](b []byte, num protowire.Number, v []T) []byte {
	if len(v) == 0 {
		return b
	}
	var p []byte
	for _, x := range v {
		p = protowire.AppendVarint(p, uint64(int64(x)))
	}
	return putMsg(b, num, p)
}

// Append appends the event in wire format.
func (e *Event) Append(b []byte) []byte {
	b = putDouble(b, 1, e.WallTime)
	b = putInt(b, 2, e.Step)
	switch e.What {
	case EventFileVersion:
		b = putMsg(b, 3, []byte(e.FileVersion))
	case EventGraphDef:
		b = putMsg(b, 4, e.GraphDef)
	case EventSummary:
		b = putMsg(b, 5, e.Summary.append(nil))
	case EventLogMessage:
		b = putMsg(b, 6, putStr(putInt(nil, 1, int64(e.LogMessage.Level)), 2, e.LogMessage.Message))
	case EventSessionLog:
		m := e.SessionLog
		b = putMsg(b, 7, putStr(putStr(putInt(nil, 1, int64(m.Status)), 2, m.CheckpointPath), 3, m.Msg))
	case EventTaggedRunMetadata:
		m := e.TaggedRunMetadata
		b = putMsg(b, 8, putBytes(putStr(nil, 1, m.Tag), 2, m.RunMetadata))
	case EventMetaGraphDef:
		b = putMsg(b, 9, e.MetaGraphDef)
	}
	if e.SourceMetadata != nil {
		b = putMsg(b, 10, putStr(nil, 1, e.SourceMetadata.Writer))
	}
	return b
}

func (m *Summary) append(b []byte) []byte {
	if m == nil {
		return b
	}
	for _, v := range m.Values {
		b = putMsg(b, 1, v.append(nil))
	}
	return b
}

func (m *Value) append(b []byte) []byte {
	b = putStr(b, 1, m.Tag)
	switch m.Kind {
	case ValueSimple: // written even when it is 0
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, wI32), math.Float32bits(m.SimpleValue))
	case ValueObsoleteHistogram:
		b = putMsg(b, 3, m.ObsoleteHistogram)
	case ValueImage:
		i := m.Image
		p := putInt(putInt(putInt(nil, 1, int64(i.Height)), 2, int64(i.Width)), 3, int64(i.Colorspace))
		b = putMsg(b, 4, putBytes(p, 4, i.Encoded))
	case ValueHistogram:
		h := m.Histogram
		var p []byte
		for i, v := range []float64{h.Min, h.Max, h.Num, h.Sum, h.SumSquares} {
			p = putDouble(p, protowire.Number(i+1), v)
		}
		b = putMsg(b, 5, putDoubles(putDoubles(p, 6, h.Limits), 7, h.Counts))
	case ValueAudio:
		a := m.Audio
		p := putInt(putInt(putFloat(nil, 1, a.SampleRate), 2, a.NumChannels), 3, a.LengthFrames)
		b = putMsg(b, 6, putStr(putBytes(p, 4, a.Encoded), 5, a.ContentType))
	}
	b = putStr(b, 7, m.NodeName)
	if m.Kind == ValueTensor {
		b = putMsg(b, 8, m.Tensor.append(nil))
	}
	if m.Metadata != nil {
		b = putMsg(b, 9, m.Metadata.append(nil))
	}
	return b
}

func (m *SummaryMetadata) append(b []byte) []byte {
	if m.HasPlugin || m.PluginName != "" || len(m.Content) > 0 {
		b = putMsg(b, 1, putBytes(putStr(nil, 1, m.PluginName), 2, m.Content))
	}
	b = putStr(putStr(b, 2, m.DisplayName), 3, m.Description)
	return putInt(b, 4, int64(m.DataClass))
}

func (m *TensorShape) append(b []byte) []byte {
	for _, d := range m.Dims {
		b = putMsg(b, 2, putStr(putInt(nil, 1, d.Size), 2, d.Name))
	}
	return putBool(b, 3, m.UnknownRank)
}

func (m *Tensor) append(b []byte) []byte {
	b = putInt(b, 1, int64(m.DType))
	if m.Shape != nil {
		b = putMsg(b, 2, m.Shape.append(nil))
	}
	b = putInt(b, 3, int64(m.Version))
	b = putBytes(b, 4, m.Content)
	b = putFloats(b, 5, m.FloatVal)
	b = putDoubles(b, 6, m.DoubleVal)
	b = putVarints(b, 7, m.IntVal)
	for _, s := range m.StringVal {
		b = putMsg(b, 8, s)
	}
	b = putFloats(b, 9, m.SComplexVal)
	b = putVarints(b, 10, m.Int64Val)
	if len(m.BoolVal) > 0 {
		p := make([]byte, len(m.BoolVal))
		for i, v := range m.BoolVal {
			if v {
				p[i] = 1
			}
		}
		b = putMsg(b, 11, p)
	}
	b = putDoubles(b, 12, m.DComplexVal)
	b = putVarints(b, 13, m.HalfVal)
	b = putVarints(b, 16, m.Uint32Val)
	b = putVarints(b, 17, m.Uint64Val)
	return putBytes(b, 18, m.Float8Val)
}

func f32bits(v float32) uint32 { return math.Float32bits(v) }
