package linalg

import (
	"math"

	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const (
	detDoc = "is the determinant of square matrices.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.det.html"
	slogdetDoc = "gives the sign (of complex matrices: the phase) of determinants and the logarithm of their absolute " +
		"value.\n" +
		"https://pytorch.org/docs/stable/generated/torch.linalg.slogdet.html"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
		Doc:    "is linalg_det with the LU factors that it comes from.",
		Go:     "-", Out: true, FormNames: ".out=.result",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.det", "A", a)
			b := batch(a.Shape())
			c.Alloc(0, b, a.DType())
			columns(c, 1, a.Shape(), a.DType())
			c.Alloc(2, join(b, a.Size(-1)), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			det := tensor.New(c.Out(0).Shape(), w.DType())
			piv := tensor.Data[int32](c.Out(2))
			choose(w.DType(), detBatch[float32], detBatch[float64], detBatch[complex64], detBatch[complex128])(det, w,
				piv)
			tensor.CopyRaw(c.Out(0), det)
			tensor.CopyRaw(c.Out(1), w)
		},
		Save: "A result LU pivots",
		VJP:  detGrad,
		Grad: "LinalgDetBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_det(Tensor A) -> Tensor", Doc: detDoc, Out: true,
		Body: func(c *Ctx) { c.Return(op.Call("aten::_linalg_det", c.T(0))[0]) },
	})
	tensor.Register(tensor.Def{
		Schema: "det(Tensor self) -> Tensor", Doc: detDoc,
		Body: func(c *Ctx) { c.Return(op.Call1("aten::linalg_det", c.T(0))) },
	})
	tensor.Register(tensor.Def{
		Schema: "logdet(Tensor self) -> Tensor",
		Doc: "is the logarithm of the determinant of square matrices: -Inf where it is 0, NaN where it is negative.\n" +
			"https://pytorch.org/docs/stable/generated/torch.logdet.html",
		Body: func(c *Ctx) {
			checkSquare(c, "logdet", "A", c.T(0))
			r := op.Call("aten::_linalg_slogdet", c.T(0))
			sign, log := r[0], r[1]
			if sign.IsComplex() {
				c.Return(sign.Log().Add(log))
				return
			}
			nan := op.Full(log, nil, math.NaN(), log.DType())
			c.Return(op.Call1("aten::where.self", sign.EqScalar(-1), nan, log))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
		Doc:    "is linalg_slogdet with the LU factors that it comes from.",
		Go:     "-", Out: true, FormNames: ".out=.sign",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.slogdet", "A", a)
			b := batch(a.Shape())
			c.Alloc(0, b, a.DType())
			c.Alloc(1, b, a.DType().Real())
			columns(c, 2, a.Shape(), a.DType())
			c.Alloc(3, join(b, a.Size(-1)), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w := work(c.T(0), longer(c.T(0)))
			sign := tensor.New(c.Out(0).Shape(), w.DType())
			logs := tensor.New(c.Out(1).Shape(), tensor.Float64)
			piv := tensor.Data[int32](c.Out(3))
			choose(w.DType(), slogdetBatch[float32], slogdetBatch[float64], slogdetBatch[complex64],
				slogdetBatch[complex128])(sign, logs, w, piv)
			tensor.CopyRaw(c.Out(0), sign)
			tensor.CopyRaw(c.Out(1), logs)
			tensor.CopyRaw(c.Out(2), w)
		},
		Save: "A sign",
		VJP: func(c *Ctx, _ *T) []*T {
			gs, gl := c.G(0), c.G(1)
			var g *T
			if c.ArgDType(0).IsComplex() {
				// The sign turns with the imaginary part of tr(A⁻¹ dA), the logarithm grows with the real part.
				if gl != nil {
					g = gl.ToDType(c.ArgDType(0))
				}
				if gs != nil {
					i := gs.Conj().Mul(c.Out(0)).Imag().ToDType(c.ArgDType(0)).MulScalar(-1i)
					if g == nil {
						g = i
					} else {
						g = g.Add(i)
					}
				}
			} else {
				g = gl // the sign of a real determinant is constant
			}
			if g == nil {
				return []*T{nil}
			}
			return []*T{op.Call("aten::linalg_inv_ex", c.T(0))[0].MH().Mul(g.Unsqueeze(-1).Unsqueeze(-1))}
		},
		Grad: "LinalgSlogdetBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", Doc: slogdetDoc, Out: true,
		Body: func(c *Ctx) { x := op.Call("aten::_linalg_slogdet", c.T(0)); c.Return(x[0], x[1]) },
	})
	tensor.Register(tensor.Def{
		Schema: "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", Doc: slogdetDoc, Out: true,
		Body: func(c *Ctx) { x := op.Call("aten::linalg_slogdet", c.T(0)); c.Return(x[0], x[1]) },
	})
}

