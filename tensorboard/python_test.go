package tensorboard_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/tensorboard"
)

// written makes calls on a writer and returns the values in its event file.
func written(t *testing.T, calls func(w *tensorboard.SummaryWriter)) []*tensorboard.Value {
	t.Helper()
	dir := t.TempDir()
	w, err := tensorboard.NewSummaryWriter(dir)
	ok(t, err)
	calls(w)
	ok(t, w.Close())
	b, err := os.ReadFile(eventFile(t, dir))
	ok(t, err)
	var out []*tensorboard.Value
	rd := tensorboard.NewRecordReader(bytes.NewReader(b), 0)
	for {
		p, err := rd.Next()
		if err != nil {
			return out
		}
		e, err := tensorboard.ParseEvent(p)
		ok(t, err)
		if e.Summary != nil {
			out = append(out, e.Summary.Values...)
		}
	}
}

func halves(t *testing.T, v ...float64) tensorboard.Array {
	t.Helper()
	return tensorboard.FromTensor(tensor.FromSlice(v).To(tensor.Float16))
}

func pattern(factor int, shape ...int) tensorboard.Array {
	v := make([]uint8, size(shape))
	for i := range v {
		v[i] = uint8(i * factor)
	}
	return tensorboard.Of(v, shape...)
}

// TestRescale compares rescaled pictures with what PyTorch 2.15's writer makes of
// the same calls: the first row, and the sum of all bytes.
func TestRescale(t *testing.T) {
	for _, c := range []struct {
		img      tensorboard.Array
		scale    float64
		channels int
		row      []uint8
		sum      int
	}{
		{pattern(37, 3, 6, 8), 2, 3, []uint8{0, 255, 255, 1, 219, 203, 21, 79, 63, 44, 0, 0, 62, 27, 11, 79, 71, 55, 98,
			85, 69, 117, 100, 84, 138, 119, 103, 146, 138,
			122, 152, 158, 143, 207, 168, 152, 255, 180, 162, 194, 215, 199, 52, 255, 243, 0, 255, 255}, 71865},
		{pattern(37, 3, 6, 8), .5, 3, []uint8{36, 79, 64, 115, 80, 66, 192, 193, 176, 72, 177, 161}, 4486},
		{pattern(53, 4, 6, 8), .5, 4, []uint8{102, 181, 201, 115, 125, 74, 171, 110, 126, 189, 149, 133, 112, 119, 200,
			132}, 6617},
	} {
		v := written(t, func(w *tensorboard.SummaryWriter) {
			ok(t, w.AddImageWithBoxes("t", c.img, tensorboard.Of([]float32{}, 0, 4), 0,
				tensorboard.ImageOptions{Rescale: c.scale}))
		})
		m, err := png.Decode(bytes.NewReader(v[0].Image.Encoded))
		ok(t, err)
		var row []uint8
		sum := 0
		b := m.Bounds()
		at := func(x, y int) []uint8 {
			if m, isN := m.(*image.NRGBA); isN {
				return m.Pix[m.PixOffset(x, y):][:c.channels]
			}
			o := m.(*image.RGBA)
			return o.Pix[o.PixOffset(x, y):][:c.channels]
		}
		for y := range b.Dy() {
			for x := range b.Dx() {
				for _, k := range at(x, y) {
					sum += int(k)
					if y == 0 {
						row = append(row, k)
					}
				}
			}
		}
		if !reflect.DeepEqual(row, c.row) || sum != c.sum {
			t.Errorf("scaled by %v:\nrow  %v\nwant %v\nsum %d, want %d", c.scale, row, c.row, sum, c.sum)
		}
	}
}

// TestOddBoxes draws boxes whose corners are in another order, or fall together.
func TestOddBoxes(t *testing.T) {
	for _, c := range []struct {
		box  [4]float64
		want string
	}{
		{[4]float64{9, 8, 3, 2}, `
..............
...#######....
...#######....
...##...##....
...##...##....
...##...##....
...##...##....
...##...##....
...#######....
...#######....
..............
..............
`}, {[4]float64{5, 5, 5, 5}, `
..............
..............
..............
..............
..............
.....#........
..............
..............
..............
..............
..............
..............
`}, {[4]float64{2, 6, 9, 6}, `
..............
..............
..............
..............
..............
..########....
..########....
..########....
..............
..............
..............
..............
`}, {[4]float64{9, 2, 3, 8}, `
..............
..............
..#########...
..#########...
..##.....##...
..##.....##...
..##.....##...
..#########...
..#########...
..............
..............
..............
`}} {
		v := written(t, func(w *tensorboard.SummaryWriter) {
			ok(t, w.AddImageWithBoxes("t", pattern(0, 3, 12, 14), tensorboard.Of(c.box[:], 1, 4), 0))
		})
		m, err := png.Decode(bytes.NewReader(v[0].Image.Encoded))
		ok(t, err)
		got := "\n"
		for y := range 12 {
			for x := range 14 {
				if r, _, _, _ := m.At(x, y).RGBA(); r > 0 {
					got += "#"
				} else {
					got += "."
				}
			}
			got += "\n"
		}
		if got != c.want {
			t.Errorf("box %v:%s", c.box, got)
		}
	}
}

