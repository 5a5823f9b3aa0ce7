package tensorboard_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/conformance/tbcheck"
	"github.com/gotorch-dev/torch/tensorboard"
)

// ramp, bytesOf and unit are the exact sequences of testdata/reference.py.
func ramp(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((i*7919)%1009)/1009*6 - 3
	}
	return v
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func bytesOf(shape ...int) tensorboard.Array {
	v := make([]uint8, size(shape))
	for i := range v {
		v[i] = uint8(i * 37)
	}
	return tensorboard.Of(v, shape...)
}

func unit(shape ...int) tensorboard.Array {
	v := make([]float32, size(shape))
	for i := range v {
		v[i] = float32((i*29)%81)/64 - 0.125
	}
	return tensorboard.Of(v, shape...)
}

func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func scaled(v []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = f(x)
	}
	return out
}

// TestReferenceCalls makes the calls of testdata/reference.py and compares the
// events, before migration, with those of PyTorch's writer.
func TestReferenceCalls(t *testing.T) {
	dir := t.TempDir()
	purge := int64(3)
	w, err := tensorboard.NewSummaryWriter(dir,
		tensorboard.SummaryWriterOptions{PurgeStep: &purge, FilenameSuffix: ".suffix"})
	ok(t, err)
	ok(t, w.AddScalar("zero", 0, 5))
	ok(t, w.AddScalar("nan", math.NaN(), 6))
	ok(t, w.AddScalar("inf", math.Inf(-1), 6))
	ok(t, w.AddScalar("new", 0.1, 7, tensorboard.ScalarOptions{NewStyle: true}))
	ok(t, w.AddScalar("double", 0.1, 7, tensorboard.ScalarOptions{NewStyle: true, DoublePrecision: true}))
	x := ramp(500)
	hist := func(tag string, v tensorboard.Array, o tensorboard.HistogramOptions) {
		t.Helper()
		ok(t, w.AddHistogram("h/"+tag, v, 1, o))
	}
	for _, rule := range []string{"tensorflow", "auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"} {
		b, err := tensorboard.BinRule(rule)
		ok(t, err)
		hist(rule, tensorboard.Of(x), tensorboard.HistogramOptions{Bins: b})
	}
	hist("7", tensorboard.Of(x), tensorboard.HistogramOptions{Bins: tensorboard.BinCount(7)})
	hist("64", tensorboard.Of(x), tensorboard.HistogramOptions{Bins: tensorboard.BinCount(64)})
	hist("[-2.0, -1.0, 0.5, 2.5]", tensorboard.Of(x),
		tensorboard.HistogramOptions{Bins: tensorboard.BinEdges(-2, -1, 0.5, 2.5)})
	cubes := scaled(x, func(v float64) float64 { return v * v * v })
	auto := tensorboard.HistogramOptions{Bins: tensorboard.BinsAuto}
	hist("cubes", tensorboard.Of(cubes), auto)
	hist("doane3", tensorboard.Of(cubes), tensorboard.HistogramOptions{Bins: tensorboard.BinsDoane})
	hist("max_bins", tensorboard.Of(x), tensorboard.HistogramOptions{Bins: tensorboard.BinCount(100), MaxBins: 30})
	hist("constant", tensorboard.Of(scaled(make([]float64, 9), func(float64) float64 { return 2.5 })), auto)
	hist("one", tensorboard.Of([]float64{-1.5}), tensorboard.HistogramOptions{})
	hist("float32", tensorboard.Of(float32s(ramp(300))), auto)
	var seq []int
	for i := -20; i < 30; i++ {
		seq = append(seq, i)
	}
	hist("ints", tensorboard.Of(seq), auto)
	ok(t, w.AddHistogramRaw("h/raw", tensorboard.Histogram{Min: -1, Max: 2, Num: 3, Sum: 1.5, SumSquares: 2.25,
		Limits: []float64{-1, 0, 2}, Counts: []float64{0, 1, 2}}, 4))
	img := func(tag string, a tensorboard.Array, format string) {
		t.Helper()
		ok(t, w.AddImage(tag, a, 1, tensorboard.ImageOptions{DataFormats: format}))
	}
	img("chw", unit(3, 4, 5), "")
	img("hwc", bytesOf(4, 5, 3), "HWC")
	img("rgba", bytesOf(4, 5, 4), "hwc")
	img("hw", bytesOf(4, 5), "HW")
	img("wh", bytesOf(4, 5), "WH")
	img("one", unit(1, 4, 5), "CHW")
	ok(t, w.AddImages("nchw", bytesOf(11, 3, 4, 5), 1))
	ok(t, w.AddImages("nhwc", unit(2, 4, 5, 3), 1, tensorboard.ImageOptions{DataFormats: "NHWC"}))
	ok(t, w.AddImages("n1hw", bytesOf(9, 1, 4, 5), 1))
	ok(t, w.AddImageWithBoxes("boxes", bytesOf(3, 30, 40),
		tensorboard.Of([]float64{5, 6, 20, 25, 10.4, 3.7, 33.2, 18.9}, 2, 4), 1))
	ok(t, w.AddAudio("loud", tensorboard.Of(ramp(50)), 2))
	soft := float32s(scaled(ramp(50), func(v float64) float64 { return v / 4 }))
	ok(t, w.AddAudio("soft", tensorboard.Of(soft, 1, 50), 2, tensorboard.AudioOptions{SampleRate: 16000}))
	ok(t, w.AddText("t", "ünï\n\n| a | b |", 9))
	labels, preds, weights := make([]int64, 60), make([]float64, 60), make([]float64, 60)
	for i := range labels {
		if i*3%7 < 3 {
			labels[i] = 1
		}
		preds[i], weights[i] = float64(i*31%64)/64, float64(i)/8
	}
	l := tensorboard.Of(labels)
	ok(t, w.AddPRCurve("pr", l, tensorboard.Of(preds), 1))
	ok(t, w.AddPRCurve("pr/10", l, tensorboard.Of(float32s(preds)), 1,
		tensorboard.PRCurveOptions{NumThresholds: 10, Weights: tensorboard.Scalar(0.5)}))
	ok(t, w.AddPRCurve("pr/weights", l, tensorboard.Of(preds), 1,
		tensorboard.PRCurveOptions{NumThresholds: 300, Weights: tensorboard.Of(weights)}))
	ok(t, w.AddPRCurveRaw("pr/raw", tensorboard.PRCurve{TP: []float64{3, 1}, FP: []float64{2, 0}, TN: []float64{0, 2},
		FN:        []float64{0, 2},
		Precision: []float64{0.6, 1}, Recall: []float64{1, 0.25}}, 1, tensorboard.PRCurveOptions{NumThresholds: 2}))
	ok(t, w.AddCustomScalars([]tensorboard.Category{
		{Title: "c", Charts: []tensorboard.Chart{{Title: "m",
			Margins: []tensorboard.Margin{{Value: "a", Lower: "b", Upper: "c"}}},
			{Title: "l", Tags: []string{"x", "y"}}}},
		{Title: "d", Charts: []tensorboard.Chart{{Title: "n"}}},
	}))
	ok(t, w.AddCustomScalarsMultilineChart([]string{"p", "q"}, "", ""))
	ok(t, w.AddCustomScalarsMarginChart(tensorboard.Margin{Value: "p", Lower: "q", Upper: "r"}, "k", "t"))
	ok(t, w.AddMesh("m", unit(1, 4, 3), 8, tensorboard.MeshOptions{
		Colors: bytesOf(1, 4, 3), Faces: tensorboard.Of([]int{0, 1, 2, 1, 2, 3}, 1, 2, 3),
		Config: map[string]any{"camera": map[string]any{"cls": "PerspectiveCamera", "fov": 75},
			"a": []any{1, 2.5, "ü<\"&>😀"}}}))
	for _, a := range []tensorboard.Array{
		tensorboard.Of([]float32{1.5, -2}, 1, 2), tensorboard.Of([]float64{0.1}), tensorboard.Of([]int8{1, -2}),
		tensorboard.Of([]int16{1, -2}),
		tensorboard.Of([]int32{1, -2}), scalarOf(-7), tensorboard.Of([]uint8{200}), tensorboard.Of([]bool{true, false}),
		half{tensorboard.Float16}, half{tensorboard.BFloat16},
	} {
		ok(t, w.AddTensor("tensor/"+a.Kind().String(), a, 1))
	}
	ok(t, w.Close())

	raw, err := os.ReadFile("testdata/reference.json")
	ok(t, err)
	var want []json.RawMessage
	ok(t, json.Unmarshal(raw, &want))
	file := eventFile(t, dir)
	if !strings.HasSuffix(file, ".suffix") {
		t.Errorf("file name %s without suffix", file)
	}
	got, err := tbcheck.Events(file, false)
	ok(t, err)
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
	for i := range got {
		if d := tbcheck.Diff(rawMeaning(t, got[i]), rawMeaning(t, want[i])); d != "" {
			t.Errorf("event %d: %s\n%.300s", i, d, want[i])
		}
	}
}

