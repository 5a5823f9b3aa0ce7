package vec

import "testing"

// TestAhead checks that the hint takes rows of any length, none among them.
func TestAhead(t *testing.T) {
	x := random32(9000, 1)
	for _, n := range []int{0, 1, 15, 16, 17, 4096, 9000} {
		Ahead(x[:n])
		Ahead(x[9000-n:])
	}
}
