package vec

import (
	"testing"
	"unsafe"
)

// TestAround compares destinations so long that stores go around the caches, on whole lines and beside them, with plain Go.
func TestAround(t *testing.T) {
	const n = AroundFrom/4 + 1234
	a, d, want := make([]float32, n+32), make([]float32, n+32), make([]float32, n)
	line := int(-uintptr(unsafe.Pointer(&d[0]))&63) / 4
	for i := range a {
		a[i] = float32(i%977)/100 - 5
	}
	if around(d[line:line+n]) == 0 || around(d[line+1:line+1+n]) != 0 || around(d[line:line+1000]) != 0 {
		t.Error("wrong choice of stores")
	}
	rows := func(d, a []float32) { // parts of all lengths, on whole lines and beside them
		for i, l := 0, 0; i < len(d); i, l = i+l, (l+1)%200 {
			e := min(i+l, len(d))
			ScaleShiftPartF32(d[i:e], a[i:e], 3, 0.5, true)
		}
	}
	for _, k := range []struct{ f, plain func(d, a []float32) }{
		{ReLUF32, reLUF32Generic}, {ExpF32, expF32Generic}, {rows, func(d, a []float32) { scaleShiftF32Generic(d, a, 3, 0.5) }},
	} {
		k.plain(want, a[:n])
		eachPath(t, func(t *testing.T) {
			for _, at := range []int{line, line + 1} {
				clear(d)
				k.f(d[at:at+n], a[:n])
				for i, x := range d {
					if j := i - at; j >= 0 && j < n && x != want[j] || (j < 0 || j >= n) && x != 0 {
						t.Fatalf("from %d: element %d is %g", at, j, x)
					}
				}
			}
		})
	}
}
