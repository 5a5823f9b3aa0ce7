//go:build !purego

package vec

import "github.com/gotorch-dev/torch/internal/cpu"

// Outside64 has the bits set of the keys less than lo, and of those greater than hi.
func Outside64(keys *[64]uint64, lo, hi uint64) (below, above uint64) {
	switch {
	case cpu.HasAVX512:
		return outside512(keys, lo, hi)
	case cpu.HasAVX2FMA:
		return outside256(keys, lo, hi)
	}
	return outside64(keys, lo, hi)
}

//go:noescape
func outside512(keys *[64]uint64, lo, hi uint64) (below, above uint64)

//go:noescape
func outside256(keys *[64]uint64, lo, hi uint64) (below, above uint64)

// SortKeysF32 sets dst to keys of a: unsigned integers in the order of the numbers, NaN as [math.MaxUint32] after all,
// one key for -0 and 0. The bits of flip are inverted in each.
func SortKeysF32(dst []uint64, a []float32, flip uint64) {
	n := 0
	if cpu.HasAVX2FMA && len(a) >= 8 {
		n = len(a) &^ 7
		dst = dst[:len(a)]
		sortKeys32(&dst[0], &a[0], n, flip)
	}
	sortKeysF32Generic(dst[n:], a[n:], flip)
}

// SortKeysF64 is [SortKeysF32] for float64; NaN becomes [math.MaxUint64].
func SortKeysF64(dst []uint64, a []float64, flip uint64) {
	n := 0
	if cpu.HasAVX2FMA && len(a) >= 4 {
		n = len(a) &^ 3
		dst = dst[:len(a)]
		sortKeys64(&dst[0], &a[0], n, flip)
	}
	sortKeysF64Generic(dst[n:], a[n:], flip)
}

// SortKeysI32 is [SortKeysF32] for int32.
func SortKeysI32(dst []uint64, a []int32, flip uint64) {
	n := 0
	if cpu.HasAVX2FMA && len(a) >= 8 {
		n = len(a) &^ 7
		dst = dst[:len(a)]
		sortKeysI32(&dst[0], &a[0], n, flip)
	}
	sortKeysI32Generic(dst[n:], a[n:], flip)
}

// SortKeysU8 is [SortKeysF32] for bytes.
func SortKeysU8(dst []uint64, a []uint8, flip uint64) {
	n := 0
	if cpu.HasAVX2FMA && len(a) >= 8 {
		n = len(a) &^ 7
		dst = dst[:len(a)]
		sortKeysU8(&dst[0], &a[0], n, flip)
	}
	sortKeysU8Generic(dst[n:], a[n:], flip)
}

// sortKeys32 takes n numbers, a positive multiple of 8.
//
//go:noescape
func sortKeys32(dst *uint64, src *float32, n int, flip uint64)

// sortKeys64 takes n numbers, a positive multiple of 4.
//
//go:noescape
func sortKeys64(dst *uint64, src *float64, n int, flip uint64)

// sortKeysI32 and sortKeysU8 take n numbers, a positive multiple of 8.
//
//go:noescape
func sortKeysI32(dst *uint64, src *int32, n int, flip uint64)

//go:noescape
func sortKeysU8(dst *uint64, src *uint8, n int, flip uint64)
