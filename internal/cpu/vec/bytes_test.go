package vec

import "testing"

// TestByteWords compares the kernels of bytes with one byte at a time, at all lengths and with values on both sides of
// every carry.
func TestByteWords(t *testing.T) { eachPath(t, testByteWords) }

func testByteWords(t *testing.T) {
	truth := func(b bool) uint8 {
		if b {
			return 1
		}
		return 0
	}
	for _, k := range []struct {
		name string
		f    func(dst, a, b []uint8)
		want func(x, y uint8) uint8
	}{
		{"and", AndU8, func(x, y uint8) uint8 { return x & y }},
		{"or", OrU8, func(x, y uint8) uint8 { return x | y }},
		{"xor", XorU8, func(x, y uint8) uint8 { return x ^ y }},
		{"add", AddU8, func(x, y uint8) uint8 { return x + y }},
		{"sub", SubU8, func(x, y uint8) uint8 { return x - y }},
		{"eq", EqU8, func(x, y uint8) uint8 { return truth(x == y) }},
		{"ne", NeU8, func(x, y uint8) uint8 { return truth(x != y) }},
		{"logical and", LogicalAndU8, func(x, y uint8) uint8 { return truth(x != 0 && y != 0) }},
		{"logical xor", LogicalXorU8, func(x, y uint8) uint8 { return truth((x != 0) != (y != 0)) }},
		{"logical or", LogicalOrU8, func(x, y uint8) uint8 { return truth(x != 0 || y != 0) }},
	} {
		// Every pair of values once, so that each meets its neighbours' carries.
		a, b, d := make([]uint8, 1<<16), make([]uint8, 1<<16), make([]uint8, 1<<16)
		for i := range a {
			a[i], b[i] = uint8(i), uint8(i>>8)
		}
		k.f(d, a, b)
		for i := range d {
			if want := k.want(a[i], b[i]); d[i] != want {
				t.Fatalf("%s(%d, %d) = %d, want %d", k.name, a[i], b[i], d[i], want)
			}
		}
		for n := range 71 {
			for at := range 3 {
				clear(d)
				d[at+n] = 0xee
				k.f(d[at:at+n], a[250+at:], b[250:])
				for i := range n {
					if want := k.want(a[250+at+i], b[250+i]); d[at+i] != want {
						t.Fatalf("%s, element %d of %d: %d, want %d", k.name, i, n, d[at+i], want)
					}
				}
				if d[at+n] != 0xee {
					t.Fatalf("%s of %d elements wrote past the end", k.name, n)
				}
			}
		}
	}
}
