package linalg

import (
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const svdNote = "It panics when the iteration does not converge, as for matrices with infinities or NaN. Driver " +
	"must not be given on the CPU.\n"

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
		Doc:    "is linalg_svd, with empty U and Vh unless they are asked for.", Go: "-",
		Out: true, FormNames: ".out=.U",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkMatrix(c, "linalg.svd", "A", a)
			if c.Has(3) {
				c.Fail(tensor.ErrValue, "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs "+
					"with cuSOLVER backend.")
			}
			m, n, b := a.Size(-2), a.Size(-1), batch(a.Shape())
			k := min(m, n)
			if c.Bool(2) {
				mu, nv := k, k
				if c.Bool(1) {
					mu, nv = m, n
				}
				columns(c, 0, join(b, m, mu), a.DType())
				c.Alloc(1, join(b, k), a.DType().Real())
				columns(c, 2, join(b, nv, n), a.DType())
			} else {
				c.Alloc(0, []int{0}, a.DType())
				c.Alloc(1, join(b, k), a.DType().Real())
				c.Alloc(2, []int{0}, a.DType())
			}
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			s := tensor.New(c.Out(1).Shape(), tensor.Float64)
			var u, vh *T
			if c.Bool(2) {
				u, vh = tensor.New(c.Out(0).Shape(), w.DType()), tensor.New(c.Out(2).Shape(), w.DType())
			}
			failed := choose(w.DType(), svdBatch[float32], svdBatch[float64], svdBatch[complex64],
				svdBatch[complex128])(u, s, vh, w, precision(c.ArgDType(0)))
			if failed >= 0 {
				info := make([]int32, failed+1)
				info[failed] = 1
				checkInfo(c, "linalg.svd", info, w.Dim() > 2)
			}
			tensor.CopyRaw(c.Out(1), s)
			if u != nil {
				tensor.CopyRaw(c.Out(0), u)
				tensor.CopyRaw(c.Out(2), vh)
			}
		},
		Save: "U S Vh",
		VJP: func(c *Ctx, _ *T) []*T {
			u, s, vh, gu, gs, gvh := c.Out(0), c.Out(1), c.Out(2), c.G(0), c.G(1), c.G(2)
			if !c.Bool(2) {
				c.Fail(tensor.ErrAutograd,
					"svd_backward: cannot compute backward when compute_uv=False: the rule needs "+
						"the singular vectors")
			}
			k := s.Size(-1)
			if c.Bool(1) {
				u, vh = u.Narrow(-1, 0, k), vh.Narrow(-2, 0, k)
				if gu != nil {
					gu = gu.Narrow(-1, 0, k)
				}
				if gvh != nil {
					gvh = gvh.Narrow(-2, 0, k)
				}
			}
			return []*T{svdGrad(u, s, vh, gu, gs, gvh)}
		},
		Grad: "LinalgSvdBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
		Doc: "is the singular value decomposition A = U·diag(S)·Vh with descending S, with square U and Vh if " +
			"FullMatrices, else with min(m, n) singular vectors.\n" + svdNote +
			"https://pytorch.org/docs/stable/generated/torch.linalg.svd.html",
		Out: true, FormNames: ".out=.U",
		Body: func(c *Ctx) { c.Return(op.Call("aten::_linalg_svd", c.T(0), c.Bool(1), true, c.Value(2))...) },
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
		Doc: "gives the singular values of matrices in descending order.\n" + svdNote +
			"https://pytorch.org/docs/stable/generated/torch.linalg.svdvals.html",
		Out: true,
		Body: func(c *Ctx) {
			vectors := c.T(0).RequiresGrad() && tensor.IsGradEnabled()
			c.Return(op.Call("aten::_linalg_svd", c.T(0), false, vectors, c.Value(1))[1])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
		Doc: "is the singular value decomposition self = U·diag(S)·Vᴴ. Unless ComputeUV, U and V are zeros.\n" +
			"https://pytorch.org/docs/stable/generated/torch.svd.html",
		Out: true, FormNames: ".out=.U",
		Body: func(c *Ctx) {
			a := c.T(0)
			if a.Dim() < 2 {
				c.Fail(tensor.ErrShape, "linalg.svd: input should have at least 2 dimensions, but has %d dimensions "+
					"instead", a.Dim())
			}
			if c.Bool(2) {
				r := op.Call("aten::_linalg_svd", a, !c.Bool(1), true)
				c.Return(r[0], r[1], r[2].MH())
				return
			}
			b, m, n := batch(a.Shape()), a.Size(-2), a.Size(-1)
			s := op.Call1("aten::linalg_svdvals", a)
			c.Return(op.Zeros(a, join(b, m, m), a.DType()), s, op.Zeros(a, join(b, n, n), a.DType()))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_polar(Tensor A) -> (Tensor U, Tensor H)",
		Doc: "is the polar decomposition A = U·H of matrices with at least as many rows as columns: U has orthonormal " +
			"columns, H is Hermitian positive-semidefinite. The gradient is defined where A has full rank.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.polar.html",
		Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkMatrix(c, "linalg.polar", "A", a)
			if a.Size(-2) < a.Size(-1) {
				c.Fail(tensor.ErrShape, "linalg.polar: input must have at least as many rows as columns, but got %d by "+
					"%d matrices", a.Size(-2), a.Size(-1))
			}
			c.Alloc(0, a.Shape(), a.DType())
			c.Alloc(1, join(batch(a.Shape()), a.Size(-1), a.Size(-1)), a.DType())
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() {
				r := op.Call("aten::_linalg_svd", c.T(0))
				tensor.CopyRaw(c.Out(0), r[0].MatMul(r[2]))
				tensor.CopyRaw(c.Out(1), r[2].MH().Mul(r[1].Unsqueeze(-2)).MatMul(r[2]))
			})
		},
		Save: "U H",
		VJP: func(c *Ctx, _ *T) []*T {
			// UᴴdA = Ω·H + dH with Ω = UᴴdU skew-Hermitian, so that Ω·H + H·Ω is the skew part of UᴴdA: in the basis of
			// H's eigenvectors an elementwise division.
			u, h, gu, gh := c.Out(0), c.Out(1), c.G(0), c.G(1)
			var gz, y *T
			if gh != nil {
				gz = gh.Add(gh.MH()).MulScalar(0.5)
				y = gz.MatMul(h).Neg()
			}
			if gu != nil {
				y = plus(y, u.MH().MatMul(gu))
			}
			if y == nil {
				return []*T{nil}
			}
			e := op.Call("aten::_linalg_eigh", h)
			s, v := e[0], e[1]
			w := v.MH().MatMul(y.Sub(y.MH())).MatMul(v).Div(s.Unsqueeze(-1).Add(s.Unsqueeze(-2)))
			gz = plus(gz, v.MatMul(w).MatMul(v.MH()))
			a := u.MatMul(gz)
			if gu != nil && u.Size(-2) > u.Size(-1) {
				rest := gu.Sub(u.MatMul(u.MH().MatMul(gu)))
				a = a.Add(rest.MatMul(v.Div(s.Unsqueeze(-2))).MatMul(v.MH()))
			}
			return []*T{a}
		},
	})
}

