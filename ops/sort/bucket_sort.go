package sort

import (
	"math"
	"math/bits"
)

// Short lines are spread over more buckets than they have elements, by interpolation between the smallest and the
// largest; few elements then have to pass others. Lines whose elements crowd in few places are given up.

const (
	bucketFrom = 24       // elements
	bucketMost = wideFrom // elements
	maxBuckets = 1 << wideBits
	passing    = 4 // places that elements may move within buckets, on average, before the line is given up
)

// bucketed is the sorted packed words of the keys of a line, which lie between least and most; nil where that would
// take too long.
func bucketed[E ordered](s *scratch, line []E, keys []uint64, least, most uint64, below int, desc bool) []uint64 {
	n := len(keys)
	size := min(maxBuckets, 2<<bits.Len(uint(n-1)))
	at := take(&s.bucket, n)[:len(keys)]
	if !intoBuckets(at, line, least, most, desc, size) {
		shift := max(0, bits.Len64(most-least)-bits.Len(uint(size-1)))
		for i, k := range keys {
			at[i] = uint16((k - least) >> (shift & 63))
		}
	}
	count := (*[maxBuckets]int32)(take(&s.wide, maxBuckets))
	clear(count[:size])
	for _, b := range at {
		count[b&(maxBuckets-1)]++
	}
	prefixSums(count[:size])
	to := take(&s.spare, n)
	for i, k := range keys {
		p := &count[at[i]&(maxBuckets-1)]
		to[*p] = packed(k-least, i, below)
		*p++
	}
	left := passing * n
	for i := 1; i < n; i++ {
		w, prev := to[i], to[i-1]
		if prev <= w {
			continue
		}
		j := i
		for {
			to[j] = prev
			if j--; j == 0 {
				break
			}
			if prev = to[j-1]; prev <= w {
				break
			}
		}
		to[j] = w
		if left -= i - j; left < 0 {
			return nil
		}
	}
	return to
}

// intoBuckets sets at to the bucket of each element of a line of floats, whose keys lie far apart near zero. It
// reports false for other lines, and for those with infinite elements or NaN.
func intoBuckets[E ordered](at []uint16, line []E, least, most uint64, desc bool, size int) bool {
	if desc {
		least, most = ^most, ^least
	}
	switch l := any(line).(type) {
	case []float32:
		lo, hi := float32Of(least), float32Of(most)
		scale := float32(size-1) / (hi - lo)
		if !(hi-lo <= math.MaxFloat32 && scale <= math.MaxFloat32) {
			return false
		}
		at = at[:len(l)]
		for i, v := range l {
			at[i] = uint16(int32((v - lo) * scale))
		}
	case []float64:
		lo, hi := float64Of(least), float64Of(most)
		scale := float64(size-1) / (hi - lo)
		if !(hi-lo <= math.MaxFloat64 && scale <= math.MaxFloat64) {
			return false
		}
		at = at[:len(l)]
		for i, v := range l {
			at[i] = uint16(int32((v - lo) * scale))
		}
	default:
		return false
	}
	if desc {
		for i, b := range at {
			at[i] = uint16(size-1) - b
		}
	}
	return true
}

// float32Of is the number of a key.
func float32Of(key uint64) float32 {
	b := uint32(key) ^ 1<<31
	sign := uint32(int32(b) >> 31)
	return math.Float32frombits((b + sign) ^ sign | sign<<31)
}

// float64Of is the number of a key.
func float64Of(key uint64) float64 {
	b := key ^ 1<<63
	sign := uint64(int64(b) >> 63)
	return math.Float64frombits((b + sign) ^ sign | sign<<63)
}
