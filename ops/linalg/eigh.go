package linalg

import (
	"math"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_eigh(Tensor A, str UPLO=\"L\", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
		Doc: "gives the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns " +
			"unless ComputeV is false.",
		Go: "-",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.eigh", "A", a)
			if u := c.Str(1); u != "L" && u != "U" && u != "l" && u != "u" {
				c.Fail(tensor.ErrValue, "Expected UPLO argument to be 'L' or 'U', but got %s", u)
			}
			b := batch(a.Shape())
			c.Alloc(0, append(append([]int{}, b...), a.Size(-1)), a.DType().Real())
			if c.Bool(2) {
				columns(c, 1, a.Shape(), a.DType())
			} else {
				c.Alloc(1, []int{0}, a.DType())
			}
		},
		CPU: func(c *Ctx) {
			w, n := work(c.T(0), c.T(0).Size(-1)), c.T(0).Size(-1)
			lower := c.Str(1) == "L" || c.Str(1) == "l"
			vals := tensor.New(c.Out(0).Shape(), tensor.Float64)
			var vecs *T
			if c.Bool(2) {
				vecs = tensor.New(w.Shape(), w.DType())
			}
			failed := choose(w.DType(), eighOf[float32], eighOf[float64], eighOf[complex64], eighOf[complex128])(vals,
				vecs, w, n, lower, precision(c.ArgDType(0)))
			if failed >= 0 {
				info := make([]int32, failed+1)
				info[failed] = 1
				if c.Bool(2) { // the number that LAPACK gives
					info[failed] = int32(max(1, n-1))
				}
				checkInfo(c, "linalg.eigh", info, len(c.T(0).Shape()) > 2)
			}
			tensor.CopyRaw(c.Out(0), vals)
			if c.Bool(2) {
				tensor.CopyRaw(c.Out(1), vecs)
			}
		},
		Save: "A eigenvalues eigenvectors",
		VJP: func(c *Ctx, _ *T) []*T {
			gl, gv := c.G(0), c.G(1)
			v := c.Out(1)
			if !c.Bool(2) { // the vectors were not computed; the rule needs them
				v = op.Call("aten::_linalg_eigh", c.T(0), c.Str(1), true)[1]
			}
			vh := v.MH()
			if gv == nil {
				if gl == nil {
					return []*T{nil}
				}
				return []*T{v.Mul(gl.Unsqueeze(-2)).MatMul(vh)}
			}
			// M. Giles, An extended collection of matrix derivative results (2008), section 3.1.
			s := vh.MatMul(gv)
			s = s.Sub(s.MH()).MulScalar(0.5)
			l := c.Out(0)
			gap := l.Unsqueeze(-2).Sub(l.Unsqueeze(-1))
			e := gap.MaskedFillScalar(gap.EqScalar(0), math.Inf(1))
			s = s.Div(e)
			if gl != nil {
				s = s.Add(gl.ToDType(s.DType()).DiagEmbed())
			}
			return []*T{v.MatMul(s).MatMul(vh)}
		},
		Grad: "LinalgEighBackward0",
		Out:  true, FormNames: ".out=.eigenvalues",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)",
		Doc: "gives the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as columns; UPLO " +
			"names the triangle that is read.\n" +
			"It panics when the iteration does not converge, as for matrices with infinities or NaN.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.eigh.html",
		Out: true, FormNames: ".out=.eigvals(eigvals,eigvecs)",
		Body: func(c *Ctx) {
			r := op.Call("aten::_linalg_eigh", c.T(0), c.Str(1), true)
			c.Return(r[0], r[1])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_sqrth(Tensor self) -> Tensor",
		Doc: "is the principal square root of a Hermitian positive-definite matrix, of which the lower triangle is " +
			"read; negative eigenvalues count as 0.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.matrix_sqrth.html",
		Out: true,
		Infer: func(c *Ctx) {
			checkSquare(c, "linalg.matrix_sqrth", "A", c.T(0))
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() {
				r := op.Call("aten::_linalg_eigh", c.T(0))
				tensor.CopyRaw(c.Out(0), r[1].Mul(r[0].ClampMinScalar(0).Sqrt().Unsqueeze(-2)).MatMul(r[1].MH()))
			})
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			// X·dX + dX·X = dA, in the basis of the eigenvectors an elementwise division
			r := op.Call("aten::_linalg_eigh", c.T(0))
			v, s := r[1], r[0].ClampMinScalar(0).Sqrt()
			h := g.Add(g.MH()).MulScalar(0.5)
			q := v.MH().MatMul(h).MatMul(v).Div(s.Unsqueeze(-1).Add(s.Unsqueeze(-2)))
			return []*T{v.MatMul(q).MatMul(v.MH())}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor",
		Doc: "gives the eigenvalues of Hermitian matrices in ascending order; UPLO names the triangle that is read.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.eigvalsh.html",
		Out: true,
		Body: func(c *Ctx) {
			vectors := c.T(0).RequiresGrad() && tensor.IsGradEnabled()
			c.Return(op.Call("aten::_linalg_eigh", c.T(0), c.Str(1), vectors)[0])
		},
	})
}

// eighBatch gives eigenvalues and, unless vecs is nil, eigenvectors. It returns the number of a matrix for which the
// iteration did not converge, -1 if there is none.
func eighBatch[E element](vals []float64, vecs, a []E, n, count int, lower bool, eps float64) int {
	var failed atomic.Int64
	each(count, 9*n*n*n, func(m int) {
		var v []E
		if vecs != nil {
			v = part(vecs, m, n*n)
		}
		if !lapack.Eigh(part(a, m, n*n), n, part(vals, m, n), v, lower, eps) {
			failed.Store(int64(m + 1))
		}
	})
	return int(failed.Load()) - 1
}

func eighOf[E element](vals, vecs, w *T, n int, lower bool, eps float64) int {
	var v []E
	if vecs != nil {
		v = data[E](vecs)
	}
	return eighBatch(data[float64](vals), v, data[E](w), n, matrices(w.Shape()), lower, eps)
}
