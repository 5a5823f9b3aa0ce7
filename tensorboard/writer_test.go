package tensorboard_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"math"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

// blank is a figure without anything in it.
type blank struct{}

func (blank) Render(width, height float64, dpi int) image.Image {
	return image.NewGray(image.Rect(0, 0, int(width*float64(dpi)+0.5), int(height*float64(dpi)+0.5)))
}

// TestAccess reads back everything that a writer can write.
func TestAccess(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	ok(t, w.AddHistogram("h", tensorboard.Of([]float64{1, 2, 2, 3}), 4,
		tensorboard.HistogramOptions{Bins: tensorboard.BinEdges(0, 1.5, 2.5, 9)}))
	ok(t, w.AddImage("i", bytesOf(3, 4, 5), 1))
	ok(t, w.AddVideo("v", bytesOf(3, 2, 3, 4, 5), 1))
	ok(t, w.AddFigure("f", blank{}, 1))
	ok(t, w.AddFigures("f2", []tensorboard.Figure{blank{}, blank{}}, 1,
		tensorboard.FigureOptions{Width: 100.0 / 72, Height: 50.0 / 72, DPI: 72}))
	ok(t, w.AddAudio("a", tensorboard.Of(ramp(10)), 1, tensorboard.AudioOptions{SampleRate: 100}))
	ok(t, w.AddText("t", "one", 1))
	ok(t, w.AddText("t", "two", 2))
	ok(t, w.AddPRCurve("p", tensorboard.Of([]int{0, 1}), tensorboard.Of([]float64{0.2, 0.8}), 1,
		tensorboard.PRCurveOptions{NumThresholds: 3}))
	ok(t, w.AddMesh("m", unit(1, 4, 3), 1, tensorboard.MeshOptions{Faces: tensorboard.Of([]int{0, 1, 2}, 1, 1, 3)}))
	ok(t, w.AddGraph(goldenGraph()))
	layout := []tensorboard.Category{{Title: "c", Closed: true,
		Charts: []tensorboard.Chart{{Title: "m", Margins: []tensorboard.Margin{{Value: "a", Lower: "b", Upper: "c"}}},
			{Title: "l", Tags: []string{"x"}}}}}
	ok(t, w.AddCustomScalars(layout))
	ok(t, w.AddTensor("e", tensorboard.Of([]int16{3, -4}), 1))
	params := []tensorboard.HParam{tensorboard.BoolParam("b", true), tensorboard.NumberParam("n", 0.5, 0.25, 0.5),
		tensorboard.StringParam("s", "x", "x", "y")}
	ok(t, w.AddHParams(params, []tensorboard.Named{{"acc", 1}},
		tensorboard.HParamsOptions{RunName: "hp", BoolType: true}))
	ok(t, w.AddEmbedding(tensorboard.Of([]float32{1, 0.5, 1e-7, 1e20}, 2, 2), 3,
		tensorboard.EmbeddingOptions{Tag: `a/"b"`,
			Metadata: [][]string{{"x", "1"}, {"y", "2"}}, Header: []string{"n", "v"}, Images: unit(2, 1, 4, 4)}))
	ok(t, w.Close())

	l, err := tensorboard.Open(dir)
	ok(t, err)
	if p := l.Problems(); len(p) != 0 {
		t.Fatal(p)
	}
	if got := l.Plugins("."); !slices.Equal(got,
		[]string{"audio", "custom_scalars", "graph_tagged_run_metadata", "graphs", "histograms", "images", "mesh",
			"pr_curves", "tensor", "text"}) {
		t.Errorf("plugins %v", got)
	}
	h, err := l.HistogramAt(".", "h", 0)
	ok(t, err)
	if want := []tensorboard.Bucket{{1, 1.5, 1}, {1.5, 2.5, 2}, {2.5, 3, 1}}; h.Step != 4 ||
		!slices.Equal(h.Buckets, want) {
		t.Errorf("histogram %+v, want %v", h, want)
	}
	for _, c := range []struct {
		tag, magic string
		w, h       int
	}{{"i", "\x89PNG", 5, 4}, {"v", "GIF89a", 20, 4}, {"f", "\x89PNG", 640, 480}, {"f2", "\x89PNG", 200, 50}} {
		m, err := l.Images(".", c.tag)
		ok(t, err)
		if len(m) != 1 || m[0].Width != c.w || m[0].Height != c.h ||
			!strings.HasPrefix(string(m[0].Encoded[0]), c.magic) {
			t.Errorf("image %s: %d of %dx%d", c.tag, len(m), m[0].Width, m[0].Height)
		}
	}
	a, err := l.AudioAt(".", "a", 0)
	ok(t, err)
	if a.SampleRate != 100 || len(a.Encoded[0]) != 64 {
		t.Errorf("audio %+v", a)
	}
	tx, err := l.Texts(".", "t/text_summary")
	ok(t, err)
	if len(tx) != 2 || tx[0].Texts[0] != "one" || tx[1].Texts[0] != "two" || tx[1].Step != 2 {
		t.Errorf("texts %+v", tx)
	}
	pr, err := l.PRCurves(".", "p")
	ok(t, err)
	if !slices.Equal(pr[0].TP, []float64{1, 1, 0}) || !slices.Equal(pr[0].FP, []float64{1, 0, 0}) {
		t.Errorf("curve %+v", pr[0])
	}
	m, err := l.Meshes(".", "m")
	ok(t, err)
	if len(m) != 2 || m[0].Part != "face" || m[1].Part != "vertex" || len(m[1].Values) != 12 || m[1].Components != 6 {
		t.Errorf("mesh %+v", m)
	}
	g, err := l.Graph(".")
	ok(t, err)
	if !reflect.DeepEqual(g, goldenGraph()) {
		t.Errorf("graph %+v", g)
	}
	cs, err := l.CustomScalars(".")
	ok(t, err)
	if !reflect.DeepEqual(cs, layout) {
		t.Errorf("layout %+v", cs)
	}
	te, err := l.Tensors(".", tensorboard.PluginTensor, "e")
	ok(t, err)
	if v, err := te[0].Tensor.Float64s(); err != nil || !slices.Equal(v, []float64{3, -4}) {
		t.Errorf("tensor %v %v", v, err)
	}
	if s := l.Sessions(); len(s) != 1 || s[0].Run != "hp" || s[0].Status != "SUCCESS" ||
		!slices.Equal(s[0].Metrics, []string{"acc"}) || !reflect.DeepEqual(s[0].Params, params) {
		t.Errorf("sessions %+v", s)
	}
	e, err := l.Embeddings(".")
	ok(t, err)
	if len(e) != 1 || e[0].Name != `a/"b":00003` || e[0].SpriteWidth != 4 {
		t.Fatalf("embeddings %+v", e)
	}
	for path, want := range map[string]string{
		e[0].TensorPath:   "1.0\t0.5\n1.0000000116860974e-07\t1.0000000200408773e+20\n",
		e[0].MetadataPath: "n\tv\nx\t1\ny\t2\n",
	} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s: %q %v", path, b, err)
		}
	}
	if b, err := os.ReadFile(e[0].SpritePath); err != nil || decodePNG(t, b).Bounds().Dx() != 8 {
		t.Errorf("sprite: %v", err)
	}
}

