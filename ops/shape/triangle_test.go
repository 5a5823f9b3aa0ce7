package shape

import (
	"math"
	"testing"
)

// TestTriangleSize compares the size with a count, row by row.
func TestTriangleSize(t *testing.T) {
	for r := range 6 {
		for k := range 6 {
			for off := -8; off <= 8; off++ {
				for _, upper := range []bool{false, true} {
					want := 0
					for i := range r {
						if lo, hi := triangleColumns(i, k, off, upper); lo < hi {
							want += hi - lo
						}
					}
					if got := triangleSize(r, k, off, upper); got != want {
						t.Errorf("%d x %d, offset %d, upper %v: %d, want %d", r, k, off, upper, got, want)
					}
				}
			}
		}
	}
	if got := triangleSize(1<<40, 1<<40, 0, false); got != math.MaxInt {
		t.Errorf("a triangle of 2^79 elements has size %d", got)
	}
	if got, want := triangleSize(1<<40, 5, 1, false), 5<<40-6; got != want {
		t.Errorf("a triangle of %d elements has size %d", want, got)
	}
}
