package pool

import (
	"slices"
	"testing"
)

// TestApart takes lines apart and puts them together again.
func TestApart(t *testing.T) {
	for s := 2; s <= 18; s++ {
		for _, n := range []int{0, 1, s - 1, s, 5*s + 1, 16 * s, 40*s + s/2, 3000, 4096, 5001} {
			part := (n+s-1)/s + 3
			src, to, back := make([]float32, n), make([]float32, s*part), make([]float32, n)
			for i := range src {
				src[i] = float32(i + 1)
			}
			apart(to, part, src, s)
			for i := range to {
				want := float32(0)
				if ph, k := i/part, i%part; k*s+ph < n {
					want = src[k*s+ph]
				}
				if to[i] != want {
					t.Fatalf("%d elements by %d: element %d is %g, want %g", n, s, i, to[i], want)
				}
			}
			together(back, to, part, s)
			if !slices.Equal(back, src) {
				t.Fatalf("%d elements by %d: put together they are others", n, s)
			}
		}
	}
}
