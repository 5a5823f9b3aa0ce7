package vec

import (
	"math"
	"runtime"
)

// chunk is the number of elements that one assembly call handles at most:
// some 10 µs for the most expensive kernel with its data in cache.
const chunk = 16384

// yield is called between chunks. The stack check in the prologue of
// preemptible is where the runtime stops a goroutine that asked it to.
func yield(i, n int) {
	if i < n {
		preemptible(0)
	}
}

// preemptible does nothing but have a frame large enough that the compiler
// must check the stack, which is where pre-emption happens.
//
//go:noinline
func preemptible(i int) byte {
	var frame [256]byte
	frame[i&255] = 1
	return frame[(i+1)&255]
}

var (
	nan32 = float32(math.NaN())
	inf32 = float32(math.Inf(1))
	nan64 = math.NaN()
	inf64 = math.Inf(1)
)

// sel32 and sel64 are m ? a : b without a branch: on mixed data a mispredicted
// branch costs ten times as much.
func sel32(m bool, a, b float32) float32 {
	x, y := math.Float32bits(a), math.Float32bits(b)
	return math.Float32frombits(y ^ (x^y)&-uint32(b2u8(m)))
}

func sel64(m bool, a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	return math.Float64frombits(y ^ (x^y)&-uint64(b2u8(m)))
}

// fma32 is a*b + c rounded once to float32.
func fma32(a, b, c float32) float32 {
	if nativeFMA {
		return a*b + c
	}
	if s := float64(a)*float64(b) + float64(c); roundsOnce(s) {
		return float32(s)
	}
	return fma32Slow(a, b, c)
}

// roundsOnce reports that a float64 sum s of a float32 and a product of two
// float32 gives the fused result when it is converted to float32. The product
// is exact in float64, so only the sum rounds, to 53 bits; rounding that to 24
// is right unless s is the middle between two float32 values, perhaps because
// of the first rounding, or subnormal in float32.
func roundsOnce(s float64) bool {
	u := math.Float64bits(s)
	return uint32(u)<<3 != 1<<31 && u&(1<<63-1) >= 0x3810000000000000
}

// roundsOnceNormal is roundsOnce for sums that are 0 or not subnormal.
func roundsOnceNormal(s float64) bool { return uint32(math.Float64bits(s))<<3 != 1<<31 }

// fma32Slow rounds the sum to odd first: when the sum is inexact its last bit
// is set, so that the second rounding sees on which side of a middle it lies.
func fma32Slow(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	if s == 0 || math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// The rounding error of the sum, exactly (Knuth's two-sum).
	t := s - p
	e := (p - (s - t)) + (q - t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 {
		// s is too far from zero when the error points back to zero.
		if (e < 0) == (s > 0) {
			u--
		} else {
			u++
		}
	}
	return float32(math.Float64frombits(u))
}

func b2u8(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// truncI32 converts towards zero and gives the smallest int32 for NaN and for
// what does not fit, as the x86 instruction does.
func truncI32(x float32) int32 {
	if x > -0x1.000002p31 && x < 0x1p31 {
		return int32(x)
	}
	return math.MinInt32
}

// truncI64 does the same for int64. On x86 the conversion itself gives the smallest one; in Go that depends on the
// processor.
func truncI64(x float64) int64 {
	if runtime.GOARCH == "amd64" || x >= -0x1p63 && x < 0x1p63 {
		return int64(x)
	}
	return math.MinInt64
}

// F16ToF32 widens one half-precision value.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp, frac := uint32(h>>10)&31, uint32(h)&0x3ff
	switch {
	case exp == 31 && frac != 0: // NaN, made quiet as the hardware does
		return math.Float32frombits(sign | 0x7fc00000 | frac<<13)
	case exp == 31:
		return math.Float32frombits(sign | 0x7f800000)
	case exp == 0: // zero and subnormal: frac * 2^-24
		f := float32(frac) * 0x1p-24
		return math.Float32frombits(sign | math.Float32bits(f))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// F32ToF16 rounds one value to half precision, ties to even. Overflow gives
// Inf, NaN stays NaN.
func F32ToF16(f float32) uint16 {
	u := math.Float32bits(f)
	sign := uint16(u>>16) & 0x8000
	u &= 0x7fffffff
	switch {
	case u > 0x7f800000:
		return sign | 0x7e00 | uint16(u>>13)&0x3ff
	case u >= 0x47800000: // 65536 and above, Inf
		return sign | 0x7c00
	case u < 0x38800000: // below 2^-14: the result is subnormal
		// Adding 0.5 leaves the wanted bits, rounded, at the end of the
		// mantissa.
		m := math.Float32bits(math.Float32frombits(u)+0.5) - 0x3f000000
		return sign | uint16(m)
	}
	// Round on the 13 bits that go; a carry may reach the exponent, up to Inf.
	odd := (u >> 13) & 1
	return sign | uint16((u-0x38000000+0xfff+odd)>>13)
}

// BF16ToF32 widens one bfloat16 value.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 rounds one value to bfloat16, ties to even. Every NaN becomes
// 0x7fc0.
func F32ToBF16(f float32) uint16 {
	if f != f {
		return 0x7fc0
	}
	u := math.Float32bits(f)
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}
