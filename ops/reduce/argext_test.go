package reduce_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestWhereExtremaStand compares values and indices with a plain search, over lengths around those of blocks, with many
// equal elements, with and without NaN.
func TestWhereExtremaStand(t *testing.T) {
	for _, level := range cpu.Levels() {
		t.Run(level.Name, func(t *testing.T) {
			defer cpu.Set(level.Features)()
			whereExtremaStand(t)
		})
	}
}

func whereExtremaStand(t *testing.T) {
	for _, sh := range [][]int{{1, 1, 1}, {3, 7, 1}, {2, 8, 3}, {2, 9, 300}, {200, 100, 1}, {2, 1025, 1}, {1, 5000, 1},
		{2, 40_000, 1}, {1, 70, 513}, {2, 5000, 3}, {1, 20_000, 10}, {3, 1100, 32}, {40, 20, 7}, {9, 50, 4},
		{3, 30, 32}, {2, 41, 7}, {300, 24, 1}} {
		vals := opstest.Fill(tensor.Float64, 1, sh...)
		x := tensor.Data[float64](vals)
		for i := range x {
			x[i] = math.Round(x[i] * 9)
		}
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Int32,
			tensor.Int16, tensor.Int8, tensor.Uint8} {
			for _, nan := range []bool{false, true} {
				if nan && (!dt.IsFloat() || len(x) < 10) {
					continue
				}
				in := vals.Clone()
				y := tensor.Data[float64](in)
				for i := range y {
					if dt == tensor.Uint8 {
						y[i] = math.Abs(y[i])
					}
				}
				if nan {
					y[len(y)/2], y[len(y)/2+1], y[len(y)-1] = math.NaN(), math.NaN(), math.NaN()
				}
				opstest.SameBits(t, "max",
					func() []*tensor.Tensor { a, b := in.ToDType(dt).MaxDim(1); return []*tensor.Tensor{a, b} })
				for _, isMax := range []bool{true, false} {
					in := in.ToDType(dt)
					v, at := in.MinDim(1)
					only := in.ArgMin(tensor.ArgMinOptions{Dim: tensor.Some(1)})
					if isMax {
						v, at = in.MaxDim(1)
						only = in.ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(1)})
					}
					got, idx, idx2 := tensor.Data[float64](v.ToDType(tensor.Float64)), tensor.Data[int64](at),
						tensor.Data[int64](only)
					n, inner := sh[1], sh[2]
					for o := range got {
						base := o/inner*n*inner + o%inner
						want := 0
						for k := range n {
							e, b := y[base+k*inner], y[base+want*inner]
							if b == b && (e != e || isMax && e > b || !isMax && e < b) {
								want = k
							}
						}
						w := y[base+want*inner]
						if idx[o] != int64(want) || idx2[o] != int64(want) || got[o] != w && w == w {
							t.Fatalf("%v of %v, largest %v, line %d: %v at %d and %d, want %v at %d", dt, sh, isMax, o,
								got[o], idx[o], idx2[o], w, want)
						}
					}
				}
			}
		}
	}
}
