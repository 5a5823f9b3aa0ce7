package sort_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Boundaries and values of two dtypes are compared in their common one, with PyTorch's results.
func TestSearchMixed(t *testing.T) {
	of := func(dt tensor.DType, v ...float64) *tensor.Tensor { return torch.FromSlice(v, len(v)).ToDType(dt) }
	for _, c := range []struct {
		bounds, values *tensor.Tensor
		right          bool
		want           int64
	}{
		{of(tensor.Int64, 16777217), of(tensor.Float32, 16777216), true, 1},
		{of(tensor.Int32, 16777217), of(tensor.Float32, 16777216), true, 1},
		{of(tensor.Int64, 1<<40+1), of(tensor.Float32, 1<<40), true, 1},
		{of(tensor.Int64, 16777217), of(tensor.Float64, 16777216), true, 0},
		{of(tensor.Int32, 2049), of(tensor.Float16, 2048), true, 1},
		{of(tensor.Float32, 0.1), of(tensor.Float64, 0.1), false, 0},
		{of(tensor.Float64, 0.1), of(tensor.Float32, 0.1), false, 1},
		{of(tensor.Float16, 0.1), of(tensor.Float32, 0.1), false, 1},
		{of(tensor.Float16, 0.1), of(tensor.BFloat16, 0.1), true, 1},
		{of(tensor.Uint8, 200), of(tensor.Int8, -56), true, 0},
		{of(tensor.Int32, 16777217), of(tensor.Int64, 1<<32+5), false, 1},
		{of(tensor.Int16, -1, 1), of(tensor.Int8, 0), false, 1},
	} {
		got := torch.Searchsorted(c.bounds, c.values, torch.SearchsortedOptions{Right: c.right})
		if n := torch.Data[int64](got)[0]; n != c.want {
			t.Errorf("searchsorted of %s in %s, right %t: %d, expected %d", c.values, c.bounds, c.right, n, c.want)
		}
	}
}

// isin refuses what PyTorch refuses: a bool or a complex tensor on either side.
func TestIsInDTypes(t *testing.T) {
	good := torch.FromSlice([]float32{1, 2}, 2)
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Complex64, tensor.Complex128} {
		bad := good.ToDType(dt)
		for _, f := range []func(){func() { torch.IsIn(bad, good) }, func() { torch.IsIn(good, bad) }} {
			if err := torch.Try(f); !errors.Is(err, tensor.ErrNotImpl) {
				t.Errorf("isin with %v: %v", dt, err)
			}
		}
	}
}

// A few values in many boundaries are found without a look at most of them, at the same places.
func TestSearchFew(t *testing.T) {
	const n = 1000
	nan := math.NaN()
	rows, shuffled, sorter := make([]float64, n), make([]float64, n), make([]int64, n)
	for i := range rows {
		rows[i] = float64(i / 3)
		at := (7*i + 5) % n
		shuffled[at], sorter[i] = rows[i], int64(at)
	}
	rows[n-1], shuffled[sorter[n-1]] = nan, nan
	bounds, order := torch.FromSlice(shuffled, n), torch.FromSlice(sorter, n)
	for _, v := range []float64{-1, 0, 0.5, 17, 332, 333, 1e9, nan} {
		for _, right := range []bool{false, true} {
			var want int64
			for _, b := range rows {
				if b < v || right && b == v || v != v || b != b && want == n-1 { // NaN is passed by
					want++
				}
			}
			got := torch.SearchsortedScalar(bounds, v, torch.SearchsortedScalarOptions{Right: right, Sorter: order})
			if n := got.Num().I; n != want {
				t.Errorf("searchsorted of %v, right %t: %d, expected %d", v, right, n, want)
			}
		}
	}
}
