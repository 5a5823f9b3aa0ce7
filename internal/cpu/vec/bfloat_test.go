package vec

import "testing"

// TestBF16 compares the arithmetic on bfloat16 with its steps, on every path.
func TestBF16(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		const n = 1 << 16
		a, b, d := make([]uint16, n), make([]uint16, n), make([]uint16, n)
		for i := range a {
			a[i], b[i] = uint16(i), uint16(i*40503+7)
		}
		for _, k := range []struct {
			name string
			f    func(d, a, b []uint16)
			want func(x, y float32) float32
		}{
			{"add", AddBF16, func(x, y float32) float32 { return x + y }},
			{"sub", SubBF16, func(x, y float32) float32 { return x - y }},
			{"mul", MulBF16, func(x, y float32) float32 { return x * y }},
		} {
			k.f(d, a, b)
			for i := range d {
				if want := F32ToBF16(k.want(BF16ToF32(a[i]), BF16ToF32(b[i]))); d[i] != want {
					t.Fatalf("%s of %#x and %#x: %#x, want %#x", k.name, a[i], b[i], d[i], want)
				}
			}
		}
	})
}