// detGrad is the transposed adjugate times the gradient: det(A)·A⁻ᴴ, where zeros on the diagonal of U are replaced by a
// tiny number, which also serves for singular matrices, as the adjugate is continuous. A gradient that is itself
// differentiated goes through the solution of a system with A.
func detGrad(c *Ctx, g *T) []*T {
	a, det, lu, piv := c.T(0), c.Out(0), c.Out(1), c.Out(2)
	n := a.Size(-1)
	if a.Numel() == 0 {
		return []*T{op.Zeros(a, a.Shape(), a.DType())}
	}
	if tensor.IsGradEnabled() {
		d := g.Mul(det.Conj()).Unsqueeze(-1).Unsqueeze(-1).Mul(identity(a, n))
		return []*T{op.Call("aten::linalg_solve", a.MH(), d)[0]}
	}
	diag := lu.Diagonal(tensor.DiagonalOptions{Dim1: -2, Dim2: tensor.Some(-1)})
	tiny := op.Full(diag, nil, 2*precision(a.DType()), diag.DType())
	patch := op.Where(diag.EqScalar(0), tiny.Expand(diag.Shape()))
	// the determinant with the patch: the product of the diagonal, negative for an odd number of exchanges
	order := op.Numbers(a, count(n)).Add(op.Full(piv, nil, 1, tensor.Int64))
	odd := piv.Ne(order).ToDType(tensor.Int64).SumDim([]int{-1}).RemainderScalar(2).MulScalar(-2).AddScalar(1)
	d := diag.Add(patch).ProdDim(-1).Mul(odd.ToDType(a.DType()))
	rhs := g.Mul(d.Conj()).Unsqueeze(-1).Unsqueeze(-1).Mul(identity(a, n))
	return []*T{op.Call1("aten::linalg_lu_solve", lu.Add(patch.DiagEmbed()), piv, rhs, true, true)}
}

// count is 0, 1, …, n-1.
func count(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(i)
	}
	return s
}

// detBatch factors each matrix in place and multiplies the diagonal of the upper factor.
func detBatch[E element](d, w *T, piv []int32) {
	det, a, n := data[E](d), data[E](w), w.Size(-1)
	each(len(det), n*n*n, func(m int) {
		x, p, d := part(a, m, n*n), part(piv, m, n), E(1)
		lapack.LU(x, n, n, n, p, true)
		for k := range n {
			d *= x[k*n+k]
			if p[k] != int32(k+1) {
				d = -d
			}
		}
		det[m] = d
	})
}

// slogdetBatch is detBatch with the sign and the logarithm of the absolute value apart.
func slogdetBatch[E element](s, l, w *T, piv []int32) {
	sign, logs, a, n := data[E](s), data[float64](l), data[E](w), w.Size(-1)
	each(len(sign), n*n*n, func(m int) {
		x, p, s, l := part(a, m, n*n), part(piv, m, n), E(1), 0.0
		lapack.LU(x, n, n, n, p, true)
		for k := range n {
			d := x[k*n+k]
			r := lapack.Abs(d)
			l += math.Log(r)
			if r == 0 {
				s = 0
				continue
			}
			s *= d / lapack.Num[E](r)
			if p[k] != int32(k+1) {
				s = -s
			}
		}
		sign[m], logs[m] = s, l
	})
}
