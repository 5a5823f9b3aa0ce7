package onnx

import (
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"Bernoulli":         bernoulli,
		"DFT":               dft,
		"Multinomial":       multinomial,
		"RandomNormal":      random(true, false),
		"RandomNormalLike":  random(true, true),
		"RandomUniform":     random(false, false),
		"RandomUniformLike": random(false, true),
		"STFT":              stft,
		"TfIdfVectorizer":   tfidf,
	})

	helper("dft(Tensor x, int? length, int axis, bool inverse, bool onesided) -> Tensor", func(a args) any {
		x := a.T(0)
		axis := dim("DFT", a.int(2), x.Dim())
		if axis == x.Dim()-1 || x.Size(-1) != 1 && x.Size(-1) != 2 {
			wrong("DFT", "shape %v, axis %d", x.Shape(), a.int(2))
		}
		inverse, onesided := a.bool(3), a.bool(4)
		n := any(nil)
		if a.has(1) {
			n = a.int(1)
		} else if inverse && onesided {
			n = 2 * (x.Size(axis) - 1)
		}
		z := complexOf(x)
		switch {
		case inverse && onesided:
			return call("aten::fft_irfft", z, n, axis).Unsqueeze(-1)
		case inverse:
			return call("aten::view_as_real", call("aten::fft_ifft", z, n, axis))
		}
		y := call("aten::fft_fft", z, n, axis)
		if onesided {
			y = y.Narrow(axis, 0, y.Size(axis)/2+1)
		}
		return call("aten::view_as_real", y)
	})
	helper("stft(Tensor x, int step, Tensor? window, int? length, bool onesided) -> Tensor", func(a args) any {
		x, window := a.T(0), a.T(2)
		if x.Dim() == 2 {
			x = x.Unsqueeze(-1)
		}
		if x.Dim() != 3 || a.int(1) <= 0 {
			wrong("STFT", "signal of shape %v, steps of %d", x.Shape(), a.int(1))
		}
		n := x.Size(1)
		if a.has(3) {
			n = a.int(3)
		} else if window != nil {
			n = window.Numel()
		}
		if n <= 0 || n > x.Size(1) {
			wrong("STFT", "frames of %d in a signal of %d", n, x.Size(1))
		}
		frames := complexOf(x).Unfold(1, n, a.int(1))
		if window != nil {
			if window.Numel() != n {
				wrong("STFT", "a window of %d for frames of %d", window.Numel(), n)
			}
			frames = frames.Mul(window)
		}
		y := call("aten::fft_fft", frames, nil, -1)
		if a.bool(4) {
			y = y.Narrow(-1, 0, n/2+1)
		}
		return call("aten::view_as_real", y)
	})
	helper("uniform(int[] size, float low, float high, ScalarType dtype, float? seed) -> Tensor", func(a args) any {
		x := call("aten::empty.memory_format", checkSizes("RandomUniform", a.ints(0)), a.dtype(3))
		return call("aten::uniform_", x, a.float(1), a.float(2), generator(a[4]))
	})
	helper("normal(int[] size, float mean, float scale, ScalarType dtype, float? seed) -> Tensor", func(a args) any {
		x := call("aten::empty.memory_format", checkSizes("RandomNormal", a.ints(0)), a.dtype(3))
		return call("aten::normal_", x, a.float(1), a.float(2), generator(a[4]))
	})
	helper("bernoulli(Tensor x, ScalarType dtype, float? seed) -> Tensor", func(a args) any {
		return call("aten::bernoulli", a.T(0), generator(a[2])).ToDType(a.dtype(1))
	})
	helper("multinomial(Tensor x, int count, ScalarType dtype, float? seed) -> Tensor", func(a args) any {
		return call("aten::multinomial", a.T(0).Softmax(1), a.int(1), true, generator(a[3])).ToDType(a.dtype(2))
	})
	helper("tfidf(Tensor x, Any table) -> Tensor", func(a args) any { return a[1].X.(*ngrams).count(a.T(0)) })
}

// complexOf makes complex numbers of pairs, or of real numbers, in the last dimension.
func complexOf(x *T) *T {
	if x.Size(-1) == 2 {
		return call("aten::view_as_complex", x.Contiguous())
	}
	return x.SqueezeDim(-1).ToDType(x.DType().Complex())
}

// generator is a generator with a seed, or none for the default one.
func generator(seed tensor.Value) tensor.Value {
	if seed.K == tensor.KNone {
		return tensor.Value{}
	}
	g := rng.New()
	g.ManualSeed(int64(seed.Num().F))
	return tensor.GeneratorValue(g)
}

// seed is the attribute that makes random numbers the same in each call, nil when it is left out.
func (n *node) seed() any {
	if a := n.attr("seed", onnxpb.AttrFloat); a != nil {
		return float64(a.F)
	}
	return nil
}

func random(normal, like bool) rule {
	return func(n *node) []*value {
		size, elem := any(n.ints("shape")), n.elemAttr("dtype", onnxpb.Float)
		if like {
			size, elem = n.call("aten::size", n.T(0)), n.elemAttr("dtype", n.T(0).elem)
		}
		op, a, b := "onnx::uniform", n.float("low", 0), n.float("high", 1)
		if normal {
			op, a, b = "onnx::normal", n.float("mean", 0), n.float("scale", 1)
		}
		return one(n.tensor(n.call(op, size, a, b, n.dtype(elem), n.seed()), elem))
	}
}

func bernoulli(n *node) []*value {
	elem := n.elemAttr("dtype", n.T(0).elem)
	v := n.same(n.call("onnx::bernoulli", n.T(0), n.dtype(elem), n.seed()))
	v.elem = elem
	return one(v)
}

