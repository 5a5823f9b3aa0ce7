package pointwise

import (
	"math"
	"math/cmplx"
)

// This file holds the inverse trigonometric and hyperbolic functions of complex numbers by the formulas of Kahan,
// "Branch cuts for complex elementary functions" (1987), which neither cancel nor overflow and tell the sides of a
// branch cut by the sign of zero.

// isFinite reports that both parts are numbers.
func isFinite(z complex128) bool { return !cmplx.IsNaN(z) && !cmplx.IsInf(z) }

// rootsAround are the square roots of 1 - z and 1 + z.
func rootsAround(z complex128) (a, b complex128) {
	x, y := real(z), imag(z)
	return cmplx.Sqrt(complex(1-x, -y)), cmplx.Sqrt(complex(1+x, y))
}

func acosC(z complex128) complex128 {
	switch {
	case math.IsInf(real(z), 0) && math.IsNaN(imag(z)):
		return complex(math.NaN(), math.Inf(-1)) // Go leaves the sign open
	case !isFinite(z):
		return cmplx.Acos(z)
	}
	a, b := rootsAround(z)
	return complex(2*math.Atan2(real(a), real(b)), math.Asinh(imag(cmplx.Conj(b)*a)))
}

func asinC(z complex128) complex128 {
	if !isFinite(z) {
		return cmplx.Asin(z)
	}
	a, b := rootsAround(z)
	return complex(math.Atan2(real(z), real(a*b)), math.Asinh(imag(cmplx.Conj(a)*b)))
}

func acoshC(z complex128) complex128 {
	if !isFinite(z) {
		return cmplx.Acosh(z)
	}
	x, y := real(z), imag(z)
	a, b := cmplx.Sqrt(complex(x-1, y)), cmplx.Sqrt(complex(x+1, y))
	return complex(math.Asinh(real(cmplx.Conj(a)*b)), 2*math.Atan2(imag(a), real(b)))
}

// asinhC is i asin(-iz).
func asinhC(z complex128) complex128 {
	w := asinC(complex(imag(z), -real(z)))
	return complex(-imag(w), real(w))
}

func atanhC(z complex128) complex128 {
	if !isFinite(z) {
		return cmplx.Atanh(z)
	}
	x, y := math.Abs(real(z)), imag(z)
	var re, im float64
	if max(x, math.Abs(y)) > 1e8 { // where 1 / z is the real part
		h := math.Hypot(x, y)
		re, im = x/h/h, math.Copysign(math.Pi/2, y)
	} else {
		re, im = math.Log1p(4*x/((1-x)*(1-x)+y*y))/4, math.Atan2(2*y, (1-x)*(1+x)-y*y)/2
	}
	return complex(math.Copysign(re, real(z)), im)
}

// atanC is -i atanh(iz).
func atanC(z complex128) complex128 {
	w := atanhC(complex(-imag(z), real(z)))
	return complex(imag(w), -real(w))
}
