//go:build !purego

package gemm

import (
	"testing"
	"unsafe"
)

// The generator writes these offsets into the assembly.
func TestLowPrecisionArgsLayout(t *testing.T) {
	var a lowPrecisionArgs
	for i, got := range []uintptr{
		unsafe.Offsetof(a.a), unsafe.Offsetof(a.b), unsafe.Offsetof(a.c), unsafe.Offsetof(a.ldc), unsafe.Offsetof(a.k),
		unsafe.Offsetof(a.count),
		unsafe.Offsetof(a.stepB), unsafe.Offsetof(a.rows), unsafe.Offsetof(a.init), unsafe.Offsetof(a.add),
		unsafe.Offsetof(a.next),
		unsafe.Offsetof(a.half), unsafe.Offsetof(a.ldHalf),
	} {
		if want := uintptr(8 * i); got != want {
			t.Errorf("field %d of lowPrecisionArgs is at %d, the assembly expects %d", i, got, want)
		}
	}
}