func multinomial(n *node) []*value {
	elem := n.elemAttr("dtype", onnxpb.Int32)
	return one(n.tensor(n.call("onnx::multinomial", n.T(0), n.int("sample_size", 1), n.dtype(elem), n.seed()), elem))
}

// dft takes its axis from an attribute until version 19, from an input since 20.
func dft(n *node) []*value {
	axis := any(n.int("axis", 1))
	if n.opset >= 20 {
		axis = -2
		if n.has(2) {
			axis = n.intValue(2)
		}
	}
	var length any
	if n.has(1) {
		length = n.intValue(1)
	}
	return one(n.same(n.call("onnx::dft", n.T(0), length, axis, n.bool("inverse", false), n.bool("onesided", false))))
}

func stft(n *node) []*value {
	n.T(1)
	var length any
	if n.has(3) {
		length = n.intValue(3)
	}
	return one(n.like(n.call("onnx::stft", n.T(0), n.intValue(1), n.opt(2), length, n.bool("onesided", true))))
}

// ngrams counts sequences of integers.
type ngrams struct {
	column  map[string]int // of the result, by the numbers of the sequence
	entry   map[string]int // of the pool
	lengths [2]int         // the shortest and the longest
	skips   int
	columns int
	weights []float64 // by entry
	mode    string
}

func ngramKey(l []int64) string {
	b := make([]byte, 0, 8*len(l))
	for _, x := range l {
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(x>>s))
		}
	}
	return string(b)
}

func tfidf(n *node) []*value {
	x, pool := n.T(0), n.ints("pool_int64s")
	if l := n.strings("pool_strings"); l != nil { // the positions of the strings in the pool, without repetitions
		at := map[string]int{}
		var distinct []string
		for _, s := range l {
			if _, ok := at[s]; !ok {
				at[s] = len(distinct)
				distinct = append(distinct, s)
			}
			pool = append(pool, at[s])
		}
		x = n.tensor(n.call("onnx::find_strings", x, n.textList(distinct)), onnxpb.Int64)
	}
	counts, indexes := n.ints("ngram_counts"), n.ints("ngram_indexes")
	t := &ngrams{column: map[string]int{}, entry: map[string]int{}, skips: n.int("max_skip_count", 0),
		lengths: [2]int{n.int("min_gram_length", 1), n.int("max_gram_length", 1)}, mode: n.str("mode", "TF"),
		weights: n.floats("weights")}
	id := 0
	for i, from := range counts {
		to := len(pool)
		if i+1 < len(counts) {
			to = counts[i+1]
		}
		if from < 0 || to > len(pool) || from > to {
			fail("%w: attribute \"ngram_counts\" is %v", onnxpb.ErrFormat, counts)
		}
		for ; from+i+1 <= to; from += i + 1 {
			if id >= len(indexes) || indexes[id] < 0 || indexes[id] > 1<<28 {
				fail("%w: attribute \"ngram_indexes\" has no place for entry %d", onnxpb.ErrFormat, id)
			}
			l := make([]int64, i+1)
			for j := range l {
				l[j] = int64(pool[from+j])
			}
			if i+1 >= t.lengths[0] && i+1 <= t.lengths[1] {
				t.column[ngramKey(l)], t.entry[ngramKey(l)] = indexes[id], id
			}
			t.columns = max(t.columns, indexes[id]+1)
			id++
		}
	}
	if t.skips < 0 || t.skips > 1<<20 || t.lengths[0] < 1 || t.lengths[1] < t.lengths[0] || t.lengths[1] > 1<<10 {
		fail("%w: lengths %v, skips %d", onnxpb.ErrFormat, t.lengths, t.skips)
	}
	return one(n.tensor(n.call("onnx::tfidf", x, n.opaque(t)), onnxpb.Float))
}

func (t *ngrams) count(x *T) *T {
	if x.Dim() < 1 || x.Dim() > 2 {
		wrong("TfIdfVectorizer", "a tensor with %d dimensions", x.Dim())
	}
	in := toInt64(hostInts(x))
	rows, width := 1, len(in)
	shape := []int{t.columns}
	if x.Dim() == 2 {
		rows, width = x.Size(0), x.Size(1)
		shape = []int{rows, t.columns}
	}
	if t.columns > 0 && rows > maxList/t.columns {
		wrong("TfIdfVectorizer", "%d rows of %d columns", rows, t.columns)
	}
	out := make([]float32, rows*t.columns)
	for r := range rows {
		row := in[r*width : (r+1)*width]
		for n := t.lengths[0]; n <= t.lengths[1]; n++ {
			for skip := 0; skip <= t.skips; skip++ {
				if n == 1 && skip > 0 {
					break
				}
				for from := 0; from+(n-1)*(skip+1) < width; from++ {
					l := make([]int64, n)
					for j := range l {
						l[j] = row[from+j*(skip+1)]
					}
					key := ngramKey(l)
					c, ok := t.column[key]
					if !ok {
						continue
					}
					w := float32(1)
					if e := t.entry[key]; t.mode != "TF" && e < len(t.weights) {
						w = float32(t.weights[e])
					}
					if p := &out[r*t.columns+c]; t.mode == "IDF" {
						*p = w
					} else {
						*p += w
					}
				}
			}
		}
	}
	return tensor.FromSlice(out, shape...)
}

func toInt64(l []int) []int64 {
	out := make([]int64, len(l))
	for i, x := range l {
		out[i] = int64(x)
	}
	return out
}
