package rng

import "math"

// The elementary functions behind the float64 samplers. They return the nearest
// float64 in all but about one case in a hundred, which is also what a good C
// library does, and unlike package math they give the same bits on every
// platform: products that must not be fused with a sum are converted explicitly.
//
// The method is the usual one: reduce the argument by a table, evaluate a short
// polynomial, and carry the leading terms as unevaluated sums hi+lo.

// twoSum is a+b as a sum of its rounding and the error.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// twoMul is a*b as a sum of its rounding and the error.
func twoMul(a, b float64) (p, e float64) {
	p = float64(a * b)
	return p, math.FMA(a, b, -p)
}

// ln is the natural logarithm.
func ln(x float64) float64 {
	if !(x > 0 && x <= math.MaxFloat64) {
		return math.Log(x)
	}
	hi, lo := lnParts(x)
	return hi + lo
}

// lnParts is ln x as hi+lo for finite x > 0.
func lnParts(x float64) (hi, lo float64) {
	bits := math.Float64bits(x)
	e := int64(-1023)
	if bits < 1<<52 { // subnormal
		bits = math.Float64bits(x * (1 << 54))
		e -= 54
	}
	i := bits >> 45 & 127
	upper := (i + 128 - 53) >> 7 // 1 where i is 53 or more, whose m is halved; a branch could not be foreseen
	k := float64(e + int64(bits>>52+upper))
	m := math.Float64frombits(bits&(1<<52-1) | (1023-upper)<<52)
	t := &logTable[i]
	// r+rl = m*inv - 1, exactly: near 1 the subtraction does not round.
	p, rl := twoMul(m, t.inv)
	r := p - 1
	// ln(1+r) = r - r^2/2 + r^3*(...)
	q, ql := twoMul(r, -0.5*r)
	poly := float64(1.0/9*r) - 1.0/8
	poly = float64(poly*r) + 1.0/7
	poly = float64(poly*r) - 1.0/6
	poly = float64(poly*r) + 1.0/5
	poly = float64(poly*r) - 1.0/4
	poly = float64(poly*r) + 1.0/3
	poly = float64(float64(r*r)*r) * poly
	a, e1 := twoSum(float64(k*ln2A), t.hi)
	a, e2 := twoSum(a, r)
	a, e3 := twoSum(a, q)
	lo = e1 + e2 + e3 + (ql + rl - float64(r*rl) + t.lo + float64(k*ln2B)) + poly
	s := a + lo
	return s, (a - s) + lo
}

// log1p is ln(1+x) for x > -1. It is not the nearest value: it follows the
// classic reduction to f with s = f/(2+f) and the order of operations of the C
// library that the reference numbers come from, so that its roundings agree.
// The coefficients are those of the fdlibm remez fit.
func log1p(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		c1    = 6.666666666666735130e-01
		c2    = 3.999999999940941908e-01
		c3    = 2.857142874366239149e-01
		c4    = 2.222219843214978396e-01
		c5    = 1.818357216161805012e-01
		c6    = 1.531383769920937332e-01
		c7    = 1.479819860511658591e-01
	)
	if !(x > -1 && x <= 0x1p53) {
		return math.Log1p(x)
	}
	if a := math.Abs(x); a < 0x1p-54 {
		return x
	} else if a < 0x1p-29 {
		return x - float64(float64(x*x)*0.5)
	}
	var k int64
	f, c := x, 0.0
	near := false // f is so small that two terms are enough
	// The bounds are compared in the upper half of the bits, as the library does.
	if up := math.Float64bits(x) >> 32; x > 0 && up >= 0x3fda827a || x < 0 && up > 0xbfd2bec3 {
		u := 1 + x
		bits := math.Float64bits(u)
		k = int64(bits>>52) - 1023
		if k > 0 { // what the sum lost
			c = 1 - (u - x)
		} else {
			c = x - (u - 1)
		}
		c /= u
		frac := bits & (1<<52 - 1)
		top := frac >> 32
		if top < 0x6a09e {
			u = math.Float64frombits(frac | 0x3ff<<52)
		} else {
			k++
			u = math.Float64frombits(frac | 0x3fe<<52)
			top = (0x100000 - top) >> 2
		}
		f = u - 1
		near = top == 0
	}
	kf := float64(k)
	half := float64(float64(0.5*f) * f)
	if near {
		if f == 0 {
			return float64(kf*ln2Hi) + (c + float64(kf*ln2Lo))
		}
		r := half * (1 - float64(0.66666666666666666*f))
		if k == 0 {
			return f - r
		}
		return float64(kf*ln2Hi) - ((r - (float64(kf*ln2Lo) + c)) - f)
	}
	s := f / (2 + f)
	z := float64(s * s)
	z2 := float64(z * z)
	z4 := float64(z2 * z2)
	z6 := float64(z4 * z2)
	r := float64(z*c1) + float64(z2*(c2+float64(z*c3))) + float64(z4*(c4+float64(z*c5))) +
		float64(z6*(c6+float64(z*c7)))
	if k == 0 {
		return f - (half - float64(s*(half+r)))
	}
	return float64(kf*ln2Hi) - ((half - (float64(s*(half+r)) + (float64(kf*ln2Lo) + c))) - f)
}