type half struct{ k tensorboard.Kind }

func (half) Shape() []int             { return []int{1} }
func (h half) Kind() tensorboard.Kind { return h.k }
func (half) Float64s() []float64      { return []float64{1.5} }

type scalarOf int64

func (scalarOf) Shape() []int           { return nil }
func (scalarOf) Kind() tensorboard.Kind { return tensorboard.Int64 }
func (s scalarOf) Float64s() []float64  { return []float64{float64(s)} }

// rawMeaning is [meaning] for events before migration. The sum of squares depends
// on the order in which a BLAS adds: it is cut to 12 digits.
func rawMeaning(t *testing.T, b json.RawMessage) []byte {
	t.Helper()
	var e map[string]any
	ok(t, json.Unmarshal(b, &e))
	delete(e, "wallTime")
	if s, in := e["summary"].(map[string]any); in {
		for _, v := range s["value"].([]any) {
			v := v.(map[string]any)
			if m, in := v["image"].(map[string]any); in {
				p, err := base64.StdEncoding.DecodeString(m["encodedImageString"].(string))
				ok(t, err)
				if !bytes.HasPrefix(p, []byte("\x89PNG")) {
					t.Error("no PNG")
				}
				a := tensorboard.FromImage(decodePNG(t, p))
				m["encodedImageString"] = fmt.Sprint(a.Shape(), a.Float64s())
			}
			if h, in := v["histo"].(map[string]any); in {
				if x, is := h["sumSquares"].(float64); is {
					h["sumSquares"] = fmt.Sprintf("%.12g", x)
				}
			}
		}
	}
	out, err := json.Marshal(e)
	ok(t, err)
	return out
}

func TestDefaultDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	w, err := tensorboard.NewSummaryWriter("", tensorboard.SummaryWriterOptions{Comment: "_lr0.1"})
	ok(t, err)
	ok(t, w.Close())
	host, _ := os.Hostname()
	m, _ := filepath.Glob("runs/???[0-9][0-9]_[0-9][0-9]-[0-9][0-9]-[0-9][0-9]_" + host +
		"_lr0.1/events.out.tfevents.*")
	if len(m) != 1 || w.LogDir() != filepath.Dir(m[0]) {
		t.Errorf("found %v, log dir %s", m, w.LogDir())
	}
}
