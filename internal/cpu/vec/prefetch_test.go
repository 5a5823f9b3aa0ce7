package vec

import "testing"

// TestPrefetchRow checks that the hint takes rows of any length, none among them.
func TestPrefetchRow(t *testing.T) {
	x := random32(9000, 1)
	for _, n := range []int{0, 1, 15, 16, 17, 4096, 9000} {
		PrefetchRow(x[:n])
		PrefetchRow(x[9000-n:])
	}
}