// sincosParts is the sine and cosine, as hi+lo, of |x| < 100.
func sincosParts(x float64) (sh, sl, ch, cl float64) {
	neg := math.Float64bits(x) & signBit
	x = math.Abs(x)
	// x = n*pi/2 + h+l with |h| <= pi/4; the first subtraction is exact.
	n := math.RoundToEven(x * (2 / math.Pi))
	w, we := twoMul(n, pio2B)
	h, l := twoSum(x-float64(n*pio2A), -w)
	l -= we + float64(n*pio2C)
	negR := math.Float64bits(h) & signBit // signs and places go without branches, which could not be foreseen
	h, l = math.Abs(h), flip(l, negR)
	i := min(int(h*64+0.5), len(trigTable)-1)
	t := &trigTable[i]
	d := h - float64(i)/64 // exact
	dd := float64(d * d)
	// sin d = d+ds, cos d = 1+dc
	ds := float64(float64(dd*d) * (-1.0/6 + float64(dd*(1.0/120-float64(dd*(1.0/5040))))))
	dc := float64(dd * (-0.5 + float64(dd*(1.0/24-float64(dd*(1.0/720-float64(dd*(1.0/40320))))))))
	p, pe := twoMul(t.cosHi, d)
	sh, e := twoSum(t.sinHi, p)
	sl = e + pe + t.sinLo + float64(t.cosLo*d) + float64(t.cosHi*(l+ds)) + float64(t.sinHi*dc)
	p, pe = twoMul(-t.sinHi, d)
	ch, e = twoSum(t.cosHi, p)
	cl = e + pe + t.cosLo - float64(t.sinLo*d) - float64(t.sinHi*(l+ds)) + float64(t.cosHi*(dc-float64(d*l)))
	sh, sl = twoSum(sh, sl) // hi must be the nearest value for tan
	ch, cl = twoSum(ch, cl)
	q := uint64(n) // the quadrant, in its lowest bits
	sh, ch = change(flip(sh, negR), ch, q)
	sl, cl = change(flip(sl, negR), cl, q)
	sine, cosine := q<<62&signBit^neg, (q+1)<<62&signBit
	return flip(sh, sine), flip(sl, sine), flip(ch, cosine), flip(cl, cosine)
}

const signBit = 1 << 63

// flip is x, negated if the sign bit is set in s, which has no other one.
func flip(x float64, s uint64) float64 { return math.Float64frombits(math.Float64bits(x) ^ s) }

// change is a and b, or b and a for an odd number.
func change(a, b float64, odd uint64) (float64, float64) {
	x, y := math.Float64bits(a), math.Float64bits(b)
	d := (x ^ y) & -(odd & 1)
	return math.Float64frombits(x ^ d), math.Float64frombits(y ^ d)
}

// sincos is the sine and cosine of |x| < 100.
func sincos(x float64) (sin, cos float64) {
	sh, sl, ch, cl := sincosParts(x)
	return sh + sl, ch + cl
}

// SinCos is the sine and cosine of x as a good C library rounds them.
func SinCos(x float64) (sin, cos float64) {
	if !(math.Abs(x) < 100) {
		return math.Sincos(x)
	}
	return sincos(x)
}

// Tan is the tangent of x as a good C library rounds it.
func Tan(x float64) float64 {
	if !(math.Abs(x) < 100) {
		return math.Tan(x)
	}
	return tan(x)
}

// tan is the tangent of |x| < 100.
func tan(x float64) float64 {
	sh, sl, ch, cl := sincosParts(x)
	q := sh / ch
	return q + (math.FMA(-q, ch, sh)+sl-float64(q*cl))/ch
}

func exp(x float64) float64 { return expParts(x, 0) }

// expParts is e^(x+l) for a small l.
func expParts(x, l float64) float64 {
	if !(x > -700 && x < 709) {
		return math.Exp(x) // the ends of the range, infinities, NaN
	}
	n := math.RoundToEven(x * (128 / math.Ln2))
	w, we := twoMul(n, ln2Over128B)
	r, e := twoSum(x-float64(n*ln2Over128A), -w)
	l += e - we
	p := float64(float64(r*r) * (1.0/2 +
		float64(r*(1.0/6+float64(r*(1.0/24+float64(r*(1.0/120+float64(r*(1.0/720))))))))))
	i := int(n)
	t := &expTable[i&127]
	v := t.hi + (t.lo + float64(t.hi*(r+(l+p))))
	return math.Float64frombits(uint64(1023+i>>7)<<52) * v
}

// pow is x^y for x > 0.
func pow(x, y float64) float64 {
	h, l := lnParts(x)
	p, e := twoMul(h, y)
	if !(p > -700 && p < 709) {
		return math.Pow(x, y)
	}
	return expParts(p, e+float64(l*y))
}
