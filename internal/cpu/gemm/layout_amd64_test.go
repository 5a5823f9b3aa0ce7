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
		{"mask0", unsafe.Offsetof(a.mask0), 80}, {"mask1", unsafe.Offsetof(a.mask1), 88},
		{"alpha", unsafe.Offsetof(a.alpha), 96}, {"beta", unsafe.Offsetof(a.beta), 104},
		{"biasCol", unsafe.Offsetof(a.biasCol), 112}, {"biasRow", unsafe.Offsetof(a.biasRow), 120}, {"flags", unsafe.Offsetof(a.flags), 128},
		{"count", unsafe.Offsetof(a.count), 136}, {"stepA", unsafe.Offsetof(a.stepA), 144}, {"stepB", unsafe.Offsetof(a.stepB), 152},
		{"stepC", unsafe.Offsetof(a.stepC), 160}, {"stepCol", unsafe.Offsetof(a.stepCol), 168}, {"stepRow", unsafe.Offsetof(a.stepRow), 176},
		{"pf", unsafe.Offsetof(a.pf), 184}, {"pfStep", unsafe.Offsetof(a.pfStep), 192}, {"pfRun", unsafe.Offsetof(a.pfRun), 200},
		{"pfJump", unsafe.Offsetof(a.pfJump), 208}, {"rest", unsafe.Offsetof(a.rest), 216},
		{"pfLast", unsafe.Offsetof(a.pfLast), 224}, {"pfC", unsafe.Offsetof(a.pfC), 232}, {"near", unsafe.Offsetof(a.near), 240}, {"panel", unsafe.Offsetof(a.panel), 248},
		{"pfLeft", unsafe.Offsetof(a.pfLeft), 256}, {"pfSide", unsafe.Offsetof(a.pfSide), 264}, {"pfBack", unsafe.Offsetof(a.pfBack), 272},
		{"fill", unsafe.Offsetof(a.fill), 280}, {"fillStep", unsafe.Offsetof(a.fillStep), 288}, {"fillNear", unsafe.Offsetof(a.fillNear), 296},
		{"fillLeft", unsafe.Offsetof(a.fillLeft), 304}, {"thenNear", unsafe.Offsetof(a.thenNear), 312}, {"thenLeft", unsafe.Offsetof(a.thenLeft), 320},
	} {
		if c.got != c.want {
			t.Errorf("args.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}
