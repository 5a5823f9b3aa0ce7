package pointwise_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// TestNextafter16 checks that a step in a 16-bit type is one of its own units and not lost on the way through float32.
func TestNextafter16(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		dt          tensor.DType
		a, b, want  float64
		description string
	}{
		{tensor.BFloat16, 1, 2, 1 + 1.0/128, "up"},
		{tensor.BFloat16, -1, 1, -1 + 1.0/256, "from negative up, across a power of two"},
		{tensor.BFloat16, 0, -1, -math.Ldexp(1, -133), "the smallest subnormal"},
		{tensor.BFloat16, 2, 2, 2, "already there"},
		{tensor.Float16, 1, 2, 1 + 1.0/1024, "up"},
		{tensor.Float16, -1, 1, -1 + 1.0/2048, "from negative up, across a power of two"},
		{tensor.Float16, 0, 1, math.Ldexp(1, -24), "the smallest subnormal"},
		{tensor.Float16, 65504, inf, inf, "over the largest number"},
		{tensor.Float16, inf, 0, 65504, "back from infinity"},
	} {
		a, b := tensor.FromSlice([]float64{c.a}).ToDType(c.dt), tensor.FromSlice([]float64{c.b}).ToDType(c.dt)
		if got := a.Nextafter(b).Num().F; got != c.want {
			t.Errorf("%s, %s: nextafter(%g, %g) = %g, want %g", c.dt, c.description, c.a, c.b, got, c.want)
		}
		a = tensor.FromSlice([]float64{math.NaN()}).ToDType(c.dt)
		if got := a.Nextafter(b).Num().F; got == got {
			t.Errorf("%s: nextafter(NaN, %g) = %g, want NaN", c.dt, c.b, got)
		}
	}
}
