package linalg

import (
	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// isVector says that b holds vectors rather than matrices for a: it has one dimension, or one less than a and a batch
// of the same shape.
func isVector(a, b *T) bool {
	return b.Dim() == 1 || a.Dim()-1 == b.Dim() && tensor.SameShape(a.Shape()[:a.Dim()-1], b.Shape())
}

const (
	solveDoc = "solves A·X = B (not Left: X·A = B) for X, for square A. B may hold vectors: it has one dimension, or " +
		"the shape of A without its last dimension. Batches broadcast.\n"
	invDoc = "is the inverse of square matrices.\n"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
		Doc:    "is linalg_solve_ex with the LU factors that it comes from.", Go: "-",
		Out: true, FormNames: ".out=.result",
		Infer: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			const api = "linalg.solve"
			checkSquare(c, api, "A", a)
			if a.DType() != b.DType() {
				c.Fail(tensor.ErrDType, "%s: Expected A and B to have the same dtype, but found A of type %s and B of "+
					"type %s instead", api, a.DType().ClassName(), b.DType().ClassName())
			}
			vector := isVector(a, b)
			if vector && !c.Bool(2) {
				c.Fail(tensor.ErrShape, "linalg.solve: Vector broadcasting of the left hand side is not supported for "+
					"left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
			}
			m := b
			if vector {
				m = tensor.Alias(b, join(b.Shape(), 1), join(b.Strides(), 1), b.StorageOffset())
			}
			checkEquation(c, api, a, m, c.Bool(2))
			bs := tensor.BroadcastShapes(batch(a.Shape()), batch(m.Shape()))
			out := join(bs, m.Size(-2), m.Size(-1))
			switch {
			case vector:
				c.Alloc(0, out[:len(out)-1], b.DType())
			case c.Bool(2):
				columns(c, 0, out, b.DType())
			default:
				c.Alloc(0, out, b.DType())
			}
			columns(c, 1, a.Shape(), a.DType())
			c.Alloc(2, a.Shape()[:a.Dim()-1], tensor.Int32)
			c.Alloc(3, batch(a.Shape()), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			a, b, left := c.T(0), c.T(1), c.Bool(2)
			f := work(a, a.Size(-1))
			piv, info := tensor.Data[int32](c.Out(2)), tensor.Data[int32](c.Out(3))
			n := a.Size(-1)
			luOf(f.DType())(f, n, n, piv, info, true)
			tensor.CopyRaw(c.Out(1), f)
			tensor.NoGrad(func() {
				vector := isVector(a, b)
				if vector {
					b = b.Unsqueeze(-1)
				}
				r := op.Call1("aten::linalg_lu_solve", f, c.Out(2), b.ToDType(f.DType()), left)
				if vector {
					r = r.SqueezeDim(-1)
				}
				tensor.CopyRaw(c.Out(0), r)
			})
			if c.Bool(3) {
				checkInfo(c, "torch.linalg.solve_ex", info, a.Dim() > 2)
			}
		},
		Save: "A result LU pivots",
		VJP: func(c *Ctx, g *T) []*T {
			a, x, left := c.T(0), c.Out(0), c.Bool(2)
			vector := len(c.Shape(1)) == 1 ||
				len(c.Shape(0))-1 == len(c.Shape(1)) && tensor.SameShape(c.Shape(0)[:len(c.Shape(0))-1], c.Shape(1))
			if vector {
				g, x = g.Unsqueeze(-1), x.Unsqueeze(-1)
			}
			var gb *T
			if tensor.IsGradEnabled() {
				gb = op.Call1("aten::linalg_solve", a.MH(), g, left)
			} else {
				gb = op.Call1("aten::linalg_lu_solve", c.Out(1), c.Out(2), g, left, true)
			}
			r := []*T{nil, gb}
			if c.Needs(0) {
				if left {
					r[0] = gb.MatMul(x.MH()).Neg()
				} else {
					r[0] = x.MH().MatMul(gb).Neg()
				}
			}
			if vector {
				r[1] = gb.SqueezeDim(-1)
			}
			return r
		},
		Grad: "LinalgSolveExBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
		Doc: solveDoc + "Info is not 0 for matrices that are singular.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.solve_ex.html",
		Out: true,
		Body: func(c *Ctx) {
			r := op.Call("aten::_linalg_solve_ex", c.T(0), c.T(1), c.Bool(2), c.Bool(3))
			c.Return(r[0], r[3])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
		Doc: solveDoc + "It panics with an error of cause ErrLinAlg when a matrix is singular.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.solve.html",
		Out: true,
		Body: func(c *Ctx) {
			r := op.Call("aten::_linalg_solve_ex", c.T(0), c.T(1), c.Bool(2))
			op.Call("aten::_linalg_check_errors", r[3], "torch.linalg.solve", c.T(0).Dim() == 2)
			c.Return(r[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
		Doc: invDoc + "Info is not 0 for matrices that are singular.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.inv_ex.html",
		Out: true, FormNames: ".out=.inverse",
		Infer: func(c *Ctx) {
			a := c.T(0)
			checkSquare(c, "linalg.inv", "A", a)
			columns(c, 0, a.Shape(), a.DType())
			c.Alloc(1, batch(a.Shape()), tensor.Int32)
		},
		CPU: func(c *Ctx) {
			w, info := work(c.T(0), c.T(0).Size(-1)), tensor.Data[int32](c.Out(1))
			x := tensor.New(w.Shape(), w.DType())
			choose(w.DType(), inverseBatch[float32], inverseBatch[float64], inverseBatch[complex64],
				inverseBatch[complex128])(x, w, info)
			tensor.CopyRaw(c.Out(0), x)
			if c.Bool(1) {
				checkInfo(c, "linalg.inv_ex", info, w.Dim() > 2)
			}
		},
		Save: "inverse",
		VJP: func(c *Ctx, g *T) []*T {
			h := c.Out(0).MH()
			return []*T{h.MatMul(g.MatMul(h)).Neg()}
		},
		Grad: "LinalgInvExBackward0",
	})
	inv := func(c *Ctx) {
		r := op.Call("aten::linalg_inv_ex", c.T(0))
		op.Call("aten::_linalg_check_errors", r[1], "linalg.inv", c.T(0).Dim() == 2)
		c.Return(r[0])
	}
	tensor.Register(tensor.Def{
		Schema: "linalg_inv(Tensor A) -> Tensor",
		Doc: invDoc + "It panics with an error of cause ErrLinAlg when a matrix is singular.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.inv.html",
		Out: true, Body: inv,
	})
	tensor.Register(tensor.Def{
		Schema: "inverse(Tensor self) -> Tensor",
		Doc:    "is linalg_inv by an older name.\nhttps://pytorch.org/docs/stable/generated/torch.inverse.html",
		Out:    true, Body: inv,
	})
	tensor.Register(tensor.Def{
		Schema: "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
		Doc: "solves A·X = self (Transpose: Aᵀ·X = self) for X, where a triangle of A is read.\n" +
			"https://pytorch.org/docs/stable/generated/torch.triangular_solve.html",
		Out: true, FormNames: ".out=.X(X,M)",
		Infer: func(c *Ctx) {
			b, a := c.T(0), c.T(1)
			switch {
			case b.Dim() < 2:
				c.Fail(tensor.ErrShape, "torch.triangular_solve: Expected b to have at least 2 dimensions, but it has "+
					"%d dimensions instead", b.Dim())
			case a.Dim() < 2:
				c.Fail(tensor.ErrShape, "torch.triangular_solve: Expected A to have at least 2 dimensions, but it has "+
					"%d dimensions instead", a.Dim())
			case a.DType() != b.DType():
				c.Fail(tensor.ErrDType, "Expected b and A to have the same dtype, but found b of type %s and A of type "+
					"%s instead.", b.DType().ClassName(), a.DType().ClassName())
			case a.Size(-1) != a.Size(-2):
				c.Fail(tensor.ErrShape, "A must be batches of square matrices, but they are %d by %d matrices",
					a.Size(-2), a.Size(-1))
			case a.Size(-2) != b.Size(-2):
				c.Fail(tensor.ErrShape, "Incompatible matrix sizes for triangular_solve: each A matrix is %d by %d but "+
					"each b matrix is %d by %d", a.Size(-2), a.Size(-1), b.Size(-2), b.Size(-1))
			}
			checkMatrix(c, "triangular_solve", "A", a)
			bs := tensor.BroadcastShapes(batch(a.Shape()), batch(b.Shape()))
			columns(c, 0, join(bs, b.Size(-2), b.Size(-1)), b.DType())
			columns(c, 1, join(bs, a.Size(-2), a.Size(-1)), a.DType())
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() {
				a, upper := c.T(1), c.Bool(2)
				tensor.CopyRaw(c.Out(1), spread(a, batch(c.Out(1).Shape())))
				if c.Bool(3) {
					a, upper = a.MT(), !upper
				}
				tensor.CopyRaw(c.Out(0), op.Call1("aten::linalg_solve_triangular", a, c.T(0), upper, true, c.Bool(4)))
			})
		},
		Save: "A solution",
		VJP: func(c *Ctx, _ *T) []*T {
			r := make([]*T, 2)
			a, x, upper, turn := c.T(1), c.Out(0), c.Bool(2), c.Bool(3)
			if g := c.G(0); g != nil {
				r[0] = op.Call("aten::triangular_solve", g, a.Conj(), upper, !turn, c.Bool(4))[0]
				if c.Needs(1) {
					ga := r[0].MatMul(x.MH()).Neg()
					if turn {
						ga = x.Conj().MatMul(r[0].MT()).Neg()
					}
					off := 0
					if c.Bool(4) {
						off = 1
					}
					if upper {
						r[1] = ga.Triu(tensor.TriuOptions{Diagonal: off})
					} else {
						r[1] = ga.Tril(tensor.TrilOptions{Diagonal: -off})
					}
				}
			}
			if g := c.G(1); g != nil {
				r[1] = plus(r[1], g)
			}
			return r
		},
	})
	registerTensorSolve()
}

func product(s []int) int {
	n := 1
	for _, v := range s {
		n *= v
	}
	return n
}

// registerTensorSolve registers the operators that see the dimensions of a tensor as those of a matrix.
func registerTensorSolve() {
	tensor.Register(tensor.Def{
		Schema: "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
		Doc: "is the inverse of the linear map from the dimensions from ind on to the first ind ones.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.tensorinv.html",
		Out: true,
		Body: func(c *Ctx) {
			a, ind := c.T(0), c.Int(1)
			if ind <= 0 {
				c.Fail(tensor.ErrValue, "Expected a strictly positive integer for 'ind', but got %d", ind)
			}
			sh := a.Shape()
			k := min(ind, len(sh))
			rows, cols := product(sh[:k]), product(sh[k:])
			if rows != cols {
				c.Fail(tensor.ErrShape, "Expected self to satisfy the requirement prod(self.shape[ind:]) == "+
					"prod(self.shape[:ind]), but got %d != %d", cols, rows)
			}
			r := op.Call("aten::linalg_inv_ex", a.Reshape([]int{rows, cols}))
			op.Call("aten::_linalg_check_errors", r[1], "inv", true)
			c.Return(r[0].Reshape(join(sh[k:], sh[:k]...)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
		Doc: "solves self·X = other for X, where the first dimensions of self are those of other, and the rest is " +
			"summed over. Dims are moved to the end of self first.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.tensorsolve.html",
		Out: true,
		Body: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if c.Has(2) {
				dims := c.Ints(2)
				to := make([]int, len(dims))
				for i := range to {
					to[i] = a.Dim() - len(dims) + i
				}
				a = op.Call1("aten::movedim.intlist", a, dims, to)
			}
			rest := a.Shape()[min(b.Dim(), a.Dim()):]
			rows, cols := product(a.Shape()[:min(b.Dim(), a.Dim())]), product(rest)
			if rows != cols {
				c.Fail(tensor.ErrShape, "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "+
					"prod(self.shape[:other.ndim]), but got %d != %d", cols, rows)
			}
			x := op.Call1("aten::linalg_solve", a.Reshape([]int{rows, cols}), b.Reshape([]int{b.Numel()}))
			c.Return(x.Reshape(rest))
		},
	})
}

// inverseBatch solves A·X = 1 for each matrix of w, which it destroys.
func inverseBatch[E element](inv, lu *T, info []int32) {
	x, w, n := data[E](inv), data[E](lu), lu.Size(-1)
	piv := make([]int32, len(info)*n)
	each(len(info), 2*n*n*n, func(m int) {
		a, y, p := part(w, m, n*n), part(x, m, n*n), part(piv, m, n)
		clear(y)
		for i := range n {
			y[i*n+i] = 1
		}
		if info[m] = int32(lapack.LU(a, n, n, n, p, true)); info[m] == 0 {
			lapack.LUSolve(a, n, p, y, n, false)
		}
	})
}
