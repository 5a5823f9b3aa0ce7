package lapack

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// difference is the largest difference of two matrices' elements.
func difference[E Element](x, y []E) float64 {
	d := 0.0
	for i := range x {
		d = max(d, Abs(x[i]-y[i]))
		if x[i] != x[i] || y[i] != y[i] {
			return math.NaN()
		}
	}
	return d
}

func testLDL[E Element](t *testing.T, hermitian bool) {
	r := rand.New(rand.NewSource(3))
	_, eps := limits[E]()
	for _, n := range []int{1, 2, 5, 64, 65, 100, 150} {
		for _, kind := range []string{"random", "zero diagonal", "one zero column"} {
			at := fmt.Sprintf("%d, %s, hermitian %v", n, kind, hermitian)
			a := random[E](r, n*n)
			for i := range n {
				if hermitian {
					a[i*n+i] = Num[E](Re(a[i*n+i]))
				}
				if kind == "zero diagonal" {
					a[i*n+i] = 0
				}
				for j := range i {
					if kind == "one zero column" && (i == n/2 || j == n/2) {
						a[i*n+j] = 0
					}
				}
			}
			if kind == "one zero column" {
				a[n/2*n+n/2] = 0
			}
			x, y := slices.Clone(a), slices.Clone(a)
			px, py := make([]int32, n), make([]int32, n)
			ix, iy := LDL(x, n, px, hermitian), ldlColumns(y, n, n, py, hermitian)
			if ix != iy || !slices.Equal(px, py) {
				t.Errorf("%s: info %d, pivots %v; without panels %d, %v", at, ix, px, iy, py)
				continue
			}
			for i := range n {
				clear(x[i*n+i+1 : (i+1)*n])
				clear(y[i*n+i+1 : (i+1)*n])
			}
			if d := difference(x, y); !(d <= 3000*eps*float64(n)) {
				t.Errorf("%s: factors differ by %g from those without panels", at, d)
			}
		}
	}
}

// TestLDL compares factors that are computed by panels with those that are not.
func TestLDL(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testLDL[float32](t, false) })
	t.Run("float64", func(t *testing.T) { testLDL[float64](t, false) })
	t.Run("complex64", func(t *testing.T) { testLDL[complex64](t, false) })
	t.Run("complex128", func(t *testing.T) { testLDL[complex128](t, false); testLDL[complex128](t, true) })
}

func testFactors[E Element](t *testing.T) {
	r := rand.New(rand.NewSource(4))
	_, eps := limits[E]()
	for _, size := range [][2]int{{1, 1}, {3, 5}, {32, 32}, {33, 40}, {40, 33}, {100, 20}, {20, 100}, {150, 150},
		{500, 400}} {
		m, n := size[0], size[1]
		if m > 200 && isComplex[E]() {
			continue
		}
		k := min(m, n)
		a := random[E](r, m*n)
		limit := 100 * eps * float64(max(m, n))
		// PA = LU
		lu, piv := slices.Clone(a), make([]int32, k)
		if info := LU(lu, m, n, n, piv, true); info != 0 {
			t.Errorf("%v: LU: info %d", size, info)
		}
		l, u, p := make([]E, m*k), make([]E, k*n), slices.Clone(a)
		for i := range m {
			for j := range n {
				switch {
				case j < i && j < k:
					l[i*k+j] = lu[i*n+j]
					if Abs1(lu[i*n+j]) > 2.01 {
						t.Fatalf("%v: element (%d, %d) of L is %v", size, i, j, lu[i*n+j])
					}
				case i < k:
					u[i*n+j] = lu[i*n+j]
				}
			}
			if i < k {
				l[i*k+i] = 1
			}
		}
		swapRows(p, n, n, piv)
		mul(m, n, k, -1, l, k, 1, u, n, 1, 1, p, n, 1)
		if d := difference(p, make([]E, m*n)); !(d <= limit) {
			t.Errorf("%v: LU differs by %g", size, d)
		}
		// A = QR
		qr, tau, q := slices.Clone(a), make([]E, k), make([]E, m*k)
		QR(qr, m, n, n, tau)
		MakeQ(qr, n, tau, q, m, k, k)
		if d := departure(q, m, k); !(d <= limit) {
			t.Errorf("%v: Q departs from orthonormality by %g", size, d)
		}
		clear(u)
		for i := range k {
			copy(u[i*n+i:(i+1)*n], qr[i*n+i:(i+1)*n])
		}
		p = slices.Clone(a)
		mul(m, n, k, -1, q, k, 1, u, n, 1, 1, p, n, 1)
		if d := difference(p, make([]E, m*n)); !(d <= limit) {
			t.Errorf("%v: QR differs by %g", size, d)
		}
		// Qᴴ·A = R
		p = slices.Clone(a)
		ApplyQ(qr, n, tau, p, m, n, n, true)
		for i := range m {
			for j := range n {
				if i <= j && i < k {
					p[i*n+j] -= u[i*n+j]
				}
			}
		}
		if d := difference(p, make([]E, m*n)); !(d <= limit) {
			t.Errorf("%v: the adjoint of Q times A differs by %g from R", size, d)
		}
	}
	for _, n := range []int{1, 2, 24, 25, 100, 300} {
		g, a := random[E](r, n*n), make([]E, n*n)
		c, _ := conjugated(g, n, n, n)
		mul(n, n, n, 1, g, n, 1, c, 1, n, 0, a, n, 1)
		for i := range n {
			a[i*n+i] += Num[E](float64(n))
		}
		l := slices.Clone(a)
		if info := Cholesky(l, n, n); info != 0 {
			t.Fatalf("%d: Cholesky: %d", n, info)
		}
		inv, id := slices.Clone(l), make([]E, n*n)
		CholeskyInverse(inv, n)
		mul(n, n, n, 1, a, n, 1, inv, n, 1, 0, id, n, 1)
		for i := range n {
			id[i*n+i] -= 1
			clear(l[i*n+i+1 : (i+1)*n])
		}
		if d := difference(id, make([]E, n*n)); !(d <= 100*eps*float64(n)) {
			t.Errorf("%d: the inverse times the matrix differs by %g from the identity", n, d)
		}
		c, _ = conjugated(l, n, n, n)
		mul(n, n, n, -1, l, n, 1, c, 1, n, 1, a, n, 1)
		if d := difference(a, make([]E, n*n)); !(d <= 100*eps*float64(n*n)) {
			t.Errorf("%d: L·Lᴴ differs by %g", n, d)
		}
	}
}

// TestFactors multiplies factors, which are computed by panels and without, by recursion and without.
func TestFactors(t *testing.T) {
	t.Run("float32", testFactors[float32])
	t.Run("float64", testFactors[float64])
	t.Run("complex64", testFactors[complex64])
	t.Run("complex128", testFactors[complex128])
}

// TestTinyReflector makes reflections of vectors whose reciprocals overflow.
func TestTinyReflector(t *testing.T) {
	a := []float32{3e-42, 4e-42}
	x := slices.Clone(a)
	tau := reflector(&x[0], x[1:], 1, 1)
	if math.Abs(float64(x[0])+5e-42) > 3e-45 || math.Abs(float64(tau)-1.6) > 1e-2 ||
		math.Abs(float64(x[1])-0.5) > 1e-2 {
		t.Errorf("reflection of %v: beta %g, tau %g, vector (1, %g); want -5e-42, 1.6, 0.5", a, x[0], tau, x[1])
	}
}
