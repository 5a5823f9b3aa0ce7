package conv

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

const nanBF16 = 0x7fc1 // guards of bfloat16

// guardedBF16 returns n values between NaNs, an odd number of elements off a cache line.
func guardedBF16(n int) (whole, data []uint16) {
	whole = slices.Repeat([]uint16{nanBF16}, n+128)
	return whole, whole[37 : 37+n : 37+n]
}

func checkGuardsBF16(t *testing.T, what string, whole []uint16, n int) {
	t.Helper()
	for i, v := range whole {
		if (i < 37 || i >= 37+n) && v != nanBF16 {
			t.Fatalf("%s: wrote outside at %d", what, i-37)
		}
	}
}

// valuesBF16 are random numbers that bfloat16 holds, in [n, c, pos] order.
func valuesBF16(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(vec.BF16ToF32(vec.F32ToBF16(float32(r.Float64()*2 - 1))))
	}
	return v
}

// imageBF16 lays out values between NaNs.
func imageBF16(v []float64, n, c, size int, last bool) BFloats {
	_, d := guardedBF16(len(v))
	for i, x := range v {
		d[place(i, n, c, size, last)] = vec.F32ToBF16(float32(x))
	}
	return BFloats{d, last}
}

// compareBF16 checks results that were summed in float32 and rounded once.
func compareBF16(t *testing.T, what string, got []uint16, want, scale []float64, n, c, size int, last bool) {
	t.Helper()
	for i, w := range want {
		g := float64(vec.BF16ToF32(got[place(i, n, c, size, last)]))
		if !(math.Abs(g-w) <= math.Abs(w)/256+1e-6*(1+scale[i])) {
			t.Fatalf("%s: element %d is %v, want %v (difference %g, scale %g)", what, i, g, w, g-w, scale[i])
		}
	}
}

// checkBF16 compares all results with a float64 reference in all combinations of layouts.
func checkBF16(t *testing.T, s *Shape, seed int64) {
	t.Helper()
	if !s.FitsBF16() || s.N == 0 {
		return
	}
	r := rand.New(rand.NewSource(seed))
	is, os, cg := volume(s.In), volume(s.Out), s.Cin/s.Groups
	xr, gr, wr := valuesBF16(r, s.N*s.Cin*is), valuesBF16(r, s.N*s.Cout*os), valuesBF16(r, s.Cout*cg*s.Taps())
	resr, dres := valuesBF16(r, len(gr)), valuesBF16(r, len(xr))
	bias, inBias := make([]float32, s.Cout), make([]float32, s.Cin)
	for _, b := range [][]float32{bias, inBias} {
		for i := range b {
			b[i] = float32(r.Float64())
		}
	}
	y, dx, dw, db := make([]float64, len(gr)), make([]float64, len(xr)), make([]float64, len(wr)),
		make([]float64, s.Cout)
	ys, dxs, dws := make([]float64, len(gr)), make([]float64, len(xr)), make([]float64, len(wr))
	visit(s, func(i, k, o int) {
		y[o] += xr[i] * wr[k]
		dx[i] += gr[o] * wr[k]
		dw[k] += gr[o] * xr[i]
		ys[o] += math.Abs(xr[i] * wr[k])
		dxs[i] += math.Abs(gr[o] * wr[k])
		dws[k] += math.Abs(gr[o] * xr[i])
	})
	for i, g := range gr {
		db[i/max(os, 1)%s.Cout] += g
	}
	with := func(y []float64, f func(i int, v float64) float64) []float64 {
		z := make([]float64, len(y))
		for i, v := range y {
			z[i] = f(i, v)
		}
		return z
	}
	biased := with(y, func(i int, v float64) float64 { return max(0, v+float64(bias[i/os%s.Cout])) })
	fused := with(y, func(i int, v float64) float64 { return min(1, max(0, v+float64(bias[i/os%s.Cout])+resr[i])) })
	dfused := with(dx, func(i int, v float64) float64 { return v + float64(inBias[i/is%s.Cin]) + dres[i] })
	relu := Epilogue[float32]{Bias: bias}.ReLU()
	relu1 := Epilogue[float32]{Bias: bias, Clamp: true, Hi: 1}
	for layout := range 4 {
		last, lastOut := layout&1 != 0, layout&2 != 0
		where := fmt.Sprintf("last %v, %v: ", last, lastOut)
		x, g := imageBF16(xr, s.N, s.Cin, is, last), imageBF16(gr, s.N, s.Cout, os, lastOut)
		w := imageBF16(wr, s.Cout, cg, s.Taps(), last != lastOut)
		res, dr := imageBF16(resr, s.N, s.Cout, os, lastOut), imageBF16(dres, s.N, s.Cin, is, last)
		run := func(what string, want, scale []float64, c, size int, last bool, f func(out BFloats)) {
			t.Helper()
			whole, out := guardedBF16(len(want))
			f(BFloats{out, last})
			compareBF16(t, where+what, out, want, scale, s.N, c, size, last)
			checkGuardsBF16(t, where+what, whole, len(want))
		}
		forward := func(what string, want []float64, ep *Epilogue[float32], res []uint16) {
			t.Helper()
			run(what, want, ys, s.Cout, os, lastOut, func(out BFloats) { ForwardBF16(s, out, x, w, ep, res) })
		}
		forward("forward", y, nil, nil)
		forward("forward with bias and ReLU", biased, &relu, nil)
		forward("forward with residual and limits", fused, &relu1, res.Data)
		kept := relu
		kept.Packed = &PackedWeights{}
		for range 2 { // the second call finds the plan of the first
			forward("forward with the plan kept", biased, &kept, nil)
		}
		kept.Clamp, kept.Hi = true, 1
		forward("forward with weights kept", fused, &kept, res.Data)
		run("gradient of the input", dx, dxs, s.Cin, is, last,
			func(out BFloats) { BackwardDataBF16(s, out, g, w, nil, nil) })
		run("gradient of the input with epilogue", dfused, dxs, s.Cin, is, last, func(out BFloats) {
			BackwardDataBF16(s, out, g, w, &Epilogue[float32]{Bias: inBias}, dr.Data)
		})
		whole, out := guarded[float32](len(wr))
		BackwardWeightBF16(s, Weights[float32]{out, last}, g, x)
		compare(t, where+"gradient of the weights", out, dw, dws, s.Cout, cg, s.Taps(), last)
		checkGuards(t, whole, out)
		whole, out = guarded[float32](s.Cout)
		BackwardBiasBF16(out, g, s.N, s.Cout)
		compare(t, where+"gradient of the bias", out, db,
			with(db, func(int, float64) float64 { return float64(s.N * os) }), 1, s.Cout, 1, true)
		checkGuards(t, whole, out)
	}
}

