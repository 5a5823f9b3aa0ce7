package sort

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// TestPositions compares the positions of ranks with those of a stable sort, on lines with many equal elements.
func TestPositions(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	s := new(scratch)
	for n := 1; n < 300; n += 1 + n/8 {
		for _, kinds := range []int{1, 3, 20, 1000} {
			line, at := make([]float32, n), make([]int, n)
			for i := range line {
				at[i] = i
				if line[i] = float32(r.Intn(kinds)); r.Intn(50) == 0 {
					line[i] = float32(math.NaN())
				}
			}
			slices.SortStableFunc(at, func(a, b int) int {
				switch x, y := line[a], line[b]; {
				case x < y || x == x && y != y:
					return -1
				case x > y || x != x && y == y:
					return 1
				}
				return 0
			})
			ranks := make([]int64, 9)
			for i := range ranks {
				if ranks[i] = int64(r.Intn(n)); i > 0 && r.Intn(2) == 0 {
					ranks[i] = min(ranks[i-1]+1, int64(n-1))
				}
			}
			got := make([]int64, len(ranks))
			rankPositions(got, line, ranks, s)
			for i, k := range ranks {
				if got[i] != int64(at[k]) {
					t.Fatalf("%d elements of %d kinds, ranks %v: rank %d is at %d, want %d", n, kinds, ranks, k, got[i],
						at[k])
				}
			}
		}
	}
}
