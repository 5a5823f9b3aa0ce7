package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestTruths compares lists of set places with plain loops: blocks that are full, empty, and set at their ends.
func TestTruths(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][]int{{0}, {1}, {70}, {3, 0, 2}, {2*truthBlock + 5}, {3, truthBlock/2 + 1, 2},
		{7, 5, 3, 2}} {
		for _, share := range []float64{0, 1e-4, .5, .99, 1} {
			n := numel(shape)
			mask := tensor.New(shape, tensor.Bool)
			b := tensor.Data[bool](mask)
			for i := range b {
				b[i] = rng.Float64() < share
			}
			for _, i := range []int{truthBlock - 1, truthBlock, 2 * truthBlock} { // the ends of blocks
				if i < n && share > 0 {
					b[i] = true
				}
			}
			var flat, rows, picked, placed []int64
			place := int64(0)
			for i, set := range b {
				placed = append(placed, -1)
				if !set {
					continue
				}
				flat, picked = append(flat, int64(i)), append(picked, int64(3*i))
				placed[i] = place
				place++
				row, rest := make([]int64, len(shape)), i
				for d := len(shape) - 1; d >= 0; d-- {
					row[d], rest = int64(rest%shape[d]), rest/shape[d]
				}
				rows = append(rows, row...)
			}
			src, number := tensor.New(shape, tensor.Int64), tensor.New(shape, tensor.Int64)
			for i := range n {
				tensor.Data[int64](src)[i], tensor.Data[int64](number)[i] = int64(3*i), int64(i)
			}
			for _, threads := range []int{1, 2, 3} {
				par.SetNumThreads(threads)
				check := func(what string, got *T, want []int64) {
					if x := tensor.Data[int64](tensor.DenseAs(got, tensor.Int64)); !slices.Equal(x, want) {
						t.Errorf("%s of a %v mask, share %g, %d threads: %d numbers differ from the %d wanted", what,
							shape, share, threads, len(x), len(want))
					}
				}
				check("places", truthsOf(mask).places(), flat)
				check("nonzero", op.Call1("aten::nonzero", mask), rows)
				check("masked_select", op.Call1("aten::masked_select", src, mask), picked)
				check("masked_scatter", op.Call1("aten::masked_scatter",
					op.Zeros(src, shape, tensor.Int64).SubScalar(1), mask, number), placed)
				for _, size := range []int{0, len(flat) / 2, len(flat) + 3} {
					want := slices.Clone(rows[:min(size, len(flat))*len(shape)])
					for range (size - min(size, len(flat))) * len(shape) {
						want = append(want, -7)
					}
					check("nonzero_static", op.Call1("aten::nonzero_static", mask, size, -7), want)
				}
			}
		}
	}
}
