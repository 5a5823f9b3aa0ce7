package tensorboard

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MarshalJSON writes the event in the JSON mapping of protocol buffers: names in
// camelCase, zero values left out, 64-bit integers as strings, bytes in base64,
// enumerations by name.
func (e *Event) MarshalJSON() ([]byte, error) {
	o := jobj{}
	o.f64("wallTime", e.WallTime)
	o.i64("step", e.Step)
	switch e.What {
	case EventFileVersion:
		o.add("fileVersion", jstr(e.FileVersion))
	case EventGraphDef:
		o.add("graphDef", jbytes(e.GraphDef))
	case EventSummary:
		s := jobj{}
		if len(e.Summary.Values) > 0 {
			s.list("value", len(e.Summary.Values), func(i int) string { return e.Summary.Values[i].json() })
		}
		o.add("summary", s.String())
	case EventLogMessage:
		m := jobj{}
		m.enum("level", e.LogMessage.Level,
			map[int32]string{10: "DEBUGGING", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "FATAL"})
		m.str("message", e.LogMessage.Message)
		o.add("logMessage", m.String())
	case EventSessionLog:
		m := jobj{}
		m.enum("status", int32(e.SessionLog.Status), map[int32]string{1: "START", 2: "STOP", 3: "CHECKPOINT"})
		m.str("checkpointPath", e.SessionLog.CheckpointPath)
		m.str("msg", e.SessionLog.Msg)
		o.add("sessionLog", m.String())
	case EventTaggedRunMetadata:
		m := jobj{}
		m.str("tag", e.TaggedRunMetadata.Tag)
		m.bytes("runMetadata", e.TaggedRunMetadata.RunMetadata)
		o.add("taggedRunMetadata", m.String())
	case EventMetaGraphDef:
		o.add("metaGraphDef", jbytes(e.MetaGraphDef))
	}
	if e.SourceMetadata != nil {
		m := jobj{}
		m.str("writer", e.SourceMetadata.Writer)
		o.add("sourceMetadata", m.String())
	}
	return []byte(o.String()), nil
}

func (m *Value) json() string {
	o := jobj{}
	o.str("tag", m.Tag)
	switch m.Kind {
	case ValueSimple:
		o.add("simpleValue", jf32(m.SimpleValue))
	case ValueObsoleteHistogram:
		o.add("obsoleteOldStyleHistogram", jbytes(m.ObsoleteHistogram))
	case ValueImage:
		i := jobj{}
		i.i32("height", m.Image.Height)
		i.i32("width", m.Image.Width)
		i.i32("colorspace", m.Image.Colorspace)
		i.bytes("encodedImageString", m.Image.Encoded)
		o.add("image", i.String())
	case ValueHistogram:
		h := jobj{}
		h.f64("min", m.Histogram.Min)
		h.f64("max", m.Histogram.Max)
		h.f64("num", m.Histogram.Num)
		h.f64("sum", m.Histogram.Sum)
		h.f64("sumSquares", m.Histogram.SumSquares)
		h.f64s("bucketLimit", m.Histogram.Limits)
		h.f64s("bucket", m.Histogram.Counts)
		o.add("histo", h.String())
	case ValueAudio:
		a := jobj{}
		if m.Audio.SampleRate != 0 {
			a.add("sampleRate", jf32(m.Audio.SampleRate))
		}
		a.i64("numChannels", m.Audio.NumChannels)
		a.i64("lengthFrames", m.Audio.LengthFrames)
		a.bytes("encodedAudioString", m.Audio.Encoded)
		a.str("contentType", m.Audio.ContentType)
		o.add("audio", a.String())
	case ValueTensor:
		o.add("tensor", m.Tensor.json())
	}
	o.str("nodeName", m.NodeName)
	if md := m.Metadata; md != nil {
		j := jobj{}
		if md.HasPlugin || md.PluginName != "" || len(md.Content) > 0 {
			p := jobj{}
			p.str("pluginName", md.PluginName)
			p.bytes("content", md.Content)
			j.add("pluginData", p.String())
		}
		j.str("displayName", md.DisplayName)
		j.str("summaryDescription", md.Description)
		j.enum("dataClass", int32(md.DataClass),
			map[int32]string{1: "DATA_CLASS_SCALAR", 2: "DATA_CLASS_TENSOR", 3: "DATA_CLASS_BLOB_SEQUENCE"})
		o.add("metadata", j.String())
	}
	return o.String()
}

var dataTypeNames = map[int32]string{
	1: "DT_FLOAT", 2: "DT_DOUBLE", 3: "DT_INT32", 4: "DT_UINT8", 5: "DT_INT16", 6: "DT_INT8", 7: "DT_STRING",
	8: "DT_COMPLEX64", 9: "DT_INT64", 10: "DT_BOOL", 11: "DT_QINT8", 12: "DT_QUINT8", 13: "DT_QINT32",
	14: "DT_BFLOAT16", 15: "DT_QINT16", 16: "DT_QUINT16", 17: "DT_UINT16", 18: "DT_COMPLEX128", 19: "DT_HALF",
	20: "DT_RESOURCE", 21: "DT_VARIANT", 22: "DT_UINT32", 23: "DT_UINT64",
}

