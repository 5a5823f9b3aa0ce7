package lapack

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// random is a matrix of normally distributed elements.
func random[E Element](r *rand.Rand, n int) []E {
	a := make([]E, n)
	for i := range a {
		a[i] = pair[E](r.NormFloat64(), r.NormFloat64())
	}
	return a
}

// orthogonal is a random matrix with orthonormal columns.
func orthogonal[E Element](r *rand.Rand, n int) []E {
	a, tau, q := random[E](r, n*n), make([]E, n), make([]E, n*n)
	QR(a, n, n, n, tau)
	MakeQ(a, n, tau, q, n, n, n)
	return q
}

// spectra are eigenvalues and singular values that are hard in one way or another.
func spectra(r *rand.Rand, n int) map[string][]float64 {
	s := map[string][]float64{}
	add := func(name string, f func(i int) float64) {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		s[name] = v
	}
	add("random", func(int) float64 { return r.NormFloat64() })
	add("graded", func(i int) float64 { return math.Exp2(-float64(i)) })
	add("rank", func(i int) float64 { return op(i < (n+1)/2, 1+float64(i), 0) })
	add("clustered", func(i int) float64 { return 1 + float64(i%3) + 1e-12*float64(i) })
	add("equal", func(int) float64 { return 2 })
	add("zero", func(int) float64 { return 0 })
	add("tiny", func(i int) float64 { return 1e-30 * float64(i+1) })
	add("huge", func(i int) float64 { return 1e30 * float64(i+1) })
	return s
}

func op(yes bool, a, b float64) float64 {
	if yes {
		return a
	}
	return b
}

// withSpectrum is Q·diag(s)·Pᴴ.
func withSpectrum[E Element](q, p []E, s []float64, n int) []E {
	x, a := make([]E, n*n), make([]E, n*n)
	for i := range n {
		for j := range n {
			x[i*n+j] = q[i*n+j] * Num[E](s[j])
		}
	}
	c, _ := conjugated(p, n, n, n)
	mul(n, n, n, 1, x, n, 1, c, 1, n, 0, a, n, 1)
	return a
}

// departure is the largest difference of Vᴴ·V from the identity, for the rows×cols matrix v.
func departure[E Element](v []E, rows, cols int) float64 {
	c, _ := conjugated(v, rows, cols, cols)
	g := make([]E, cols*cols)
	mul(cols, cols, rows, 1, c, 1, cols, v, cols, 1, 0, g, cols, 1)
	d := 0.0
	for i := range cols {
		g[i*cols+i] -= 1
	}
	for _, x := range g {
		d = max(d, Abs(x))
	}
	return d
}

func testEigh[E Element](t *testing.T) {
	r := rand.New(rand.NewSource(1))
	_, eps := limits[E]()
	for _, n := range []int{1, 2, 7, 25, 26, 64, 130} {
		q := orthogonal[E](r, n)
		for name, s := range spectra(r, n) {
			a := withSpectrum(q, q, s, n)
			for i := range n {
				a[i*n+i] = Num[E](Re(a[i*n+i]))
				for j := range i {
					a[j*n+i] = Conj(a[i*n+j])
				}
			}
			slices.Sort(s)
			for _, lower := range []bool{true, false} {
				at := fmt.Sprintf("%d, %s, lower %v", n, name, lower)
				tri := slices.Clone(a) // the other triangle must not be read
				for i := range n {
					for j := range i {
						if lower {
							tri[j*n+i] = Num[E](math.NaN())
						} else {
							tri[i*n+j] = Num[E](math.NaN())
						}
					}
				}
				w, v := make([]float64, n), make([]E, n*n)
				if !Eigh(slices.Clone(tri), n, w, v, lower, eps) {
					t.Fatalf("%s: no convergence", at)
				}
				norm := max(math.Abs(s[0]), math.Abs(s[n-1]))
				limit := 30 * eps * math.Sqrt(float64(n))
				values := make([]float64, n)
				if !Eigh(tri, n, values, nil, lower, eps) {
					t.Fatalf("%s: no convergence of the values", at)
				}
				for i := range n {
					if !(math.Abs(w[i]-s[i]) <= limit*norm) || !(math.Abs(values[i]-s[i]) <= limit*norm) {
						t.Fatalf("%s: eigenvalue %d is %g, without vectors %g, want %g", at, i, w[i], values[i], s[i])
					}
				}
				if d := departure(v, n, n); !(d <= limit) {
					t.Errorf("%s: the vectors depart from orthonormality by %g", at, d)
				}
				back, d := withSpectrum(v, v, w, n), 0.0
				for i := range back {
					d = max(d, Abs(back[i]-a[i]))
				}
				if !(d <= limit*norm) {
					t.Errorf("%s: the product differs by %g times the norm", at, d/norm)
				}
			}
		}
	}
}

// TestEigh takes apart matrices with known eigenvalues: by panels and without, divided and not.
func TestEigh(t *testing.T) {
	t.Run("float32", testEigh[float32])
	t.Run("float64", testEigh[float64])
	t.Run("complex64", testEigh[complex64])
	t.Run("complex128", testEigh[complex128])
}
