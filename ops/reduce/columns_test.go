package reduce

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// TestColumns compares reductions over each dimension with plain loops, with NaN among the elements, on every path.
func TestColumns(t *testing.T) {
	for _, f := range []cpu.Features{{}, {AVX2FMA: true}, {AVX2FMA: true, AVX512: true}} {
		restore := cpu.Set(f)
		for _, shape := range [][3]int{{1, 1, 1}, {1, 3, 400}, {2, 3, 5}, {3, 17, 33}, {2, 40, 300}, {5, 600, 2},
			{2, 2, 1100}} {
			for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
				for _, nan := range []bool{false, true} {
					x := opstest.Fill(dt, 3, shape[:]...)
					if nan {
						v := opstest.Fill(tensor.Float64, 3, shape[:]...)
						d := tensor.Data[float64](v)
						for i := 0; i < len(d); i += 7 {
							d[i] = math.NaN()
						}
						x = tensor.DenseAs(v, dt)
					}
					for dim := range 3 {
						checkColumns(t, x, dim)
					}
				}
			}
		}
		restore()
	}
}

func checkColumns(t *testing.T, x *T, dim int) {
	t.Helper()
	src := tensor.Data[float64](tensor.DenseAs(x, tensor.Float64))
	outer, n, inner := iter.Split(x.Shape(), dim)
	sum, nansum, prod := x.SumDim([]int{dim}), x.NaNSum(tensor.NaNSumOptions{Dim: []int{dim}}), x.ProdDim(dim)
	high, highAt := x.MaxDim(dim)
	low, lowAt := x.MinDim(dim)
	wide := func(r *T) []float64 { return tensor.Data[float64](tensor.DenseAs(r, tensor.Float64)) }
	got := map[string][]float64{"sum": wide(sum), "nansum": wide(nansum), "prod": wide(prod), "max": wide(high),
		"min": wide(low), "argmax": wide(highAt), "argmin": wide(lowAt)}
	for o := range outer {
		for j := range inner {
			s, ns, p, abs := 0.0, 0.0, 1.0, 0.0
			hi, lo := 0, 0
			get := func(k int) float64 { return src[(o*n+k)*inner+j] }
			for k := range n {
				v := get(k)
				s, p, abs = s+v, p*v, abs+math.Abs(v)
				if v == v {
					ns += v
				}
				if b := get(hi); v > b || v != v && b == b {
					hi = k
				}
				if b := get(lo); v < b || v != v && b == b {
					lo = k
				}
			}
			i := o*inner + j
			tol := 1e-6 * (1 + abs)
			if x.DType() == tensor.BFloat16 {
				tol = 1e-2 * (1 + abs)
			}
			for name, want := range map[string]float64{"sum": s, "nansum": ns, "prod": p, "max": get(hi),
				"min": get(lo), "argmax": float64(hi), "argmin": float64(lo)} {
				if got := got[name][i]; math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tol {
					t.Fatalf("%s of %v %v over %d at %d: %v, want %v", name, x.DType(), x.Shape(), dim, i, got, want)
				}
			}
		}
	}
}
