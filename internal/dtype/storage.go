package dtype

import (
	"math"
	"sync"
	"unsafe"
)

// This file converts the types that IsStorage tells: unsigned integers of more than a byte, 8-bit floats, and complex
// numbers of 16-bit parts. The opaque types are copied, and converted to nothing else.

// wideUnsigned are the Go types of Uint16, Uint32 and Uint64.
type wideUnsigned interface{ ~uint16 | ~uint32 | ~uint64 }

// toUnsigned fills in the conversions to an unsigned type: integers keep their low bits. Floats become what PyTorch
// makes of them on x86, where the numbers of the upper half of the range are converted less the half, and what does not
// fit is the smallest number of the signed type.
func toUnsigned[D wideUnsigned](d DType) {
	c := &converters
	c[d][Bool], c[d][Uint8], c[d][Int8] = num[D, uint8], num[D, uint8], num[D, int8]
	c[d][Int16], c[d][Int32], c[d][Int64] = num[D, int16], num[D, int32], num[D, int64]
	c[d][Uint16], c[d][Uint32], c[d][Uint64] = num[D, uint16], num[D, uint32], num[D, uint64]
	c[d][Float32], c[d][Float64] = floatTo[D, float32], floatTo[D, float64]
}

func floatTo[D wideUnsigned, S float32 | float64](d, s unsafe.Pointer, n int) {
	dd, ss := sl[D](d, n), sl[S](s, n)
	for i, v := range ss {
		switch unsafe.Sizeof(dd[0]) {
		case 2:
			dd[i] = D(toInt32(float64(v)))
		case 4:
			dd[i] = D(toUint32(float64(v)))
		default:
			dd[i] = D(toUint64(float64(v)))
		}
	}
}

func toInt32(v float64) int32 {
	if v > math.MinInt32-1 && v < math.MaxInt32+1 {
		return int32(v)
	}
	return math.MinInt32
}

func toInt64(v float64) int64 {
	if v >= math.MinInt64 && v < math.MaxInt64 {
		return int64(v)
	}
	return math.MinInt64
}

func toUint32(v float64) uint32 {
	if v < 1<<31 || v != v {
		return uint32(toInt32(v))
	}
	return uint32(toInt32(v-1<<31)) ^ 1<<31
}

func toUint64(v float64) uint64 {
	if v >= 1<<63 {
		return uint64(toInt64(v-1<<63)) ^ 1<<63
	}
	return uint64(toInt64(v))
}

// float8Format is an 8-bit floating-point format: a sign, exponent bits, mantissa bits.
// https://arxiv.org/abs/2209.05433 and, for those with the suffix fnuz, https://arxiv.org/abs/2206.02915.
type float8Format struct {
	mantissa, bias int
	// fnuz formats have no negative zero, whose bits are their only NaN; fn formats have the NaN of all ones, and no
	// infinities either. The others are laid out as IEEE 754 has it.
	fn, fnuz bool
}

var float8Formats = map[DType]float8Format{
	Float8E4M3FN:   {mantissa: 3, bias: 7, fn: true},
	Float8E5M2:     {mantissa: 2, bias: 15},
	Float8E4M3FNUZ: {mantissa: 3, bias: 8, fnuz: true},
	Float8E5M2FNUZ: {mantissa: 2, bias: 16, fnuz: true},
}

// decode is the number that a byte stands for.
func (f float8Format) decode(b uint8) float32 {
	abs, m := int(b&0x7f), f.mantissa
	e, frac := abs>>m, abs&(1<<m-1)
	nan := float32(math.NaN())
	switch {
	case f.fnuz && b == 0x80, f.fn && abs == 0x7f:
		return nan
	case !f.fn && !f.fnuz && e == 1<<(7-m)-1:
		if frac != 0 {
			return nan
		}
		return float32(math.Inf(1 - 2*int(b>>7)))
	}
	v := math.Ldexp(float64(frac), 1-f.bias-m) // subnormal
	if e > 0 {
		v = math.Ldexp(float64(frac+1<<m), e-f.bias-m)
	}
	if b&0x80 != 0 {
		v = math.Copysign(v, -1)
	}
	return float32(v)
}

// encode rounds to the nearest number, ties to even. What is too large becomes infinite, NaN in fnuz formats, and in
// the others without infinity the largest number, as in PyTorch 2.15.
func (f float8Format) encode(v float32) uint8 {
	bits := math.Float32bits(v)
	sign, m := uint8(bits>>24)&0x80, f.mantissa
	bits &= 0x7fffffff
	if bits > 0x7f800000 {
		switch {
		case f.fnuz:
			return 0x80
		default:
			return sign | 0x7f
		}
	}
	var r uint32
	switch shift := 23 - m; {
	case bits >= uint32(127+32)<<23: // beyond all formats, and the sums below
		r = 0x80
	case bits < uint32(128-f.bias)<<23: // subnormal: the sum with a power of two rounds at the right place
		one := uint32(127+24-f.bias-m) << 23
		r = math.Float32bits(math.Float32frombits(bits)+math.Float32frombits(one)) - one
	default:
		r = (bits - uint32(127-f.bias)<<23 + 1<<(shift-1) - 1 + bits>>shift&1) >> shift
	}
	switch {
	case f.fnuz:
		if r >= 0x80 {
			return 0x80
		}
		if r == 0 {
			return 0
		}
	case f.fn:
		r = min(r, 0x7e)
	default:
		r = min(r, 0x7c)
	}
	return sign | uint8(r)
}

