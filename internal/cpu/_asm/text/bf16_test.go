package text

import "testing"

// Encodings as the GNU assembler writes them, with registers that set each of
// the bits that names have beyond the third.
func TestBF16(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{DotBF16(2, 1, 0), "LONG $0x4876f262; WORD $0xc252 // VDPBF16PS Z2, Z1, Z0"},
		{DotBF16(28, 31, 0), "LONG $0x40069262; WORD $0xc452 // VDPBF16PS Z28, Z31, Z0"},
		{DotBF16(9, 3, 12), "LONG $0x48665262; WORD $0xe152 // VDPBF16PS Z9, Z3, Z12"},
		{DotBF16(17, 8, 23), "LONG $0x483ea262; WORD $0xf952 // VDPBF16PS Z17, Z8, Z23"},
		{NarrowBF16(2, 1, 0), "LONG $0x4877f262; WORD $0xc272 // VCVTNE2PS2BF16 Z2, Z1, Z0"},
		{NarrowBF16(28, 31, 0), "LONG $0x40079262; WORD $0xc472 // VCVTNE2PS2BF16 Z28, Z31, Z0"},
		{NarrowBF16(9, 3, 12), "LONG $0x48675262; WORD $0xe172 // VCVTNE2PS2BF16 Z9, Z3, Z12"},
		{NarrowBF16(17, 8, 23), "LONG $0x483fa262; WORD $0xf972 // VCVTNE2PS2BF16 Z17, Z8, Z23"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, expected %s", c.got, c.want)
		}
	}
}
