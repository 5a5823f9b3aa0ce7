package linalg

import (
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
		Doc: "gives the eigenvalues of square matrices, in no particular order, and the eigenvectors, of length 1, as " +
			"columns. Both are complex. Infinities and NaN are refused.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.eig.html",
		Out: true, Storage: tensor.TakesComplexHalf, // on a device that only infers
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.eig", "A", a)
			c.Alloc(0, a.Shape()[:a.Dim()-1], a.DType().Complex())
			columns(c, 1, a.Shape(), a.DType().Complex())
		},
		CPU: func(c *Ctx) {
			vals := tensor.New(c.Out(0).Shape(), tensor.Complex128)
			vecs := tensor.New(c.Out(1).Shape(), tensor.Complex128)
			eig(c, vals, vecs)
			tensor.CopyRaw(c.Out(0), vals)
			tensor.CopyRaw(c.Out(1), vecs)
		},
		Save: "eigenvalues eigenvectors",
		VJP: func(c *Ctx, _ *T) []*T {
			gl, gv, l, v := c.G(0), c.G(1), c.Out(0), c.Out(1)
			var r *T
			switch {
			case gv != nil:
				vh := v.MH()
				x := vh.MatMul(gv)
				d := matrixDiagonal(x).Real().ToDType(x.DType())
				x = x.Sub(vh.MatMul(v).Mul(d.Unsqueeze(-2)))
				e := l.Unsqueeze(-2).Sub(l.Unsqueeze(-1)).Conj().Add(identity(l, l.Size(-1)))
				x = x.Div(e)
				if gl != nil {
					x = x.Sub(diagonalOf(matrixDiagonal(x))).Add(diagonalOf(gl))
				}
				r = op.Call1("aten::linalg_solve", vh, x.MatMul(vh))
			case gl != nil:
				r = op.Call1("aten::linalg_solve", v.MH(), gl.Unsqueeze(-1).Mul(v.MH()))
			default:
				return []*T{nil}
			}
			if !c.ArgDType(0).IsComplex() {
				r = r.Real()
			}
			return []*T{r}
		},
		Grad: "LinalgEigBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_linalg_eigvals(Tensor self) -> Tensor",
		Doc:    "is linalg_eigvals where no gradient is wanted.", Go: "-",
		NoGrad: "linalg_eigvals calls linalg_eig for it", Storage: tensor.TakesComplexHalf,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.eigvals", "A", a)
			c.Alloc(0, a.Shape()[:a.Dim()-1], a.DType().Complex())
		},
		CPU: func(c *Ctx) {
			vals := tensor.New(c.Out(0).Shape(), tensor.Complex128)
			eig(c, vals, nil)
			tensor.CopyRaw(c.Out(0), vals)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_eigvals(Tensor self) -> Tensor",
		Doc: "gives the eigenvalues of square matrices as complex numbers, in no particular order.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.eigvals.html",
		Out: true,
		Body: func(c *Ctx) {
			if c.T(0).RequiresGrad() && tensor.IsGradEnabled() {
				c.Return(op.Call("aten::linalg_eig", c.T(0))[0])
				return
			}
			c.Return(op.Call1("aten::_linalg_eigvals", c.T(0)))
		},
	})
}

// eig computes eigenvalues and, unless vecs is nil, eigenvectors.
func eig(c *Ctx, vals, vecs *T) {
	w := work(c.T(0), 0)
	var failed int
	if w.DType().IsComplex() {
		failed = eigBatch(data[complex128](w), vals, vecs, precision(c.ArgDType(0)))
	} else {
		failed = eigBatch(data[float64](w), vals, vecs, precision(c.ArgDType(0)))
	}
	if failed < 0 {
		return
	}
	if !tensor.Data[bool](tensor.Dense(w.IsFinite().All()))[0] {
		c.Fail(tensor.ErrValue, "torch.linalg.eig: input tensor should not contain infs or NaNs.")
	}
	c.Fail(tensor.ErrLinAlg, "linalg.eig: %sThe algorithm failed to converge because the input matrix is "+
		"ill-conditioned or has too many repeated eigenvalues.", at(failed, w.Dim() > 2))
}

func eigBatch[E lapack.Wide](a []E, vals, vecs *T, eps float64) int {
	n := vals.Size(-1)
	if n == 0 {
		return -1
	}
	w := data[complex128](vals)
	var failed atomic.Int64
	each(len(w)/n, 25*n*n*n, func(i int) {
		var v []complex128
		if vecs != nil {
			v = part(data[complex128](vecs), i, n*n)
		}
		if !lapack.Eig(part(a, i, n*n), n, part(w, i, n), v, eps) {
			failed.Store(int64(i + 1))
		}
	})
	return int(failed.Load()) - 1
}
