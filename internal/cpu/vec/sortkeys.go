package vec

import (
	"math"
	"math/bits"
)

func outside64(keys *[64]uint64, lo, hi uint64) (below, above uint64) {
	for _, k := range keys {
		_, less := bits.Sub64(k, lo, 0)
		_, more := bits.Sub64(hi, k, 0)
		below, above = below>>1|less<<63, above>>1|more<<63
	}
	return below, above
}

func sortKeysF32Generic(dst []uint64, a []float32, flip uint64) {
	dst = dst[:len(a)]
	for i, v := range a {
		b := math.Float32bits(v)
		sign := uint32(int32(b) >> 31)
		b &= math.MaxInt32
		k := ((b ^ sign) - sign) ^ 1<<31 // two's complement, where -0 is 0
		if b > 0xff<<23 {                // NaN
			k = math.MaxUint32
		}
		dst[i] = uint64(k) ^ flip
	}
}

func sortKeysF64Generic(dst []uint64, a []float64, flip uint64) {
	dst = dst[:len(a)]
	for i, v := range a {
		b := math.Float64bits(v)
		sign := uint64(int64(b) >> 63)
		b &= math.MaxInt64
		k := ((b ^ sign) - sign) ^ 1<<63
		if b > 0x7ff<<52 {
			k = math.MaxUint64
		}
		dst[i] = k ^ flip
	}
}

func sortKeysI32Generic(dst []uint64, a []int32, flip uint64) {
	dst = dst[:len(a)]
	for i, v := range a {
		dst[i] = uint64(uint32(v)^1<<31) ^ flip
	}
}

func sortKeysU8Generic(dst []uint64, a []uint8, flip uint64) {
	dst = dst[:len(a)]
	for i, v := range a {
		dst[i] = uint64(v) ^ flip
	}
}
