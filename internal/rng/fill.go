package rng

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// Float is an element type that has its own uniform and normal sequences.
type Float interface{ ~float32 | ~float64 }

// Number is an element type that a sampled value can be stored in.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// A Rounder rounds a float32 to a 16-bit format: the result is exact in that
// format. RoundFloat16 and RoundBFloat16 are the two there are.
type Rounder func(float32) float32

// RoundBFloat16 rounds to the nearest bfloat16, ties to even.
func RoundBFloat16(x float32) float32 {
	b := math.Float32bits(x)
	if x != x {
		return math.Float32frombits(b&^0xffff | 0x400000)
	}
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}

// RoundFloat16 rounds to the nearest IEEE half, ties to even; beyond 65504 it
// overflows to infinity.
func RoundFloat16(x float32) float32 {
	// Adding and taking away a power of two whose last place is that of the
	// half-precision result rounds in hardware.
	a := math.Float32frombits(math.Float32bits(x) & 0x7fffffff)
	if !(a < 65520) {
		if a == a {
			return float32(math.Inf(1)) * x // keeps the sign
		}
		return x
	}
	e := math.Float32bits(a) >> 23
	const minNormal = 127 - 14
	e = max(e, minNormal)
	magic := math.Float32frombits((e + 13) << 23)
	r := float32(a+magic) - magic
	return math.Float32frombits(math.Float32bits(r) | math.Float32bits(x)&0x80000000)
}

// chunk is how many numbers are transformed at a time in two steps: they stay in
// the first-level cache. A multiple of 16.
const chunk = 2048

// asFloat32 returns s as []float32 when its elements are 32 bits wide.
func asFloat32[T Float](s []T) ([]float32, bool) {
	if unsafe.Sizeof(*new(T)) != 4 {
		return nil, false
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(s))), len(s)), true
}

func asFloat64[T Float](s []T) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Uniform fills dst with uniform numbers in [a,b): uniform_, rand, rand_like.
// A complex destination is passed as the real slice under it, since real and
// imaginary parts alternate. It fails unless a <= b and b-a is finite in T.
func Uniform[T Float](g *Generator, dst []T, a, b float64) error {
	if err := checkInterval(a, b, float64(T(b-a))); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if d, ok := asFloat32(dst); ok {
		g.uniform32(d, float32(a), float32(b))
	} else {
		g.uniform64(asFloat64(dst), a, b)
	}
	return nil
}

// UniformLow is Uniform for the 16-bit types: dst receives float32 values that
// round has already made exact in the narrow type. The float32 sequence is
// drawn; a value that rounds to b becomes a.
func UniformLow(g *Generator, dst []float32, a, b float64, round Rounder) error {
	if err := checkInterval(a, b, b-a); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	fa, fb := float32(a), float32(b)
	ra, rb := round(fa), round(fb)
	g.each(len(dst), 1, func(lo, hi int, w []uint32) {
		d := dst[lo:hi]
		toUniform32(d, w, fa, fb-fa, fb)
		for i, v := range d {
			if v = round(v); v == rb {
				v = ra
			}
			d[i] = v
		}
	})
	return nil
}

func checkInterval(a, b, width float64) error {
	if !(a <= b) {
		return fmt.Errorf("rng: uniform: expected a range [from, to) with from <= to, got from=%v to=%v", a, b)
	}
	if math.IsInf(width, 0) || math.IsNaN(width) {
		return fmt.Errorf("rng: uniform: to-from must be finite in the element type, got from=%v to=%v", a, b)
	}
	return nil
}

func (g *Generator) uniform32(dst []float32, a, b float32) {
	g.each(len(dst), 1, func(lo, hi int, w []uint32) { toUniform32(dst[lo:hi], w, a, b-a, b) })
}

func (g *Generator) uniform64(dst []float64, a, b float64) {
	g.each(len(dst), 2, func(lo, hi int, w []uint32) { toUniform64(dst[lo:hi], w, a, b) })
}

// toUniform64 makes numbers in [a,b) of two words each.
func toUniform64(d []float64, w []uint32, a, b float64) {
	scale := b - a
	if a == 0 && scale == 1 {
		for i := range d {
			d[i] = wordsU53(w[2*i:])
		}
		return
	}
	for i := range d {
		v := math.FMA(wordsU53(w[2*i:]), scale, a)
		if v == b {
			v = a
		}
		d[i] = v
	}
}

