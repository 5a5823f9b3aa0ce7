package sort

import (
	"slices"
	"testing"
)

// The positions among equal elements that PyTorch's CPU kernels give.
func TestSelectionAmongEquals(t *testing.T) {
	for _, c := range []struct {
		l              []int64
		k              int
		largest, small []int32
		kth            int32
	}{
		{make([]int64, 5), 2, []int32{2, 4}, []int32{2, 4}, 2},
		{make([]int64, 8), 3, []int32{6, 5, 4}, []int32{6, 5, 4}, 6},
		{make([]int64, 10), 5, []int32{8, 6, 7, 5, 9}, []int32{8, 6, 7, 5, 9}, 0},
		{make([]int64, 20), 10, []int32{15, 11, 12, 13, 14, 17, 19, 18, 10, 16}, []int32{15, 11, 12, 13, 14, 17, 19, 18, 10, 16}, 0},
		{make([]int64, 100), 3, []int32{67, 66, 65}, []int32{67, 66, 65}, 69},
		{make([]int64, 2000), 2, []int32{0, 1}, []int32{0, 1}, 1332},
		{[]int64{2, 0, 2, 0, 1}, 2, []int32{0, 2}, []int32{1, 3}, 3},
		{[]int64{0, 1, 1, 1, 0, 2, 2, 0}, 3, []int32{6, 5, 3}, []int32{4, 7, 0}, 0},
		{[]int64{0, 1, 2, 0, 0, 2, 0, 2, 2, 2}, 5, []int32{5, 9, 8, 7, 2}, []int32{3, 6, 4, 0, 1}, 1},
		{[]int64{2, 2, 2, 1, 2, 0, 0, 1, 0, 2, 0, 1, 0, 1, 2, 2, 1, 2, 0, 1}, 10, []int32{1, 9, 14, 15, 17, 4, 0, 2, 13, 19}, []int32{5, 10, 8, 6, 18, 12, 11, 16, 13, 19}, 7},
	} {
		if got := top[int64](c.k, true, true)(c.l, new(scratch)); !slices.Equal(got, c.largest) {
			t.Errorf("%d largest of %d: %v, want %v", c.k, len(c.l), got, c.largest)
		}
		if got := top[int64](c.k, false, true)(c.l, new(scratch)); !slices.Equal(got, c.small) {
			t.Errorf("%d smallest of %d: %v, want %v", c.k, len(c.l), got, c.small)
		}
		if got := kth[int64](c.k)(c.l, new(scratch)); got != c.kth {
			t.Errorf("%d-th of %d: %v, want %v", c.k, len(c.l), got, c.kth)
		}
	}
}
