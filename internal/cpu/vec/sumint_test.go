package vec

import (
	"math/rand"
	"testing"
)

func testSumInt[E Integer](t *testing.T, fill func() E) {
	for _, n := range []int{0, 1, 3, 4, 63, 64, 65, 70, 127, 128, 1000, chunk, 2*chunk + 77} {
		buf := make([]E, n+3)
		for i := range buf {
			buf[i] = fill()
		}
		a, want := buf[3:], int64(0)
		for _, x := range a {
			want += int64(x)
		}
		if got := SumInt(a); got != want {
			t.Errorf("sum of %d %T: got %d, want %d", n, fill(), got, want)
		}
	}
}

// TestSumInt compares sums with a loop, for random numbers and for the extreme ones.
func TestSumInt(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	eachPath(t, func(t *testing.T) {
		testSumInt(t, func() int64 { return int64(r.Uint64()) })
		testSumInt(t, func() int32 { return int32(r.Uint32()) })
		testSumInt(t, func() int16 { return int16(r.Uint32()) })
		testSumInt(t, func() int8 { return int8(r.Uint32()) })
		testSumInt(t, func() uint8 { return uint8(r.Uint32()) })
		testSumInt(t, func() int32 { return -1 << 31 })
		testSumInt(t, func() int16 { return -1 << 15 })
		testSumInt(t, func() int8 { return -128 })
		testSumInt(t, func() uint8 { return 255 })
	})
}
