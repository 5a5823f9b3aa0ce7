package linalg_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/ops/internal/op"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/linalg"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

func randn(dt tensor.DType, shape ...int) *T {
	return torch.Randn(shape, torch.RandnOptions{DType: dt})
}

// definite makes Hermitian positive-definite matrices.
func definite(dt tensor.DType, batch ...int) *T {
	n := 4
	a := randn(dt, append(batch, n, n)...)
	return a.MatMul(a.MH()).Add(torch.Eye(n, torch.EyeOptions{DType: dt}))
}

var types = []tensor.DType{torch.Float32, torch.Float64, torch.Complex64, torch.Complex128}

func close(t *testing.T, what string, got, want *T) {
	t.Helper()
	tol := 1e-10
	if got.DType().Real() == torch.Float32 {
		tol = 1e-4
	}
	if !got.AllClose(want, tensor.AllCloseOptions{Rtol: tensor.Some(tol), Atol: tensor.Some(tol)}) {
		t.Errorf("%s %s: got %v, want %v", what, got.DType(), got, want)
	}
}

func TestFactorsMultiplyToTheMatrix(t *testing.T) {
	torch.ManualSeed(0)
	for _, dt := range types {
		for _, batch := range [][]int{nil, {3}, {2, 0}} {
			a := definite(dt, batch...)
			l := linalg.Cholesky(a)
			close(t, "L·Lᴴ", l.MatMul(l.MH()), a)
			close(t, "L", l, l.Tril())
			u := linalg.Cholesky(a, linalg.CholeskyOptions{Upper: true})
			close(t, "Uᴴ", u.MH(), l)
			b := randn(dt, 4, 2)
			x := b.Expand(append(append([]int{}, batch...), 4, 2)).CholeskySolve(l)
			close(t, "A·X", a.MatMul(x), b.ExpandAs(x))
			close(t, "solve with U", b.CholeskySolve(u, tensor.CholeskySolveOptions{Upper: true}), x)
			close(t, "A·A⁻¹", a.MatMul(l.CholeskyInverse()), torch.Eye(4, torch.EyeOptions{DType: dt}).ExpandAs(a))
			for _, left := range []bool{true, false} {
				for _, upper := range []bool{true, false} {
					f := l
					if upper {
						f = u
					}
					c := b
					if !left {
						c = b.MT()
					}
					y := linalg.SolveTriangular(f, c, upper, linalg.SolveTriangularOptions{NoLeft: !left})
					var p *T
					if left {
						p = f.MatMul(y)
					} else {
						p = y.MatMul(f)
					}
					close(t, "triangular system", p, c.ExpandAs(p))
				}
			}
			vals, vecs := eigh(a)
			close(t, "V·Λ·Vᴴ", vecs.Mul(vals.Unsqueeze(-2)).MatMul(vecs.MH()), a)
			close(t, "eigenvalues", linalg.Eigvalsh(a), vals)
			sign, log := linalg.Slogdet(a)
			close(t, "log-determinant", log, vals.Log().SumDim([]int{-1}))
			close(t, "sign", sign, sign.OnesLike())
		}
	}
}

