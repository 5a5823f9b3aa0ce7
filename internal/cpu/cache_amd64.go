//go:build !purego

package cpu

// cpuid returns the registers that the CPUID instruction gives for a leaf and subleaf.
func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// detectCache returns the size of a level's data or unified cache in bytes, 0 if it is not told. Leaf 4 is Intel's and
// leaf 0x8000001D AMD's; their format is the same (AMD64 Architecture Programmer's Manual, volume 3, appendix E).
func detectCache(level int) int {
	for _, leaf := range []uint32{4, 0x8000001d} {
		if most, _, _, _ := cpuid(leaf&0x80000000, 0); most < leaf {
			continue
		}
		for sub := range uint32(8) {
			a, b, c, _ := cpuid(leaf, sub)
			kind := a & 31
			if kind == 0 {
				break
			}
			const instructions = 2
			if kind != instructions && int(a>>5&7) == level {
				line, parts, ways, sets := b&0xfff+1, b>>12&0x3ff+1, b>>22+1, c+1
				return int(line) * int(parts) * int(ways) * int(sets)
			}
		}
	}
	return 0
}

// AMDFamily returns the family of a processor of AMD's, 0 for others (AMD64 Architecture Programmer's Manual, volume 3,
// appendix E).
func AMDFamily() int {
	if _, b, c, d := cpuid(0, 0); b != 0x68747541 || d != 0x69746e65 || c != 0x444d4163 { // AuthenticAMD
		return 0
	}
	a, _, _, _ := cpuid(1, 0)
	return int(a>>8&15 + a>>20&255)
}
