package matmul

import (
	"math"
	"math/cmplx"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	opInv := tensor.Slot("aten::linalg_inv")
	tensor.Register(tensor.Def{
		Schema: "inverse(Tensor self) -> Tensor", Out: true,
		Doc: "is the inverse of a square matrix, or of each of a " +
			"batch.\nhttps://pytorch.org/docs/stable/generated/torch.inverse.html",
		Body: func(c *Ctx) {
			k := tensor.NewCall(opInv, 1)
			*k.Arg(0) = c.Value(0)
			c.Return(k.Do1())
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_inv(Tensor A) -> Tensor",
		Doc: "is the inverse of a square matrix, or of each of a " +
			"batch.\nhttps://pytorch.org/docs/stable/generated/torch.linalg.inv.html",
		Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			switch dt := a.DType(); {
			case a.Dim() < 2:
				c.Fail(tensor.ErrShape, "linalg.inv: The input tensor A must have at least 2 dimensions.")
			case a.Size(-1) != a.Size(-2):
				c.Fail(tensor.ErrShape, "linalg.inv: A must be batches of square matrices, but they are %d by %d "+
					"matrices", a.Size(-2), a.Size(-1))
			case !dt.IsFloat() && !dt.IsComplex():
				c.Fail(tensor.ErrDType, "linalg.inv: Expected a floating point or complex tensor as input. Got %s",
					dt.ClassName())
			case dt.Size() < 4:
				c.Fail(tensor.ErrDType, "linalg.inv: Low precision dtypes not supported. Got %s", dt.ClassName())
			}
			c.Alloc(0, a.Shape(), a.DType())
		},
		CPU: func(c *Ctx) {
			a, o := c.T(0), c.Out(0)
			// float32 is computed in float64: the inverse is where rounding hurts most
			if a.IsComplex() {
				w := tensor.New(a.Shape(), tensor.Complex128)
				inverse(c, tensor.Data[complex128](w),
					tensor.Data[complex128](tensor.CloneRaw(tensor.DenseAs(a, tensor.Complex128))), a.Size(-1),
					cmplx.Abs)
				tensor.CopyRaw(o, w)
				return
			}
			if n := a.Size(-1); n > 32 {
				w := tensor.CloneRaw(tensor.DenseAs(a, tensor.Float64))
				x := tensor.Data[float64](w)
				for m := 0; m < len(x); m += n * n {
					if k := invertBlocked(x[m:m+n*n], n); k >= 0 {
						singular(c, m/(n*n), k)
					}
				}
				tensor.CopyRaw(o, w)
				return
			}
			w := tensor.New(a.Shape(), tensor.Float64)
			inverse(c, tensor.Data[float64](w),
				tensor.Data[float64](tensor.CloneRaw(tensor.DenseAs(a, tensor.Float64))), a.Size(-1), math.Abs)
			tensor.CopyRaw(o, w)
		},
		Save: "result",
		VJP: func(c *Ctx, g *T) []*T {
			h := c.Out(0).Transpose(-2, -1).Conj()
			return []*T{h.MatMul(g).MatMul(h).Neg()}
		},
		Grad: "LinalgInvExBackward0",
	})
}

// inverse inverts the n×n matrices in a, which it destroys, by elimination with the largest pivot of each column.
func inverse[E float64 | complex128](c *Ctx, out, a []E, n int, abs func(E) float64) {
	if n == 0 {
		return
	}
	for m := 0; m < len(a); m += n * n {
		x, y := a[m:m+n*n], out[m:m+n*n]
		clear(y)
		for i := range n {
			y[i*n+i] = 1
		}
		for k := range n {
			p := k
			for i := k + 1; i < n; i++ {
				if abs(x[i*n+k]) > abs(x[p*n+k]) {
					p = i
				}
			}
			if x[p*n+k] == 0 {
				singular(c, m/(n*n), k)
			}
			if p != k {
				for j := range n {
					x[p*n+j], x[k*n+j] = x[k*n+j], x[p*n+j]
					y[p*n+j], y[k*n+j] = y[k*n+j], y[p*n+j]
				}
			}
			d := 1 / x[k*n+k]
			for j := range n {
				x[k*n+j] *= d
				y[k*n+j] *= d
			}
			for i := range n {
				f := x[i*n+k]
				if i == k || f == 0 {
					continue
				}
				for j := range n {
					x[i*n+j] -= f * x[k*n+j]
					y[i*n+j] -= f * y[k*n+j]
				}
			}
		}
	}
}

// singular reports that diagonal element k of a matrix of the batch is zero.
func singular(c *Ctx, m, k int) {
	batch := ""
	if len(c.T(0).Shape()) > 2 {
		batch = "(Batch element " + tensor.IntValue(m).String() + "): "
	}
	c.Fail(tensor.ErrValue, "linalg.inv: %sThe diagonal element %d is zero, the inversion could not be completed "+
		"because the input matrix is singular.", batch, k+1)
}
