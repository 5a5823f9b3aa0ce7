package vec

import (
	"math"
	"math/big"
	"math/rand"
	"testing"
)

// TestIntegersToFloats takes integers on and beside the middle between two floats of either width, where a second
// rounding would show.
func TestIntegersToFloats(t *testing.T) {
	a := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	r := rand.New(rand.NewSource(1))
	for bits := 1; bits < 64; bits++ {
		for _, keep := range []int{24, 53} {
			for range 40 {
				x := int64(1)<<(bits-1) | r.Int63n(int64(1)<<(bits-1))
				if bits > keep { // the middle of two floats
					x = x>>(bits-keep)<<(bits-keep) | int64(1)<<(bits-keep-1)
				}
				for _, d := range []int64{0, 1, -1, 1 << 10, 1 << 11, -1 << 11} {
					a = append(a, x+d, -(x + d))
				}
			}
		}
	}
	eachPath(t, func(t *testing.T) {
		f, d := make([]float32, len(a)), make([]float64, len(a))
		I64ToF32s(f, a)
		I64ToF64s(d, a)
		for i, x := range a {
			exact := new(big.Float).SetInt64(x)
			if want, _ := exact.Float32(); f[i] != want || math.Signbit(float64(f[i])) != (want < 0) {
				t.Errorf("float32 of %d: got %v, want %v", x, f[i], want)
			}
			if want, _ := exact.Float64(); d[i] != want || math.Signbit(d[i]) != (want < 0) {
				t.Errorf("float64 of %d: got %v, want %v", x, d[i], want)
			}
		}
	})
}
