package rng

import "fmt"

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
	Float16
	BFloat16
	Float32
	Float64
)

// kindMax is the largest value that random_ gives: for floating-point types the
// end of the range in which every integer is exact.
var kindMax = [...]int64{
	Bool: 1, Uint8: 1<<8 - 1, Int8: 1<<7 - 1, Int16: 1<<15 - 1, Int32: 1<<31 - 1, Int64: 1<<63 - 1,
	Float16: 1 << 11, BFloat16: 1 << 8, Float32: 1 << 24, Float64: 1 << 53,
}

// Max returns the largest integer that random_() and random_(from, None) give
// for the type.
func (k Kind) Max() int64 { return kindMax[k] }

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
	for i := range dst {
		r := g.u64()
		if n != 0 {
			r = r%n + uint64(from)
		}
		dst[i] = T(int64(r))
	}
}

// RandIntRange is RandInt for the half-open range [from,to). It fails when the
// range is empty.
func RandIntRange[T Number](g *Generator, dst []T, from, to int64) error {
	if from >= to {
		return fmt.Errorf("rng: random: expected from < to, got from=%d to=%d", from, to)
	}
	RandInt(g, dst, from, uint64(to)-uint64(from))
	return nil
}

// Random fills dst with random_() for the type k: 0 … k.Max(). Int64 and
// Float64 take 64 bits per element, the others 32.
func Random[T Number](g *Generator, dst []T, k Kind) {
	n := uint64(k.Max()) + 1
	g.mu.Lock()
	defer g.mu.Unlock()
	if k == Int64 || k == Float64 {
		for i := range dst {
			dst[i] = T(g.u64() % n)
		}
		return
	}
	randWords(g, dst, 0, uint32(n))
}

// randWords stores word%n + from.
func randWords[T Number](g *Generator, dst []T, from int64, n uint32) {
	var buf [chunk]uint32
	for len(dst) > 0 {
		w := buf[:min(len(dst), chunk)]
		g.fill32(w)
		if n&(n-1) == 0 {
			for i, r := range w {
				dst[i] = T(int64(r&(n-1)) + from)
			}
		} else {
			for i, r := range w {
				dst[i] = T(int64(r%n) + from)
			}
		}
		dst = dst[len(w):]
	}
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
