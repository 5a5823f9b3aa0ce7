package lapack

import (
	"math"
	"math/rand"
	"testing"
)

// TestLUSingular finds the first zero pivot, at every place and in blocked and unblocked factorizations.
func TestLUSingular(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 5, 16, 17, 33, 70} {
		for _, zero := range []int{-1, 0, n / 2, n - 1} {
			a := make([]float64, n*n)
			for i := range a {
				a[i] = r.NormFloat64()
			}
			want := 0
			if zero >= 0 {
				want = zero + 1
				for i := range n {
					a[i*n+zero] = 0
				}
			}
			if info := LU(a, n, n, n, make([]int32, n), true); info != want {
				t.Errorf("n=%d: first zero pivot %d, want %d", n, info, want)
			}
		}
	}
}

// TestCholeskyInfo gives the order of the first minor that is not positive, in blocked and unblocked factorizations.
func TestCholeskyInfo(t *testing.T) {
	for _, n := range []int{1, 7, 32, 33, 100} {
		for _, bad := range []int{0, n / 2, n - 1} {
			a := make([]complex128, n*n)
			for i := range n {
				a[i*n+i] = 1
			}
			a[bad*n+bad] = -1
			if info := Cholesky(a, n, n); info != bad+1 {
				t.Errorf("n=%d: minor %d, want %d", n, info, bad+1)
			}
		}
	}
}

// TestSVDTiny finds small singular values of a bidiagonal matrix with a relative error near the rounding error.
func TestSVDTiny(t *testing.T) {
	d, e := []float64{1, 1e-10, 1e-20, 1e-30}, []float64{1, 1e-10, 1e-20, 0}
	want := 1.0
	for _, v := range d {
		want *= v
	}
	if !bidiagonalSVD[float64](d, e, nil, nil, 4, 0x1p-53) {
		t.Fatal("did not converge")
	}
	got := 1.0
	for _, v := range d {
		got *= v
	}
	if math.Abs(got/want-1) > 1e-12 {
		t.Errorf("the product of the singular values is %g, want the determinant, %g", got, want)
	}
}

// TestNonFinite ends for NaN and infinities, in small and in large matrices.
func TestNonFinite(t *testing.T) {
	t.Run("float32", testNonFinite[float32])
	t.Run("float64", testNonFinite[float64])
	t.Run("complex64", testNonFinite[complex64])
	t.Run("complex128", testNonFinite[complex128])
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		a := []float64{1, 2, 3, 4, bad, 6, 7, 8, 9}
		if Eig(a, 3, make([]complex128, 3), nil, 0x1p-53) {
			t.Errorf("Eig of %v converged", bad)
		}
	}
}

func testNonFinite[E Element](t *testing.T) {
	r := rand.New(rand.NewSource(5))
	_, eps := limits[E]()
	for _, n := range []int{3, 70} {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			a := func() []E {
				a := random[E](r, n*n)
				a[n/2*n+n/2] = Num[E](bad)
				return a
			}
			if Eigh(a(), n, make([]float64, n), make([]E, n*n), true, eps) {
				t.Errorf("Eigh of %v converged", bad)
			}
			if SVD(a(), n, n, make([]float64, n), nil, 0, nil, 0, eps) {
				t.Errorf("SVD of %v converged", bad)
			}
			// What is left of these may be anything.
			LU(a(), n, n, n, make([]int32, n), true)
			QR(a(), n, n, n, make([]E, n))
			LDL(a(), n, make([]int32, n), true)
			if Cholesky(a(), n, n) == 0 {
				t.Errorf("Cholesky of a matrix with %v was successful", bad)
			}
		}
	}
}
