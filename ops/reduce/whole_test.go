package reduce

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestWholeColumns adds up columns and short rows of the largest and smallest numbers, more than fit a lane.
func TestWholeColumns(t *testing.T) {
	wholeColumns[uint8](t, tensor.Uint8, 0, math.MaxUint8)
	wholeColumns[int8](t, tensor.Int8, math.MinInt8, math.MaxInt8)
	wholeColumns[int16](t, tensor.Int16, math.MinInt16, math.MaxInt16)
	wholeColumns[int32](t, tensor.Int32, math.MinInt32, math.MaxInt32)
	wholeColumns[int64](t, tensor.Int64, math.MinInt64/1000, math.MaxInt64/1000)
}

func wholeColumns[E vec.Integer](t *testing.T, dt tensor.DType, least, most E) {
	for _, rows := range []int{1, 2, 7, 255, 256, 257, 300, 513, 1100} {
		for _, cols := range []int{1, 2, 3, 7, 8, 9, 16, 23, 33, 70, 1030} {
			for _, fill := range []string{"least", "most", "mixed"} {
				x := tensor.New([]int{rows, cols + 3}, dt)
				d := op.Raw[E](x)
				for i := range d {
					switch {
					case fill == "most" || fill == "mixed" && i%3 == 0:
						d[i] = most
					case fill == "least" || i%3 == 1:
						d[i] = least
					default:
						d[i] = E(i * 37)
					}
				}
				cut := x.Narrow(1, 1, cols) // rows that begin anywhere
				for _, over := range []int{0, 1} {
					want := make([]int64, op.Pick(over == 0, cols, rows))
					for r := range rows {
						for c := range cols {
							want[op.Pick(over == 0, c, r)] += int64(d[r*(cols+3)+1+c])
						}
					}
					got := tensor.Data[int64](cut.SumDim([]int{over}))
					for i, w := range want {
						if got[i] != w {
							t.Fatalf("%s, %d x %d of %s, sum %d over %d: %d, want %d", dt, rows, cols, fill, i, over,
								got[i], w)
						}
					}
				}
			}
		}
	}
}

// TestComplexSums compares sums and means of complex numbers with those of their parts.
func TestComplexSums(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Complex64, tensor.Complex128} {
		x := opstest.Fill(dt, 5, 37, 20, 11)
		for name, x := range map[string]*T{"contiguous": x, "transposed": x.Transpose(0, 2), "cut": x.Narrow(2, 3, 5),
			"conj": x.Conj()} {
			re, im := x.Real().Contiguous(), x.Imag().Contiguous()
			for _, over := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}, nil} {
				for _, f := range []func(*T) *T{func(x *T) *T { return x.SumDim(over) },
					func(x *T) *T { return x.MeanDim(over) }} {
					got := f(x)
					for part, want := range map[*T]*T{got.Real(): f(re), got.Imag(): f(im)} {
						g, w := tensor.Data[float64](tensor.DenseAs(part, tensor.Float64)),
							tensor.Data[float64](tensor.DenseAs(want, tensor.Float64))
						for i := range w {
							if math.Abs(g[i]-w[i]) > 1e-5*(1+math.Abs(w[i])) || len(g) != len(w) {
								t.Fatalf("%s %s over %v: element %d is %v, want %v", dt, name, over, i, g[i], w[i])
							}
						}
					}
				}
			}
		}
	}
}
