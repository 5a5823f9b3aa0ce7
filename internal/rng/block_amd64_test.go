//go:build !purego

package rng

import (
	"bytes"
	"math"
	"testing"
)

// TestVectorForms compares the vector forms with the plain ones, with guards
// around the destination.
func TestVectorForms(t *testing.T) {
	if !useAVX2 {
		t.Skip("no AVX2")
	}
	defer func() { useAVX2 = true }()
	const guard = 16
	for _, n := range []int{0, 1, 7, 8, 9, 16, 17, 100, 624, 1000, 4096, 100003} {
		run := func(vector bool) ([]float32, []float32, []byte) {
			useAVX2 = vector
			g := New().ManualSeed(11)
			u, x := make([]float32, n+2*guard), make([]float32, n+2*guard)
			for _, s := range [][]float32{u, x} {
				for i := range s {
					s[i] = float32(math.NaN())
				}
			}
			if err := Uniform(g, u[guard:guard+n], -2.3, 3.1); err != nil {
				t.Fatal(err)
			}
			if err := Normal(g, x[guard:guard+n], 1.5, 0.25, true); err != nil {
				t.Fatal(err)
			}
			return u, x, g.State()
		}
		u1, x1, s1 := run(true)
		u2, x2, s2 := run(false)
		for i := range u1 {
			if math.Float32bits(u1[i]) != math.Float32bits(u2[i]) {
				t.Fatalf("n=%d uniform %d: %v and %v", n, i-guard, u1[i], u2[i])
			}
			if math.Float32bits(x1[i]) != math.Float32bits(x2[i]) {
				t.Fatalf("n=%d normal %d: %v and %v", n, i-guard, x1[i], x2[i])
			}
			if in := i >= guard && i < guard+n; in == (x1[i] != x1[i]) || in == (u1[i] != u1[i]) {
				t.Fatalf("n=%d: write outside the slice or gap at %d", n, i-guard)
			}
		}
		if !bytes.Equal(s1, s2) {
			t.Fatalf("n=%d: states differ", n)
		}
	}
	// Every 24-bit uniform as u1, and octant borders as u2.
	x := make([]float32, 16*1024)
	y := make([]float32, len(x))
	for base := uint32(0); base < 1<<24; base += uint32(len(x) / 2 * 37) {
		for i := range x {
			k := base + uint32(i/16*8+i%8)*37
			if i%16 >= 8 {
				k = (k * 0x200001) ^ k>>3
			}
			x[i] = u24(k)
		}
		copy(y, x)
		useAVX2 = true
		normalBlocks32(x, 0, 1)
		normalBlocks32Go(y, 0, 1)
		for i := range x {
			if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
				t.Fatalf("base %d element %d: %v and %v", base, i, x[i], y[i])
			}
		}
	}
}

func TestBernoulliVectors(t *testing.T) {
	g := New()
	src := make([]uint32, 2*70)
	for n := range 70 {
		g.fill32(src)
		for _, limit := range []uint64{0, 1, 1 << 50, 1<<53 - 1, 1 << 53, uint64(src[0]&(1<<21-1))<<32 |
			uint64(src[1])} {
			a, b := make([]byte, n+2), make([]byte, n+2)
			a[0], a[n+1], b[0], b[n+1] = 9, 9, 9, 9
			useAVX2 = false
			toBernoulli(a[1:n+1], src[:2*n], limit)
			useAVX2 = true
			toBernoulli(b[1:n+1], src[:2*n], limit)
			if !bytes.Equal(a, b) {
				t.Fatalf("n=%d limit %x: %v and %v", n, limit, a, b)
			}
		}
	}
}