// TestVideo decodes a GIF: few colours come back exactly, many of them closely.
func TestVideo(t *testing.T) {
	for _, c := range []struct {
		name string
		h, w int
		far  int // largest error of a colour
	}{{"few colours", 8, 16, 0}, {"many colours", 64, 64, 24}} {
		t.Run(c.name, func(t *testing.T) {
			const frames = 3
			at := func(f, k, y, x int) uint8 { return uint8(255 * (f + (k+1)*y + (3-k)*x) / (frames + 4*c.h + 4*c.w)) }
			var v []float32
			for f := range frames {
				for k := range 3 {
					for y := range c.h {
						for x := range c.w {
							v = append(v, (float32(at(f, k, y, x))+0.5)/255)
						}
					}
				}
			}
			dir := t.TempDir()
			w, err := tensorboard.NewSummaryWriter(dir)
			ok(t, err)
			ok(t, w.AddVideo("v", tensorboard.Of(v, 1, frames, 3, c.h, c.w), 0, tensorboard.VideoOptions{FPS: 10}))
			ok(t, w.Close())
			l, err := tensorboard.Open(dir)
			ok(t, err)
			m, err := l.ImageAt(".", "v", 0)
			ok(t, err)
			g, err := gif.DecodeAll(bytes.NewReader(m.Encoded[0]))
			ok(t, err)
			if len(g.Image) != frames || g.Delay[0] != 10 || m.Width != c.w || m.Height != c.h {
				t.Fatalf("%d frames of %dx%d with a delay of %d", len(g.Image), m.Width, m.Height, g.Delay[0])
			}
			far := 0
			for f, img := range g.Image {
				for y := range c.h {
					for x := range c.w {
						r, gr, b, _ := img.At(x, y).RGBA()
						for k, got := range []uint32{r, gr, b} {
							d := int(got>>8) - int(at(f, k, y, x))
							far = max(far, d, -d)
						}
					}
				}
			}
			if far > c.far {
				t.Errorf("colours off by %d, want at most %d", far, c.far)
			}
			t.Logf("largest error %d", far)
		})
	}
}

