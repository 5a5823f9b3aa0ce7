package lapack

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

func testSVD[E Element](t *testing.T) {
	r := rand.New(rand.NewSource(2))
	_, eps := limits[E]()
	for _, size := range [][2]int{{1, 1}, {3, 1}, {1, 4}, {7, 5}, {25, 25}, {40, 37}, {37, 40}, {90, 30}, {30, 90},
		{110, 120}, {140, 130}} {
		m, n := size[0], size[1]
		k := min(m, n)
		big := max(m, n)
		q, p := orthogonal[E](r, big), orthogonal[E](r, big)
		for name, s := range spectra(r, k) {
			for i := range s {
				s[i] = math.Abs(s[i])
			}
			slices.Sort(s)
			slices.Reverse(s)
			full := make([]float64, big)
			copy(full, s)
			// The first n columns of Q and P span a k-dimensional factor in the corner of a larger matrix.
			a := make([]E, m*n)
			qa, pa := orthogonal[E](r, m), orthogonal[E](r, n)
			if m == big {
				qa = q
			}
			if n == big {
				pa = p
			}
			for i := range m {
				for l := range k {
					f := qa[i*m+l] * Num[E](s[l])
					for j := range n {
						a[i*n+j] += f * Conj(pa[j*n+l])
					}
				}
			}
			for _, whole := range []bool{false, true} {
				at := fmt.Sprintf("%d×%d, %s, whole %v", m, n, name, whole)
				mu, nv := k, k
				if whole {
					mu, nv = m, n
				}
				got, values := make([]float64, k), make([]float64, k)
				u, vh := make([]E, m*mu), make([]E, nv*n)
				if !SVD(slices.Clone(a), m, n, got, u, mu, vh, nv, eps) ||
					!SVD(slices.Clone(a), m, n, values, nil, 0, nil, 0, eps) {
					t.Fatalf("%s: no convergence", at)
				}
				limit := 40 * eps * math.Sqrt(float64(big))
				for i := range k {
					if !(math.Abs(got[i]-s[i]) <= limit*s[0]) || !(math.Abs(values[i]-s[i]) <= limit*s[0]) {
						t.Fatalf("%s: singular value %d is %g, without vectors %g, want %g", at, i, got[i], values[i],
							s[i])
					}
				}
				if d := max(departure(u, m, mu), departure(adjoint(vh, nv, n), n, nv)); !(d <= limit) {
					t.Errorf("%s: the vectors depart from orthonormality by %g", at, d)
				}
				back, d := make([]E, m*n), 0.0
				for i := range m {
					for l := range k {
						f := u[i*mu+l] * Num[E](got[l])
						for j := range n {
							back[i*n+j] += f * vh[l*n+j]
						}
					}
				}
				for i := range back {
					d = max(d, Abs(back[i]-a[i]))
				}
				if !(d <= limit*s[0]) {
					t.Errorf("%s: the product differs by %g times the norm", at, d/s[0])
				}
			}
		}
	}
}

// TestSVD takes apart matrices with known singular values: by panels and without, divided and not, of all shapes.
func TestSVD(t *testing.T) {
	t.Run("float32", testSVD[float32])
	t.Run("float64", testSVD[float64])
	t.Run("complex64", testSVD[complex64])
	t.Run("complex128", testSVD[complex128])
}

// TestSingularFromSquares checks that the short way to singular values is as exact as single precision, and that it
// declines where it would not be.
func TestSingularFromSquares(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewSource(3))
	for _, smallest := range []float64{0.5, 0.01, 1e-9, 0} {
		d, e := make([]float64, n), make([]float64, n)
		for i := range n {
			d[i], e[i] = 1+r.Float64(), 0.4*r.Float64()
		}
		d[n/2] = smallest
		want := slices.Clone(d)
		if !bidiagonalSVD[float64](want, slices.Clone(e), nil, nil, n, 0x1p-53) {
			t.Fatal("no convergence")
		}
		got := slices.Clone(d)
		ok := singularFromSquares(got, slices.Clone(e), n, 0x1p-24)
		if exact := want[n-1] > 1e-3*want[0]; ok != exact {
			t.Errorf("smallest %v of %v: accepted %v", want[n-1], want[0], ok)
		}
		if !ok && !slices.Equal(got, d) {
			t.Errorf("smallest %v: the diagonal is no more what it was", smallest)
		}
		for i := range n {
			if ok && math.Abs(got[i]-want[i]) > 0x1p-26*want[i] {
				t.Errorf("smallest %v: value %d is %v, want %v", smallest, i, got[i], want[i])
			}
		}
	}
}
