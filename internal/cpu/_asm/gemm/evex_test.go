package main

import "testing"

// Encodings as the GNU assembler writes them, with registers that set each of
// the bits that names have beyond the third.
func TestDotBF16(t *testing.T) {
	for _, c := range []struct {
		b, a, dst int
		want      string
	}{
		{2, 1, 0, "LONG $0x4876f262; WORD $0xc252 // VDPBF16PS Z2, Z1, Z0"},
		{28, 31, 0, "LONG $0x40069262; WORD $0xc452 // VDPBF16PS Z28, Z31, Z0"},
		{9, 3, 12, "LONG $0x48665262; WORD $0xe152 // VDPBF16PS Z9, Z3, Z12"},
		{17, 8, 23, "LONG $0x483ea262; WORD $0xf952 // VDPBF16PS Z17, Z8, Z23"},
	} {
		if got := evexDotBF16(c.b, c.a, c.dst); got != c.want {
			t.Errorf("got %s, expected %s", got, c.want)
		}
	}
}
