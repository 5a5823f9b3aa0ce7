package quant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// paths are the instruction sets whose kernels are tested.
var paths = []struct {
	name string
	f    cpu.Features
}{
	{"vnni", cpu.Features{AVX2FMA: true, AVX512: true, VNNI: true}},
	{"avx512", cpu.Features{AVX2FMA: true, AVX512: true}},
	{"avxvnni", cpu.Features{AVX2FMA: true, AVXVNNI: true}},
	{"avx2", cpu.Features{AVX2FMA: true}},
	{"neon", cpu.Features{NEON: true, DotProd: true}},
	{"generic", cpu.Features{}},
}

// eachPath runs a test for each instruction set.
func eachPath(t *testing.T, f func(t *testing.T)) {
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			defer cpu.Set(p.f)()
			f(t)
		})
	}
}

// layer is a convolution with its operands.
type layer struct {
	g      Geometry
	outs   int
	signed bool
	zero   int
	x      []int // bytes less nothing
	w      []int // [outs, kernel, channels of a group]
	wz     []int32
	scales []float32
	bias   []float32
}

func newLayer(r *rand.Rand, g Geometry, outs int, signed, asymmetric, perColumn bool) *layer {
	l := &layer{g: g, outs: outs, signed: signed, wz: make([]int32, outs)}
	lo := 0
	if signed {
		lo = -128
	}
	l.zero = lo + r.IntN(256)
	l.x = make([]int, g.Batch*volume(g.In)*g.Channels)
	for i := range l.x {
		l.x[i] = lo + r.IntN(256)
	}
	l.w = make([]int, outs*volume(g.Kernel)*g.Channels/g.Groups)
	for i := range l.w {
		l.w[i] = r.IntN(256) - 128
	}
	n := 1
	if perColumn {
		n = outs
	}
	for range n {
		l.scales = append(l.scales, r.Float32()*0.01+1e-3)
	}
	for j := range outs {
		l.bias = append(l.bias, r.Float32()*10-5)
		if asymmetric {
			l.wz[j] = int32(r.IntN(256) - 128)
		}
	}
	return l
}

// weights packs the weights as a caller does.
func (l *layer) weights() []*Weights {
	g := &l.g
	taps, cg := volume(g.Kernel), g.Channels/g.Groups
	plain := !slices.ContainsFunc(l.wz, func(z int32) bool { return z != 0 })
	if g.Depthwise(l.outs) && plain {
		return []*Weights{Pack(&Columns{N: l.outs, Runs: taps, Length: 1, Depthwise: true, Scales: l.scales,
			Zeros: l.wz, Bias: l.bias, At: func(c, r, _ int) int8 { return int8(l.w[c*taps+r]) }})}
	}
	runs, length := g.Runs()
	per := l.outs / g.Groups
	var out []*Weights
	for gr := range g.Groups {
		s := l.scales
		if len(s) > 1 {
			s = s[gr*per:][:per]
		}
		out = append(out, Pack(&Columns{N: per, Runs: runs, Length: length, Scales: s, Zeros: l.wz[gr*per:][:per],
			Bias: l.bias[gr*per:][:per],
			At:   func(c, r, i int) int8 { return int8(l.w[(gr*per+c)*taps*cg+r*length+i]) }}))
	}
	return out
}

// sums computes the sums of products exactly.
func (l *layer) sums() []int32 {
	g := &l.g
	cg, per := g.Channels/g.Groups, l.outs/g.Groups
	out := make([]int32, 0, g.Batch*volume(g.Out)*l.outs)
	for n := range g.Batch {
		for p := range volume(g.Out) {
			pos := [3]int{p / (g.Out[1] * g.Out[2]), p / g.Out[2] % g.Out[1], p % g.Out[2]}
			for o := range l.outs {
				var s int64
				for k := range volume(g.Kernel) {
					tap := [3]int{k / (g.Kernel[1] * g.Kernel[2]), k / g.Kernel[2] % g.Kernel[1], k % g.Kernel[2]}
					at, inside := n, true
					for d := range 3 {
						i := pos[d]*g.Stride[d] - g.Pad[d] + tap[d]*g.Dilated[d]
						inside = inside && i >= 0 && i < g.In[d]
						at = at*g.In[d] + i
					}
					for c := range cg {
						if inside {
							x := l.x[at*g.Channels+o/per*cg+c] - l.zero
							s += int64(x) * int64(l.w[(o*volume(g.Kernel)+k)*cg+c]-int(l.wz[o]))
						}
					}
				}
				out = append(out, int32(s))
			}
		}
	}
	return out
}

