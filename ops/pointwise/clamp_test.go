package pointwise_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// The gradients of elements that lie on a bound, at crossed bounds and at NaN are those that PyTorch 2.15 gives.
func TestClampGradientAtBounds(t *testing.T) {
	nan := math.NaN()
	leaf := func(v float64) *tensor.Tensor { return tensor.FromSlice([]float64{v}).SetRequiresGrad(true) }
	grad := func(x *tensor.Tensor) float64 { return tensor.Data[float64](x.Grad())[0] }
	for _, c := range []struct{ x, lo, hi, self, min, max, number float64 }{
		{1, 0, 2, 1, 0, 0, 1}, {0, 0, 2, .5, .5, 0, 0}, {2, 0, 2, .5, 0, .5, 0}, {0, 1, 2, 0, 1, 0, 0},
		{2, 0, 1, 0, 0, 1, 0},
		{1, 1, 1, 1, 0, 0, 0}, {0, 1, 1, 0, 1, 0, 0}, {2, 1, 1, 0, 0, 1, 0},
		{0, 2, 1, 0, 0, 1, 0}, {1, 1, 0, 0, 0, 1, 0}, {nan, 1, 0, 1, 0, 1, 0},
		{nan, 0, 1, 1, 0, 0, 0}, {0, 0, nan, 1, 0, 0, 0}, {0, 1, nan, 0, 0, 0, 0}, {1, nan, 0, 0, 0, 0, 0},
		{0, nan, 1, 1, 0, 0, 0},
	} {
		x, lo, hi := leaf(c.x), leaf(c.lo), leaf(c.hi)
		x.Clamp(tensor.ClampOptions{Min: lo, Max: hi}).Sum().Backward()
		y := leaf(c.x)
		y.ClampScalar(tensor.ClampScalarOptions{Min: c.lo, Max: c.hi}).Sum().Backward()
		if got, want := [4]float64{grad(x), grad(lo), grad(hi), grad(y)}, [4]float64{c.self, c.min, c.max,
			c.number}; got != want {
			t.Errorf("clamp(%v, %v, %v): gradients of self, min, max, self between numbers %v, want %v", c.x, c.lo,
				c.hi, got, want)
		}
	}
	for _, c := range []struct{ x, bound, low, high float64 }{{1, 1, 0, 0}, {2, 1, 1, 0}, {0, 1, 0, 1}, {nan, 1, 0, 0},
		{1, nan, 0, 0}} {
		x, y := leaf(c.x), leaf(c.x)
		x.ClampMinScalar(c.bound).Sum().Backward()
		y.ClampMaxScalar(c.bound).Sum().Backward()
		if grad(x) != c.low || grad(y) != c.high {
			t.Errorf("clamp_min and clamp_max of %v by %v: %v and %v, want %v and %v", c.x, c.bound, grad(x), grad(y),
				c.low, c.high)
		}
	}
}
