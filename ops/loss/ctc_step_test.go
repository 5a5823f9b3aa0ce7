package loss

import (
	"math"
	"testing"
)

// TestShortSteps compares a step of the recursion for few labels with the one by kernels.
func TestShortSteps(t *testing.T) {
	l := &labels{data: []int64{1, 1, 2, 3, 1, 2, 2, 3, 3}, start: []int{0}, in: []int{1}, target: []int{9}, longest: 9}
	w := newPath[float64](l, 0)
	w.begin(l, 0, 0)
	w.read([]float64{-1, -0.5, -2, math.Inf(-1)})
	n := len(w.label)
	prev, got, want := make([]float64, n+2), make([]float64, n), make([]float64, n)
	for i := range prev {
		if prev[i] = -float64(i * i % 7); i%4 < 2 {
			prev[i] = math.Inf(-1)
		}
	}
	w.shortStep(got, prev[2:], prev[1:], prev, w.skip)
	w.step(want, prev[2:], prev[1:], prev, w.skip)
	if n < shortPath {
		t.Fatalf("%d labels do not reach the kernels", n)
	}
	for i := range got {
		if got[i] != want[i] && !(math.Abs(got[i]-want[i]) < 1e-12) {
			t.Errorf("label %d: %v, expected %v", i, got[i], want[i])
		}
	}
}
