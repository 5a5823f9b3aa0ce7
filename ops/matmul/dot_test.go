package matmul_test

import (
	"math/cmplx"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestDots compares dot and outer products of integers, which wrap around, and of complex numbers with plain loops.
func TestDots(t *testing.T) {
	ints := []tensor.DType{tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64}
	for _, n := range []int{1, 5, 16, 100, 1025, 20_000, 70_001} {
		for _, dt := range ints {
			x := opstest.Fill(tensor.Float64, 1, n).MulScalar(1 << 40).ToDType(tensor.Int64).ToDType(dt)
			y := opstest.Fill(tensor.Float64, 2, n).MulScalar(1 << 40).ToDType(tensor.Int64).ToDType(dt)
			a, b := tensor.Data[int64](x.ToDType(tensor.Int64)), tensor.Data[int64](y.ToDType(tensor.Int64))
			var s int64
			for i := range a {
				s += a[i] * b[i]
			}
			want := tensor.FromSlice([]int64{s}).ToDType(dt)
			if got := x.Dot(y).Reshape([]int{1}); !got.Equal(want) {
				t.Errorf("dot of %d of %v: %v, expected %v", n, dt, got, want)
			}
			m := min(n, 600)
			o := tensor.Data[int64](x.Narrow(0, 0, min(n, 33)).Outer(y.Narrow(0, 0, m)).ToDType(tensor.Int64))
			for i, v := range o {
				w := tensor.FromSlice([]int64{a[i/m] * b[i%m]}).ToDType(dt)
				if v != tensor.Data[int64](w.ToDType(tensor.Int64))[0] {
					t.Fatalf("outer of %v, %d columns: element %d is %d, expected %v", dt, m, i, v, w)
				}
			}
		}
		for _, dt := range []tensor.DType{tensor.Complex64, tensor.Complex128} {
			tol := map[tensor.DType]float64{tensor.Complex64: 1e-5, tensor.Complex128: 1e-13}[dt]
			mk := func(seed int) *tensor.Tensor {
				re, im := tensor.Data[float64](opstest.Fill(tensor.Float64, seed, n)),
					tensor.Data[float64](opstest.Fill(tensor.Float64, seed+7, n))
				v := make([]complex128, n)
				for i := range v {
					v[i] = complex(re[i], im[i])
				}
				return tensor.FromSlice(v).ToDType(dt)
			}
			x, y := mk(1), mk(2)
			a, b := tensor.Data[complex128](x.ToDType(tensor.Complex128)),
				tensor.Data[complex128](y.ToDType(tensor.Complex128))
			var s complex128
			for i := range a {
				s += a[i] * b[i]
			}
			if got := tensor.Data[complex128](x.Dot(y).ToDType(tensor.Complex128))[0]; cmplx.Abs(got-s) > tol*float64(10+n/10) {
				t.Errorf("dot of %d of %v: %v, expected %v", n, dt, got, s)
			}
			m := min(n, 600)
			o := tensor.Data[complex128](x.Narrow(0, 0, min(n, 33)).Outer(y.Narrow(0, 0, m)).ToDType(tensor.Complex128))
			for i, v := range o {
				if w := a[i/m] * b[i%m]; cmplx.Abs(v-w) > tol*10 {
					t.Fatalf("outer of %v, %d columns: element %d is %v, expected %v", dt, m, i, v, w)
				}
			}
		}
	}
}
