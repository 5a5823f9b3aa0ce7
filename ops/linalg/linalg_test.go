package linalg_test

import (
	"errors"
	"math"
	"testing"

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
		"cholesky":       func(in []*T) []*T { return []*T{linalg.Cholesky(sym(in[0]))} },
		"cholesky upper": func(in []*T) []*T { return []*T{linalg.Cholesky(sym(in[0]), linalg.CholeskyOptions{Upper: true})} },
		"solve":          func(in []*T) []*T { return []*T{in[1].CholeskySolve(linalg.Cholesky(sym(in[0])))} },
		"inverse":        func(in []*T) []*T { return []*T{linalg.Cholesky(sym(in[0])).CholeskyInverse()} },
		"eigvalsh":       func(in []*T) []*T { return []*T{linalg.Eigvalsh(sym(in[0]))} },
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
	linalg.Eigvalsh(nan) // ends
	for what, f := range map[string]func(){
		"not definite": func() { linalg.Cholesky(bad) },
		"in a batch": func() {
			linalg.Cholesky(torch.Stack([]*T{torch.Eye(2, torch.EyeOptions{DType: torch.Float64}),
				bad}))
		},
		"no matrix":         func() { linalg.Cholesky(torch.Ones([]int{3})) },
		"not square":        func() { linalg.Cholesky(torch.Ones([]int{3, 2})) },
		"integers":          func() { linalg.Cholesky(torch.Ones([]int{2, 2}).Long()) },
		"half":              func() { linalg.Cholesky(torch.Eye(2).Half()) },
		"shapes":            func() { linalg.SolveTriangular(torch.Eye(2), torch.Ones([]int{3, 1}), false) },
		"types":             func() { linalg.SolveTriangular(torch.Eye(2), torch.Ones([]int{2, 1}).Double(), false) },
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
