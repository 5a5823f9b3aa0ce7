package conv

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
)

// TestPart compares results that are parts of wider images with results of their own, and looks that the rest of the
// images stays as it was.
func TestPart(t *testing.T) {
	t.Run("float32", testPart[float32])
	t.Run("float64", testPart[float64])
}

func testPart[T Float](t *testing.T) {
	for i, c := range []struct {
		s           *Shape
		before, all int // channels in front of the part, and of the image
		act         gemm.Activation
		winograd    bool
	}{
		{s: shape2d(1, 16, 64, 13, 13, 1, 1, 0, 1, 1), all: 128},
		{s: shape2d(2, 16, 64, 13, 13, 3, 1, 1, 1, 1), before: 64, all: 128},
		{s: shape2d(2, 16, 64, 13, 14, 3, 1, 1, 1, 1), before: 64, all: 128, winograd: true},
		{s: shape2d(1, 16, 32, 22, 21, 3, 1, 1, 1, 1), before: 3, all: 41, winograd: true, act: gemm.ActSiLU},
		{s: shape2d(3, 5, 37, 6, 7, 3, 2, 1, 1, 1), before: 11, all: 50, act: gemm.ActHardswish},
		{s: shape2d(2, 300, 40, 5, 5, 1, 1, 0, 1, 1), before: 1, all: 42},
		{s: shape2d(1, 24, 3, 40, 40, 1, 1, 0, 1, 1), before: 2, all: 6},    // otherwise kn2row
		{s: shape2d(2, 3, 20, 32, 32, 16, 16, 0, 1, 1), before: 4, all: 24}, // otherwise windows as rows
		{s: shape2d(2, 9, 1, 12, 12, 1, 1, 0, 1, 1), before: 7, all: 9},     // in its place by a copy, as below
		{s: shape2d(2, 12, 12, 9, 9, 3, 1, 1, 1, 12), all: 20},
		{s: shape2d(2, 12, 18, 9, 9, 3, 1, 1, 1, 3), before: 2, all: 20},
	} {
		s := c.s
		r := rand.New(rand.NewSource(int64(i)))
		positions := s.N * volume(s.Out)
		xr, wr := values[T](r, s.N*s.Cin*volume(s.In)), values[T](r, s.Cout*s.Cin/s.Groups*s.Taps())
		bias := image[T](values[T](r, s.Cout), 1, s.Cout, 1, true).Data
		for _, l := range cpu.Levels() {
			restore := cpu.Set(l.Features)
			for _, last := range []bool{true, false} {
				x, w := image[T](xr, s.N, s.Cin, volume(s.In), last), Weights[T](image[T](wr, s.Cout, s.Cin/s.Groups,
					s.Taps(), last))
				want := make([]T, positions*s.Cout)
				ep := Epilogue[T]{Bias: bias, Act: c.act, Winograd: c.winograd}
				if c.act == gemm.ActNone {
					ep = ep.ReLU()
				}
				Forward(s, Image[T]{want, true}, x, w, &ep)
				ep.Pitch = c.all
				for _, ep.Packed = range []*PackedWeights{nil, {}} {
					for call := range 2 { // the second time with the plan of the first
						where := fmt.Sprintf("%s, case %d, last %v, packed %v, call %d", l.Name, i, last,
							ep.Packed != nil, call)
						whole, out := guarded[T](positions * c.all)
						for k := range out {
							out[k] = T(math.NaN())
						}
						Forward(s, Image[T]{out[c.before:], true}, x, w, &ep)
						checkGuards(t, whole, out)
						for k, v := range out {
							ch := k%c.all - c.before
							if ch < 0 || ch >= s.Cout {
								if v == v {
									t.Fatalf("%s: wrote channel %d", where, ch)
								}
								continue
							}
							wanted := float64(want[k/c.all*s.Cout+ch])
							if !(math.Abs(float64(v)-wanted) <= 1e-4*max(1, math.Abs(wanted))) {
								t.Fatalf("%s: position %d, channel %d is %v, want %v", where, k/c.all, ch, v, wanted)
							}
						}
					}
				}
			}
			restore()
		}
	}
}