func needBF16(t *testing.T) {
	if !cpu.HasBF16 {
		t.Skip("no AVX-512 BF16")
	}
}

func TestBF16AgainstReference(t *testing.T) {
	needBF16(t)
	list := shapes()
	for c := 1; c <= 70; c++ { // and as many on the other side, the other way round
		list = append(list, shape2d(1+c%3, c, 71-c, 5+c%4, 6+c%11, 1+c%3, 1+c%2, c%2, 1, 1))
	}
	list = append(list,
		// more channels than are summed at a time
		shape2d(2, 600, 34, 5, 5, 3, 1, 1, 1, 1), shape2d(3, 1100, 20, 4, 3, 3, 1, 1, 1, 1),
		shape2d(2, 20, 600, 5, 5, 3, 1, 1, 1, 1),
		shape2d(3, 3, 32, 40, 300, 3, 2, 1, 1, 1), shape2d(2, 6, 5, 1, 900, 1, 1, 0, 1, 1),
		shape2d(5, 40, 40, 12, 12, 3, 1, 1, 1, 2), shape2d(4, 48, 96, 9, 9, 3, 2, 1, 1, 8),
	)
	for i, s := range list {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if products := s.N * s.Cout * volume(s.Out) * s.Cin / s.Groups * s.Taps(); testing.Short() &&
				products > 1e6 {
				t.Skip("many products")
			}
			checkBF16(t, s, int64(i))
			if t.Failed() {
				t.Logf("%+v", *s)
			}
		})
	}
}

// Infinities and NaN stay where they are: what fills a pair up is zero on both sides.
func TestBF16Infinity(t *testing.T) {
	needBF16(t)
	for _, last := range []bool{true, false} {
		for _, s := range []*Shape{shape2d(1, 3, 5, 6, 7, 3, 1, 1, 1, 1), shape2d(1, 5, 3, 9, 20, 1, 1, 0, 1, 1),
			shape2d(3, 1, 1, 5, 5, 3, 1, 1, 1, 1)} {
			r := rand.New(rand.NewSource(3))
			x := imageBF16(valuesBF16(r, s.N*s.Cin*volume(s.In)), s.N, s.Cin, volume(s.In), last)
			w := imageBF16(valuesBF16(r, s.Cout*s.Cin*s.Taps()), s.Cout, s.Cin, s.Taps(), last)
			x.Data[len(x.Data)/2] = 0x7f80
			out := BFloats{make([]uint16, s.N*s.Cout*volume(s.Out)), last}
			ForwardBF16(s, out, x, w, nil, nil)
			wide := func(d []uint16) []float32 {
				f := make([]float32, len(d))
				vec.BF16ToF32s(f, d)
				return f
			}
			want := make([]float32, len(out.Data))
			Forward(s, Image[float32]{want, last}, Image[float32]{wide(x.Data), last},
				Weights[float32]{wide(w.Data), last}, nil)
			for i, v := range wide(out.Data) {
				if math.IsInf(float64(v), 0) != math.IsInf(float64(want[i]), 0) || (v != v) != (want[i] != want[i]) {
					t.Fatalf("%+v, last %v: element %d is %v, in float32 %v", *s, last, i, v, want[i])
				}
			}
		}
	}
}

