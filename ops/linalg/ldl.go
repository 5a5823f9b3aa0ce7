package linalg

import (
	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const ldlDoc = "factors symmetric (Hermitian: Hermitian) matrices, of which the lower triangle is read, into L·D·Lᵀ " +
	"with unit lower triangular, permuted L and blocks of one or two rows in D, both of which are in LD. Pivots are " +
	"LAPACK's: negative for both rows of a block of two.\n"

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
		Doc: ldlDoc + "Info is 0, or the number of the first block of D that is zero.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor_ex.html",
		NoGrad: "PyTorch has none", Out: true,
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "torch.linalg.ldl_factor_ex", "A", a)
			columns(c, 0, a.Shape(), a.DType())
			c.Alloc(1, a.Shape()[:a.Dim()-1], tensor.Int32)
			c.Alloc(2, batch(a.Shape()), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w, hermitian := work(c.T(0), c.T(0).Size(-1)), c.Bool(1) && c.T(0).IsComplex()
			piv, info := tensor.Data[int32](c.Out(1)), tensor.Data[int32](c.Out(2))
			n := w.Size(-1)
			choose(w.DType(), ldlBatch[float32], ldlBatch[float64], ldlBatch[complex64], ldlBatch[complex128])(w, n,
				piv, info, hermitian)
			tensor.CopyRaw(c.Out(0), w)
			if c.Bool(2) {
				checkInfo(c, "torch.linalg.ldl_factor_ex", info, w.Dim() > 2)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
		Doc:    ldlDoc + "https://pytorch.org/docs/stable/generated/torch.linalg.ldl_factor.html",
		Out:    true,
		Body: func(c *Ctx) {
			r := op.Call("aten::linalg_ldl_factor_ex", c.T(0), c.Bool(1), false)
			op.Call("aten::_linalg_check_errors", r[2], "torch.linalg.ldl_factor", c.T(0).Dim() == 2)
			c.Return(r[0], r[1])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
		Doc: "solves A·X = B for X, where LD and pivots are what linalg_ldl_factor made of A.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.ldl_solve.html",
		NoGrad: "PyTorch has none", Out: true,
		Infer: func(c *Ctx) {
			ld, piv, b := c.T(0), c.T(1), c.T(2)
			const api = "torch.linalg.ldl_solve"
			checkSquare(c, api, "A", ld)
			switch {
			case b.Dim() < 2:
				c.Fail(tensor.ErrShape, "%s: Expected B to have at least 2 dimensions, but it has %d dimensions instead",
					api, b.Dim())
			case ld.Size(-1) != b.Size(-2):
				c.Fail(tensor.ErrShape, "Incompatible matrix sizes for %s: each A matrix is %d by %d but each b matrix "+
					"is %d by %d", api, ld.Size(-1), ld.Size(-1), b.Size(-2), b.Size(-1))
			case !tensor.SameShape(ld.Shape()[:ld.Dim()-1], piv.Shape()):
				c.Fail(tensor.ErrShape, "%s: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots "+
					"with shape %s instead", api, tensor.IntsValue(piv.Shape()).String())
			case !piv.DType().IsIntOrBool() || piv.DType() == tensor.Bool:
				c.Fail(tensor.ErrDType, "%s: Expected pivots to be integers. Got %s", api, piv.DType().ClassName())
			case ld.DType() != b.DType():
				c.Fail(tensor.ErrDType, "Expected b and A to have the same dtype, but found b of type %s and A of type "+
					"%s instead.", b.DType().ClassName(), ld.DType().ClassName())
			}
			columns(c, 0, join(tensor.BroadcastShapes(batch(ld.Shape()), batch(b.Shape())), b.Size(-2), b.Size(-1)),
				b.DType())
		},
		CPU: func(c *Ctx) {
			bs := batch(c.Out(0).Shape())
			ld, b, piv := spread(c.T(0), bs), spread(c.T(2), bs), c.T(1)
			n := ld.Size(-1)
			tensor.NoGrad(func() { piv = piv.ToDType(tensor.Int32).Expand(join(bs, n)) })
			p := tensor.Data[int32](tensor.Dense(piv))
			for i, v := range p {
				if v == 0 || int(v) > n || int(v) < -n || v < 0 && i%n == n-1 && (n == 1 || p[i-1] >= 0) {
					c.Fail(tensor.ErrValue, "torch.linalg.ldl_solve: pivot %d is not one that ldl_factor gives for "+
						"matrices of %d rows", v, n)
				}
			}
			f, x := tensor.DenseAs(ld, compute(ld.DType(), n)), work(b, n)
			hermitian := c.Bool(3) && ld.IsComplex()
			choose(x.DType(), ldlSolveBatch[float32], ldlSolveBatch[float64], ldlSolveBatch[complex64],
				ldlSolveBatch[complex128])(f, p, x, n, b.Size(-1), hermitian)
			tensor.CopyRaw(c.Out(0), x)
		},
	})
}

func ldlBatch[E element](w *T, n int, piv, info []int32, hermitian bool) {
	a := data[E](w)
	each(len(info), n*n*n/3, func(i int) {
		x := part(a, i, n*n)
		info[i] = int32(lapack.LDL(x, n, part(piv, i, n), hermitian))
		for j := range n { // the other triangle has no meaning
			clear(x[j*n+j+1 : (j+1)*n])
		}
	})
}

func ldlSolveBatch[E element](f *T, piv []int32, x *T, n, k int, hermitian bool) {
	if n == 0 {
		return
	}
	ld, b := data[E](f), data[E](x)
	each(len(piv)/n, n*n*k, func(i int) {
		lapack.LDLSolve(part(ld, i, n*n), n, part(piv, i, n), part(b, i, n*k), k, hermitian)
	})
}