// decodeE8M0 is the power of two that a byte stands for, the exponent of a scale (OCP Microscaling Formats 1.0). 0xff
// is NaN; there is neither zero nor sign.
func decodeE8M0(b uint8) float32 {
	switch b {
	case 0:
		return math.Float32frombits(1 << 22)
	case 0xff:
		return float32(math.NaN())
	}
	return math.Float32frombits(uint32(b) << 23)
}

// encodeE8M0 rounds to the nearest power of two by the bits of the mantissa, from the half on upwards; the numbers
// below the smallest normal one only from above the half.
func encodeE8M0(v float32) uint8 {
	bits := math.Float32bits(v)
	e, frac := bits>>23&0xff, bits&0x7fffff
	if e == 0xff {
		return 0xff
	}
	if frac > 1<<22 || frac == 1<<22 && e > 0 {
		e++
	}
	return uint8(e)
}

// eight fills in the conversions of one format.
func eight(dt DType, decode func(uint8) float32, encode func(float32) uint8) {
	table := sync.OnceValue(func() *[256]float32 {
		t := new([256]float32)
		for i := range t {
			t[i] = decode(uint8(i))
		}
		return t
	})
	through(dt, Float32, func(d, s unsafe.Pointer, n int) {
		dd, ss, t := sl[float32](d, n), sl[uint8](s, n), table()
		for i, b := range ss {
			dd[i] = t[b]
		}
	}, func(d, s unsafe.Pointer, n int) {
		dd, ss := sl[uint8](d, n), sl[float32](s, n)
		for i, v := range ss {
			dd[i] = encode(v)
		}
	})
}

// through fills in the conversions of dt from those to and from a type between.
func through(dt, mid DType, to, from Converter) {
	c := &converters
	for _, x := range All {
		switch {
		case x == dt:
			size := dt.Size()
			c[dt][dt] = func(p, q unsafe.Pointer, n int) { copy(sl[byte](p, n*size), sl[byte](q, n*size)) }
		case x == mid:
			c[mid][dt], c[dt][mid] = to, from
		case c[mid][x] != nil: // else x is filled in later
			c[x][dt], c[dt][x] = via(to, c[x][mid], mid, dt, x), via(c[mid][x], from, mid, x, dt)
		}
	}
}

// storageTypes fills in the conversions of all these types; those of the others are there.
func storageTypes() {
	toUnsigned[uint16](Uint16)
	toUnsigned[uint32](Uint32)
	toUnsigned[uint64](Uint64)
	fromReal[uint16](Uint16)
	fromReal[uint32](Uint32)
	fromReal[uint64](Uint64)
	c := &converters
	for _, u := range []DType{Uint16, Uint32, Uint64} {
		for _, x := range []DType{Float16, BFloat16, Complex64} {
			c[x][u], c[u][x] = via(c[Float32][u], c[x][Float32], Float32, u, x), via(c[Float32][x], c[u][Float32], Float32,
				x, u)
		}
		c[u][Complex128] = via(c[Float64][Complex128], c[u][Float64], Float64, Complex128, u)
	}
	for dt, f := range float8Formats {
		eight(dt, f.decode, f.encode)
	}
	eight(Float8E8M0FNU, decodeE8M0, encodeE8M0)
	widen, narrow := c[Float32][Float16], c[Float16][Float32]
	wide, narrowed := c[Float32][BFloat16], c[BFloat16][Float32]
	through(BComplex32, Complex64, func(d, s unsafe.Pointer, n int) { wide(d, s, 2*n) },
		func(d, s unsafe.Pointer, n int) { narrowed(d, s, 2*n) })
	c[BComplex32][BComplex32] = same[uint32]
	for d := range numTypes {
		if d.IsOpaque() {
			c[d][d] = same[uint8]
		}
	}
	c[Bits16][Bits16] = same[uint16]
	through(Complex32, Complex64, func(d, s unsafe.Pointer, n int) { widen(d, s, 2*n) },
		func(d, s unsafe.Pointer, n int) { narrow(d, s, 2*n) })
	c[Complex32][BComplex32] = via(c[Complex64][BComplex32], c[Complex32][Complex64], Complex64, BComplex32, Complex32)
	c[BComplex32][Complex32] = via(c[Complex64][Complex32], c[BComplex32][Complex64], Complex64, Complex32, BComplex32)
}
