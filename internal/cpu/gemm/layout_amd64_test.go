//go:build !purego

package gemm

import (
	"testing"
	"unsafe"
)

// The generator writes these offsets into the assembly.
func TestArgsLayout(t *testing.T) {
	var a args
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"a", unsafe.Offsetof(a.a), 0}, {"b", unsafe.Offsetof(a.b), 8}, {"c", unsafe.Offsetof(a.c), 16},
		{"rsA", unsafe.Offsetof(a.rsA), 24}, {"csA", unsafe.Offsetof(a.csA), 32},
		{"ldb", unsafe.Offsetof(a.ldb), 40}, {"ldc", unsafe.Offsetof(a.ldc), 48}, {"k", unsafe.Offsetof(a.k), 56},
		{"variant", unsafe.Offsetof(a.variant), 64}, {"mask", unsafe.Offsetof(a.mask), 72},
		{"lastMask", unsafe.Offsetof(a.lastMask), 80},
		{"alpha", unsafe.Offsetof(a.alpha), 88}, {"beta", unsafe.Offsetof(a.beta), 96},
		{"biasCol", unsafe.Offsetof(a.biasCol), 104}, {"biasRow", unsafe.Offsetof(a.biasRow), 112},
		{"flags", unsafe.Offsetof(a.flags), 120},
		{"count", unsafe.Offsetof(a.count), 128}, {"stepA", unsafe.Offsetof(a.stepA), 136},
		{"stepB", unsafe.Offsetof(a.stepB), 144},
		{"stepC", unsafe.Offsetof(a.stepC), 152}, {"stepCol", unsafe.Offsetof(a.stepCol), 160},
		{"stepRow", unsafe.Offsetof(a.stepRow), 168},
		{"pf", unsafe.Offsetof(a.pf), 176}, {"pfStep", unsafe.Offsetof(a.pfStep), 184},
		{"pfRun", unsafe.Offsetof(a.pfRun), 192},
		{"pfJump", unsafe.Offsetof(a.pfJump), 200}, {"rest", unsafe.Offsetof(a.rest), 208},
		{"pfLast", unsafe.Offsetof(a.pfLast), 216}, {"pfC", unsafe.Offsetof(a.pfC), 224},
		{"near", unsafe.Offsetof(a.nearB), 232}, {"panel", unsafe.Offsetof(a.packDst), 240},
		{"pfLeft", unsafe.Offsetof(a.pfLeft), 248}, {"pfSide", unsafe.Offsetof(a.pfSide), 256},
		{"pfBack", unsafe.Offsetof(a.pfBack), 264},
		{"fill", unsafe.Offsetof(a.packSrc), 272}, {"fillStep", unsafe.Offsetof(a.packStep), 280},
		{"fillNear", unsafe.Offsetof(a.packPrefetch), 288},
		{"fillLeft", unsafe.Offsetof(a.packLeft), 296}, {"thenNear", unsafe.Offsetof(a.thenPrefetch), 304},
		{"thenLeft", unsafe.Offsetof(a.thenLeft), 312},
	} {
		if c.got != c.want {
			t.Errorf("args.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}
