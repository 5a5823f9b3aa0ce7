package rng

import (
	"fmt"
	"math"
	"math/bits"
)

// wide is the smallest range that is drawn from 64 bits; below it 32 are used.
const wide = 1 << 28

// Kind names a tensor's element type where the sampler depends on it. The
// 16-bit floats are filled through a float32 slice, bool through a uint8 one.
type Kind uint8

// The element types.
const (
	Bool Kind = iota
	Uint8
	Int8
	Int16
	Int32
	Int64
	Uint16
	Uint32
	Float16
	BFloat16
	Float32
	Float64
)

// kindInfo holds the largest integer that random_ gives, the range that a bound
// must lie in, and the bits of the mantissa (0 for integer types).
var kindInfo = [...]struct {
	name   string
	max    int64
	lo, hi float64
	digits int
}{
	Bool:     {"bool", 1, 0, 1, 0},
	Uint8:    {"uint8", 1<<8 - 1, 0, 1<<8 - 1, 0},
	Int8:     {"int8", 1<<7 - 1, -1 << 7, 1<<7 - 1, 0},
	Int16:    {"int16", 1<<15 - 1, -1 << 15, 1<<15 - 1, 0},
	Int32:    {"int32", 1<<31 - 1, -1 << 31, 1<<31 - 1, 0},
	Int64:    {"int64", 1<<63 - 1, -1 << 63, 1<<63 - 1, 0},
	Uint16:   {"uint16", 1<<16 - 1, 0, 1<<16 - 1, 0},
	Uint32:   {"uint32", 1<<32 - 1, 0, 1<<32 - 1, 0},
	Float16:  {"float16", 1 << 11, -65504, 65504, 11},
	BFloat16: {"bfloat16", 1 << 8, -0x1.fep127, 0x1.fep127, 8},
	Float32:  {"float32", 1 << 24, -math.MaxFloat32, math.MaxFloat32, 24},
	Float64:  {"float64", 1 << 53, -math.MaxFloat64, math.MaxFloat64, 53},
}

// String returns PyTorch's name of the type.
func (k Kind) String() string { return kindInfo[k].name }

// Max returns the largest integer that random_() and random_(from, None) give
// for the type: for floating-point types the end of the range in which every
// integer is exact.
func (k Kind) Max() int64 { return kindInfo[k].max }

// round stores an integer in the type and reads it back.
func (k Kind) round(i int64) int64 {
	switch k {
	case Float16:
		return int64(RoundFloat16(float32(i)))
	case BFloat16:
		return int64(RoundBFloat16(float32(i)))
	case Float32:
		return int64(float32(i))
	case Float64:
		return int64(float64(i))
	}
	return i
}

// Range checks the bounds of random_(from, to), randint and randint_like for the
// type and returns the bounds that are drawn between. They differ from the
// arguments for floating-point types whose spacing at a bound is so wide that
// the first or last integer would round out of the range.
func (k Kind) Range(from, to int64) (int64, int64, error) {
	d := kindInfo[k].digits
	if from >= to {
		return 0, 0, fmt.Errorf("rng: random: expected from < to, got from=%d to=%d", from, to)
	}
	if f := float64(from); f < kindInfo[k].lo || f > kindInfo[k].hi {
		return 0, 0, fmt.Errorf("rng: random: from=%d is out of bounds for %v", from, k)
	}
	if t := float64(to - 1); t < kindInfo[k].lo || t > kindInfo[k].hi {
		return 0, 0, fmt.Errorf("rng: random: to-1=%d is out of bounds for %v", to-1, k)
	}
	if d > 0 {
		// One spacing of the type at the bound's magnitude, inwards.
		step := func(v int64) int64 { return 1 << max(0, bits.Len64(uint64(max(v, -v)))-d) }
		if f := k.round(from + 1); f < from {
			from = f + step(from+1)
		}
		if t := k.round(to - 1); t >= to {
			to = t - step(to-1)
		}
		if from >= to {
			return 0, 0, fmt.Errorf("rng: random: no %v lies in the range after rounding its bounds to from=%d to=%d",
				k, from, to)
		}
	}
	return from, to, nil
}

