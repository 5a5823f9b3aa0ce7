package linalg

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
		Doc:    "is linalg_slogdet with the LU factors that it comes from.",
		Go:     "-",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.slogdet", "A", a)
			b := batch(a.Shape())
			c.Alloc(0, b, a.DType())
			c.Alloc(1, b, a.DType().Real())
			c.Alloc(2, a.Shape(), a.DType())
			c.Alloc(3, append(append([]int{}, b...), a.Size(-1)), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w, n := wide(c.T(0)), c.T(0).Size(-1)
			sign := tensor.New(c.Out(0).Shape(), w.DType())
			logs := tensor.New(c.Out(1).Shape(), tensor.Float64)
			piv := tensor.Data[int32](c.Out(3))
			if w.DType().IsComplex() {
				slogdet(tensor.Data[complex128](sign), tensor.Data[float64](logs), tensor.Data[complex128](w), piv, n)
			} else {
				slogdet(tensor.Data[float64](sign), tensor.Data[float64](logs), tensor.Data[float64](w), piv, n)
			}
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
			return []*T{op.Call1("aten::linalg_inv", c.T(0)).MH().Mul(g.Unsqueeze(-1).Unsqueeze(-1))}
		},
		Grad: "LinalgSlogdetBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
		Doc: "gives the sign (of complex matrices: the phase) of determinants and the logarithm of their absolute " +
			"value.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.slogdet.html",
		Body: func(c *Ctx) { x := op.Call("aten::_linalg_slogdet", c.T(0)); c.Return(x[0], x[1]) },
	})
	tensor.Register(tensor.Def{
		Schema: "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)",
		Doc: "gives the sign (of complex matrices: the phase) of determinants and the logarithm of their absolute " +
			"value.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.slogdet.html",
		Body: func(c *Ctx) { x := op.Call("aten::_linalg_slogdet", c.T(0)); c.Return(x[0], x[1]) },
	})
}

// slogdet factors each matrix in place with the largest pivot of each column, and multiplies the diagonal of the upper
// factor.
func slogdet[E element](sign []E, logs []float64, a []E, piv []int32, n int) {
	for m := range sign {
		x, s, l := a[m*n*n:(m+1)*n*n], number[E](1), 0.0
		for k := range n {
			p := k
			for i := k + 1; i < n; i++ {
				if size(x[i*n+k]) > size(x[p*n+k]) {
					p = i
				}
			}
			piv[m*n+k] = int32(p + 1)
			if p != k {
				for j := range n {
					x[p*n+j], x[k*n+j] = x[k*n+j], x[p*n+j]
				}
				s = -s
			}
			d := x[k*n+k]
			r := size(d)
			l += math.Log(r)
			if r == 0 {
				s = number[E](0)
				continue
			}
			s *= d / number[E](r)
			for i := k + 1; i < n; i++ {
				f := x[i*n+k] / d
				x[i*n+k] = f
				minus(x[i*n+k+1:(i+1)*n], f, x[k*n+k+1:(k+1)*n])
			}
		}
		sign[m], logs[m] = s, l
	}
}