// Normal fills dst with normal numbers: normal_, randn, randn_like.
//
// contiguous says whether the destination tensor is contiguous in row-major
// order. If it is, and has 16 elements or more, pairs are made in blocks of 16
// in T's own precision; otherwise each element is a scalar normal in float64.
// For a strided or channels_last tensor the caller passes false, collects the
// numbers in any number of pieces, and stores them in memory order. A complex
// destination is passed as its real slice with std/sqrt(2).
//
// It fails for a negative or NaN std.
func Normal[T Float](g *Generator, dst []T, mean, std float64, contiguous bool) error {
	if err := checkStd("normal", std); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !contiguous || len(dst) < 16 {
		scalarNormal(g, dst, mean, std)
		return nil
	}
	if d, ok := asFloat32(dst); ok {
		g.normal32Fill(d, float32(mean), float32(std), false)
	} else {
		g.normal64Fill(asFloat64(dst), mean, std)
	}
	return nil
}

// NormalLow is Normal for the 16-bit types: dst receives float32 values that
// round has already made exact in the narrow type. With 16 elements or more it
// does not draw as many numbers as float32 does unless their count is a
// multiple of 16.
func NormalLow(g *Generator, dst []float32, mean, std float64, contiguous bool, round Rounder) error {
	if err := checkStd("normal", std); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !contiguous || len(dst) < 16 {
		scalarNormal(g, dst, mean, std)
	} else {
		g.normal32Fill(dst, float32(mean), float32(std), true)
	}
	par.For(len(dst), share, func(lo, hi int) {
		for i, v := range dst[lo:hi] {
			dst[lo+i] = round(v)
		}
	})
	return nil
}

func checkStd(op string, std float64) error {
	if !(std >= 0) {
		return fmt.Errorf("rng: %s: expected std >= 0, got std=%v", op, std)
	}
	return nil
}

func scalarNormal[T Float](g *Generator, dst []T, mean, std float64) {
	g.norms(len(dst), func(i int, v float64) { dst[i] = T(math.FMA(v, std, mean)) })
}

// norms draws n normals by the scalar path: one may be left from the last
// call, then they come in pairs.
func (g *Generator) norms(n int, set func(i int, v float64)) {
	first := 0
	if g.normalValid && n > 0 {
		set(0, g.norm())
		first = 1
	}
	g.each((n-first)/2, 4, func(lo, hi int, w []uint32) {
		for i := lo; i < hi; i++ {
			a, b := normalPair(wordsU53(w), wordsU53(w[2:]))
			set(first+2*i, a)
			set(first+2*i+1, b)
			w = w[4:]
		}
	})
	if (n-first)%2 != 0 {
		set(n-1, g.norm())
	}
}

// normal32Fill is the block path. Where the length is no multiple of 16 the last
// 16 positions are filled anew at the end. PyTorch's float32 code has by then
// drawn a number for every element, its 16-bit code only for the whole blocks.
func (g *Generator) normal32Fill(dst []float32, mean, std float32, wholeBlocksOnly bool) {
	n := len(dst)
	drawn := n
	if wholeBlocksOnly {
		drawn &^= 15
	}
	blocks := func(d []float32, w []uint32) {
		for len(d) > 0 { // pieces that stay in the first-level cache
			m := min(len(d), chunk)
			toUniform32(d[:m], w[:m], 0, 1, 1)
			normalBlocks32(d[:m&^15], mean, std)
			d, w = d[m:], w[m:]
		}
	}
	g.each(drawn, 1, func(lo, hi int, w []uint32) { blocks(dst[lo:hi], w) })
	if n%16 != 0 {
		var w [16]uint32
		g.fill32(w[:])
		blocks(dst[n-16:], w[:])
	}
}

func (g *Generator) normal64Fill(dst []float64, mean, std float64) {
	blocks := func(d []float64, w []uint32) {
		toUniform64(d, w, 0, 1)
		normalBlocks64(d, mean, std)
	}
	n := len(dst)
	g.each(n, 2, func(lo, hi int, w []uint32) { blocks(dst[lo:hi], w) })
	if n%16 != 0 {
		var w [32]uint32
		g.fill32(w[:])
		blocks(dst[n-16:], w[:])
	}
}