func eigh(a *T) (vals, vecs *T) {
	c := tensor.NewCall(tensor.Slot("aten::_linalg_eigh"), 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(a), tensor.Box("L"), tensor.Box(true)
	return c.Do2()
}

// Gradients of functions of Hermitian matrices, whose elements may not change alone.
func TestGradients(t *testing.T) {
	torch.ManualSeed(1)
	a := definite(torch.Float64, 2).SetRequiresGrad(true)
	sym := func(x *T) *T { return x.Add(x.MT()).MulScalar(0.5) }
	b := randn(torch.Float64, 4, 3).SetRequiresGrad(true)
	for name, f := range map[string]func(in []*T) []*T{
		"cholesky": func(in []*T) []*T { return []*T{linalg.Cholesky(sym(in[0]))} },
		"cholesky upper": func(in []*T) []*T {
			return []*T{linalg.Cholesky(sym(in[0]),
				linalg.CholeskyOptions{Upper: true})}
		},
		"solve":    func(in []*T) []*T { return []*T{in[1].CholeskySolve(linalg.Cholesky(sym(in[0])))} },
		"inverse":  func(in []*T) []*T { return []*T{linalg.Cholesky(sym(in[0])).CholeskyInverse()} },
		"eigvalsh": func(in []*T) []*T { return []*T{linalg.Eigvalsh(sym(in[0]))} },
		"projection": func(in []*T) []*T {
			_, v := eigh(sym(in[0]))
			p := v.Narrow(-1, 0, 2) // the sign of eigenvectors is not determined, the projection onto them is
			return []*T{p.MatMul(p.MT())}
		},
		"slogdet": func(in []*T) []*T { _, l := linalg.Slogdet(in[0]); return []*T{l} },
	} {
		if err := autograd.Gradcheck(f, []*T{a, b}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := autograd.Gradgradcheck(f, []*T{a, b}, nil); err != nil {
			t.Errorf("%s, second derivatives: %v", name, err)
		}
	}
}

func TestWhatCannotBeFactored(t *testing.T) {
	bad := tensor.FromSlice([]float64{1, 0, 0, -1}, 2, 2)
	_, info := linalg.CholeskyEx(bad)
	if info.Item() != 2 {
		t.Errorf("info %v, want the order of the minor, 2", info)
	}
	nan := torch.Full([]int{2, 2}, math.NaN())
	if _, info := linalg.CholeskyEx(nan); info.Item() != 1 {
		t.Errorf("info %v of NaN", info)
	}
	for what, f := range map[string]func(){
		"not definite": func() { linalg.Cholesky(bad) },
		"in a batch": func() {
			linalg.Cholesky(torch.Stack([]*T{torch.Eye(2, torch.EyeOptions{DType: torch.Float64}),
				bad}))
		},
		"eigvalsh of NaN":   func() { linalg.Eigvalsh(nan) },
		"eigh of NaN":       func() { linalg.Eigh(nan) },
		"svd of NaN":        func() { linalg.SVD(nan) },
		"eig of NaN":        func() { linalg.Eig(nan) },
		"singular":          func() { linalg.Inv(torch.Zeros([]int{2, 3, 3})) },
		"singular system":   func() { linalg.Solve(torch.Zeros([]int{3, 3}), torch.Ones([]int{3})) },
		"singular factor":   func() { linalg.LUFactor(torch.Zeros([]int{3, 3})) },
		"no matrix":         func() { linalg.Cholesky(torch.Ones([]int{3})) },
		"not square":        func() { linalg.Cholesky(torch.Ones([]int{3, 2})) },
		"integers":          func() { linalg.Cholesky(torch.Ones([]int{2, 2}).Long()) },
		"half":              func() { linalg.Cholesky(torch.Eye(2).Half()) },
		"shapes":            func() { linalg.SolveTriangular(torch.Eye(2), torch.Ones([]int{3, 1}), false) },
		"types":             func() { linalg.SolveTriangular(torch.Eye(2).Half(), torch.Ones([]int{2, 1}), false) },
		"shapes to solve":   func() { torch.Ones([]int{3, 1}).CholeskySolve(torch.Eye(2)) },
		"UPLO":              func() { linalg.Eigvalsh(torch.Eye(2), linalg.EigvalshOptions{UPLO: "X"}) },
		"checked on demand": func() { linalg.CholeskyEx(bad, linalg.CholeskyExOptions{CheckErrors: true}) },
	} {
		err := torch.Try(f)
		var e *tensor.Error
		if !errors.As(err, &e) || e.Msg == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	sign, log := linalg.Slogdet(torch.Zeros([]int{2, 2}))
	if sign.Item() != 0 || !math.IsInf(log.Item(), -1) {
		t.Errorf("determinant 0: sign %v, logarithm %v", sign, log)
	}
	if s, l := linalg.Slogdet(tensor.FromSlice([]float64{0, 2, 1, 0}, 2,
		2)); s.Item() != -1 || math.Abs(l.Item()-math.Ln2) > 1e-12 {
		t.Errorf("determinant -2: sign %v, logarithm %v", s, l)
	}
}

// TestFactors multiplies factors, for tall, wide, square, large and empty matrices and batches of them.
func TestFactors(t *testing.T) {
	for _, dt := range types {
		for _, sh := range [][]int{{1, 1}, {3, 3}, {5, 3}, {3, 5}, {2, 9, 4}, {2, 4, 9}, {2, 0, 3, 3}, {0, 3}, {3, 0},
			{40, 40}, {70, 50}, {50, 70}, {150, 150}} {
			a := randn(dt, sh...)
			what := dt.String() + " " + tensor.IntsValue(sh).String()
			for _, mode := range []string{"reduced", "complete"} {
				q, r := linalg.QR(a, linalg.QROptions{Mode: mode})
				near(t, what+" QR", q.MatMul(r), a)
				near(t, what+" QᴴQ", q.MH().MatMul(q), eye(q.Size(-1), dt, sh))
			}
			p, l, u := linalg.LU(a)
			near(t, what+" PLU", p.MatMul(l).MatMul(u), a)
			for _, reduced := range []bool{false, true} {
				u, s, vh := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: reduced})
				k := s.Size(-1)
				near(t, what+" USVh", u.Narrow(-1, 0, k).Mul(s.Unsqueeze(-2)).MatMul(vh.Narrow(-2, 0, k)), a)
				near(t, what+" UᴴU", u.MH().MatMul(u), eye(u.Size(-1), dt, sh))
				near(t, what+" VhV", vh.MatMul(vh.MH()), eye(vh.Size(-2), dt, sh))
			}
			if sh[len(sh)-1] != sh[len(sh)-2] {
				continue
			}
			n := sh[len(sh)-1]
			h := a.Add(a.MH())
			for _, half := range []string{"L", "U"} {
				w, v := linalg.Eigh(h, linalg.EighOptions{UPLO: half})
				near(t, what+" eigh", v.Mul(w.Unsqueeze(-2)).MatMul(v.MH()), h)
				near(t, what+" VᴴV", v.MH().MatMul(v), eye(n, dt, sh))
			}
			w, v := linalg.Eig(a)
			near(t, what+" eig", v.Mul(w.Unsqueeze(-2)), a.ToDType(v.DType()).MatMul(v))
			near(t, what+" A⁻¹A", linalg.Solve(a.Add(eye(n, dt, sh).MulScalar(20)),
				a.Add(eye(n, dt, sh).MulScalar(20))),
				eye(n, dt, sh))
			c := a.MatMul(a.MH()).Add(eye(n, dt, sh))
			f := linalg.Cholesky(c)
			near(t, what+" LLᴴ", f.MatMul(f.MH()), c)
			for _, hermitian := range []bool{false, true} {
				s := a.Add(a.MT())
				if hermitian {
					s = h
				}
				ld, piv := linalg.LdlFactor(s, linalg.LdlFactorOptions{Hermitian: hermitian})
				b := s.MatMul(eye(n, dt, sh))
				near(t, what+" LDL", linalg.LdlSolve(ld, piv, b, linalg.LdlSolveOptions{Hermitian: hermitian}),
					eye(n, dt, sh))
			}
		}
	}
}

// eye is a batch of identities for matrices of a shape.
func eye(n int, dt tensor.DType, like []int) *T {
	sh := append(append([]int{}, like[:len(like)-2]...), n, n)
	return torch.Eye(n, torch.EyeOptions{DType: dt}).Expand(sh)
}

// near compares with the error that rounding may make beside the largest element.
func near(t *testing.T, what string, got, want *T) {
	t.Helper()
	if !tensor.SameShape(got.Shape(), want.Shape()) {
		t.Errorf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	if want.Numel() == 0 {
		return
	}
	tol := 1e-9
	if want.DType().Real() == torch.Float32 {
		tol = 2e-2
	}
	if d := got.Sub(want).Abs().Max().Item(); !(d <= tol*(1+want.Abs().Max().Item())) {
		t.Errorf("%s: off by %g", what, d)
	}
}

// TestSpecialMatrices takes what iterations find hard: repeated and zero values, triangles, tiny and huge numbers.
func TestSpecialMatrices(t *testing.T) {
	ones := torch.Ones([]int{6, 6}, torch.OnesOptions{DType: torch.Float64})
	for what, a := range map[string]*T{
		"ones": ones, "zeros": ones.MulScalar(0), "identity": torch.Eye(6, torch.EyeOptions{DType: torch.Float64}),
		"upper": randn(torch.Float64, 6, 6).Triu(), "lower": randn(torch.Float64, 6, 6).Tril(),
		"nilpotent": ones.Triu(tensor.TriuOptions{Diagonal: 1}), "tiny": randn(torch.Float64, 6, 6).MulScalar(1e-300),
		"huge":   randn(torch.Float64, 6, 6).MulScalar(1e300),
		"cyclic": op.Call1("aten::roll", torch.Eye(6, torch.EyeOptions{DType: torch.Float64}), 1, 0),
	} {
		size := a.Abs().Max().Item()
		if size == 0 {
			size = 1
		}
		u, s, vh := linalg.SVD(a)
		near(t, what+" SVD", u.Mul(s.DivScalar(size).Unsqueeze(-2)).MatMul(vh), a.DivScalar(size))
		w, v := linalg.Eig(a)
		near(t, what+" eig", v.Mul(w.DivScalar(size).Unsqueeze(-2)), a.DivScalar(size).ToDType(v.DType()).MatMul(v))
		h := a.MulScalar(0.5).Add(a.MT().MulScalar(0.5))
		l, q := linalg.Eigh(h)
		near(t, what+" eigh", q.Mul(l.DivScalar(size).Unsqueeze(-2)).MatMul(q.MT()), h.DivScalar(size))
	}
}

// TestGradientsOfFactors compares gradients with finite differences, of functions that do not depend on the signs of
// vectors.
func TestGradientsOfFactors(t *testing.T) {
	for _, dt := range []tensor.DType{torch.Float64, torch.Complex128} {
		for _, sh := range [][]int{{3, 3}, {2, 4, 3}, {3, 5}} {
			square := sh[len(sh)-1] == sh[len(sh)-2]
			for what, f := range map[string]func(a *T) *T{
				"qr": func(a *T) *T { q, r := linalg.QR(a); return q.Abs().Sum().Add(r.Sin().Abs().Sum()) },
				"svd": func(a *T) *T {
					u, s, vh := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: true})
					return u.MatMul(vh).Sin().Abs().Sum().Add(s.Sin().Sum())
				},
				"svd u": func(a *T) *T {
					u, _, _ := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: true})
					return u.Abs().Sin().Sum()
				},
				"svd vh": func(a *T) *T {
					_, _, v := linalg.SVD(a, linalg.SVDOptions{NoFullMatrices: true})
					return v.Abs().Sin().Sum()
				},
				"lu":   func(a *T) *T { _, l, u := linalg.LU(a); return l.Sin().Abs().Sum().Add(u.Sin().Abs().Sum()) },
				"pinv": func(a *T) *T { return linalg.Pinv(a).Sin().Abs().Sum() },
				"eig": func(a *T) *T {
					if !square {
						return a.Abs().Sum()
					}
					w, v := linalg.Eig(a)
					return w.Abs().Sin().Sum().Add(v.Abs().Sin().Sum())
				},
				"polar": func(a *T) *T {
					if a.Size(-2) < a.Size(-1) {
						a = a.MH()
					}
					u, h := linalg.Polar(a)
					return u.Sin().Abs().Sum().Add(h.Sin().Abs().Sum())
				},
				"exp": func(a *T) *T {
					if !square {
						return a.Abs().Sum()
					}
					return linalg.MatrixExp(a).Sin().Abs().Sum()
				},
			} {
				torch.ManualSeed(5)
				if err := autograd.Gradcheck(func(in []*T) []*T { return []*T{f(in[0])} },
					[]*T{randn(dt, sh...).SetRequiresGrad(true)}); err != nil {
					t.Errorf("%s of %v %s: %v", what, sh, dt, err)
				}
			}
		}
	}
}

