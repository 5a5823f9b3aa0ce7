package reduce_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestShortRows compares rows that are turned to columns, narrow columns and wide ones, with special values among them,
// with rows of their own, which are not.
func TestShortRows(t *testing.T) {
	ops := map[string]func(x *tensor.Tensor, d int) []*tensor.Tensor{
		"sum":  func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.SumDim([]int{d})} },
		"mean": func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.MeanDim([]int{d})} },
		"prod": func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.ProdDim(d)} },
		"amax": func(x *tensor.Tensor, d int) []*tensor.Tensor {
			return []*tensor.Tensor{x.Amax(tensor.AmaxOptions{Dim: []int{d}})}
		},
		"min": func(x *tensor.Tensor, d int) []*tensor.Tensor { v, i := x.MinDim(d); return []*tensor.Tensor{v, i} },
		"argmax": func(x *tensor.Tensor, d int) []*tensor.Tensor {
			return []*tensor.Tensor{x.ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(d)})}
		},
		"var":  func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.VarDim([]int{d})} },
		"norm": func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.NormDim(nil, []int{d})} },
		"norm inf": func(x *tensor.Tensor, d int) []*tensor.Tensor {
			return []*tensor.Tensor{x.NormDim(math.Inf(1), []int{d})}
		},
		"norm 3":    func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.NormDim(3, []int{d})} },
		"logsumexp": func(x *tensor.Tensor, d int) []*tensor.Tensor { return []*tensor.Tensor{x.LogSumExp([]int{d})} },
		"sort": func(x *tensor.Tensor, d int) []*tensor.Tensor {
			v, i := x.Sort(tensor.SortOptions{Dim: tensor.Some(d)})
			return []*tensor.Tensor{v, i}
		},
	}
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			tol := map[tensor.DType]float64{tensor.Float32: 1e-5, tensor.Float64: 1e-13, tensor.BFloat16: 1e-2}[dt]
			for _, n := range []int{1, 2, 3, 5, 9, 16, 17, 31} {
				const rows = 301
				x := opstest.Fill(tensor.Float64, n, rows, n)
				for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0} {
					for r := 10 * i; r < rows; r += 50 + i {
						tensor.Data[float64](x)[r*n+r%n] = v
					}
				}
				for i := range n { // a row of -Inf
					tensor.Data[float64](x)[7*n+i] = math.Inf(-1)
				}
				x = x.ToDType(dt)
				for name, op := range ops {
					got := op(x, 1)
					across := op(x.T().Contiguous(), 0)
					for r := 0; r < rows; r += 1 + r%3 {
						want := op(x.Narrow(0, r, 1), 1)
						for k := range want {
							w := tensor.Data[float64](want[k].ToDType(tensor.Float64).Contiguous())
							g := tensor.Data[float64](got[k].Narrow(0, r, 1).ToDType(tensor.Float64).Contiguous())
							a := tensor.Data[float64](across[k].Narrow(across[k].Dim()-1, r,
								1).ToDType(tensor.Float64).Contiguous())
							for i := range w {
								for _, v := range []float64{g[i], a[i]} {
									if v != w[i] && !(v != v && w[i] != w[i]) &&
										!(math.Abs(v-w[i]) <= tol*(1+math.Abs(w[i]))) {
										t.Fatalf("%s %v %s of %d: row %d gives %v, alone %v", level.Name, dt, name, n,
											r, v, w[i])
									}
								}
							}
						}
					}
				}
			}
		}
		restore()
	}
	for name, op := range ops {
		opstest.SameBits(t, fmt.Sprintf("%s of short rows", name), func() []*tensor.Tensor {
			x := opstest.Fill(tensor.Float32, 1, 30_000, 5)
			return append(op(x, 1), op(x, 0)...)
		})
	}
}
