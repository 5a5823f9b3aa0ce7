package main

import "fmt"

// evexDotBF16 is VDPBF16PS b, a, dst on 512-bit registers, which the Go
// assembler does not know: pairs of bfloat16 of a and b are multiplied and both
// products added to the float32 lane of dst.
//
// The encoding is EVEX.512.F3.0F38.W0 52 /r: a prefix of four bytes, the
// opcode, and a byte that names dst (reg) and b (rm). Registers have five bits;
// those above the third go to the prefix, inverted. See the Intel 64 and IA-32
// Architectures Software Developer's Manual, volume 2, section 2.7.
func evexDotBF16(b, a, dst int) string {
	not := func(x, bit int) int { return ^x >> bit & 1 }
	code := [6]int{
		0x62,
		// ~R ~X ~B ~R' 0 and the opcode map, 2 for 0F38.
		not(dst, 3)<<7 | not(b, 4)<<6 | not(b, 3)<<5 | not(dst, 4)<<4 | 2,
		// W = 0, ~vvvv, a one, and the mandatory prefix, 2 for F3.
		(^a&15)<<3 | 1<<2 | 2,
		// No zeroing, 512 bits, no broadcast, ~V', no mask.
		2<<5 | not(a, 4)<<3,
		0x52,
		3<<6 | dst&7<<3 | b&7,
	}
	return fmt.Sprintf("LONG $0x%02x%02x%02x%02x; WORD $0x%02x%02x // VDPBF16PS Z%d, Z%d, Z%d",
		code[3], code[2], code[1], code[0], code[5], code[4], b, a, dst)
}
