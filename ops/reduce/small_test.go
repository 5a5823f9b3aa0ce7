package reduce_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSmallMatrices compares reductions over the middle dimension of many small matrices, without and with gaps between
// their rows, with those of each matrix alone.
func TestSmallMatrices(t *testing.T) {
	one := func(x *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x} }
	ops := map[string]func(x *tensor.Tensor) []*tensor.Tensor{
		"sum":   func(x *tensor.Tensor) []*tensor.Tensor { return one(x.SumDim([]int{1})) },
		"prod":  func(x *tensor.Tensor) []*tensor.Tensor { return one(x.ProdDim(1)) },
		"any":   func(x *tensor.Tensor) []*tensor.Tensor { return one(x.AnyDim(1)) },
		"all":   func(x *tensor.Tensor) []*tensor.Tensor { return one(x.AllDim(1)) },
		"count": func(x *tensor.Tensor) []*tensor.Tensor { return one(x.CountNonzeroDim([]int{1})) },
		"amin":  func(x *tensor.Tensor) []*tensor.Tensor { return one(x.Amin(tensor.AminOptions{Dim: []int{1}})) },
		"max":   func(x *tensor.Tensor) []*tensor.Tensor { v, i := x.MaxDim(1); return []*tensor.Tensor{v, i} },
		"min":   func(x *tensor.Tensor) []*tensor.Tensor { v, i := x.MinDim(1); return []*tensor.Tensor{v, i} },
	}
	rounded := map[string]func(x *tensor.Tensor) []*tensor.Tensor{ // which may differ in the last digits
		"mean": func(x *tensor.Tensor) []*tensor.Tensor { return one(x.MeanDim([]int{1})) },
		"std":  func(x *tensor.Tensor) []*tensor.Tensor { return one(x.StdDim([]int{1})) },
		"var_mean": func(x *tensor.Tensor) []*tensor.Tensor {
			v, m := x.VarMeanDim([]int{1})
			return []*tensor.Tensor{v, m}
		},
		"logsumexp": func(x *tensor.Tensor) []*tensor.Tensor { return one(x.LogSumExp([]int{1})) },
		"norm":      func(x *tensor.Tensor) []*tensor.Tensor { return one(x.NormDim(2, []int{1})) },
		"norm 3":    func(x *tensor.Tensor) []*tensor.Tensor { return one(x.NormDim(3, []int{1})) },
	}
	types := []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int64, tensor.Int32, tensor.Int8,
		tensor.Bool, tensor.Complex64, tensor.Complex128}
	for _, level := range cpu.Levels() {
		restore := cpu.Set(level.Features)
		for _, sh := range [][3]int{{40, 2, 7}, {70, 16, 2}, {33, 20, 8}, {1100, 3, 3}, {33, 5, 8}, {9, 101, 4},
			{32, 40, 1}} {
			for _, dt := range types {
				for gap := range 2 {
					// small whole numbers, many of them 0: every result is exact
					x := opstest.Fill(tensor.Float64, 5, sh[0], sh[1],
						sh[2]+gap).MulScalar(1.4).RoundDecimals(0).ToDType(dt).Narrow(2, 0, sh[2])
					compare := func(name string, f func(x *tensor.Tensor) []*tensor.Tensor,
						same func(a, b *tensor.Tensor) bool) {
						got := f(x)
						for r := 0; r < sh[0]; r += 1 + r%5 {
							for k, want := range f(x.Narrow(0, r, 1).Contiguous()) {
								if g := got[k].Narrow(0, r, 1); !same(g, want) {
									t.Fatalf("%s: %s of %v of %v, gap %d: matrix %d gives %v, alone %v", level.Name,
										name, dt, sh, gap, r, g, want)
								}
							}
						}
					}
					for name, f := range ops {
						if !dt.IsComplex() || name[0] != 'm' && name != "amin" {
							compare(name, f, (*tensor.Tensor).Equal)
						}
					}
					if tol, ok := map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14,
						tensor.BFloat16: 1e-2}[dt]; ok {
						for name, f := range rounded {
							compare(name, f, func(a, b *tensor.Tensor) bool {
								v, w := tensor.Data[float64](a.ToDType(tensor.Float64).Contiguous()),
									tensor.Data[float64](b.ToDType(tensor.Float64))
								return slices.EqualFunc(v, w,
									func(v, w float64) bool { return v == w || math.Abs(v-w) <= tol*(1+math.Abs(w)) })
							})
						}
					}
				}
			}
		}
		restore()
	}
	opstest.SameBits(t, "sums of small matrices", func() []*tensor.Tensor {
		x := opstest.Fill(tensor.Float32, 1, 9000, 5, 3)
		return []*tensor.Tensor{x.SumDim([]int{1}), x.Narrow(2, 0, 2).SumDim([]int{1}), x.ProdDim(1)}
	})
}

// TestComplex compares sums, means and products of complex numbers with plain loops.
func TestComplex(t *testing.T) {
	for _, sh := range [][3]int{{1, 1, 1}, {1, 5000, 1}, {3, 70, 1}, {40, 3, 1}, {2, 200, 3}, {5, 9, 30}, {1, 3, 1500},
		{300, 1, 50}} {
		for _, dt := range []tensor.DType{tensor.Complex64, tensor.Complex128} {
			tol := map[tensor.DType]float64{tensor.Complex64: 1e-5, tensor.Complex128: 1e-13}[dt]
			n := sh[0] * sh[1] * sh[2]
			v := make([]complex128, n)
			re, im := tensor.Data[float64](opstest.Fill(tensor.Float64, 2, n)),
				tensor.Data[float64](opstest.Fill(tensor.Float64, 3, n))
			for i := range v {
				v[i] = complex(re[i], im[i])
			}
			x := tensor.FromSlice(v, sh[:]...).ToDType(dt)
			unit := x.Div(x.Abs()) // the products stay near the circle
			for dim := range 3 {
				wide := func(r *tensor.Tensor) []complex128 { return tensor.Data[complex128](r.ToDType(tensor.Complex128)) }
				a, b := wide(x), wide(unit)
				sum, mean, prod := wide(x.SumDim([]int{dim})), wide(x.MeanDim([]int{dim})), wide(unit.ProdDim(dim))
				inner := 1
				for _, s := range sh[dim+1:] {
					inner *= s
				}
				for i := range sum {
					s, p := complex128(0), complex128(1)
					for k := range sh[dim] {
						at := (i/inner*sh[dim]+k)*inner + i%inner
						s, p = s+a[at], p*b[at]
					}
					m := s / complex(float64(sh[dim]), 0)
					for name, pair := range map[string][2]complex128{"sum": {sum[i], s}, "mean": {mean[i], m},
						"prod": {prod[i], p}} {
						if d := cmplx.Abs(pair[0] - pair[1]); !(d <= tol*(10+float64(sh[dim])/10)) {
							t.Fatalf("%s of %v of %v over dimension %d: element %d is %v, expected %v", name, dt, sh,
								dim, i, pair[0], pair[1])
						}
					}
				}
			}
			if got, want := fmt.Sprint(x.Sum().Shape()), "[]"; got != want {
				t.Errorf("sum of all: shape %s, expected %s", got, want)
			}
		}
	}
}