// RandInt fills dst with integers from, from+1, … from+n-1: randint,
// randint_like and random_(from, to) with n = to-from; random_(from, None) with
// n = kind.Max()-from+1. n = 0 stands for 2^64 (random_(-2^63, None)), where the
// 64 bits are the result and from is not added. Ranges
// below 2^28 take 32 bits of the generator per element, others 64, whatever T
// is.
func RandInt[T Number](g *Generator, dst []T, from int64, n uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n != 0 && n < wide {
		randWords(g, dst, from, uint32(n))
		return
	}
	m := newModulus(max(n, 1))
	g.each(len(dst), 2, func(lo, hi int, w []uint32) {
		for i := range dst[lo:hi] {
			r := uint64(w[2*i])<<32 | uint64(w[2*i+1])
			if n != 0 {
				r = m.of(r) + uint64(from)
			}
			dst[lo+i] = T(int64(r))
		}
	})
}

// RandIntRange is RandInt for the half-open range [from,to). It fails when the
// range is empty. Kind.Range gives the bounds for a tensor's type.
func RandIntRange[T Number](g *Generator, dst []T, from, to int64) error {
	if from >= to {
		return fmt.Errorf("rng: random: expected from < to, got from=%d to=%d", from, to)
	}
	RandInt(g, dst, from, uint64(to)-uint64(from))
	return nil
}

// Random fills dst with random_() for the type k: 0 … k.Max(). Int64 and Float64
// take 64 bits per element, the others 32. PyTorch has no random_() for uint16
// and uint32; here they get all their values.
func Random[T Number](g *Generator, dst []T, k Kind) {
	n := uint64(k.Max()) + 1
	g.mu.Lock()
	defer g.mu.Unlock()
	if k == Int64 || k == Float64 {
		m := newModulus(n)
		g.each(len(dst), 2, func(lo, hi int, w []uint32) {
			for i := range dst[lo:hi] {
				dst[lo+i] = T(m.of(uint64(w[2*i])<<32 | uint64(w[2*i+1])))
			}
		})
		return
	}
	randWords(g, dst, 0, uint32(n))
}

// randWords stores word%n + from.
func randWords[T Number](g *Generator, dst []T, from int64, n uint32) {
	m := newModulus(uint64(n))
	g.each(len(dst), 1, func(lo, hi int, w []uint32) {
		d := dst[lo:hi]
		if n&(n-1) == 0 {
			for i, r := range w {
				d[i] = T(int64(r&(n-1)) + from)
			}
			return
		}
		for i, r := range w {
			d[i] = T(int64(m.of(uint64(r))) + from)
		}
	})
}

// permWide is the length from which permutations take 64 bits per element.
const permWide = (1<<32 - 1) / 20

// RandPerm fills dst with a permutation of 0 … len(dst)-1: randperm of any type.
// Values are stored as T holds them; numbers beyond its range wrap or round.
func RandPerm[T Number](g *Generator, dst []T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	randPerm(g, dst, permWide)
}

// randPerm has the limit as an argument so that tests can reach the long form.
func randPerm[T Number](g *Generator, dst []T, limit int) {
	n := len(dst)
	if n >= limit {
		// Inside out: the slice holds a permutation of 0 … i after each step.
		for i := range dst {
			z := g.u64() % uint64(i+1)
			dst[i] = dst[z]
			dst[z] = T(i)
		}
		return
	}
	for i := range dst {
		dst[i] = T(i)
	}
	for i := 0; i < n-1; i++ {
		j := i + int(g.u32()%uint32(n-i))
		dst[i], dst[j] = dst[j], dst[i]
	}
}
