//go:build !purego

package quant

import (
	"testing"
	"unsafe"
)

// The generator writes these offsets into the assembly.
func TestArgsLayout(t *testing.T) {
	var a kernelArgs
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"a", unsafe.Offsetof(a.a), 0}, {"b", unsafe.Offsetof(a.b), 8}, {"taps", unsafe.Offsetof(a.taps), 16},
		{"count", unsafe.Offsetof(a.count), 24}, {"steps", unsafe.Offsetof(a.steps), 32},
		{"lda", unsafe.Offsetof(a.lda), 40}, {"rows", unsafe.Offsetof(a.rows), 48},
		{"add", unsafe.Offsetof(a.add), 56}, {"tile", unsafe.Offsetof(a.tile), 64},
		{"out", unsafe.Offsetof(a.out), 72}, {"ldo", unsafe.Offsetof(a.ldo), 80},
		{"mask", unsafe.Offsetof(a.mask), 88}, {"kind", unsafe.Offsetof(a.kind), 96},
		{"sums", unsafe.Offsetof(a.sums), 104}, {"base", unsafe.Offsetof(a.base), 112},
		{"mul", unsafe.Offsetof(a.mul), 120}, {"plus", unsafe.Offsetof(a.plus), 128},
		{"rowFix", unsafe.Offsetof(a.rowFix), 136}, {"zeros", unsafe.Offsetof(a.zeros), 144},
		{"neg", unsafe.Offsetof(a.neg), 152}, {"factor", unsafe.Offsetof(a.factor), 156},
		{"inv", unsafe.Offsetof(a.inv), 160}, {"zero", unsafe.Offsetof(a.zero), 164},
		{"hi", unsafe.Offsetof(a.hi), 168}, {"lo", unsafe.Offsetof(a.lo), 172},
		{"zeroInt", unsafe.Offsetof(a.zeroInt), 176}, {"floor", unsafe.Offsetof(a.floor), 180},
		{"init", unsafe.Offsetof(a.init), 184}, {"tiles", unsafe.Offsetof(a.tiles), 192},
	} {
		if c.got != c.want {
			t.Errorf("kernelArgs.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}
