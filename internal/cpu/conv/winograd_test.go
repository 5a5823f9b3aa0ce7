package conv

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"unsafe"
)

// The assembly knows these offsets.
func TestWinArgsLayout(t *testing.T) {
	var a winArgs
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"tmp", unsafe.Offsetof(a.tmp), 16}, {"row", unsafe.Offsetof(a.row), 24}, {"outCol", unsafe.Offsetof(a.outCol), 48},
		{"n", unsafe.Offsetof(a.n), 56}, {"bias", unsafe.Offsetof(a.bias), 64}, {"lo", unsafe.Offsetof(a.lo), 72},
		{"hi", unsafe.Offsetof(a.hi), 76}, {"consts", unsafe.Offsetof(a.consts), 80},
	} {
		if c.got != c.want {
			t.Errorf("winArgs.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}

// Winograd's results lie within a small multiple of the direct kernel's error.
func TestWinograd(t *testing.T) {
	defer func(old float64) { winogradGain = old }(winogradGain)
	winogradGain = 0
	for _, s := range []*Shape{
		shape2d(2, 64, 64, 16, 16, 3, 1, 1, 1, 1), shape2d(3, 40, 48, 13, 9, 3, 1, 1, 1, 1), shape2d(2, 16, 32, 7, 7, 3, 1, 1, 1, 1),
		shape2d(1, 32, 80, 30, 31, 3, 1, 0, 1, 1), shape2d(9, 48, 144, 15, 14, 3, 1, 1, 1, 1), shape2d(21, 32, 192, 7, 5, 3, 1, 1, 1, 2),
		shape2d(2, 96, 64, 9, 10, 3, 1, 1, 1, 2), shape2d(2, 24, 40, 6, 11, 3, 1, 1, 1, 1), shape2d(1, 32, 32, 3, 2, 3, 1, 2, 1, 1),
	} {
		r := rand.New(rand.NewSource(3))
		is, os, cg := volume(s.In), volume(s.Out), s.Cin/s.Groups
		xr, gr, wr := values[float32](r, s.N*s.Cin*is), values[float32](r, s.N*s.Cout*os), values[float32](r, s.Cout*cg*9)
		for _, last := range []bool{true, false} {
			x, g, w := image[float32](xr, s.N, s.Cin, is, last), image[float32](gr, s.N, s.Cout, os, last), Weights[float32](image[float32](wr, s.Cout, cg, 9, last))
			res := image[float32](gr, s.N, s.Cout, os, last)
			ep := Epilogue[float32]{Bias: make([]float32, s.Cout), Residual: res.Data}.ReLU6()
			for i := range ep.Bias {
				ep.Bias[i] = float32(i % 5)
			}
			plain := Epilogue[float32]{Bias: ep.Bias}.ReLU()
			kept := Epilogue[float32]{Packed: &PackedWeights{}}
			for _, c := range []struct {
				name string
				n    int
				run  func(out []float32)
			}{
				{"forward", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, nil) }},
				{"bias and ReLU", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &plain) }},
				{"residual and ReLU6", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &ep) }},
				{"weights kept", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &kept) }},
				{"weights kept, again", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &kept) }},
				{"gradient of the input", len(xr), func(out []float32) { BackwardData(s, Image[float32]{out, last}, g, w, nil) }},
			} {
				what := fmt.Sprintf("%+v, last %v, %s", *s, last, c.name)
				want := make([]float32, c.n)
				c.run(want)
				whole, got := guarded[float32](c.n)
				defer SetWinograd(SetWinograd(true))
				c.run(got)
				SetWinograd(false)
				checkGuards(t, whole, got)
				// Sums of about 9·cg products of numbers below one.
				bound := 2e-5 * math.Sqrt(9*float64(max(s.Cin, s.Cout)/s.Groups))
				for i := range got {
					if !(math.Abs(float64(got[i]-want[i])) <= bound) {
						t.Fatalf("%s: element %d is %v, direct %v, bound %g", what, i, got[i], want[i], bound)
					}
				}
			}
		}
	}
}

// It is used where it pays.
func TestWinogradPays(t *testing.T) {
	for _, c := range []struct {
		s    *Shape
		pays bool
	}{
		{shape2d(16, 64, 64, 56, 56, 3, 1, 1, 1, 1), true}, {shape2d(16, 256, 256, 14, 14, 3, 1, 1, 1, 1), true},
		{shape2d(16, 512, 512, 7, 7, 3, 1, 1, 1, 1), true}, {shape2d(1, 512, 512, 7, 7, 3, 1, 1, 1, 1), false},
		{shape2d(16, 16, 16, 5, 5, 3, 1, 1, 1, 1), false},
	} {
		if got := forwardJob(c.s, Image[float32]{}, Image[float32]{}, nil).winogradPays(); got != c.pays {
			t.Errorf("%+v: %v", *c.s, got)
		}
	}
}
