package conv_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// What is kept of a parameter never outlives a change of it, whichever way it is changed.
func TestKeptWeights(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		x := opstest.Fill(dt, 1, 1, 32, 7, 7)
		w := opstest.Fill(dt, 2, 48, 32, 3, 3)
		p := w.Clone().SetParameter()
		check := func(what string) {
			t.Helper()
			for range 3 {
				y, want := F.Conv2d(x, p, F.Conv2dOptions{Padding: []int{1, 1}}),
					F.Conv2d(x, p.Detach().Clone(), F.Conv2dOptions{Padding: []int{1, 1}})
				if !y.Equal(want) {
					t.Errorf("%s, %s: the result is that of other weights", dt, what)
				}
			}
		}
		check("at first")
		p.MulScalarInPlace(2)
		check("changed in place")
		p.Select(0, 3).ZeroInPlace()
		check("changed through a view")
		tensor.InferenceMode(func() { p.Detach().AddScalarInPlace(1) })
		check("changed in InferenceMode")
		tensor.SetRaw(p, opstest.Fill(dt, 3, 48, 32, 3, 3).SetParameter())
		check("replaced")
		if dt == tensor.Float32 {
			d := tensor.SharedData[float32](p)
			check("shown")
			d[5] = 7
			check("changed through a slice")
		}
	}
}
