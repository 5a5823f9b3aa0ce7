package conv

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// pairShapes are a convolution and a depthwise one of its result: kernel, stride
// and padding of either.
var pairShapes = []struct {
	n, ci, co, h, w  int
	k, s, p          int
	dk, dst, dp, dil int
}{
	{1, 16, 96, 40, 36, 1, 1, 0, 3, 2, 1, 1}, // several bands
	{1, 2, 40, 56, 56, 1, 1, 0, 3, 1, 1, 1},
	{2, 24, 70, 57, 23, 1, 1, 0, 3, 1, 1, 1},  // of more than one image
	{1, 64, 384, 14, 14, 1, 1, 0, 3, 1, 1, 1}, // several blocks of channels
	{1, 30, 560, 9, 11, 1, 1, 0, 3, 1, 1, 1},  // that do not all have as many panels
	{3, 40, 65, 7, 7, 1, 1, 0, 3, 2, 1, 1},
	{1, 3, 32, 45, 51, 3, 2, 1, 3, 1, 1, 1}, // the first one of a network
	{2, 5, 33, 17, 9, 3, 1, 1, 5, 2, 2, 1},
	{1, 20, 17, 12, 30, 1, 2, 0, 3, 1, 2, 2},
	{1, 7, 3, 6, 5, 1, 1, 0, 7, 3, 6, 1}, // more padding than image
	{2, 1, 15, 9, 8, 2, 1, 0, 2, 1, 0, 1},
	{1, 1300, 40, 5, 6, 1, 1, 0, 3, 1, 1, 1}, // too many channels: apart
	{1, 1024, 40, 5, 6, 1, 1, 0, 3, 1, 1, 1},
	{1, 6, 20, 1, 70, 1, 1, 0, 3, 1, 1, 1},
	{1, 12, 40, 6, 6, 1, 1, 0, 1, 1, 0, 1},
	{1, 24, 120, 14, 14, 1, 1, 0, 5, 1, 2, 1}, // inner positions by the kernels of wide lines
	{2, 16, 70, 7, 9, 1, 1, 0, 5, 1, 2, 1},
	{1, 16, 72, 29, 28, 1, 1, 0, 5, 2, 2, 1},
	{1, 8, 48, 15, 13, 1, 1, 0, 7, 1, 3, 1},
	{1, 8, 40, 16, 18, 1, 1, 0, 5, 1, 4, 2},
}

func testPair[T Float](t *testing.T) {
	for i, c := range pairShapes {
		s := shape2d(c.n, c.ci, c.co, c.h, c.w, c.k, c.s, c.p, 1, 1)
		d := shape2d(c.n, c.co, c.co, s.Out[1], s.Out[2], c.dk, c.dst, c.dp, c.dil, c.co)
		r := rand.New(rand.NewSource(int64(i)))
		xr, wr := values[T](r, c.n*c.ci*c.h*c.w), values[T](r, c.co*c.ci*s.Taps())
		dwr, bias := values[T](r, c.co*d.Taps()), make([]T, c.co)
		for i := range bias {
			bias[i] = T(r.Float64())
		}
		for _, l := range cpu.Levels() {
			for _, last := range []bool{true, false} {
				where := fmt.Sprintf("%s, pair %d, last %v, %T", l.Name, i, last, bias[0])
				restore := cpu.Set(l.Features)
				x := image[T](xr, c.n, c.ci, c.h*c.w, last)
				w, dw := Weights[T](image[T](wr, c.co, c.ci, s.Taps(), last)),
					Weights[T](image[T](dwr, c.co, 1, d.Taps(), last))
				ep, dep := Epilogue[T]{Bias: bias}.ReLU6(), Epilogue[T]{Bias: bias, Clamp: true, Lo: -1, Hi: 1}
				mid := Image[T]{make([]T, c.n*c.co*volume(s.Out)), true}
				want := Image[T]{make([]T, c.n*c.co*volume(d.Out)), true}
				Forward(s, mid, x, w, &ep)
				Forward(d, want, mid, dw, &dep)

				ep.Packed, dep.Packed = &PackedWeights{}, &PackedWeights{}
				for range 2 { // the second time with the packed weights of the first
					whole, out := guarded[T](len(want.Data))
					ForwardDepthwise(Image[T]{out, true}, x, Layer[T]{Shape: s, W: w, Epilogue: &ep},
						Layer[T]{Shape: d, W: dw, Epilogue: &dep}, nil)
					checkGuards(t, whole, out)
					for k, v := range out {
						if v != want.Data[k] {
							t.Fatalf("%s: element %d is %v, want %v", where, k, v, want.Data[k])
						}
					}
				}
				// With the plan kept, but nothing added.
				Forward(s, mid, x, w, nil)
				Forward(d, want, mid, dw, nil)
				whole, out := guarded[T](len(want.Data))
				ForwardDepthwise(Image[T]{out, true}, x,
					Layer[T]{Shape: s, W: w, Epilogue: &Epilogue[T]{Packed: ep.Packed}},
					Layer[T]{Shape: d, W: dw, Epilogue: &Epilogue[T]{Packed: dep.Packed}}, nil)
				checkGuards(t, whole, out)
				for k, v := range out {
					if v != want.Data[k] {
						t.Fatalf("%s, plan kept: element %d is %v, want %v", where, k, v, want.Data[k])
					}
				}
				// Without weights kept, and into the other layout, where they run apart.
				for _, outLast := range []bool{true, false} {
					mid.Last, want.Last = outLast, outLast
					Forward(s, mid, x, w, nil)
					Forward(d, want, mid, dw, nil)
					whole, out := guarded[T](len(want.Data))
					ForwardDepthwise(Image[T]{out, outLast}, x, Layer[T]{Shape: s, W: w}, Layer[T]{Shape: d, W: dw},
						nil)
					checkGuards(t, whole, out)
					for k, v := range out {
						if v != want.Data[k] {
							t.Fatalf("%s, to last %v: element %d is %v, want %v", where, outLast, k, v, want.Data[k])
						}
					}
				}
				restore()
			}
		}
	}
}

