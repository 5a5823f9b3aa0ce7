package conv

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// tailShapes are convolutions and the windows behind them: whole and broken numbers of windows, tiles and vectors.
func tailShapes() (list []*Shape, windows [][3]int) {
	add := func(s *Shape, h, w int) { list, windows = append(list, s), append(windows, [3]int{1, h, w}) }
	add(shape2d(3, 32, 64, 26, 26, 3, 1, 0, 1, 1), 2, 2)
	add(shape2d(2, 1, 6, 28, 28, 5, 1, 0, 1, 1), 2, 2)
	add(shape2d(2, 24, 40, 12, 17, 1, 1, 0, 1, 1), 3, 2)
	add(shape2d(1, 3, 33, 40, 47, 7, 2, 3, 1, 1), 2, 2)
	add(shape2d(1, 5, 70, 9, 300, 3, 1, 1, 1, 1), 2, 3)
	add(shape2d(34, 4, 34, 15, 15, 3, 1, 1, 1, 1), 3, 3)
	add(shape2d(1, 70, 20, 9, 1000, 1, 1, 0, 1, 1), 1, 4)
	add(shapeOf(2, 6, 9, 1, [3]int{3, 8, 7}, [3]int{2, 3, 3}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}), 2, 2)
	add(shapeOf(2, 5, 7, 1, [3]int{1, 1, 900}, [3]int{1, 1, 5}, [3]int{1, 1, 1}, [3]int{0, 0, 2}, [3]int{1, 1, 1}), 1,
		2)
	r := rand.New(rand.NewSource(3))
	for range 40 {
		k, s, p := 1+r.Intn(4), 1+r.Intn(2), r.Intn(3)
		h, w := k+8+r.Intn(12), k+8+r.Intn(12)
		add(shape2d(1+r.Intn(3), 1+r.Intn(70), 1+r.Intn(70), h, w, k, s, min(p, k), 1, 1), 1+r.Intn(3), 1+r.Intn(4))
	}
	return list, windows
}

// pooled computes the maxima of windows of a channels-last image and the taps that won.
func pooled[T Float](y []T, s *Shape, win [3]int, relu bool) (out []T, codes []uint8) {
	h, w := s.Out[1]/win[1], s.Out[2]/win[2]
	for nz := range s.N * s.Out[0] {
		for oy := range h {
			for ox := range w {
				for c := range s.Cout {
					best, code := T(math.Inf(-1)), 0
					if relu {
						best, code = 0, NoTap
					}
					for t := range win[1] * win[2] {
						at := ((nz*s.Out[1]+oy*win[1]+t/win[2])*s.Out[2]+ox*win[2]+t%win[2])*s.Cout + c
						if y[at] > best {
							best, code = y[at], t
						}
					}
					out, codes = append(out, best), append(codes, uint8(code))
				}
			}
		}
	}
	return out, codes
}

// spreadBack puts the gradients of windows where their codes say.
func spreadBack[T Float](g []T, codes []uint8, s *Shape, win [3]int) []T {
	d := make([]T, s.N*s.Cout*volume(s.Out))
	h, w := s.Out[1]/win[1], s.Out[2]/win[2]
	for i, v := range g {
		c, ox, oy, nz := i%s.Cout, i/s.Cout%w, i/s.Cout/w%h, i/s.Cout/w/h
		t := int(codes[i])
		if t == NoTap {
			continue
		}
		d[((nz*s.Out[1]+oy*win[1]+t/win[2])*s.Out[2]+ox*win[2]+t%win[2])*s.Cout+c] = v
	}
	return d
}

func alike[T Float](t *testing.T, what string, got, want []T) {
	t.Helper()
	var z T
	eps := 2e-6
	if _, ok := any(z).(float64); ok {
		eps = 1e-13
	}
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(float64(v)))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i]-v)) <= eps*(1+scale)) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], v)
		}
	}
}

