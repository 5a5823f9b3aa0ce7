package pointwise_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestRowsApart compares operators of two operands whose rows lie apart, or are one row, with those of their copies,
// also in place.
func TestRowsApart(t *testing.T) {
	ops := map[string]func(x, y *tensor.Tensor) *tensor.Tensor{
		"add":     func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) },
		"sub":     func(x, y *tensor.Tensor) *tensor.Tensor { return x.Sub(y) },
		"mul":     func(x, y *tensor.Tensor) *tensor.Tensor { return x.Mul(y) },
		"div":     func(x, y *tensor.Tensor) *tensor.Tensor { return x.Div(y) },
		"maximum": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Maximum(y) },
		"minimum": func(x, y *tensor.Tensor) *tensor.Tensor { return x.Minimum(y) },
	}
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64} {
			for _, rows := range []int{1, 7, 8, 9, 300} {
				for _, n := range []int{15, 16, 31, 32, 33, 50, 64, 129, 512, 1024, 1025} {
					wide := opstest.Fill(dt, 1, 2, rows+1, n+3)
					other := opstest.Fill(dt, 2, 2, rows+2, 2*n+1)
					x := wide.Narrow(1, 1, rows).Narrow(2, 2, n)
					for name, y := range map[string]*tensor.Tensor{
						"slice":     other.Narrow(1, 0, rows).Narrow(2, n, n),
						"row":       other.Narrow(1, 1, 1).Narrow(2, 0, n),
						"one row":   other.Narrow(1, 1, 1).Narrow(2, 0, n).Narrow(0, 1, 1),
						"exchanged": opstest.Fill(dt, 3, rows, 2, n).Transpose(0, 1),
						"whole":     opstest.Fill(dt, 4, 2, rows, n),
					} {
						for op, f := range ops {
							want := f(x.Contiguous(), y.Expand([]int{2, rows, n}).Contiguous())
							if got := f(x, y); !got.Equal(want) {
								t.Fatalf("%s: %s of %v, %d rows of %d, %s: differs from that of copies", level.Name, op,
									dt, rows, n, name)
							}
							if got, want := f(y, x), f(y.Expand([]int{2, rows, n}).Contiguous(),
								x.Contiguous()); !got.Equal(want) {
								t.Fatalf("%s: %s of %v, %d rows of %d, %s first: differs from that of copies",
									level.Name, op, dt, rows, n, name)
							}
						}
						in := wide.Clone()
						in.Narrow(1, 1, rows).Narrow(2, 2, n).AddInPlace(y)
						want := wide.Clone()
						tensor.CopyRaw(want.Narrow(1, 1, rows).Narrow(2, 2, n), x.Contiguous().Add(y))
						if !in.Equal(want) {
							t.Fatalf("%s: add_ of %v, %d rows of %d, %s: differs, or wrote beside the slice",
								level.Name, dt, rows, n, name)
						}
					}
				}
			}
		}
		restore()
	}
}
