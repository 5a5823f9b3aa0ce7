package sort_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// The distinct elements are the same with and without places and counts, and these fit.
func TestUnique(t *testing.T) {
	for _, in := range [][]float32{{}, {5}, {3, 1, 3, 2, 1}, {2, 2, 2, 2}, {-1, 0, 1, 0, -1, 7}} {
		want := slices.Clone(in)
		slices.Sort(want)
		want = slices.Compact(want)
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int8, tensor.Float16} {
			x := torch.FromSlice(in, len(in)).ToDType(dt)
			for _, o := range []tensor.UniqueOptions{{}, {ReturnInverse: true}, {ReturnCounts: true},
				{ReturnInverse: true, ReturnCounts: true}} {
				values, inverse, counts := x.Unique(o)
				got := torch.Data[float32](values.ToDType(tensor.Float32))
				if !slices.Equal(got, want) {
					t.Fatalf("unique of %v in %v with %+v is %v, expected %v", in, dt, o, got, want)
				}
				if o.ReturnInverse {
					for i, p := range torch.Data[int64](inverse) {
						if got[p] != in[i] {
							t.Errorf("element %d of %v is said to be number %d of %v", i, in, p, got)
						}
					}
				}
				if !o.ReturnCounts {
					continue
				}
				for i, c := range torch.Data[int64](counts) {
					n := 0
					for _, v := range in {
						if v == got[i] {
							n++
						}
					}
					if int(c) != n {
						t.Errorf("%v counts %d of %v, expected %d", in, c, got[i], n)
					}
				}
			}
		}
	}
}