func checkTail[T Float](t *testing.T, s *Shape, win [3]int) {
	r := rand.New(rand.NewSource(7))
	is, os := volume(s.In), volume(s.Out)
	for _, l := range cpu.Levels() {
		for _, last := range []bool{true, false} {
			restore := cpu.Set(l.Features)
			where := fmt.Sprintf("%s, channels last %v: ", l.Name, last)
			x := image[T](values[T](r, s.N*s.Cin*is), s.N, s.Cin, is, last)
			w := Weights[T](image[T](values[T](r, s.Cout*s.Cin*s.Taps()), s.Cout, s.Cin, s.Taps(), last))
			b := make([]T, s.Cout)
			for i := range b {
				b[i] = T(r.NormFloat64())
			}
			full := Image[T]{make([]T, s.N*s.Cout*os), true}
			ep := Epilogue[T]{Bias: b}
			Forward(s, full, x, w, &ep)
			relu := s.Cout%2 == 0
			want, codes := pooled(full.Data, s, win, relu)

			tail := &Tail[T]{Window: win, Codes: make([]uint8, len(want)), ReLU: relu}
			whole, out := guarded[T](len(want))
			ep.Tail = tail
			Forward(s, Image[T]{out, true}, x, w, &ep)
			checkGuards(t, whole, out)
			alike(t, where+"maxima", out, want)
			for i, c := range codes {
				if tail.Codes[i] != c && out[i] == want[i] {
					t.Fatalf("%scode %d is %d, want %d", where, i, tail.Codes[i], c)
				}
			}
			// Without codes, and with the plan of the call before.
			ep.Tail, ep.Packed = &Tail[T]{Window: win, ReLU: relu}, &PackedWeights{}
			for _, name := range []string{"maxima without codes", "with the plan kept"} {
				again := make([]T, len(want))
				Forward(s, Image[T]{again, true}, x, w, &ep)
				alike(t, where+name, again, out)
			}
			ep.Tail = nil
			again := make([]T, len(full.Data))
			Forward(s, Image[T]{again, true}, x, w, &ep)
			alike(t, where+"without pooling", again, full.Data)

			// Gradients of the pooling, and of a ReLU alone.
			g := image[T](values[T](r, len(want)), 1, 1, len(want), true)
			for _, c := range []struct {
				name string
				g    []T
				tail *Tail[T]
				full []T
			}{
				{"pooling", g.Data, tail, spreadBack(g.Data, tail.Codes, s, win)},
				{"ReLU", full.Data, &Tail[T]{Result: full.Data}, nil},
				{"no tail", full.Data, nil, full.Data},
			} {
				if c.name == "ReLU" {
					c.g = image[T](values[T](r, len(full.Data)), 1, 1, len(full.Data), true).Data
					c.full = make([]T, len(c.g))
					for i, v := range c.g {
						if full.Data[i] > 0 {
							c.full[i] = v
						}
					}
				}
				if c.name == "pooling" {
					dx, wantX := make([]T, len(x.Data)), make([]T, len(x.Data))
					BackwardData(s, Image[T]{wantX, last}, Image[T]{c.full, true}, w, nil)
					BackwardDataBehind(s, Image[T]{dx, last}, Image[T]{c.g, true}, w, nil, c.tail)
					alike(t, where+"gradient of the input", dx, wantX)
				}
				dw, wantW, db, wantB := make([]T, len(w.Data)), make([]T, len(w.Data)), make([]T, s.Cout),
					make([]T, s.Cout)
				BackwardWeight(s, Weights[T]{wantW, last}, Image[T]{c.full, true}, x)
				BackwardBias(wantB, Image[T]{c.full, true}, s.N, s.Cout)
				BackwardWeightBehind(s, Weights[T]{dw, last}, db, Image[T]{c.g, true}, x, c.tail)
				alike(t, where+c.name+": gradient of the weights", dw, wantW)
				alike(t, where+c.name+": gradient of the bias", db, wantB)
			}
			restore()
		}
	}
}

func TestTail(t *testing.T) {
	list, windows := tailShapes()
	for i, s := range list {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if testing.Short() && i%4 > 0 {
				t.Skip("one of four")
			}
			checkTail[float32](t, s, windows[i])
			if i%3 == 0 {
				checkTail[float64](t, s, windows[i])
			}
			if t.Failed() {
				t.Logf("%+v, windows %v", *s, windows[i])
			}
		})
	}
}

// Gradients of biases and of tails do not depend on the number of threads.
func TestTailSameBits(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	r := rand.New(rand.NewSource(9))
	s, win := shape2d(5, 48, 70, 19, 23, 3, 1, 1, 1, 1), [3]int{1, 2, 2}
	is, os := volume(s.In), volume(s.Out)
	x := image[float32](values[float32](r, s.N*s.Cin*is), s.N, s.Cin, is, true)
	g := image[float32](values[float32](r, s.N*s.Cout*os), s.N, s.Cout, os, true)
	w := Weights[float32](image[float32](values[float32](r, s.Cout*s.Cin*s.Taps()), s.Cout, s.Cin, s.Taps(), true))
	small := s.N * s.Cout * (s.Out[1] / 2) * (s.Out[2] / 2)
	var first [][]float32
	for _, threads := range []int{1, 2, 3, 8} {
		par.SetNumThreads(threads)
		tail := &Tail[float32]{Window: win, Codes: make([]uint8, small), ReLU: true}
		out, dx, dw, db, dw2, db2 := make([]float32, small), make([]float32, len(x.Data)), make([]float32, len(w.Data)),
			make([]float32, s.Cout), make([]float32, len(w.Data)), make([]float32, s.Cout)
		Forward(s, Image[float32]{out, true}, x, w, &Epilogue[float32]{Tail: tail})
		BackwardDataBehind(s, Image[float32]{dx, true}, Image[float32]{out, true}, w, nil, tail)
		BackwardWeightBehind(s, Weights[float32]{dw, true}, db, Image[float32]{out, true}, x, tail)
		BackwardWeightBehind(s, Weights[float32]{dw2, true}, db2, g, x, &Tail[float32]{Result: g.Data})
		all := [][]float32{out, dx, dw, db, dw2, db2}
		if first == nil {
			first = all
		}
		for i := range all {
			for k, v := range all[i] {
				if math.Float32bits(v) != math.Float32bits(first[i][k]) {
					t.Fatalf("result %d differs at %d threads", i, threads)
				}
			}
		}
	}
}