// A pair gives the bits of its parts.
func TestPair(t *testing.T) {
	testPair[float32](t)
	testPair[float64](t)
}

// So does a pair with a third convolution behind it.
func testChain[T Float](t *testing.T) {
	planned := 0
	for i, c := range pairShapes {
		s := shape2d(c.n, c.ci, c.co, c.h, c.w, c.k, c.s, c.p, 1, 1)
		d := shape2d(c.n, c.co, c.co, s.Out[1], s.Out[2], c.dk, c.dst, c.dp, c.dil, c.co)
		for _, co := range []int{24, 7, 65} {
			third := shape2d(c.n, c.co, co, d.Out[1], d.Out[2], 1, 1, 0, 1, 1)
			r := rand.New(rand.NewSource(int64(i)))
			x := image[T](values[T](r, c.n*c.ci*c.h*c.w), c.n, c.ci, c.h*c.w, true)
			w := Weights[T](image[T](values[T](r, c.co*c.ci*s.Taps()), c.co, c.ci, s.Taps(), true))
			dw := Weights[T](image[T](values[T](r, c.co*d.Taps()), c.co, 1, d.Taps(), false))
			lw := Weights[T](image[T](values[T](r, co*c.co), co, c.co, 1, true))
			size := c.n * co * volume(d.Out)
			res := image[T](values[T](r, size), c.n, co, volume(d.Out), true)
			x.Data[len(x.Data)/2] = T(math.NaN())
			for _, l := range cpu.Levels() {
				restore := cpu.Set(l.Features)
				for k, add := range [][]T{nil, res.Data} {
					ep, dep := Epilogue[T]{Packed: &PackedWeights{}}.ReLU6(),
						Epilogue[T]{Bias: res.Data[:c.co], Packed: &PackedWeights{}}
					lep := Epilogue[T]{Bias: lw.Data[:co], Residual: add, Packed: &PackedWeights{}}.ReLU()
					first, depth, last := Layer[T]{Shape: s, W: w, Epilogue: &ep},
						Layer[T]{Shape: d, W: dw, Epilogue: &dep}, Layer[T]{Shape: third, W: lw, Epilogue: &lep}
					mid, want := Image[T]{make([]T, c.n*c.co*volume(d.Out)), true}, Image[T]{make([]T, size), true}
					ForwardDepthwise(mid, x, first, depth, nil)
					Forward(third, want, mid, lw, &lep)
					lep.Packed = &PackedWeights{}
					for range 2 { // the second time with the plan of the first
						whole, out := guarded[T](size)
						ForwardDepthwise(Image[T]{out, true}, x, first, depth, &last)
						checkGuards(t, whole, out)
						for at, v := range out {
							if v != want.Data[at] && (v == v || want.Data[at] == want.Data[at]) {
								t.Fatalf("%s, chain %d to %d, residual %v: element %d is %v, want %v", l.Name, i, co,
									k > 0, at, v, want.Data[at])
							}
						}
					}
				}
				if p := newFusedJob(Image[T]{make([]T, size), true}, x, &Layer[T]{Shape: s, W: w},
					&Layer[T]{Shape: d, W: dw}, &Layer[T]{Shape: third, W: lw}); p != nil {
					planned++
				}
				restore()
			}
		}
	}
	if planned == 0 {
		t.Error("all of them ran apart")
	}
}

func TestChain(t *testing.T) {
	testChain[float32](t)
	testChain[float64](t)
}

func TestPairSameBits(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	s, d := shape2d(2, 24, 70, 57, 23, 1, 1, 0, 1, 1), shape2d(2, 70, 70, 57, 23, 3, 1, 1, 1, 70)
	third := shape2d(2, 70, 20, 57, 23, 1, 1, 0, 1, 1)
	r := rand.New(rand.NewSource(5))
	x := image[float32](values[float32](r, 2*24*57*23), 2, 24, 57*23, true)
	w, dw := Weights[float32](image[float32](values[float32](r, 24*70), 70, 24, 1, true)),
		Weights[float32](image[float32](values[float32](r, 70*9), 70, 1, 9, true))
	lw := Weights[float32](image[float32](values[float32](r, 20*70), 20, 70, 1, true))
	var want [2][]float32
	for _, threads := range []int{1, 2, 3, 8} {
		par.SetNumThreads(threads)
		for i, last := range []*Layer[float32]{nil, {Shape: third, W: lw}} {
			got := make([]float32, 2*[2]int{70, 20}[i]*57*23)
			ForwardDepthwise(Image[float32]{got, true}, x, Layer[float32]{Shape: s, W: w},
				Layer[float32]{Shape: d, W: dw}, last)
			if want[i] == nil {
				want[i] = got
			}
			for k := range got {
				if got[k] != want[i][k] {
					t.Fatalf("element %d differs at %d threads", k, threads)
				}
			}
		}
	}
}