// TestHalf: what is computed from half-precision tensors is computed in half
// precision, as NumPy does.
func TestHalf(t *testing.T) {
	p := make([]float64, 9)
	for i := range p {
		p[i] = float64(i) / 8.5
	}
	v := written(t, func(w *tensorboard.SummaryWriter) {
		ok(t, w.AddAudio("a", halves(t, 0.1, -0.3, 0.7), 0))
		ok(t, w.AddPRCurve("p", tensorboard.Of([]int64{1, 0, 1, 1, 0, 0, 1, 0, 1}), halves(t, p...), 0,
			tensorboard.PRCurveOptions{NumThresholds: 120}))
		ok(t, w.AddPRCurve("one", tensorboard.Of([]int64{1, 0, 1}), tensorboard.Of([]float64{.1, .5, .9}), 0,
			tensorboard.PRCurveOptions{NumThresholds: 1}))
	})
	if got, want := string(v[0].Audio.Encoded[44:]), "\xcc\x0c\x98\xd9\xa0Y"; got != want {
		t.Errorf("samples %q, want %q", got, want)
	}
	// True positives: 5, then 4 from threshold 1, 3 from 29, 2 from 43, 1 from 85, 0 from 113.
	for i, x := range v[1].Tensor.FloatVal[:120] {
		want := float32(5)
		for _, at := range []int{1, 29, 43, 85, 113} {
			if i >= at {
				want--
			}
		}
		if x != want {
			t.Errorf("threshold %d: %v true positives, want %v", i, x, want)
		}
	}
	if got, want := v[2].Tensor.FloatVal, []float32{2, 1, 0, 0, float32(2.0 / 3), 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("one threshold: %v, want %v", got, want)
	}
}

// TestExactIntegers: integers beyond 2⁵³ arrive whole.
func TestExactIntegers(t *testing.T) {
	want := []int64{1<<62 + 1, -1 << 63, 1<<63 - 1, 3}
	v := written(t, func(w *tensorboard.SummaryWriter) {
		ok(t, w.AddTensor("slice", tensorboard.Of(want), 0))
		ok(t, w.AddTensor("tensor", tensorboard.FromTensor(tensor.FromSlice(want)), 0))
		ok(t, w.AddEmbedding(tensorboard.Of(want, 2, 2), 0))
		b, err := os.ReadFile(filepath.Join(w.LogDir(), "00000", "default", "tensors.tsv"))
		ok(t, err)
		if w := "4611686018427387905\t-9223372036854775808\n9223372036854775807\t3\n"; string(b) != w {
			t.Errorf("tensors.tsv %q, want %q", b, w)
		}
	})
	for _, x := range v {
		if !reflect.DeepEqual(x.Tensor.Int64Val, want) {
			t.Errorf("%s: %v, want %v", x.Tag, x.Tensor.Int64Val, want)
		}
	}
}

// TestPythonTexts: a mesh's configuration and the projector's file are written
// as Python writes them.
func TestPythonTexts(t *testing.T) {
	v := written(t, func(w *tensorboard.SummaryWriter) {
		ok(t, w.AddMesh("m", tensorboard.Of([]float32{1, 2, 3}, 1, 1, 3), 0,
			tensorboard.MeshOptions{Config: map[string]any{
				"fov": 75, "far": 1000.0, "list": []any{1e22, -0.5, nil, true}, "é<": "\x7f\U0001F600"}}))
		ok(t, w.AddEmbedding(tensorboard.Of([]float32{1, 2}, 1, 2), 0, tensorboard.EmbeddingOptions{Tag: "é\n\""}))
		b, err := os.ReadFile(filepath.Join(w.LogDir(), "projector_config.pbtxt"))
		ok(t, err)
		if want := "embeddings {\n  tensor_name: \"é\\n\\\":00000\"\n  tensor_path: \"00000/é\\n\\\"/tensors.tsv\"\n}\n"; string(b) != want {
			t.Errorf("projector_config.pbtxt %q, want %q", b, want)
		}
	})
	if want := `{"far": 1000.0, "fov": 75, "list": [1e+22, -0.5, null, true], "\u00e9<": "\u007f\ud83d\ude00"}`; !strings.Contains(string(v[0].Metadata.Content), want) {
		t.Errorf("configuration %q does not hold %s", v[0].Metadata.Content, want)
	}
}

// TestEmptyBin: a histogram of a single bin may be empty, one of several may not.
func TestEmptyBin(t *testing.T) {
	h, err := tensorboard.MakeHistogram([]float64{-3, 7}, tensorboard.BinEdges(0, 1), 0)
	ok(t, err)
	if want := (&tensorboard.Histogram{Min: -3, Max: 7, Num: 2, Sum: 4, SumSquares: 58, Limits: []float64{1},
		Counts: []float64{0}}); !reflect.DeepEqual(h, want) {
		t.Errorf("got %+v, want %+v", h, want)
	}
	if _, err := tensorboard.MakeHistogram([]float64{-3, 7}, tensorboard.BinEdges(0, 1, 2), 0); err == nil {
		t.Error("no error for two empty bins")
	}
}
