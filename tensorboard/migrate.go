package tensorboard

import (
	"encoding/binary"
	"math"
	"strconv"
)

// Names of the plugins whose data this package knows.
const (
	PluginScalars       = "scalars"
	PluginImages        = "images"
	PluginAudio         = "audio"
	PluginHistograms    = "histograms"
	PluginText          = "text"
	PluginPRCurves      = "pr_curves"
	PluginHParams       = "hparams"
	PluginMesh          = "mesh"
	PluginCustomScalars = "custom_scalars"
	PluginTensor        = "tensor" // what AddTensor writes
	PluginGraphs        = "graphs"
	// PluginRunMetadata is the statistics of one run of a graph.
	PluginRunMetadata = "graph_tagged_run_metadata"
)

// runGraphTag is the tag under which a run's graph is listed.
const runGraphTag = "__run_graph__"

// Migrator turns events of the old format into those of the new one, exactly as
// TensorBoard does while it reads: typed values become tensors with plugin
// metadata, a graph becomes a summary of its own, and metadata gets its data
// class. Use one Migrator per file: a tag's metadata stands only in the first
// event of the tag. Events given to it are not changed.
type Migrator struct {
	first map[string]*SummaryMetadata
}

// Migrate returns the events to use in place of e (one, or two for a graph).
func (m *Migrator) Migrate(e *Event) []*Event {
	switch e.What {
	case EventGraphDef:
		// The old event stays: readers that look for it still find it.
		return []*Event{e, blobEvent(e, runGraphTag, PluginGraphs, e.GraphDef)}
	case EventTaggedRunMetadata:
		t := e.TaggedRunMetadata
		return []*Event{blobEvent(e, t.Tag, PluginRunMetadata, t.RunMetadata)}
	case EventSummary:
		out := *e
		out.Summary = &Summary{Values: make([]*Value, len(e.Summary.Values))}
		for i, v := range e.Summary.Values {
			out.Summary.Values[i] = m.classify(modernValue(v))
		}
		return []*Event{&out}
	}
	return []*Event{e}
}

func blobEvent(e *Event, tag, plugin string, data []byte) *Event {
	return &Event{WallTime: e.WallTime, Step: e.Step, What: EventSummary, Summary: &Summary{Values: []*Value{{
		Tag: tag, Kind: ValueTensor,
		Tensor:   &Tensor{DType: DTString, Shape: shapeOf(1), StringVal: [][]byte{data}},
		Metadata: &SummaryMetadata{HasPlugin: true, PluginName: plugin, DataClass: DataClassBlobSequence},
	}}}}
}

func shapeOf(dims ...int) *TensorShape {
	s := &TensorShape{}
	for _, d := range dims {
		s.Dims = append(s.Dims, Dim{Size: int64(d)})
	}
	return s
}

// modernValue returns v, or a new value with a tensor if v has an old typed one.
func modernValue(v *Value) *Value {
	switch v.Kind {
	case ValueSimple:
		return tensorValue(v, PluginScalars, nil,
			&Tensor{DType: DTFloat, Shape: &TensorShape{}, FloatVal: []float32{v.SimpleValue}})
	case ValueHistogram:
		return tensorValue(v, PluginHistograms, nil, modernHistogram(v.Histogram))
	case ValueImage:
		i := v.Image
		return tensorValue(v, PluginImages, []byte{0x10, 1}, &Tensor{ // converted_to_tensor
			DType: DTString, Shape: shapeOf(3),
			StringVal: [][]byte{strconv.AppendInt(nil, int64(i.Width), 10), strconv.AppendInt(nil, int64(i.Height), 10),
				i.Encoded},
		})
	case ValueAudio:
		return tensorValue(v, PluginAudio, []byte{0x10, 11, 0x18, 1}, &Tensor{ // encoding WAV, converted_to_tensor
			DType: DTString, Shape: shapeOf(1, 2), StringVal: [][]byte{v.Audio.Encoded, {}}, // the label is empty
		})
	}
	return v
}