// TestReadWhileWriting polls and reads from several goroutines as a run grows.
func TestReadWhileWriting(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir, tensorboard.SummaryWriterOptions{FlushInterval: time.Millisecond})
	ok(t, err)
	l, err := tensorboard.Open(dir)
	ok(t, err)
	const n = 2000
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				if _, err := l.Poll(); err != nil {
					t.Error(err)
				}
				s, err := l.Scalars(".", "x")
				if err != nil {
					continue
				}
				if s.Len() < last || !slices.IsSorted(s.Steps) || len(s.Values) != s.Len() {
					t.Errorf("curve of %d points after one of %d", s.Len(), last)
				}
				last = s.Len()
				if _, err := l.Texts(".", "t/text_summary"); err != nil && !errors.Is(err, tensorboard.ErrNotFound) {
					t.Error(err)
				}
				l.Tags(".", tensorboard.PluginScalars)
				l.Problems()
				l.Sessions()
			}
		}()
	}
	for i := range n {
		ok(t, w.AddScalar("x", 1, int64(i)))
		if i%50 == 0 {
			ok(t, w.AddText("t", "text", int64(i)))
		}
	}
	ok(t, w.Close())
	close(done)
	wg.Wait()
	_, err = l.Poll()
	ok(t, err)
	if got := steps(t, l, ".", "x"); len(got) != n {
		t.Errorf("%d points, want %d", len(got), n)
	}
}

func TestMaxSteps(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	for i := range 10 {
		ok(t, w.AddText("t", fmt.Sprint(i), int64(i)))
	}
	ok(t, w.Close())
	l, err := tensorboard.Open(dir, tensorboard.OpenOptions{MaxSteps: 3})
	ok(t, err)
	x, err := l.Texts(".", "t/text_summary")
	ok(t, err)
	if len(x) != 3 || x[0].Texts[0] != "7" || x[2].Texts[0] != "9" {
		t.Errorf("texts %+v", x)
	}
}

