package tensorboard_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/conformance/tbcheck"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensorboard"
)

// inputs reads testdata/golden_inputs.f32: the random tensors that the golden log
// was made from, drawn by PyTorch after manual_seed(0).
func inputs(t *testing.T) func(shape ...int) tensorboard.Array {
	raw, err := os.ReadFile("testdata/golden_inputs.f32")
	if err != nil {
		t.Fatal(err)
	}
	return func(shape ...int) tensorboard.Array {
		n := 1
		for _, d := range shape {
			n *= d
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		raw = raw[4*n:]
		return tensorboard.Of(v, shape...)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventFile(t *testing.T, dir string) string {
	t.Helper()
	m, _ := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	if len(m) != 1 {
		t.Fatalf("%d event files in %s, want 1: %v", len(m), dir, m)
	}
	return m[0]
}

// TestGoldenCalls makes the calls that the golden log was made by and compares
// every event.
func TestGoldenCalls(t *testing.T) {
	gold := shared.Path(t, "golden/tensorboard")
	raw, err := os.ReadFile(filepath.Join(gold, "dump.json"))
	ok(t, err)
	var dump map[string][]json.RawMessage
	ok(t, json.Unmarshal(raw, &dump))
	want := map[string][]json.RawMessage{} // by folder
	for name, e := range dump {
		want[filepath.ToSlash(filepath.Dir(name))] = e
	}
	in := inputs(t)
	w0, w1, img, grey := in(1000), in(1000), in(3, 8, 10), in(8, 10)
	labels, preds, emb, sprite := in(100), in(100), in(12, 5), in(12, 3, 8, 8)

	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	for i := range 20 {
		ok(t, w.AddScalar("loss/train", 1/float64(i+1), int64(i),
			tensorboard.ScalarOptions{WallTime: 1e9 + float64(i)}))
		ok(t, w.AddScalars("acc", []tensorboard.Named{{"train", float64(i) / 20}, {"val", float64(i) / 25}}, int64(i)))
	}
	ok(t, w.AddHistogram("w", w0, 0))
	ok(t, w.AddHistogram("w", w1, 1, tensorboard.HistogramOptions{Bins: tensorboard.BinsAuto}))
	ok(t, w.AddImage("img", img, 0))
	ok(t, w.AddImage("grey", grey, 0, tensorboard.ImageOptions{DataFormats: "HW"}))
	// The batch, the mesh and the sound come from the golden log itself.
	ok(t, w.AddImages("batch", ungrid(t, goldenBlob(t, want["."], "batch", 2), 3), 0))
	ok(t, w.AddText("note", "**hello** | table", 0))
	ok(t, w.AddPRCurve("pr", labels, preds, 0))
	ok(t, w.AddHParams([]tensorboard.HParam{
		tensorboard.NumberParam("lr", 0.1), tensorboard.NumberParam("bs", 32),
		tensorboard.StringParam("opt", "sgd"), tensorboard.BoolParam("amp", true),
	}, []tensorboard.Named{{"hparam/acc", 0.9}, {"hparam/loss", 0.1}}, tensorboard.HParamsOptions{RunName: "hp"}))
	var meta [][]string
	for i := range 12 {
		meta = append(meta, []string{fmt.Sprintf("c%d", i)})
	}
	ok(t, w.AddEmbedding(emb, 0, tensorboard.EmbeddingOptions{Tag: "emb", Metadata: meta, Images: sprite}))
	ok(t, w.AddGraph(goldenGraph()))
	ok(t, w.AddCustomScalars([]tensorboard.Category{{Title: "g",
		Charts: []tensorboard.Chart{{Title: "loss", Tags: []string{"loss/train"}}}}}))
	ok(t, w.AddMesh("mesh", tensorboard.Of([]float32{0.10492146, 0.2099526, 0.7390749, 0.19234663, 0.839976, 0.26143414,
		0.34481817,
		0.3564664, 0.977016, 0.33092028, 0.40277714, 0.8025384, 0.15790284, 0.49759156, 0.11378801}, 1, 5, 3), 0))
	ok(t, w.AddAudio("a", unwav(goldenBlob(t, want["."], "a", 0)), 0, tensorboard.AudioOptions{SampleRate: 8000}))
	ok(t, w.Close())

	for folder, events := range want {
		got, err := tbcheck.Events(eventFile(t, filepath.Join(dir, folder)), true)
		ok(t, err)
		if len(got) != len(events) {
			t.Errorf("%s: %d events, want %d", folder, len(got), len(events))
			continue
		}
		for i := range got {
			if d := tbcheck.Diff(meaning(t, got[i]), meaning(t, events[i])); d != "" {
				t.Errorf("%s: event %d: %s", folder, i, d)
			}
		}
	}
	for _, f := range []string{"projector_config.pbtxt", "00000/emb/metadata.tsv", "00000/emb/tensors.tsv",
		"00000/emb/sprite.png"} {
		a, err := os.ReadFile(filepath.Join(dir, f))
		ok(t, err)
		b, err := os.ReadFile(filepath.Join(gold, "logdir", f))
		ok(t, err)
		if strings.HasSuffix(f, ".png") {
			if !reflect.DeepEqual(tensorboard.FromImage(decodePNG(t, a)), tensorboard.FromImage(decodePNG(t, b))) {
				t.Errorf("%s: the pixels differ", f)
			}
		} else if !bytes.Equal(a, b) {
			t.Errorf("%s:\n%s\nwant\n%s", f, a, b)
		}
	}
}

// meaning drops an event's time and replaces what may be encoded in several
// ways by what it means: pictures by their pixels, graphs and hyperparameters
// (maps have no order on the wire) by their parsed form.
func meaning(t *testing.T, b json.RawMessage) []byte {
	t.Helper()
	var e map[string]any
	ok(t, json.Unmarshal(b, &e))
	delete(e, "wallTime")
	decode := func(v any) []byte {
		b, err := base64.StdEncoding.DecodeString(v.(string))
		ok(t, err)
		return b
	}
	graph := func(b []byte) any {
		g, err := tensorboard.ParseGraph(b)
		ok(t, err)
		return fmt.Sprintf("%+v", g)
	}
	if g, in := e["graphDef"]; in {
		e["graphDef"] = graph(decode(g))
	}
	if s, in := e["summary"].(map[string]any); in {
		for _, v := range s["value"].([]any) {
			v := v.(map[string]any)
			if list, in := v["tensor"].(map[string]any)["stringVal"].([]any); in {
				for i := range list {
					b := decode(list[i])
					if bytes.HasPrefix(b, []byte("\x89PNG")) {
						a := tensorboard.FromImage(decodePNG(t, b))
						list[i] = fmt.Sprint(a.Shape(), a.Float64s())
					}
					if v["tag"] == "__run_graph__" {
						list[i] = graph(b)
					}
				}
			}
			if v["tag"] == "_hparams_/session_start_info" {
				p := v["metadata"].(map[string]any)["pluginData"].(map[string]any)
				b := decode(p["content"])
				counts := make([]int, 256) // equal up to the order of the entries
				for _, c := range b {
					counts[c]++
				}
				p["content"] = fmt.Sprint(len(b), counts)
			}
		}
	}
	out, err := json.Marshal(e)
	ok(t, err)
	return out
}

func decodePNG(t *testing.T, b []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(b))
	ok(t, err)
	return m
}

func goldenBlob(t *testing.T, events []json.RawMessage, tag string, i int) []byte {
	t.Helper()
	for _, e := range events {
		var v struct {
			Summary struct {
				Value []struct {
					Tag    string
					Tensor struct{ StringVal [][]byte }
				}
			}
		}
		if json.Unmarshal(e, &v) == nil && len(v.Summary.Value) == 1 && v.Summary.Value[0].Tag == tag {
			return v.Summary.Value[0].Tensor.StringVal[i]
		}
	}
	t.Fatalf("no tag %q", tag)
	return nil
}

// ungrid cuts a row of n pictures apart: (n, 3, h, w) of uint8.
func ungrid(t *testing.T, b []byte, n int) tensorboard.Array {
	a := tensorboard.FromImage(decodePNG(t, b))
	h, w := a.Shape()[0], a.Shape()[1]/n
	var out []uint8
	for i := range n {
		for c := range 3 {
			for y := range h {
				for x := range w {
					out = append(out, uint8(a.Float64s()[(y*n*w+i*w+x)*3+c]))
				}
			}
		}
	}
	return tensorboard.Of(out, n, 3, h, w)
}

// unwav gives samples that encode to those of a WAV file.
func unwav(b []byte) tensorboard.Array {
	var out []float64
	for b = b[44:]; len(b) > 0; b = b[2:] {
		s := float64(int16(binary.LittleEndian.Uint16(b)))
		out = append(out, (s+math.Copysign(0.25, s))/32767) // the encoder truncates
	}
	return tensorboard.Of(out)
}

// goldenGraph is what PyTorch traces for Sequential(Linear(4,3), ReLU, Linear(3,2)).
func goldenGraph() *tensorboard.Graph {
	attr := func(s string) map[string]string { return map[string]string{"attr": s} }
	one := func(d ...int64) [][]int64 { return [][]int64{d} }
	return &tensorboard.Graph{Nodes: []tensorboard.GraphNode{
		{Name: "input/input.1", Op: "IO Node", Attrs: attr(""), OutputShapes: one(2, 4)},
		{Name: "output/output.1", Op: "IO Node", Inputs: []string{"Sequential/Linear[2]/42"}, Attrs: attr(""),
			OutputShapes: one(2, 2)},
		{Name: "Sequential/Linear[0]/bias/bias.1", Op: "prim::GetAttr",
			Inputs: []string{"Sequential/Linear[0]/weight/_0"}, Attrs: attr("{ name :  bias }")},
		{Name: "Sequential/Linear[0]/weight/weight.1", Op: "prim::GetAttr",
			Inputs: []string{"Sequential/Linear[0]/weight/_0"}, Attrs: attr("{ name :  weight }")},
		{Name: "Sequential/Linear[0]/input.3", Op: "aten::linear",
			Inputs: []string{"input/input.1", "Sequential/Linear[0]/weight/weight.1",
				"Sequential/Linear[0]/bias/bias.1"}, Attrs: attr("{}"), OutputShapes: one(2, 3)},
		{Name: "Sequential/ReLU[1]/input", Op: "aten::relu", Inputs: []string{"Sequential/Linear[0]/input.3"},
			Attrs: attr("{}"), OutputShapes: one(2, 3)},
		{Name: "Sequential/Linear[2]/bias/bias", Op: "prim::GetAttr",
			Inputs: []string{"Sequential/Linear[2]/weight/_2"}, Attrs: attr("{ name :  bias }")},
		{Name: "Sequential/Linear[2]/weight/weight", Op: "prim::GetAttr",
			Inputs: []string{"Sequential/Linear[2]/weight/_2"}, Attrs: attr("{ name :  weight }")},
		{Name: "Sequential/Linear[2]/42", Op: "aten::linear",
			Inputs: []string{"Sequential/ReLU[1]/input", "Sequential/Linear[2]/weight/weight",
				"Sequential/Linear[2]/bias/bias"}, Attrs: attr("{}"), OutputShapes: one(2, 2)},
	}}
}
