package matmul

import (
	"math"
	"math/rand"
	"testing"
)

// TestInvertBlocked multiplies inverses with the matrices and finds singular ones.
func TestInvertBlocked(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 5, 31, 32, 33, 64, 70, 100, 129} {
		a := make([]float64, n*n)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		x := append([]float64{}, a...)
		if k := invertBlocked(x, n); k >= 0 {
			t.Fatalf("n=%d: singular at %d", n, k)
		}
		for i := range n {
			for j := range n {
				s := 0.0
				for k := range n {
					s += a[i*n+k] * x[k*n+j]
				}
				if i == j {
					s--
				}
				if math.Abs(s) > 1e-9 {
					t.Fatalf("n=%d: product is off by %g at %d, %d", n, s, i, j)
				}
			}
		}
		if n > 2 { // a column of zeros
			x = append([]float64{}, a...)
			for i := range n {
				x[i*n+n/2] = 0
			}
			if k := invertBlocked(x, n); k != n/2 {
				t.Fatalf("n=%d: zero pivot at %d, want %d", n, k, n/2)
			}
		}
	}
}
