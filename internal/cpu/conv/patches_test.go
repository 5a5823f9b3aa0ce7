package conv

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// TestPatches has windows that do not overlap: side by side, with gaps, the whole
// image, and of one position.
func TestPatches(t *testing.T) {
	one := [3]int{1, 1, 1}
	for i, s := range []*Shape{
		shape2d(2, 3, 90, 35, 48, 16, 16, 0, 1, 1),
		shape2d(3, 4, 17, 9, 14, 2, 3, 0, 1, 1), shape2d(3, 4, 17, 17, 31, 7, 8, 0, 1, 1),
		shape2d(5, 64, 70, 4, 4, 4, 1, 0, 1, 1),
		shape2d(2, 1, 9, 6, 6, 6, 2, 0, 1, 1),
		shape2d(3, 300, 260, 5, 6, 1, 1, 0, 1, 1), shape2d(2, 300, 260, 9, 8, 1, 2, 0, 1, 1),
		shape2d(1, 260, 300, 1, 1, 1, 1, 0, 1, 1),
		shapeOf(2, 2, 40, 1, [3]int{1, 1, 1700}, [3]int{1, 1, 820}, [3]int{1, 1, 830}, [3]int{}, one),
		shapeOf(2, 5, 11, 1, [3]int{4, 5, 6}, [3]int{2, 2, 3}, [3]int{2, 2, 3}, [3]int{}, one),
		// of one window with gaps inside
		shape2d(2, 4, 9, 5, 5, 3, 3, 0, 2, 1),
		// without windows
		{N: 2, Groups: 1, Cin: 4, Cout: 3, In: [3]int{1, 2, 2}, Kernel: [3]int{1, 3, 3}, Stride: [3]int{1, 3, 3},
			Out: [3]int{1, 0, 0}, Dilation: one},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			check[float32](t, s, int64(i))
			check[float64](t, s, int64(i))
		})
	}
}

// A bias and a ReLU go with the product.
func TestPatchesEpilogue(t *testing.T) {
	s := shape2d(2, 3, 21, 14, 21, 7, 7, 0, 1, 1)
	r := rand.New(rand.NewSource(2))
	x, w, bias := values[float32](r, s.N*s.Cin*volume(s.In)), values[float32](r, s.Cout*s.Cin*s.Taps()),
		values[float32](r, s.Cout)
	size := volume(s.Out)
	want, scale := make([]float64, s.N*s.Cout*size), make([]float64, s.N*s.Cout*size)
	visit(s, func(i, k, o int) {
		want[o] += x[i] * w[k]
		scale[o]++
	})
	ep := Epilogue[float32]{Bias: make([]float32, s.Cout)}.ReLU()
	for i, v := range bias {
		ep.Bias[i] = float32(v)
	}
	for i, v := range want {
		want[i] = max(0, v+bias[i/size%s.Cout])
	}
	for _, l := range cpu.Levels() {
		for _, last := range []bool{true, false} {
			for _, outLast := range []bool{true, false} {
				restore := cpu.Set(l.Features)
				out := make([]float32, len(want))
				Forward(s, Image[float32]{out, outLast}, image[float32](x, s.N, s.Cin, volume(s.In), last),
					Weights[float32](image[float32](w, s.Cout, s.Cin, s.Taps(), last)), &ep)
				compare(t, fmt.Sprintf("%s, last %v, to %v", l.Name, last, outLast), out, want, scale, s.N, s.Cout,
					size, outLast)
				restore()
			}
		}
	}
}
