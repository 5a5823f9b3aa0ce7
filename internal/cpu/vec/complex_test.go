package vec

import (
	"math"
	"testing"
	"unsafe"
)

// product64 and product128 round every step; the language would compute complex64 in float64, or fuse products and
// sums.
func product64(a, b complex64) complex64 {
	p := product(*(*[2]float32)(unsafe.Pointer(&a)), *(*[2]float32)(unsafe.Pointer(&b)))
	return complex(p[0], p[1])
}

func product128(a, b complex128) complex128 {
	p := product(*(*[2]float64)(unsafe.Pointer(&a)), *(*[2]float64)(unsafe.Pointer(&b)))
	return complex(p[0], p[1])
}

func product[E float32 | float64](x, y [2]E) [2]E {
	return [2]E{E(x[0]*y[0]) - E(x[1]*y[1]), E(x[0]*y[1]) + E(x[1]*y[0])}
}

// TestMulComplex compares products, also of numbers that are not finite, with those of their parts: the bits are the
// same.
func TestMulComplex(t *testing.T) {
	same := func(v, w complex128) bool {
		x, y := *(*[2]float64)(unsafe.Pointer(&v)), *(*[2]float64)(unsafe.Pointer(&w))
		for i := range x {
			if math.Float64bits(x[i]) != math.Float64bits(y[i]) && (x[i] == x[i] || y[i] == y[i]) {
				return false
			}
		}
		return true
	}
	eachPath(t, func(t *testing.T) {
		for n := range 40 {
			x := random32(4*n, int64(n))
			for i := 0; i+9 < len(x); i += 9 {
				x[i], x[i+5] = float32(math.Inf(1)), float32(math.Copysign(0, -1))
			}
			a, b, d := make([]complex64, n), make([]complex64, n), make([]complex64, n+1)
			a2, b2, d2 := make([]complex128, n), make([]complex128, n), make([]complex128, n+1)
			for i := range a {
				a[i], b[i] = complex(x[4*i], x[4*i+1]), complex(x[4*i+2], x[4*i+3])
				a2[i], b2[i] = complex128(a[i])/3, complex128(b[i])/7
			}
			d[n], d2[n] = 5, 5
			MulC64(d[:n], a, b)
			MulC128(d2[:n], a2, b2)
			for i := range a {
				w, w2 := complex128(product64(a[i], b[i])), product128(a2[i], b2[i])
				if g := complex128(d[i]); !same(g, w) {
					t.Fatalf("%v * %v: got %v, want %v", a[i], b[i], g, w)
				}
				if g := d2[i]; !same(g, w2) {
					t.Fatalf("%v * %v: got %v, want %v", a2[i], b2[i], g, w2)
				}
			}
			if d[n] != 5 || d2[n] != 5 {
				t.Fatalf("%d numbers: written beyond the end", n)
			}
			copy(d, a)
			MulC64(a, a, a) // in place
			for i := range a {
				if w := product64(d[i], d[i]); !same(complex128(a[i]), complex128(w)) {
					t.Fatalf("%v squared in place: got %v, want %v", d[i], a[i], w)
				}
			}
		}
	})
}

func parts(z complex128) (re, im float64) {
	p := *(*[2]float64)(unsafe.Pointer(&z))
	return p[0], p[1]
}

// TestReciprocalParts compares the parts of inverses with those that complex numbers of Go have, and looks at the
// limits.
func TestReciprocalParts(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		a := []float64{1, -3, 0.5, 0, 1e300, 1e-300, 2e-308, 1e308, 0, math.Inf(1), math.NaN(), 7, -1e-9, 3, 4, 5, 6}
		b := []float64{0, 4, 1e9, -2, 1e299, 1e-301, 0, 1, 0, 1, 1, math.NaN(), 1e-9, 8, 9, 10, -11}
		re, im := make([]float64, len(a)), make([]float64, len(a))
		ReciprocalPartsF64(re, im, a, b)
		for i := range a {
			z := 1 / complex(a[i], b[i])
			x, y := parts(z)
			m := math.Max(math.Abs(a[i]), math.Abs(b[i]))
			if inside := m >= 0x1p-1021 && m <= 0x1p1021; inside != (re[i] == re[i]) || inside != (im[i] == im[i]) {
				t.Fatalf("1/(%g, %g): %g, %g", a[i], b[i], re[i], im[i])
			} else if inside && (math.Abs(re[i]-x) > 1e-15*math.Abs(x) || math.Abs(im[i]-y) > 1e-15*math.Abs(y)) {
				t.Fatalf("1/(%g, %g): %g, %g, want %g", a[i], b[i], re[i], im[i], z)
			}
		}
	})
}