// Residuals are given for more rows than columns, but not by the driver that is the default.
func TestLstsqResiduals(t *testing.T) {
	a, b := randn(tensor.Float64, 4, 3, 2), randn(tensor.Float64, 4, 3, 5)
	for driver, want := range map[string][]int{"": {0}, "gelsy": {0}, "gels": {4, 5}, "gelsd": {4, 5},
		"gelss": {4, 5}} {
		r := linalg.Lstsq(a, b, linalg.LstsqOptions{Driver: driver})
		if !tensor.SameShape(r[1].Shape(), want) {
			t.Errorf("driver %q: residuals of shape %v, expected %v", driver, r[1].Shape(), want)
		}
	}
}

// Functions that PyTorch has removed say what replaces them.
func TestRemoved(t *testing.T) {
	a := tensor.TensorValue(torch.Ones([]int{2, 2}))
	for name, c := range map[string]struct {
		args []tensor.Value
		want string
	}{
		"solve":       {[]tensor.Value{a, a}, "torch.linalg.solve(A, B)"},
		"lstsq":       {[]tensor.Value{a, a}, "in favor of `torch.linalg.lstsq`"},
		"eig":         {[]tensor.Value{a, tensor.BoolValue(true)}, "torch.linalg.eig(A)"},
		"symeig":      {[]tensor.Value{a, tensor.BoolValue(true), tensor.BoolValue(true)}, "torch.linalg.eigh(A"},
		"matrix_rank": {[]tensor.Value{a}, "torch.linalg.matrix_rank"},
		"qr":          {[]tensor.Value{a}, "torch.linalg.qr(A, mode='reduced')"},
		"cholesky":    {[]tensor.Value{a}, "torch.linalg.cholesky(A)"},
	} {
		_, err := tensor.CallOp("torch::"+name, c.args...)
		if !errors.Is(err, tensor.ErrNotImpl) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("torch::%s: %v, want %q", name, err, c.want)
		}
	}
}