// svdGrad is the rule of the reduced decomposition (J. Townsend, Differentiating the Singular Value Decomposition,
// 2016); the loss must not depend on the phase that singular vectors are free to have.
func svdGrad(u, s, vh, gu, gs, gvh *T) *T {
	if gu == nil && gvh == nil {
		if gs == nil {
			return nil
		}
		return u.Mul(gs.Unsqueeze(-2)).MatMul(vh)
	}
	skew := func(t *T) *T { return t.Sub(t.MH()) }
	// E[j][k] = s[k]² - s[j]², 1 on the diagonal
	e := s.Unsqueeze(-2).Sub(s.Unsqueeze(-1)).Mul(s.Unsqueeze(-2).Add(s.Unsqueeze(-1)))
	e = e.Add(identity(s, s.Size(-1)))
	var g, left *T
	if gu != nil {
		left = skew(u.MH().MatMul(gu))
		g = left.Mul(s.Unsqueeze(-2))
	}
	if gvh != nil {
		g = plus(g, skew(vh.MatMul(gvh.MH())).Mul(s.Unsqueeze(-1)))
	}
	g = g.Div(e)
	if left != nil && u.IsComplex() {
		g = g.Sub(diagonalOf(matrixDiagonal(g)))
		g = g.Add(diagonalOf(matrixDiagonal(left).Div(s.MulScalar(2))))
	} else if u.IsComplex() {
		g = g.Sub(diagonalOf(matrixDiagonal(g)))
	}
	if gs != nil {
		g = g.Add(diagonalOf(gs.ToDType(g.DType())))
	}
	m, n, k := u.Size(-2), vh.Size(-1), s.Size(-1)
	if gu != nil && m > k && gvh == nil {
		rest := u.MatMul(g)
		gus := gu.Div(s.Unsqueeze(-2))
		return rest.Add(gus.Sub(u.MatMul(u.MH().MatMul(gus)))).MatMul(vh)
	}
	a := u.MatMul(g).MatMul(vh)
	if gu != nil && m > k {
		gus := gu.Div(s.Unsqueeze(-2))
		a = a.Add(gus.Sub(u.MatMul(u.MH().MatMul(gus))).MatMul(vh))
	}
	if gvh != nil && n > k {
		sgv := gvh.Div(s.Unsqueeze(-1))
		a = a.Add(u.MatMul(sgv.Sub(sgv.MatMul(vh.MH()).MatMul(vh))))
	}
	return a
}

// svdBatch returns the number of a matrix for which the iteration did not converge, -1 if there is none.
func svdBatch[E element](u, s, vh, w *T, eps float64) int {
	m, n, count := w.Size(-2), w.Size(-1), matrices(w.Shape())
	k := min(m, n)
	a, sd := data[E](w), data[float64](s)
	var failed atomic.Int64
	each(count, 20*m*n*k, func(i int) {
		var x, y []E
		mu, nv := k, k
		if u != nil {
			mu, nv = u.Size(-1), vh.Size(-2)
			x, y = part(data[E](u), i, m*mu), part(data[E](vh), i, nv*n)
		}
		if !lapack.SVD(part(a, i, m*n), m, n, part(sd, i, k), x, mu, y, nv, eps) {
			failed.Store(int64(i + 1))
		}
	})
	return int(failed.Load()) - 1
}