func tensorValue(v *Value, plugin string, content []byte, t *Tensor) *Value {
	md := &SummaryMetadata{HasPlugin: true, PluginName: plugin, Content: content, DisplayName: v.Tag}
	if v.Metadata != nil {
		if v.Metadata.DisplayName != "" {
			md.DisplayName = v.Metadata.DisplayName
		}
		md.Description = v.Metadata.Description
	}
	return &Value{Tag: v.Tag, Metadata: md, Kind: ValueTensor, Tensor: t}
}

// modernBuckets gives a histogram's rows (left, right, count) as float64. The
// outermost limits of old histograms may be ±MaxFloat64: empty buckets at both
// ends go, and min and max bound the rest.
func modernBuckets(h *Histogram) [][3]float64 {
	first, last := len(h.Counts), -1
	for i, c := range h.Counts {
		if c > 0 {
			first, last = min(first, i), i
		}
	}
	if first > last {
		return nil
	}
	// Damaged histograms may have fewer limits than counts.
	limit := func(i int) float64 {
		if i < len(h.Limits) {
			return h.Limits[i]
		}
		return h.Max
	}
	rows := make([][3]float64, 0, last-first+1)
	left := h.Min
	for i := first; i <= last; i++ {
		right := h.Max
		if i < last {
			right = limit(i)
		}
		rows = append(rows, [3]float64{left, right, h.Counts[i]})
		left = right
	}
	return rows
}

func modernHistogram(h *Histogram) *Tensor {
	rows := modernBuckets(h)
	t := &Tensor{DType: DTFloat, Shape: shapeOf(len(rows), 3)}
	for _, r := range rows {
		for _, x := range r {
			t.Content = binary.LittleEndian.AppendUint32(t.Content, math.Float32bits(float32(x)))
		}
	}
	return t
}

// classify sets the data class of the metadata of plugins that predate it.
func (m *Migrator) classify(v *Value) *Value {
	md := m.first[v.Tag]
	if md == nil {
		md = v.Metadata
		if md == nil {
			md = &SummaryMetadata{}
		}
		if m.first == nil {
			m.first = map[string]*SummaryMetadata{}
		}
		m.first[v.Tag] = md
	}
	if md.DataClass != DataClassUnknown {
		return v
	}
	class := DataClassTensor
	out := *v
	switch md.PluginName {
	case PluginScalars:
		class = DataClassScalar
	case PluginImages:
		class = DataClassBlobSequence
	case PluginAudio:
		class = DataClassBlobSequence
		out.Tensor = audioClips(v.Tensor)
	case PluginHParams:
		if v.Kind != ValueTensor { // a tensor of no elements
			out.Kind, out.Tensor = ValueTensor, &Tensor{DType: DTFloat, Shape: shapeOf(0)}
		}
	case PluginHistograms, PluginText, PluginPRCurves, PluginMesh, PluginCustomScalars:
	case "graph_run_metadata", "graph_run_metadata_graph", "graph_keras_model":
		class = DataClassBlobSequence
		if v.Tensor != nil && (v.Tensor.Shape == nil || len(v.Tensor.Shape.Dims) == 0) {
			t := *v.Tensor
			t.Shape = shapeOf(1)
			out.Tensor = &t
		}
	default:
		return v
	}
	if v.Metadata != nil {
		c := *v.Metadata
		c.DataClass = class
		out.Metadata = &c
	}
	return &out
}

// audioClips keeps the clips of a tensor of (clip, label) pairs.
func audioClips(t *Tensor) *Tensor {
	if t == nil || t.Shape == nil || len(t.Shape.Dims) <= 1 {
		return t
	}
	out := *t
	out.Shape = &TensorShape{Dims: t.Shape.Dims[:1]}
	stride := int64(1)
	for _, d := range t.Shape.Dims[1:] {
		if d.Size > 0 && stride <= int64(len(t.StringVal)) {
			stride *= d.Size
		}
	}
	if stride > 1 {
		out.StringVal = nil
		for i := int64(0); i < int64(len(t.StringVal)); i += stride {
			out.StringVal = append(out.StringVal, t.StringVal[i])
		}
	}
	return &out
}
