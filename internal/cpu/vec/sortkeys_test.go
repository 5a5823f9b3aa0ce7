package vec

import (
	"math"
	"math/rand"
	"testing"
)

// TestOutside64 compares the masks with comparisons one by one, also of keys and limits at both ends and beyond the
// sign bit.
func TestOutside64(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	limits := []uint64{0, 1, 5, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64}
	for range 50 {
		limits = append(limits, r.Uint64())
	}
	for _, lo := range limits {
		for _, hi := range limits {
			memory := make([]uint64, 65)
			keys := (*[64]uint64)(memory[1:])
			var below, above uint64
			for i := range keys {
				switch r.Intn(4) {
				case 0:
					keys[i] = r.Uint64()
				case 1:
					keys[i] = limits[r.Intn(len(limits))]
				case 2:
					keys[i] = lo + uint64(r.Intn(3)) - 1
				default:
					keys[i] = hi + uint64(r.Intn(3)) - 1
				}
				if keys[i] < lo {
					below |= 1 << i
				}
				if keys[i] > hi {
					above |= 1 << i
				}
			}
			if b, a := Outside64(keys, lo, hi); b != below || a != above {
				t.Errorf("limits %#x, %#x: %#x and %#x, want %#x and %#x", lo, hi, b, a, below, above)
			}
		}
	}
}

// TestSortKeys checks that keys stand in the order of the numbers, and what is written beside them.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for n := range 40 {
		for _, flip := range []uint64{0, math.MaxUint64} {
			a, b := make([]float32, n), make([]float64, n)
			for i := range a {
				a[i], b[i] = float32(r.NormFloat64()), r.NormFloat64()
				if r.Intn(2) == 0 {
					b[i] = specials[r.Intn(len(specials))]
					a[i] = float32(b[i])
				}
				if r.Intn(8) == 0 { // a negative NaN with other bits
					a[i], b[i] = math.Float32frombits(0xffc00001), math.Float64frombits(0xfff8000000000001)
				}
			}
			k, l := make([]uint64, n+1), make([]uint64, n+1)
			k[n], l[n] = 77, 77
			SortKeysF32(k[:n], a, flip)
			SortKeysF64(l[:n], b, flip)
			if k[n] != 77 || l[n] != 77 {
				t.Fatalf("%d numbers: memory beside the keys is overwritten", n)
			}
			for i := range n {
				for j := range n {
					if x, y := k[i]^flip, k[j]^flip; (x < y) != (a[i] < a[j] || a[j] != a[j] && a[i] == a[i]) ||
						x > math.MaxUint32 {
						t.Fatalf("keys of float32 %v and %v: %#x, %#x", a[i], a[j], x, y)
					}
					if x, y := l[i]^flip, l[j]^flip; (x < y) != (b[i] < b[j] || b[j] != b[j] && b[i] == b[i]) {
						t.Fatalf("keys of float64 %v and %v: %#x, %#x", b[i], b[j], x, y)
					}
				}
				if a[i] != a[i] && k[i]^flip != math.MaxUint32 || b[i] != b[i] && l[i]^flip != math.MaxUint64 {
					t.Fatalf("keys of NaN: %#x, %#x", k[i], l[i])
				}
			}
		}
	}
}

// TestSortKeysInt checks the keys of integers one by one, and what is written beside them.
func TestSortKeysInt(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for n := range 40 {
		for _, flip := range []uint64{0, math.MaxUint64} {
			a, b := make([]int32, n), make([]uint8, n)
			for i := range a {
				a[i], b[i] = int32(r.Uint32()), uint8(r.Uint32())
			}
			k, l := make([]uint64, n+1), make([]uint64, n+1)
			k[n], l[n] = 77, 77
			SortKeysI32(k[:n], a, flip)
			SortKeysU8(l[:n], b, flip)
			if k[n] != 77 || l[n] != 77 {
				t.Fatalf("%d numbers: memory beside the keys is overwritten", n)
			}
			for i := range n {
				if want := uint64(int64(a[i])+1<<31) ^ flip; k[i] != want {
					t.Fatalf("key of %d: %#x, want %#x", a[i], k[i], want)
				}
				if want := uint64(b[i]) ^ flip; l[i] != want {
					t.Fatalf("key of %d: %#x, want %#x", b[i], l[i], want)
				}
			}
		}
	}
}
