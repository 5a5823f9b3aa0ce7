package conv

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
		{"a1", unsafe.Offsetof(a.a1), 8}, {"b", unsafe.Offsetof(a.b), 16}, {"c0", unsafe.Offsetof(a.c0), 24},
		{"r0", unsafe.Offsetof(a.r0), 40},
		{"bias", unsafe.Offsetof(a.bias), 56}, {"seg", unsafe.Offsetof(a.seg), 64},
		{"segEnd", unsafe.Offsetof(a.segEnd), 72},
		{"rs", unsafe.Offsetof(a.rs), 80}, {"cs", unsafe.Offsetof(a.cs), 88}, {"ldc", unsafe.Offsetof(a.ldc), 96},
		{"ldr", unsafe.Offsetof(a.ldr), 104},
		{"k", unsafe.Offsetof(a.k), 112}, {"variant", unsafe.Offsetof(a.variant), 120},
		{"mask", unsafe.Offsetof(a.mask), 128},
		{"mask0", unsafe.Offsetof(a.mask0), 136}, {"mask1", unsafe.Offsetof(a.mask1), 144},
		{"flags", unsafe.Offsetof(a.flags), 152},
		{"lo", unsafe.Offsetof(a.lo), 160}, {"hi", unsafe.Offsetof(a.hi), 168},
		{"blockEnd", unsafe.Offsetof(a.blockEnd), 176},
		{"ahead", unsafe.Offsetof(a.prefetch), 184}, {"aheadStep", unsafe.Offsetof(a.prefetchStep), 192},
		{"lines", unsafe.Offsetof(a.lines), 200}, {"stepA", unsafe.Offsetof(a.stepA), 208},
		{"stepC", unsafe.Offsetof(a.stepC), 216},
		{"linesLeft", unsafe.Offsetof(a.linesLeft), 224}, {"tapStep", unsafe.Offsetof(a.tapStep), 232},
		{"tiles", unsafe.Offsetof(a.tiles), 240}, {"tileA", unsafe.Offsetof(a.tileA), 248},
		{"tileC", unsafe.Offsetof(a.tileC), 256},
		{"index", unsafe.Offsetof(a.index), 264}, {"indexEnd", unsafe.Offsetof(a.indexEnd), 272},
		{"vectorStep", unsafe.Offsetof(a.vectorStep), 280},
	} {
		if c.got != c.want {
			t.Errorf("args.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}
