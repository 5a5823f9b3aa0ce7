package vec

import (
	"testing"
	"unsafe"
)

// TestAround compares destinations so long that stores go around the caches, on whole lines and beside them, with plain
// Go.
func TestAround(t *testing.T) {
	const n = NonTemporalFrom/4 + 1234
	a, d, want := make([]float32, n+32), make([]float32, n+32), make([]float32, n)
	line := int(-uintptr(unsafe.Pointer(&d[0]))&63) / 4
	for i := range a {
		a[i] = float32(i%977)/100 - 5
	}
	if nonTemporalFlag(d[line:line+n]) == 0 || nonTemporalFlag(d[line+1:line+1+n]) != 0 ||
		nonTemporalFlag(d[line:line+1000]) != 0 {
		t.Error("wrong choice of stores")
	}
	rows := func(d, a []float32) { // parts of all lengths, on whole lines and beside them
		for i, l := 0, 0; i < len(d); i, l = i+l, (l+1)%200 {
			e := min(i+l, len(d))
			ScaleShiftPartF32(d[i:e], a[i:e], 3, 0.5, true)
		}
	}
	for _, k := range []struct{ f, plain func(d, a []float32) }{
		{ReLUF32, reLUF32Generic}, {ExpF32, func(d, a []float32) { plainOf("ExpF32").(func(d, a []float32))(d, a) }},
		{rows, func(d, a []float32) { scaleShiftF32Generic(d, a, 3, 0.5) }},
	} {
		eachPath(t, func(t *testing.T) {
			k.plain(want, a[:n])
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

// TestAroundWidths compares destinations of other types, and integers, on whole lines with those beside them, where the
// stores are the usual ones.
func TestAroundWidths(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		aroundWidths(t, "AddInt32", func(d, a []int32) { AddInt(d, a, a) })
		aroundWidths(t, "MulInt64", func(d, a []int64) { MulInt(d, a, a) })
		aroundWidths(t, "ClampInt8", func(d, a []int8) { ClampInt(d, a, -10, 20) })
		aroundWidths(t, "AbsInt16", func(d, a []int16) { AbsInt(d, a) })
		aroundWidths(t, "MulF16", func(d, a []uint16) { MulF16(d, a, a) })
		aroundWidths(t, "ExpBF16", func(d, a []uint16) { ExpBF16(d, a) })
		aroundWidths(t, "F32ToI16s", F32ToI16s)
		aroundWidths(t, "F64ToF32s", F64ToF32s)
		aroundWidths(t, "I64ToF32s", I64ToF32s)
		aroundWidths(t, "I64ToI32s", I64ToI32s)
	})
}

func aroundWidths[D, A Number](t *testing.T, name string, f func(d []D, a []A)) {
	size := int(unsafe.Sizeof(D(0)))
	n, line := NonTemporalFrom/size+1234, 64/size
	a, d, want := make([]A, n), make([]D, n+2*line), make([]D, n+2*line)
	for i := range a {
		a[i] = A(i % 113 * (i % 29))
	}
	at := func(d []D) int { return int(-uintptr(unsafe.Pointer(&d[0]))&63) / size }
	from, beside := at(d), at(want)+1
	f(d[from:from+n], a)
	f(want[beside:beside+n], a)
	for i := range d {
		var w D
		if j := i - from; j >= 0 && j < n {
			w = want[beside+j]
		}
		if d[i] != w {
			t.Fatalf("%s: element %d is %v, want %v", name, i-from, d[i], w)
		}
	}
}
