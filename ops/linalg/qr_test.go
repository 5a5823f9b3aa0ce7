package linalg_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestGradientOfManyReflections compares gradients of products with more reflections than one block has with central
// differences along a random direction.
func TestGradientOfManyReflections(t *testing.T) {
	torch.ManualSeed(4)
	const m, k = 140, 131
	for _, dt := range []tensor.DType{torch.Float64, torch.Complex128} {
		for _, c := range []struct {
			left, turn bool
			shape      []int
		}{{true, false, []int{m, 3}}, {true, true, []int{m, 3}}, {false, true, []int{3, m}}} {
			h, tau := randn(dt, m, k).Geqrf()
			in := []*T{h, tau, randn(dt, c.shape...)}
			weight := randn(dt, c.shape...)
			product := func(in []*T) *T {
				y := in[0].Ormqr(in[1], in[2], tensor.OrmqrOptions{NoLeft: !c.left, Transpose: c.turn})
				y = y.Mul(weight.Conj())
				if y.IsComplex() {
					y = y.Real()
				}
				return y.Sum()
			}
			var leaves, direction []*T
			for _, x := range in {
				leaves = append(leaves, x.Clone().SetRequiresGrad(true))
				direction = append(direction, randn(dt, x.Shape()...))
			}
			got := 0.0
			for i, g := range torch.Grad([]*T{product(leaves)}, leaves) {
				d := g.Conj().Mul(direction[i])
				if d.IsComplex() {
					d = d.Real()
				}
				got += d.Sum().Item()
			}
			at := func(step float64) float64 {
				var moved []*T
				for i, x := range in {
					moved = append(moved, x.Add(direction[i].MulScalar(step)))
				}
				return product(moved).Item()
			}
			const step = 1e-6
			want := (at(step) - at(-step)) / (2 * step)
			if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-5 {
				t.Errorf("%v, left %v, transpose %v: the derivative is %v, want %v", dt, c.left, c.turn, got, want)
			}
		}
	}
}
