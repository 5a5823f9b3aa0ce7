package linalg

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
		Doc:    "panics when a factorization, of which info tells, failed.",
		NoGrad: "no result", Go: "-",
		Infer: func(c *Ctx) {},
		CPU:   func(c *Ctx) { checkInfo(c, c.Str(1), tensor.Data[int32](tensor.Dense(c.T(0))), !c.Bool(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
		Doc: "factors Hermitian positive-definite matrices into L times its conjugate transpose, L lower triangular " +
			"(with Upper, the conjugate transpose of L).\n" +
			"Info is 0, or the order of the leading minor that is not " +
			"positive-definite.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.cholesky_ex.html",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.cholesky", "A", a)
			columns(c, 0, a.Shape(), a.DType())
			c.Alloc(1, batch(a.Shape()), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			a, n := c.T(0), c.T(0).Size(-1)
			upper := c.Bool(1)
			if upper { // the other triangle is read: A = Uᴴ·U
				tensor.NoGrad(func() { a = a.MH() })
			}
			w, info := work(a, n), tensor.Data[int32](c.Out(1))
			choose(w.DType(), choleskyBatch[float32], choleskyBatch[float64], choleskyBatch[complex64],
				choleskyBatch[complex128])(w, info, n)
			if upper {
				tensor.NoGrad(func() { w = w.MH() })
			}
			tensor.CopyRaw(c.Out(0), w)
			if c.Bool(2) {
				checkInfo(c, "linalg.cholesky_ex", info, len(batch(a.Shape())) > 0)
			}
		},
		Save: "L",
		VJP:  choleskyGrad,
		Grad: "LinalgCholeskyExBackward0",
		Out:  true, FormNames: ".out=.L",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
		Doc: "factors Hermitian positive-definite matrices into L times its conjugate transpose, L lower triangular " +
			"(with Upper, the conjugate transpose of L).\n" +
			"It panics when a matrix is not " +
			"positive-definite.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.cholesky.html",
		Out: true,
		Body: func(c *Ctx) {
			x := op.Call("aten::linalg_cholesky_ex", c.T(0), c.Bool(1))
			op.Call("aten::_linalg_check_errors", x[1], "linalg.cholesky", c.T(0).Dim() == 2)
			c.Return(x[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
		Doc: "solves A·X = self for X, where input2 is the lower (with Upper, the upper) Cholesky factor of A.\n" +
			"https://pytorch.org/docs/stable/generated/torch.cholesky_solve.html",
		Out: true,
		Infer: func(c *Ctx) {
			b, l := c.T(0), c.T(1)
			checkMatrix(c, "cholesky_solve", "self", b)
			checkSquare(c, "cholesky_solve", "input2", l)
			switch {
			case b.DType() != l.DType():
				c.Fail(tensor.ErrDType,
					"cholesky_solve: expected both arguments to have the same dtype, but got %s and %s",
					b.DType().ClassName(), l.DType().ClassName())
			case b.Size(-2) != l.Size(-1):
				c.Fail(tensor.ErrShape,
					"Incompatible matrix sizes for cholesky_solve: each A matrix is %d by %d but each b matrix is %d "+
						"by %d", l.Size(-1), l.Size(-1), b.Size(-2), b.Size(-1))
			}
			c.Alloc(0, append(append([]int{}, tensor.BroadcastShapes(batch(b.Shape()), batch(l.Shape()))...),
				b.Size(-2), b.Size(-1)), b.DType())
		},
		CPU: func(c *Ctx) {
			bs := batch(c.Out(0).Shape())
			b, l := spread(c.T(0), bs), spread(c.T(1), bs)
			n, k := b.Size(-2), b.Size(-1)
			if c.Bool(2) {
				tensor.NoGrad(func() { l = l.MH() })
			}
			x, f := work(b, n), work(l, n)
			choose(x.DType(), choleskySolve[float32], choleskySolve[float64], choleskySolve[complex64],
				choleskySolve[complex128])(x, f, n, k)
			tensor.CopyRaw(c.Out(0), x)
		},
		Save: "input2 result",
		VJP: func(c *Ctx, g *T) []*T {
			l, up, r := c.T(1), c.Bool(2), make([]*T, 2)
			gb := op.Call1("aten::cholesky_solve", g, l, up)
			r[0] = gb
			if c.Needs(1) {
				s := gb.MatMul(c.Out(0).MH())
				s = s.Add(s.MH()).Neg()
				if up {
					r[1] = l.MatMul(s)
				} else {
					r[1] = s.MatMul(l)
				}
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
		Doc: "is the inverse of the matrices whose lower (with Upper, upper) Cholesky factors are " +
			"given.\nhttps://pytorch.org/docs/stable/generated/torch.cholesky_inverse.html",
		Out: true,
		Infer: func(c *Ctx) {
			checkSquare(c, "cholesky_inverse", "A", c.T(0))
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			l, n := c.T(0), c.T(0).Size(-1)
			if c.Bool(1) {
				tensor.NoGrad(func() { l = l.MH() })
			}
			f := work(l, n)
			info := choose(f.DType(), choleskyInverse[float32], choleskyInverse[float64], choleskyInverse[complex64],
				choleskyInverse[complex128])(f, n)
			checkInfo(c, "cholesky_inverse", info, l.Dim() > 2)
			tensor.CopyRaw(c.Out(0), f)
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			y := c.Out(0)
			s := y.MatMul(g.Add(g.MH()).MatMul(y)).Neg()
			if c.Bool(1) {
				return []*T{c.T(0).MatMul(s)}
			}
			return []*T{s.MatMul(c.T(0))}
		},
	})
}

// choleskyGrad is the rule of I. Murray, Differentiation of the Cholesky decomposition (2016): with Φ the lower
// triangle whose diagonal is halved, the gradient of A is L⁻ᴴ·(Φ(LᴴG) + Φ(LᴴG)ᴴ)·L⁻¹ / 2.
func choleskyGrad(c *Ctx, _ *T) []*T {
	g := c.G(0)
	if g == nil {
		return []*T{nil}
	}
	l := c.Out(0)
	if c.Bool(1) {
		l, g = l.MH(), g.MH()
	}
	p := l.MH().MatMul(g)
	p = p.Tril().Add(p.Tril(tensor.TrilOptions{Diagonal: -1}).MH()).MulScalar(0.5)
	p = solveTriangular(l.MH(), p, true, true)
	return []*T{solveTriangular(l, p, false, false)}
}

// choleskyBatch factors each n×n matrix in place; the upper triangle becomes zero.
func choleskyBatch[E element](w *T, info []int32, n int) {
	a := data[E](w)
	each(len(info), n*n*n/3, func(m int) {
		x := part(a, m, n*n)
		info[m] = int32(lapack.Cholesky(x, n, n))
		for i := range n {
			clear(x[i*n+i+1 : (i+1)*n])
		}
	})
}

// choleskySolve solves L·Lᴴ·X = B in place of B.
func choleskySolve[E element](x, f *T, n, k int) {
	if n == 0 {
		return
	}
	b, l := data[E](x), data[E](f)
	each(len(l)/(n*n), n*n*k, func(m int) {
		f, x := part(l, m, n*n), part(b, m, n*k)
		lapack.SolveLower(f, n, x, n, k, k, false)
		h := make([]E, n*n)
		for i := range n {
			for j := range i + 1 {
				h[j*n+i] = lapack.Conj(f[i*n+j])
			}
		}
		lapack.SolveUpper(h, n, x, n, k, k, false)
	})
}

// choleskyInverse replaces factors L by the inverses of L·Lᴴ.
// It returns for each matrix the number of the first diagonal element that is zero, or 0.
func choleskyInverse[E element](f *T, n int) []int32 {
	a := data[E](f)
	info := make([]int32, matrices(f.Shape()))
	each(len(info), n*n*n/2, func(m int) {
		p := part(a, m, n*n)
		for i := range n {
			if p[i*n+i] == 0 {
				info[m] = int32(i + 1)
				return
			}
		}
		lapack.CholeskyInverse(p, n)
	})
	return info
}

// checkInfo panics for the first factorization that failed, in the words of the function that made it.
func checkInfo(c *Ctx, api string, info []int32, batched bool) {
	for m, i := range info {
		if i == 0 {
			continue
		}
		name, where := strings.TrimPrefix(api, "torch."), at(m, batched)
		switch {
		case strings.HasPrefix(name, "linalg.inv"), name == "inv", name == "cholesky_inverse":
			c.Fail(tensor.ErrLinAlg, "%s: %sThe diagonal element %d is zero, the inversion could not be completed "+
				"because the input matrix is singular.", api, where, i)
		case strings.HasPrefix(name, "linalg.solve"):
			c.Fail(tensor.ErrLinAlg, "%s: %sThe solver failed because the input matrix is singular.", api, where)
		case strings.HasPrefix(name, "linalg.lu_factor"):
			c.Fail(tensor.ErrValue, "%s: %sU[%d,%d] is zero and using it on lu_solve would result in a division by "+
				"zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "+
				"linalg.lu_factor_ex(A, pivot)", api, where, i, i)
		case strings.HasPrefix(name, "linalg.ldl"):
			c.Fail(tensor.ErrValue, "%s: %sThe factorization could not be completed: block %d of D is zero", api,
				where, i)
		case strings.HasPrefix(name, "linalg.svd"):
			c.Fail(tensor.ErrLinAlg, "%s: %sThe algorithm failed to converge because the input matrix contained "+
				"non-finite values.", api, where)
		case strings.HasPrefix(name, "linalg.eig"):
			c.Fail(tensor.ErrLinAlg, "%s: %sThe algorithm failed to converge because the input matrix is "+
				"ill-conditioned or has too many repeated eigenvalues (error code: %d).", api, where, i)
		}
		c.Fail(tensor.ErrLinAlg, "%s: %sThe factorization could not be completed because the input is not "+
			"positive-definite (the leading minor of order %d is not positive-definite).", api, where, i)
	}
}
