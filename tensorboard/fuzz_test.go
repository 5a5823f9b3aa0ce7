package tensorboard

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// seeds are the payloads of some events of every kind.
func seeds(f *testing.F) {
	for _, e := range []*Event{
		{WallTime: 1, What: EventFileVersion, FileVersion: "brain.Event:2",
			SourceMetadata: &SourceMetadata{Writer: "w"}},
		summaryEvent(3, 2, &Value{Tag: "a", Kind: ValueSimple, SimpleValue: 0.5}),
		summaryEvent(3, 2, &Value{Tag: "a", Kind: ValueHistogram,
			Histogram: &Histogram{Min: 1, Max: 2, Num: 3, Limits: []float64{1, 2}, Counts: []float64{0, 3}}}),
		summaryEvent(3, 2, &Value{Tag: "a", Kind: ValueImage,
			Image: &Image{Height: 1, Width: 1, Colorspace: 3, Encoded: []byte("x")}}),
		summaryEvent(3, 2, &Value{Tag: "a", Kind: ValueAudio,
			Audio: &Audio{SampleRate: 8000, LengthFrames: 2, Encoded: []byte("x")}}),
		summaryEvent(3, 2, pluginValue("a", PluginAudio, nil,
			&Tensor{DType: DTString, Shape: shapeOf(1, 2), StringVal: [][]byte{{1}, {}}})),
		summaryEvent(3, 2, pluginValue("a", PluginScalars, nil,
			&Tensor{DType: DTHalf, Shape: shapeOf(2), HalfVal: []int32{1, -1}})),
		summaryEvent(3, 2, pluginValue(hparamsStartTag, PluginHParams, []byte{0x1a, 2, 10, 0}, nil)),
		{What: EventGraphDef, GraphDef: []byte{10, 2, 10, 0}},
		{What: EventSessionLog, Step: 1, SessionLog: &SessionLog{Status: SessionStart}},
		{What: EventTaggedRunMetadata, TaggedRunMetadata: &TaggedRunMetadata{Tag: "s", RunMetadata: []byte{1}}},
	} {
		f.Add(e.Append(nil))
	}
	f.Add([]byte{})
}

// FuzzEvent decodes arbitrary payloads, migrates them and reads them in every
// way; what decodes must encode to something that decodes to the same.
func FuzzEvent(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseEvent(b)
		if err != nil {
			return
		}
		j, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEvent(e.Append(nil))
		if err != nil {
			t.Fatalf("own encoding does not decode: %v", err)
		}
		if k, _ := json.Marshal(again); !bytes.Equal(j, k) {
			t.Fatalf("%s\nafter encoding:\n%s", j, k)
		}
		var m Migrator
		for range 2 { // the second time with known metadata
			for _, x := range m.Migrate(e) {
				if _, err := json.Marshal(x); err != nil {
					t.Fatal(err)
				}
			}
		}
		if tag, p, ok := scanScalar(b); ok {
			v := e.Summary.Values
			if len(v) != 1 || v[0].Kind != ValueSimple || v[0].Tag != string(tag) || p.Step != e.Step ||
				math.Float64bits(p.Wall) != math.Float64bits(e.WallTime) ||
				math.Float32bits(float32(p.Value)) != math.Float32bits(v[0].SimpleValue) && p.Value == p.Value {
				t.Fatalf("scanned %q %+v of %s", tag, p, j)
			}
		}
		ParseGraph(b)
		parseLayout(b)
		new(Session).parse(b, map[string][]HParamValue{})
		if e.Summary != nil {
			for _, v := range e.Summary.Values {
				imagePoint(item{}, v)
				audioPoint(item{}, v)
				histogramPoint(item{}, v)
				textPoint(item{}, v)
				prCurvePoint(item{}, v)
				tensorPoint(item{}, v)
				if d, _ := v.Tensor.Float64s(); len(d) > max(len(b), maxFill) {
					t.Fatalf("%d elements from %d bytes", len(d), len(b))
				}
				if v.Metadata != nil {
					new(MeshPart).parse(v.Metadata.Content)
				}
			}
		}
	})
}

// FuzzRecords reads arbitrary files, and files of framed arbitrary payloads. It
// must end, and hold no more than the file does.
func FuzzRecords(f *testing.F) {
	seeds(f)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0})
	huge := AppendRecord(nil, make([]byte, 300))
	f.Add(huge[:100])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, AppendRecord(AppendRecord(nil, b), b[:len(b)/2])} {
			r := NewRecordReader(bytes.NewReader(file), 0)
			total := 0
			for {
				at := r.Offset()
				p, err := r.Next()
				if err != nil {
					if c, is := err.(*CorruptError); is && c.Recoverable() {
						continue
					}
					if err != io.EOF && r.Offset() != at {
						t.Fatalf("moved from %d to %d in spite of %v", at, r.Offset(), err)
					}
					break
				}
				total += len(p) + recordOverhead
			}
			if total > len(file) || cap(r.buf)+cap(r.big) > 2*len(file)+4*readChunk {
				t.Fatalf("%d bytes of records and %d of memory from a file of %d", total, cap(r.buf)+cap(r.big),
					len(file))
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tfevents"), file, 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range l.Runs() {
				for _, p := range l.Plugins(run) {
					for _, tag := range l.Tags(run, p) {
						if p != PluginScalars {
							l.Tensors(run, p, tag)
						}
					}
				}
				l.Graph(run)
				l.HParams(run)
			}
		}
	})
}

// FuzzProjectorConfig reads arbitrary text; quoting must be undone exactly.
func FuzzProjectorConfig(f *testing.F) {
	f.Add("embeddings {\n tensor_name: \"a\"\n sprite { single_image_dim: 8 }\n}")
	f.Add("x:'\\777' # c\n}")
	f.Fuzz(func(t *testing.T, s string) {
		parseProjectorConfig(s)
		if got, rest, err := textUnquote(textQuote(s)); err != nil || got != s || rest != "" {
			t.Fatalf("%q came back as %q, %q, %v", s, got, rest, err)
		}
	})
}
