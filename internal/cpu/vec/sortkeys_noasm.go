//go:build !amd64 || purego

package vec

// Outside64 has the bits set of the keys less than lo, and of those greater than hi.
func Outside64(keys *[64]uint64, lo, hi uint64) (below, above uint64) { return outside64(keys, lo, hi) }

// SortKeysF32 sets dst to keys of a: unsigned integers in the order of the numbers, NaN as [math.MaxUint32] after all,
// one key for -0 and 0. The bits of flip are inverted in each.
func SortKeysF32(dst []uint64, a []float32, flip uint64) { sortKeysF32Generic(dst, a, flip) }

// SortKeysF64 is [SortKeysF32] for float64; NaN becomes [math.MaxUint64].
func SortKeysF64(dst []uint64, a []float64, flip uint64) { sortKeysF64Generic(dst, a, flip) }

// SortKeysI32 is [SortKeysF32] for int32.
func SortKeysI32(dst []uint64, a []int32, flip uint64) { sortKeysI32Generic(dst, a, flip) }

// SortKeysU8 is [SortKeysF32] for bytes.
func SortKeysU8(dst []uint64, a []uint8, flip uint64) { sortKeysU8Generic(dst, a, flip) }