func TestBadArguments(t *testing.T) {
	w, err := tensorboard.NewSummaryWriter(t.TempDir())
	ok(t, err)
	defer w.Close()
	v := tensorboard.Of([]float64{1, 2, 3})
	for name, err := range map[string]error{
		"histogram empty": w.AddHistogram("x", tensorboard.Of([]float64{}), 0),
		"histogram nan": w.AddHistogram("x", tensorboard.Of([]float64{math.NaN()}), 0,
			tensorboard.HistogramOptions{Bins: tensorboard.BinsAuto}),
		"histogram outside": w.AddHistogram("x", v, 0,
			tensorboard.HistogramOptions{Bins: tensorboard.BinEdges(7, 8, 9)}),
		"histogram edges": w.AddHistogram("x", v, 0, tensorboard.HistogramOptions{Bins: tensorboard.BinEdges(2, 1)}),
		"histogram bins":  w.AddHistogram("x", v, 0, tensorboard.HistogramOptions{Bins: tensorboard.BinCount(0)}),
		"histogram raw":   w.AddHistogramRaw("x", tensorboard.Histogram{Limits: []float64{1}}, 0),
		"image dims":      w.AddImage("x", v, 0),
		"image format":    w.AddImage("x", unit(3, 2, 2), 0, tensorboard.ImageOptions{DataFormats: "CCW"}),
		"image channels":  w.AddImage("x", unit(5, 2, 2), 0),
		"image empty":     w.AddImage("x", tensorboard.Of([]uint8{}, 3, 0, 2), 0),
		"image shape":     w.AddImage("x", tensorboard.Of([]uint8{1}, 3, 2, 2), 0),
		"image nil":       w.AddImage("x", nil, 0),
		"boxes":           w.AddImageWithBoxes("x", unit(3, 2, 2), v, 0),
		"audio":           w.AddAudio("x", unit(2, 3), 0),
		"video":           w.AddVideo("x", unit(2, 3), 0),
		"curve":           w.AddPRCurve("x", v, tensorboard.Of([]float64{1}), 0),
		"mesh":            w.AddMesh("x", v, 0),
		"graph":           w.AddGraph(&tensorboard.Graph{Nodes: []tensorboard.GraphNode{{Name: "a"}, {Name: "a"}}}),
		"embedding":       w.AddEmbedding(v, 0),
		"hparams": w.AddHParams([]tensorboard.HParam{tensorboard.NumberParam("a", 1),
			tensorboard.NumberParam("a", 1)}, nil),
		"figure":      w.AddFigure("x", nil, 0),
		"huge figure": w.AddFigure("x", blank{}, 0, tensorboard.FigureOptions{Width: 1e9}),
		"no size":     w.AddFigure("x", blank{}, 0, tensorboard.FigureOptions{Width: math.NaN()}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "tensorboard: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestConcurrent writes from many goroutines, across closes.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir, tensorboard.SummaryWriterOptions{FlushInterval: time.Millisecond})
	ok(t, err)
	const workers, n = 8, 300
	var wg sync.WaitGroup
	for k := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range n {
				if err := w.AddScalar(fmt.Sprintf("t%d", k), float64(i), int64(i)); err != nil {
					t.Error(err)
				}
				if err := w.AddScalars("s", []tensorboard.Named{{fmt.Sprint(k), 1}}, int64(i)); err != nil {
					t.Error(err)
				}
				if i%100 == 50 {
					if err := w.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	wg.Wait()
	ok(t, w.Close())
	ok(t, w.Close())
	ok(t, w.AddScalar("t0", 0, n)) // opens a second file
	ok(t, w.Close())
	l, err := tensorboard.Open(dir)
	ok(t, err)
	if p := l.Problems(); len(p) > 0 {
		t.Fatal(p)
	}
	for k := range workers {
		got := steps(t, l, ".", fmt.Sprintf("t%d", k))
		want := n
		if k == 0 {
			want++
		}
		if len(got) != want || !slices.IsSorted(got) {
			t.Errorf("tag %d: %d points, want %d", k, len(got), want)
		}
		if got := steps(t, l, fmt.Sprintf("s_%d", k), "s"); len(got) != n {
			t.Errorf("run s_%d: %d points", k, len(got))
		}
	}
	if i, _ := l.Run("."); len(i.Files) != 2 {
		t.Errorf("files %v, want 2", i.Files)
	}
}

// TestFlushInterval sees events appear without a call to Flush.
func TestFlushInterval(t *testing.T) {
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir, tensorboard.SummaryWriterOptions{FlushInterval: 20 * time.Millisecond})
	ok(t, err)
	defer w.Close()
	ok(t, w.AddScalar("x", 1, 1))
	l, err := tensorboard.Open(dir)
	ok(t, err)
	for range 500 {
		if _, err := l.Poll(); err != nil {
			t.Fatal(err)
		}
		if len(l.Tags(".", tensorboard.PluginScalars)) == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the event never appeared")
}

// TestKill kills a writing process and reads what it had flushed.
func TestKill(t *testing.T) {
	if dir := os.Getenv("TENSORBOARD_TEST_KILL"); dir != "" {
		w, err := tensorboard.NewSummaryWriter(dir)
		if err != nil {
			panic(err)
		}
		for i := range 1000 {
			w.AddScalar("x", float64(i), int64(i))
		}
		w.Flush()
		for i := 1000; ; i++ {
			w.AddScalar("x", float64(i), int64(i))
			if i == 1000 {
				fmt.Println("flushed")
			}
		}
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(exe, "-test.run=^TestKill$")
	c.Env = append(os.Environ(), "TENSORBOARD_TEST_KILL="+dir)
	out, err := c.StdoutPipe()
	ok(t, err)
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	buf := make([]byte, 7)
	if _, err := out.Read(buf); err != nil {
		t.Error(err)
	}
	ok(t, c.Process.Kill())
	c.Wait()
	l, err := tensorboard.Open(dir)
	ok(t, err)
	got := steps(t, l, ".", "x")
	if len(got) < 1000 {
		t.Errorf("%d points, want at least the 1000 flushed", len(got))
	}
	for i, s := range got {
		if s != int64(i) {
			t.Fatalf("point %d has step %d", i, s)
		}
	}
	for _, p := range l.Problems() {
		if !errors.Is(p.Err, tensorboard.ErrTruncated) {
			t.Error(p)
		}
	}
}

func BenchmarkAddScalar(b *testing.B) {
	w, err := tensorboard.NewSummaryWriter(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		w.AddScalar("loss/train", 0.5, int64(i))
	}
	w.Close()
}
