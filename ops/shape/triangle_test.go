package shape_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestTriangles compares triangles of narrow, wide and stacked matrices, of which whole rows are kept or cleared
// together, with a loop, also in place, from permuted memory and where several tasks share a matrix.
func TestTriangles(t *testing.T) {
	for _, shape := range [][]int{{1, 1}, {7, 1}, {1, 7}, {9, 4}, {4, 9}, {3, 5, 2}, {2, 3, 2, 6}, {0, 3}, {3, 0},
		{150_000, 3}, {40, 3000, 2}} {
		rows, cols := shape[len(shape)-2], shape[len(shape)-1]
		for _, k := range []int{-1 << 62, -rows - 1, -rows, -2, -1, 0, 1, 2, cols, 1 << 62} {
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Uint8, tensor.Complex128} {
				x := opstest.Fill(tensor.Float32, 1, shape...).AddScalar(9).ToDType(dt)
				lower, upper := slices.Clone(tensor.Data[float32](x.ToDType(tensor.Float32))), []float32(nil)
				upper = slices.Clone(lower)
				for i := range lower {
					r, c := i/cols%rows, i%cols
					if c-r > k {
						lower[i] = 0
					}
					if c-r < k {
						upper[i] = 0
					}
				}
				check := func(name string, got *tensor.Tensor, want []float32) {
					if g := tensor.Data[float32](got.Contiguous().ToDType(tensor.Float32)); !slices.Equal(g, want) {
						t.Errorf("%s of %v, %v, diagonal %d", name, shape, dt, k)
					}
				}
				turned := x.Transpose(-1, -2).Contiguous().Transpose(-1, -2)
				for name, x := range map[string]*tensor.Tensor{"contiguous": x, "permuted": turned} {
					check(fmt.Sprint("tril, ", name), x.Tril(tensor.TrilOptions{Diagonal: k}), lower)
					check(fmt.Sprint("triu, ", name), x.Triu(tensor.TriuOptions{Diagonal: k}), upper)
					check(fmt.Sprint("tril in place, ", name),
						x.Clone().TrilInPlace(tensor.TrilInPlaceOptions{Diagonal: k}), lower)
					check(fmt.Sprint("triu in place, ", name),
						x.Clone().TriuInPlace(tensor.TriuInPlaceOptions{Diagonal: k}), upper)
				}
			}
		}
	}
}
