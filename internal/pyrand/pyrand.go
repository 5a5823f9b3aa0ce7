// Package pyrand reproduces the integer side of CPython's random module: the
// seeding, getrandbits and shuffle of Python 3, so that tools which promise the
// same order as a Python script keep the promise.
package pyrand

import "math/bits"

const (
	n = 624
	m = 397
)

// Rand is a Mersenne Twister (MT19937) seeded the way Python does it.
type Rand struct {
	mt [n]uint32
	at int
}

// New returns the state after random.seed(seed) with a non-negative integer.
func New(seed uint64) *Rand {
	// Python hands the integer's 32-bit digits, lowest first, to init_by_array.
	key := []uint32{uint32(seed)}
	if seed>>32 != 0 {
		key = append(key, uint32(seed>>32))
	}
	r := &Rand{at: n}
	r.mt[0] = 19650218
	for i := 1; i < n; i++ {
		r.mt[i] = 1812433253*(r.mt[i-1]^r.mt[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	for range max(n, len(key)) {
		r.mt[i] = (r.mt[i] ^ (r.mt[i-1]^r.mt[i-1]>>30)*1664525) + key[j] + uint32(j)
		i, j = r.wrap(i+1), (j+1)%len(key)
	}
	for range n - 1 {
		r.mt[i] = (r.mt[i] ^ (r.mt[i-1]^r.mt[i-1]>>30)*1566083941) - uint32(i)
		i = r.wrap(i + 1)
	}
	r.mt[0] = 1 << 31
	return r
}

func (r *Rand) wrap(i int) int {
	if i == n {
		r.mt[0] = r.mt[n-1]
		return 1
	}
	return i
}

// Uint32 returns the next word of the generator, getrandbits(32).
func (r *Rand) Uint32() uint32 {
	if r.at == n {
		for k := range n {
			y := r.mt[k]&(1<<31) | r.mt[(k+1)%n]&(1<<31-1)
			v := r.mt[(k+m)%n] ^ y>>1
			if y&1 != 0 {
				v ^= 0x9908b0df
			}
			r.mt[k] = v
		}
		r.at = 0
	}
	y := r.mt[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Bits returns getrandbits(k) for 1 <= k <= 64. Words are used lowest first; the
// last one gives its upper bits.
func (r *Rand) Bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.Uint32() >> (32 - k))
	}
	low := uint64(r.Uint32())
	return low | uint64(r.Uint32()>>(64-k))<<32
}

// Below returns random.randrange(limit) for limit > 0: numbers of as many bits
// as limit has, until one is small enough.
func (r *Rand) Below(limit uint64) uint64 {
	k := bits.Len64(limit)
	for {
		if v := r.Bits(k); v < limit {
			return v
		}
	}
}

// Shuffle permutes count elements in the order of random.shuffle.
func (r *Rand) Shuffle(count int, swap func(i, j int)) {
	for i := count - 1; i > 0; i-- {
		swap(i, int(r.Below(uint64(i+1))))
	}
}