// requantized is the rule of an engine, for one sum of column j.
func (l *layer) requantized(r *Result, inScale float32, sum int32, j int) int {
	both := inScale * l.scales[min(j, len(l.scales)-1)]
	var y float32
	switch r.Engine {
	case OneDNN:
		m := float32(sum) * both
		m += l.bias[j]
		if r.ReLU {
			m = max(m, 0)
		}
		m *= 1 / r.Scale
		m += float32(r.Zero)
		y = Round(m)
	case QNNPACK:
		y = Round(float32(sum+One[int32](l.bias[j], both, 0))*(both/r.Scale)) + float32(r.Zero)
	default:
		b := l.bias[j] / both
		if len(l.scales) == 1 {
			b = l.bias[j] * (1 / both)
		}
		y = Round((float32(sum)+b)*(both/r.Scale)) + float32(r.Zero)
	}
	lo, hi := 0, 255
	if l.signed {
		lo, hi = -128, 127
	}
	if r.ReLU {
		lo = max(lo, r.Zero)
	}
	return int(clip(float64(y), float64(lo), float64(hi)))
}

func (l *layer) input(scale float32) Input {
	if l.signed {
		x := make([]int8, len(l.x))
		for i, v := range l.x {
			x[i] = int8(v)
		}
		return InputOf(x, scale, l.zero)
	}
	x := make([]uint8, len(l.x))
	for i, v := range l.x {
		x[i] = uint8(v)
	}
	return InputOf(x, scale, l.zero)
}

// macs is the number of multiply-adds.
func (l *layer) macs() int { return l.g.Batch * volume(l.g.Out) * len(l.w) }

// variants are those of a layer: signed or not, weights with zero points or not, a scale for each column or one. Of
// large layers two will do.
func variants(r *rand.Rand, g Geometry, outs int) (list []*layer) {
	for i := range 8 {
		if l := newLayer(r, g, outs, i&1 > 0, i&2 > 0, i&4 > 0); l.macs() < 1<<14 || i == 3 || i == 4 {
			list = append(list, l)
		}
	}
	return list
}

// check compares all kinds of results with exact arithmetic.
func (l *layer) check(t *testing.T) {
	t.Helper()
	want, w := l.sums(), l.weights()
	const inScale = 0.02
	in := l.input(inScale)
	got := make([]int32, len(want))
	Convolve(&l.g, w, in, &Result{Ints: got})
	if !slices.Equal(got, want) {
		t.Fatalf("sums: got %v, want %v", got, want)
	}
	for _, relu := range []bool{false, true} {
		f := make([]float32, len(want))
		Convolve(&l.g, w, in, &Result{Floats: f, ReLU: relu})
		for i, s := range want {
			j := i % l.outs
			m := float32(float32(s) * (inScale * l.scales[min(j, len(l.scales)-1)])) // not fused with what follows
			m += l.bias[j]
			if relu {
				m = max(m, 0)
			}
			if f[i] != m {
				t.Fatalf("floats, relu %v: element %d is %v, want %v", relu, i, f[i], m)
			}
		}
		for _, e := range []Engine{OneDNN, FBGEMM, QNNPACK} {
			r := &Result{Engine: e, ReLU: relu, Scale: 0.4, Zero: 3}
			for range 1 + 4096/max(4096, l.macs()) { // the second time with what the first one kept
				q := make([]int, 0, len(want))
				if l.signed {
					r.Zero = -5
					r.Int8s = make([]int8, len(want))
					Convolve(&l.g, w, in, r)
					for _, x := range r.Int8s {
						q = append(q, int(x))
					}
				} else {
					r.Bytes = make([]uint8, len(want))
					Convolve(&l.g, w, in, r)
					for _, x := range r.Bytes {
						q = append(q, int(x))
					}
				}
				for i, s := range want {
					if x := l.requantized(r, inScale, s, i%l.outs); x != q[i] {
						t.Fatalf("%s, relu %v: element %d is %d, want %d", e, relu, i, q[i], x)
					}
				}
			}
		}
	}
}