// LogNormal fills dst with exp(normal(mean, std)): log_normal_. It takes scalar
// normals in float64 for every size and type. It fails unless std > 0.
func LogNormal[T Float](g *Generator, dst []T, mean, std float64) error {
	if !(std > 0) {
		return fmt.Errorf("rng: log_normal: expected std > 0, got std=%v", std)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.norms(len(dst), func(i int, v float64) { dst[i] = T(exp(math.FMA(v, std, mean))) })
	return nil
}

// Exponential fills dst with numbers of density lambda*exp(-lambda*x):
// exponential_. It fails unless lambda > 0.
func Exponential[T Float](g *Generator, dst []T, lambda float64) error {
	if !(lambda > 0) {
		return fmt.Errorf("rng: exponential: expected lambda > 0, got lambda=%v", lambda)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.exponential64(len(dst), lambda, func(i int, v float64) { dst[i] = T(v) })
	return nil
}

// exponential64 hands each number to set, on several threads.
func (g *Generator) exponential64(n int, lambda float64, set func(int, float64)) {
	s := -1 / lambda
	g.doubles(n, func(i int, u float64) { set(i, s*log1p(-u)) })
}

// doubles draws n numbers of 53 bits in [0,1) and hands them to set, on several
// threads.
func (g *Generator) doubles(n int, set func(i int, u float64)) {
	g.each(n, 2, func(lo, hi int, w []uint32) {
		for i := lo; i < hi; i++ {
			set(i, wordsU53(w))
			w = w[2:]
		}
	})
}

// Cauchy fills dst with numbers of the Cauchy distribution: cauchy_. It fails
// unless sigma > 0.
func Cauchy[T Float](g *Generator, dst []T, median, sigma float64) error {
	if !(sigma > 0) {
		return fmt.Errorf("rng: cauchy: expected sigma > 0, got sigma=%v", sigma)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doubles(len(dst), func(i int, u float64) { dst[i] = T(median + float64(sigma*tan(math.Pi*(u-0.5)))) })
	return nil
}

// Geometric fills dst with the number of trials up to the first success:
// geometric_, any type but bool. It fails unless 0 < p < 1.
func Geometric[T Number](g *Generator, dst []T, p float64) error {
	if !(p > 0 && p < 1) {
		return fmt.Errorf("rng: geometric: expected 0 < p < 1, got p=%v", p)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l := log1p(-p)
	g.doubles(len(dst), func(i int, u float64) { dst[i] = T(math.Ceil(ln(u) / l)) })
	return nil
}

func checkProb(op string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("rng: %s: expected a probability 0 <= p <= 1, got p=%v", op, p)
	}
	return nil
}

// Bernoulli fills dst with ones of probability p and zeros, 53 bits each
// whatever T is: bernoulli_(p), and the masks of dropout. Pass a bool tensor's
// bytes as []uint8.
func Bernoulli[T Number](g *Generator, dst []T, p float64) error {
	if err := checkProb("bernoulli", p); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	bernoulli(g, dst, p, 1)
	return nil
}

// bernoulli stores one where the draw says yes. The comparison is made on the
// 53-bit integers: u < p exactly when k < ceil(p*2^53).
func bernoulli[T Number](g *Generator, dst []T, p float64, one T) {
	limit := uint64(math.Ceil(p * (1 << 53)))
	g.each(len(dst), 2, func(lo, hi int, w []uint32) {
		if d, ok := any(dst[lo:hi]).([]byte); ok && one == 1 {
			toBernoulli(d, w, limit)
			return
		}
		var bytes [share / 2]byte
		toBernoulli(bytes[:hi-lo], w, limit)
		pick := [2]T{0, one}
		for i, v := range bytes[:hi-lo] {
			dst[lo+i] = pick[v]
		}
	})
}

// BernoulliProbs fills dst with ones of probability p[i]: bernoulli(P) and
// bernoulli_(P). A float64 P compares 53-bit numbers, a float32 P (and a 16-bit
// P widened to float32) 24-bit ones. len(p) must be len(dst). It fails, without
// drawing, when a p is not a probability.
func BernoulliProbs[T Number, P Float](g *Generator, dst []T, p []P) error {
	if len(p) != len(dst) {
		return fmt.Errorf("rng: bernoulli: got %d probabilities for %d elements", len(p), len(dst))
	}
	for _, v := range p {
		if err := checkProb("bernoulli", float64(v)); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	narrow := unsafe.Sizeof(*new(P)) == 4
	per := 2
	if narrow {
		per = 1
	}
	g.each(len(dst), per, func(lo, hi int, w []uint32) {
		for i, q := range p[lo:hi] {
			var u P
			if narrow {
				u = P(u24(w[i]))
			} else {
				u = P(wordsU53(w[2*i:]))
			}
			dst[lo+i] = 0
			if u < q {
				dst[lo+i] = 1
			}
		}
	})
	return nil
}

// DropoutMask fills dst with the factors of dropout at probability p: zero, or
// 1/(1-p) rounded to T. At p = 0 (all ones) and p = 1 (all zeros) it draws
// nothing. For the 16-bit types use Bernoulli(1-p) and round 1/(1-p) to them.
// Elements are in the memory order of the input tensor.
func DropoutMask[T Float](g *Generator, dst []T, p float64) error {
	if err := checkProb("dropout", p); err != nil {
		return err
	}
	switch p {
	case 0:
		for i := range dst {
			dst[i] = 1
		}
	case 1:
		clear(dst)
	default:
		g.mu.Lock()
		defer g.mu.Unlock()
		bernoulli(g, dst, 1-p, 1/T(1-p))
	}
	return nil
}
