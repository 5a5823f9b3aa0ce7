package linalg_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/linalg"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSinglePrecision compares results of float32 and complex64 with those of the double types, for matrices that are
// small enough to be computed in the double types and for larger ones.
func TestSinglePrecision(t *testing.T) {
	torch.ManualSeed(3)
	one := func(x *T) []*T { return []*T{x} }
	calls := map[string]func(a, s, b *T) []*T{ // of a general, a positive-definite and another general matrix
		"solve":       func(a, s, b *T) []*T { return one(linalg.Solve(a, b)) },
		"inv":         func(a, s, b *T) []*T { return one(linalg.Inv(a)) },
		"slogdet":     func(a, s, b *T) []*T { x, y := linalg.Slogdet(a); return []*T{x, y} },
		"lu":          func(a, s, b *T) []*T { p, l, u := linalg.LU(a); return []*T{p, l, u} },
		"lu_solve":    func(a, s, b *T) []*T { f, p := linalg.LUFactor(a); return one(linalg.LUSolve(f, p, b)) },
		"ldl_solve":   func(a, s, b *T) []*T { f, p := linalg.LdlFactor(s); return one(linalg.LdlSolve(f, p, b)) },
		"cholesky":    func(a, s, b *T) []*T { return one(linalg.Cholesky(s)) },
		"inverse":     func(a, s, b *T) []*T { return one(linalg.Cholesky(s).CholeskyInverse()) },
		"backsolve":   func(a, s, b *T) []*T { return one(b.CholeskySolve(linalg.Cholesky(s))) },
		"triangular":  func(a, s, b *T) []*T { return one(linalg.SolveTriangular(linalg.Cholesky(s), b, false)) },
		"qr":          func(a, s, b *T) []*T { q, r := linalg.QR(a); return []*T{q, r} },
		"ormqr":       func(a, s, b *T) []*T { h, tau := a.Geqrf(); return one(h.Ormqr(tau, b)) },
		"householder": func(a, s, b *T) []*T { h, tau := a.Geqrf(); return one(linalg.HouseholderProduct(h, tau)) },
		"eigvalsh":    func(a, s, b *T) []*T { return one(linalg.Eigvalsh(s)) },
		"svdvals":     func(a, s, b *T) []*T { return one(linalg.Svdvals(a)) },
		"matrix_exp":  func(a, s, b *T) []*T { return one(linalg.MatrixExp(a)) },
		"eigh": func(a, s, b *T) []*T {
			w, v := linalg.Eigh(s)
			return []*T{w, v.Mul(w.Unsqueeze(-2).ToDType(v.DType())).MatMul(v.MH())}
		},
		"svd": func(a, s, b *T) []*T {
			u, w, vh := linalg.SVD(a)
			return []*T{w, u.Mul(w.Unsqueeze(-2).ToDType(u.DType())).MatMul(vh)}
		},
		"pinv": func(a, s, b *T) []*T { return one(linalg.Pinv(a)) },
	}
	for _, dt := range []tensor.DType{torch.Float32, torch.Complex64} {
		double := torch.Float64
		if dt.IsComplex() {
			double = torch.Complex128
		}
		for _, n := range []int{32, 33, 100} {
			eye := torch.Eye(n, torch.EyeOptions{DType: dt})
			a := randn(dt, 2, n, n).DivScalar(n).Add(eye)
			b := randn(dt, 2, n, 5)
			s := a.MatMul(a.MH())
			s = s.Tril().Add(s.Tril(tensor.TrilOptions{Diagonal: -1}).MH())
			for name, f := range calls {
				got, want := f(a, s, b), f(a.ToDType(double), s.ToDType(double), b.ToDType(double))
				for i := range got {
					if got[i].DType().Real() != torch.Float32 {
						t.Errorf("%s of %s: result %d is %s", name, dt, i, got[i].DType())
					}
					close(t, fmt.Sprintf("%s %d, n=%d", name, i, n), got[i], want[i].ToDType(got[i].DType()))
				}
			}
		}
	}
}