// Results do not depend on the number of threads, nor on the layout.
func TestBF16SameBits(t *testing.T) {
	needBF16(t)
	defer par.SetNumThreads(par.NumThreads())
	for _, s := range []*Shape{
		shape2d(3, 32, 48, 20, 23, 3, 1, 1, 1, 1), shape2d(5, 23, 70, 13, 13, 3, 2, 1, 1, 1),
		shape2d(4, 40, 80, 9, 9, 1, 1, 0, 1, 1),
		shape2d(3, 64, 64, 9, 9, 3, 2, 1, 1, 4), shape2d(2, 300, 40, 7, 7, 3, 1, 1, 1, 1),
	} {
		r := rand.New(rand.NewSource(5))
		is, os := volume(s.In), volume(s.Out)
		xr, gr, wr := valuesBF16(r, s.N*s.Cin*is), valuesBF16(r, s.N*s.Cout*os),
			valuesBF16(r, s.Cout*s.Cin/s.Groups*s.Taps())
		var want [3][]float64
		for _, last := range []bool{true, false} {
			x, g := imageBF16(xr, s.N, s.Cin, is, last), imageBF16(gr, s.N, s.Cout, os, last)
			w := imageBF16(wr, s.Cout, s.Cin/s.Groups, s.Taps(), last)
			for _, threads := range []int{1, 2, 3, 8} {
				par.SetNumThreads(threads)
				y, dx, dw := make([]uint16, len(gr)), make([]uint16, len(xr)), make([]float32, len(wr))
				ForwardBF16(s, BFloats{y, last}, x, w, nil, nil)
				BackwardDataBF16(s, BFloats{dx, last}, g, w, nil, nil)
				BackwardWeightBF16(s, Weights[float32]{dw, last}, g, x)
				got := [3][]float64{make([]float64, len(y)), make([]float64, len(dx)), make([]float64, len(dw))}
				for i := range y {
					got[0][i] = float64(y[place(i, s.N, s.Cout, os, last)])
				}
				for i := range dx {
					got[1][i] = float64(dx[place(i, s.N, s.Cin, is, last)])
				}
				for i := range dw {
					got[2][i] = float64(dw[place(i, s.Cout, s.Cin/s.Groups, s.Taps(), last)])
				}
				if want[0] == nil {
					want = got
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%+v: result %d differs with %d threads, channels last %v", *s, i, threads, last)
					}
				}
			}
		}
	}
}

// A tail gives what pooling the rounded result gives, and the taps that it takes.
func TestBF16Tail(t *testing.T) {
	needBF16(t)
	list, windows := tailShapes()
	for i, s := range list {
		r := rand.New(rand.NewSource(int64(i)))
		last := i%2 == 0
		x := imageBF16(valuesBF16(r, s.N*s.Cin*volume(s.In)), s.N, s.Cin, volume(s.In), last)
		w := imageBF16(valuesBF16(r, s.Cout*s.Cin*s.Taps()), s.Cout, s.Cin, s.Taps(), last)
		bias := make([]float32, s.Cout)
		for i := range bias {
			bias[i] = float32(r.Float64()) - 1
		}
		y := make([]uint16, s.N*s.Cout*volume(s.Out))
		ForwardBF16(s, BFloats{y, true}, x, w, &Epilogue[float32]{Bias: bias}, nil)
		wide := make([]float32, len(y))
		vec.BF16ToF32s(wide, y)
		for _, relu := range []bool{false, true} {
			want, wantCodes := pooled(wide, s, windows[i], relu)
			for _, withCodes := range []bool{false, true} {
				whole, out := guardedBF16(len(want))
				tail := &Tail[float32]{Window: windows[i], ReLU: relu}
				if withCodes {
					tail.Codes = make([]uint8, len(want))
				}
				ForwardBF16(s, BFloats{out, true}, x, w, &Epilogue[float32]{Bias: bias, Tail: tail}, nil)
				what := fmt.Sprintf("%+v, windows %v, ReLU %v", *s, windows[i], relu)
				checkGuardsBF16(t, what, whole, len(want))
				for k, v := range want {
					if vec.BF16ToF32(out[k]) != v || withCodes && tail.Codes[k] != wantCodes[k] {
						t.Fatalf("%s: element %d is %v with tap %d, want %v with %d", what, k, vec.BF16ToF32(out[k]),
							slices.Concat(tail.Codes, make([]uint8, len(want)))[k], v, wantCodes[k])
					}
				}
			}
		}
	}
}
