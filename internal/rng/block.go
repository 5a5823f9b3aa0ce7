package rng

import "math"

// The functions of this file work on runs of words or floats. Each has a plain
// Go form, which is always compiled and tested, and on amd64 a vector form that
// gives the same bits.

// temperIntoGo writes the tempered words of src to dst, which is as long.
func temperIntoGo(dst, src []uint32) {
	dst = dst[:len(src)]
	for i, y := range src {
		dst[i] = temper(y)
	}
}

// toUniform32Go turns tempered words into floats a + u*(b-a) (scale is b-a),
// fused, and replaces those that come out as b by a.
func toUniform32Go(dst []float32, src []uint32, a, scale, b float32) {
	dst = dst[:len(src)]
	if a == 0 && scale == 1 {
		for i, r := range src {
			dst[i] = u24(r) // never 1
		}
		return
	}
	for i, r := range src {
		v := fma32full(u24(r), scale, a)
		if v == b {
			v = a
		}
		dst[i] = v
	}
}

// toBernoulliGo sets dst[i] to 1 where the number made of two words, masked to
// 53 bits, is below limit, else to 0.
func toBernoulliGo(dst []byte, src []uint32, limit uint64) {
	for i := range dst {
		k := uint64(src[2*i]&(1<<21-1))<<32 | uint64(src[2*i+1])
		dst[i] = 0
		if k < limit {
			dst[i] = 1
		}
	}
}

// normalBlocks32Go turns uniforms into normals, 16 at a time: x[j] and x[j+8]
// make a Box-Muller pair. len(x) is a multiple of 16.
func normalBlocks32Go(x []float32, mean, std float32) {
	for ; len(x) >= 16; x = x[16:] {
		b := (*[16]float32)(x)
		for j := 0; j < 8; j++ {
			r := float32(math.Sqrt(float64(-2 * log32(1-b[j]))))
			sin, cos := sincos32(float32(2*math.Pi) * b[j+8])
			b[j] = fma32full(r*cos, std, mean)
			b[j+8] = fma32full(r*sin, std, mean)
		}
	}
}

// normalBlocks64 is normalBlocks32Go in float64, with full-precision functions.
func normalBlocks64(x []float64, mean, std float64) {
	for ; len(x) >= 16; x = x[16:] {
		b := (*[16]float64)(x)
		for j := 0; j < 8; j++ {
			r := math.Sqrt(-2 * ln(1-b[j]))
			sin, cos := sincos(2 * math.Pi * b[j+8])
			b[j] = math.FMA(r*cos, std, mean)
			b[j+8] = math.FMA(r*sin, std, mean)
		}
	}
}

// fma32 is a*b+c rounded once to float32, for results that are normal numbers.
// The product is exact in float64, and rounding the float64 sum again is right
// unless that sum lies exactly halfway between two floats, where its own
// rounding may have hidden on which side the true sum lies.
func fma32(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	if math.Float64bits(s)&(1<<29-1) == 1<<28 {
		return fma32full(a, b, c)
	}
	return float32(s)
}

// fma32full is fma32 for any result. It rounds the float64 sum to odd: where the
// sum is inexact its last bit is made 1, so that the second rounding sees that
// something lies beyond (Boldo and Melquiond 2008).
func fma32full(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	s := p + q
	if math.Float64bits(s)&(1<<29-1) != 1<<28 && math.Abs(s) >= 0x1p-126 {
		return float32(s) // as in fma32; most results end here
	}
	t := s - p
	e := (p - (s - t)) + (q - t) // what s lacks, exactly
	bits := math.Float64bits(s)
	if e != 0 && bits&1 == 0 && e-e == 0 {
		if (e > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// log32 is the natural logarithm of x > 0 by the single-precision Cephes
// polynomial. Products are converted to float32 one by one where the reference
// does not fuse them, which also keeps the compiler from fusing.
func log32(x float32) float32 {
	const tiny = 0x1p-126
	if x < tiny {
		x = tiny
	}
	bits := math.Float32bits(x)
	e := float32(int32(bits>>23)-127) + 1
	x = math.Float32frombits(bits&0x007fffff | 0x3f000000) // in [0.5,1)
	if x < 0.707106781186547524 {
		e--
		x = (x - 1) + x
	} else {
		x = x - 1
	}
	z := float32(x * x)
	y := float32(7.0376836292e-2)
	y = fma32(y, x, -1.1514610310e-1)
	y = fma32(y, x, 1.1676998740e-1)
	y = fma32(y, x, -1.2420140846e-1)
	y = fma32(y, x, 1.4249322787e-1)
	y = fma32(y, x, -1.6668057665e-1)
	y = fma32(y, x, 2.0000714765e-1)
	y = fma32(y, x, -2.4999993993e-1)
	y = fma32(y, x, 3.3333331174e-1)
	y = fma32(float32(y*x), z, float32(e*-2.12194440e-4))
	y = fma32(-z, 0.5, y)
	return fma32(e, 0.693359375, x+y)
}

// sincos32 is the sine and cosine of 0 <= t < 2^13 by the single-precision
// Cephes polynomials on octants.
func sincos32(t float32) (sin, cos float32) {
	j := (int32(t*1.27323954473516) + 1) &^ 1
	y := float32(j)
	x := fma32(y, -0.78515625, t)
	x = fma32(y, -2.4187564849853515625e-4, x)
	x = fma32(y, -3.77489497744594108e-8, x)
	z := float32(x * x)
	c := float32(2.443315711809948e-5)
	c = fma32(c, z, -1.388731625493765e-3)
	c = fma32(c, z, 4.166664568298827e-2)
	c = fma32(float32(c*z), z, -float32(z*0.5)) + 1
	s := float32(-1.9515295891e-4)
	s = fma32(s, z, 8.3321608736e-3)
	s = fma32(s, z, -1.6666654611e-1)
	s = fma32(float32(s*z), x, x)
	if j&2 == 0 {
		sin, cos = s, c
	} else {
		sin, cos = c, s
	}
	if j&4 != 0 {
		sin = -sin
	}
	if (j-2)&4 == 0 {
		cos = -cos
	}
	return sin, cos
}