// String returns the type's name, such as "DT_FLOAT".
func (d DataType) String() string {
	if s, ok := dataTypeNames[int32(d)]; ok {
		return s
	}
	return strconv.Itoa(int(d))
}

func (m *TensorShape) json() string {
	o := jobj{}
	if len(m.Dims) > 0 {
		o.list("dim", len(m.Dims), func(i int) string {
			d := jobj{}
			d.i64("size", m.Dims[i].Size)
			d.str("name", m.Dims[i].Name)
			return d.String()
		})
	}
	if m.UnknownRank {
		o.add("unknownRank", "true")
	}
	return o.String()
}

func (m *Tensor) json() string {
	o := jobj{}
	o.enum("dtype", int32(m.DType), dataTypeNames)
	if m.Shape != nil {
		o.add("tensorShape", m.Shape.json())
	}
	o.i32("versionNumber", m.Version)
	o.bytes("tensorContent", m.Content)
	f32s := func(name string, v []float32) {
		if len(v) > 0 {
			o.list(name, len(v), func(i int) string { return jf32(v[i]) })
		}
	}
	f32s("floatVal", m.FloatVal)
	o.f64s("doubleVal", m.DoubleVal)
	if v := m.IntVal; len(v) > 0 {
		o.list("intVal", len(v), func(i int) string { return strconv.Itoa(int(v[i])) })
	}
	if v := m.StringVal; len(v) > 0 {
		o.list("stringVal", len(v), func(i int) string { return jbytes(v[i]) })
	}
	f32s("scomplexVal", m.SComplexVal)
	if v := m.Int64Val; len(v) > 0 {
		o.list("int64Val", len(v), func(i int) string { return `"` + strconv.FormatInt(v[i], 10) + `"` })
	}
	if v := m.BoolVal; len(v) > 0 {
		o.list("boolVal", len(v), func(i int) string { return strconv.FormatBool(v[i]) })
	}
	o.f64s("dcomplexVal", m.DComplexVal)
	if v := m.HalfVal; len(v) > 0 {
		o.list("halfVal", len(v), func(i int) string { return strconv.Itoa(int(v[i])) })
	}
	if v := m.Uint32Val; len(v) > 0 {
		o.list("uint32Val", len(v), func(i int) string { return strconv.FormatUint(uint64(v[i]), 10) })
	}
	if v := m.Uint64Val; len(v) > 0 {
		o.list("uint64Val", len(v), func(i int) string { return `"` + strconv.FormatUint(v[i], 10) + `"` })
	}
	o.bytes("float8Val", m.Float8Val)
	return o.String()
}

// jobj builds a JSON object field by field.
type jobj struct{ b strings.Builder }

func (o *jobj) add(name, value string) {
	if o.b.Len() == 0 {
		o.b.WriteByte('{')
	} else {
		o.b.WriteByte(',')
	}
	fmt.Fprintf(&o.b, "%q:%s", name, value)
}

// String ends the object.
func (o *jobj) String() string {
	if o.b.Len() == 0 {
		return "{}"
	}
	return o.b.String() + "}"
}

func (o *jobj) str(name, v string) {
	if v != "" {
		o.add(name, jstr(v))
	}
}

func (o *jobj) bytes(name string, v []byte) {
	if len(v) > 0 {
		o.add(name, jbytes(v))
	}
}

func (o *jobj) i32(name string, v int32) {
	if v != 0 {
		o.add(name, strconv.Itoa(int(v)))
	}
}

func (o *jobj) i64(name string, v int64) {
	if v != 0 {
		o.add(name, `"`+strconv.FormatInt(v, 10)+`"`)
	}
}

func (o *jobj) f64(name string, v float64) {
	if math.Float64bits(v) != 0 {
		o.add(name, jnum(v, 64))
	}
}

func (o *jobj) f64s(name string, v []float64) {
	if len(v) > 0 {
		o.list(name, len(v), func(i int) string { return jnum(v[i], 64) })
	}
}

func (o *jobj) enum(name string, v int32, names map[int32]string) {
	if v == 0 {
		return
	}
	if s, ok := names[v]; ok {
		o.add(name, jstr(s))
	} else {
		o.add(name, strconv.Itoa(int(v)))
	}
}

func (o *jobj) list(name string, n int, f func(int) string) {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f(i))
	}
	b.WriteByte(']')
	o.add(name, b.String())
}

func jstr(s string) string {
	b, _ := json.Marshal(s) // strings always marshal
	return string(b)
}

func jbytes(b []byte) string { return `"` + base64.StdEncoding.EncodeToString(b) + `"` }

func jf32(v float32) string { return jnum(float64(v), 32) }

// jnum writes the shortest number that reads back to v; JSON has no words for the
// non-finite ones.
func jnum(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return `"NaN"`
	case math.IsInf(v, 1):
		return `"Infinity"`
	case math.IsInf(v, -1):
		return `"-Infinity"`
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}
