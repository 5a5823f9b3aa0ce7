package reduce_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestDistanceProduct compares the distances of many rows, which a matrix product gives, with the definition; equal rows have no gradient.
func TestDistanceProduct(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32} {
		tol := map[tensor.DType]float64{tensor.Float64: 1e-6, tensor.Float32: 2e-3}[dt]
		x, y := opstest.Fill(tensor.Float64, 1, 31, 7), opstest.Fill(tensor.Float64, 2, 5, 7)
		a, b := tensor.Data[float64](x), tensor.Data[float64](y)
		copy(b, a[:7])
		v := x.ToDType(dt).Detach().SetRequiresGrad(true)
		d := torch.Cdist(v, y.ToDType(dt))
		got := tensor.Data[float64](d.Detach().ToDType(tensor.Float64))
		for i := range 31 {
			for j := range 5 {
				s := 0.0
				for k := range 7 {
					s += (a[i*7+k] - b[j*7+k]) * (a[i*7+k] - b[j*7+k])
				}
				if math.Abs(got[i*5+j]-math.Sqrt(s)) > tol {
					t.Fatalf("%v: distance of rows %d and %d is %g, want %g", dt, i, j, got[i*5+j], math.Sqrt(s))
				}
			}
		}
		d.Sum().Backward()
		for i, g := range tensor.Data[float64](v.Grad().ToDType(tensor.Float64)) {
			if g != g {
				t.Fatalf("%v: element %d of the gradient is NaN", dt, i)
			}
		}
	}
}