func TestMultiply(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, c := range []struct{ rows, k, n int }{{1, 1, 1}, {1, 4, 32}, {2, 64, 33}, {3, 5, 31}, {13, 63, 64},
			{14, 64, 65}, {15, 31, 1}, {113, 20, 40}, {230, 12, 96}, {1, 9000, 5}, {5, 8193, 3}, {20, 100, 70}, {1, 37, 600},
			{1, 1000, 513}} {
			one := [3]int{1, 1, 1}
			for i, l := range variants(r, Geometry{Batch: 1, Channels: c.k, Groups: 1, In: [3]int{1, 1, c.rows},
				Out: [3]int{1, 1, c.rows}, Kernel: one, Stride: one, Dilated: one}, c.n) {
				t.Run(fmt.Sprint(c, i), l.check)
			}
		}
	})
}

func TestConvolve(t *testing.T) {
	one := [3]int{1, 1, 1}
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, c := range []struct {
			name                      string
			batch, channels, outs, gr int
			in, kernel, stride, pad   [3]int
			dilated                   [3]int
		}{
			{"3x3", 2, 8, 40, 1, [3]int{1, 6, 5}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
			{"3x3, no padding", 1, 4, 8, 1, [3]int{1, 6, 17}, [3]int{1, 3, 3}, one, [3]int{}, one},
			{"3x3, step 2", 1, 16, 33, 1, [3]int{1, 9, 8}, [3]int{1, 3, 3}, [3]int{1, 2, 2}, [3]int{0, 1, 1}, one},
			{"7x7 of three channels", 1, 3, 12, 1, [3]int{1, 13, 14}, [3]int{1, 7, 7}, [3]int{1, 2, 2},
				[3]int{0, 3, 3}, one},
			{"dilated", 1, 5, 7, 1, [3]int{1, 9, 9}, [3]int{1, 3, 3}, one, [3]int{0, 2, 2}, [3]int{1, 2, 2}},
			{"1x1", 3, 12, 20, 1, [3]int{1, 5, 7}, one, one, [3]int{}, one},
			{"1x1, step 2", 2, 12, 20, 1, [3]int{1, 5, 7}, one, [3]int{1, 2, 2}, [3]int{}, one},
			{"groups", 2, 12, 18, 3, [3]int{1, 5, 4}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
			{"groups of eight", 1, 16, 80, 2, [3]int{1, 5, 4}, [3]int{1, 3, 2}, one, [3]int{0, 1, 0}, one},
			{"depthwise", 2, 40, 40, 40, [3]int{1, 7, 9}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
			{"depthwise, step 2", 1, 33, 33, 33, [3]int{1, 7, 30}, [3]int{1, 5, 5}, [3]int{1, 2, 2},
				[3]int{0, 2, 2}, one},
			{"depthwise 3x3, step 2", 2, 100, 100, 100, [3]int{1, 8, 23}, [3]int{1, 3, 3}, [3]int{1, 2, 2},
				[3]int{0, 1, 1}, one},
			{"depthwise 3x3, steps 2 and 1, dilated", 1, 70, 70, 70, [3]int{1, 9, 12}, [3]int{1, 3, 3},
				[3]int{1, 2, 1}, [3]int{}, [3]int{1, 2, 1}},
			{"depthwise 1x9", 1, 70, 70, 70, [3]int{1, 3, 12}, [3]int{1, 1, 9}, one, [3]int{}, one},
			{"depthwise, no padding", 1, 24, 24, 24, [3]int{1, 4, 19}, [3]int{1, 3, 3}, one, [3]int{}, one},
			{"depthwise with multiplier", 1, 3, 6, 3, [3]int{1, 4, 5}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
			{"3d", 2, 4, 6, 1, [3]int{4, 5, 6}, [3]int{3, 3, 3}, [3]int{2, 1, 2}, [3]int{1, 1, 1}, one},
			{"3d, depthwise", 1, 6, 6, 6, [3]int{4, 5, 6}, [3]int{2, 3, 3}, one, [3]int{1, 1, 1}, one},
			{"more padding than image", 1, 4, 3, 1, [3]int{1, 1, 1}, [3]int{1, 2, 2}, [3]int{1, 3, 3},
				[3]int{0, 4, 4}, one},
			{"large", 1, 64, 48, 1, [3]int{1, 12, 20}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
			{"many weights", 1, 64, 100, 1, [3]int{1, 4, 4}, [3]int{1, 3, 3}, one, [3]int{0, 1, 1}, one},
		} {
			g := Geometry{Batch: c.batch, Channels: c.channels, Groups: c.gr, In: c.in, Kernel: c.kernel,
				Stride: c.stride, Pad: c.pad, Dilated: c.dilated}
			for d := range 3 {
				g.Out[d] = (g.In[d]+2*g.Pad[d]-g.Dilated[d]*(g.Kernel[d]-1)-1)/g.Stride[d] + 1
			}
			for i, l := range variants(r, g, c.outs) {
				t.Run(fmt.Sprint(c.name, " ", i), l.check)
			}
		}
	})
}

// Sums beyond the range of the result saturate, as do numbers that no integer holds.
func TestSaturation(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		w := Pack(&Columns{N: 4, Runs: 1, Length: 4, Scales: []float32{1, 1, 1e30, 1e30},
			At: func(c, _, _ int) int8 { return []int8{-128, 127, -128, 127}[c] }})
		for _, e := range []Engine{OneDNN, FBGEMM, QNNPACK} {
			u := make([]uint8, 4)
			Multiply(w, InputOf([]uint8{255, 255, 255, 255}, 1, 0), 1, &Result{Bytes: u, Engine: e, Scale: 1, Zero: 7})
			if want := []uint8{0, 255, 0, 255}; !slices.Equal(u, want) {
				t.Errorf("%s: got %v, want %v", e, u, want)
			}
			s := make([]int8, 4)
			Multiply(w, InputOf([]int8{127, 127, 127, 127}, 1, -128), 1,
				&Result{Int8s: s, Engine: e, Scale: 1, Zero: -9})
			if want := []int8{-128, 127, -128, 127}; !slices.Equal(s, want) {
				t.Errorf("%s: got %v, want %v", e, s, want)
			}
		}
		f := make([]float32, 4)
		Multiply(w, InputOf([]uint8{255, 255, 255, 255}, 1e30, 0), 1, &Result{Floats: f})
		if !math.IsInf(float64(f[3]), 1) || !math.IsInf(float64(f[2]), -1) {
			t.Errorf("got %v", f)
		}
	})
}

// No rows, no columns, no images.
func TestEmpty(t *testing.T) {
	w := Pack(&Columns{N: 3, Runs: 1, Length: 4, Scales: []float32{1}, At: func(int, int, int) int8 { return 1 }})
	Multiply(w, InputOf([]uint8{}, 1, 0), 0, &Result{Ints: []int32{}})
	none := Pack(&Columns{Runs: 1, Length: 4, Scales: []float32{1}})
	Multiply(none, InputOf([]uint8{1, 2, 3, 4}, 1, 0), 1, &Result{Ints: []int32{}})
	empty := Pack(&Columns{N: 2, Runs: 1, Scales: []float32{1}, Bias: []float32{1, -1}})
	f := make([]float32, 4)
	Multiply(empty, InputOf([]uint8{}, 1, 0), 2, &Result{Floats: f})
	if !slices.Equal(f, []float32{1, -1, 1, -1}) {
		t.Errorf("sums of nothing: got %v", f)
	}
}
