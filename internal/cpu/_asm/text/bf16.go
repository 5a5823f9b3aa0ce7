package text

import "fmt"

// The instructions of AVX-512 BF16, which the Go assembler does not know. Their encodings are EVEX.512.pp.0F38.W0: a
// prefix of four bytes, the opcode, and a byte that names the destination (reg) and the last source (rm). Registers
// have five bits; those above the third go to the prefix, inverted. See the Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 2, section 2.7.

// DotBF16 is VDPBF16PS b, a, dst on 512-bit registers: pairs of bfloat16 of a and b are multiplied and both products
// added to the float32 lane of dst.
func DotBF16(b, a, dst int) string {
	return fmt.Sprintf("%s // VDPBF16PS Z%d, Z%d, Z%d", evex(0x52, 2, b, a, dst), b, a, dst)
}

// NarrowBF16 is VCVTNE2PS2BF16 lo, hi, dst on 512-bit registers: the floats of lo become the lower half of dst, those
// of hi the upper one, rounded to bfloat16, ties to even.
func NarrowBF16(lo, hi, dst int) string {
	return fmt.Sprintf("%s // VCVTNE2PS2BF16 Z%d, Z%d, Z%d", evex(0x72, 3, lo, hi, dst), lo, hi, dst)
}

// evex encodes an instruction on the registers rm, v and reg; prefix is 2 for F3 and 3 for F2.
func evex(opcode, prefix, rm, v, reg int) string {
	not := func(x, bit int) int { return ^x >> bit & 1 }
	code := [6]int{
		0x62,
		// ~R ~X ~B ~R' 0 and the opcode map, 2 for 0F38.
		not(reg, 3)<<7 | not(rm, 4)<<6 | not(rm, 3)<<5 | not(reg, 4)<<4 | 2,
		// W = 0, ~vvvv, a one, and the mandatory prefix.
		(^v&15)<<3 | 1<<2 | prefix,
		// No zeroing, 512 bits, no broadcast, ~V', no mask.
		2<<5 | not(v, 4)<<3,
		opcode,
		3<<6 | reg&7<<3 | rm&7,
	}
	return fmt.Sprintf("LONG $0x%02x%02x%02x%02x; WORD $0x%02x%02x", code[3], code[2], code[1], code[0], code[5],
		code[4])
}
