package linalg

import (
	"github.com/gotorch-dev/torch/internal/lapack"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
		Doc: "solves A·X = B (X·A = B when not Left) for X, where A is self, of which the triangle named by upper is " +
			"read.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html",
		Out: true,
		Infer: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			const api = "linalg.solve_triangular"
			checkSquare(c, api, "A", a)
			checkFloating(c, api, "B", b)
			switch {
			case c.Bool(3) && a.Size(-2) != b.Size(-2):
				c.Fail(tensor.ErrShape, "%s: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)",
					api, a.Size(-2), a.Size(-1), b.Size(-2), b.Size(-1))
			case !c.Bool(3) && a.Size(-2) != b.Size(-1):
				c.Fail(tensor.ErrShape, "%s: Incompatible shapes of A and B for the equation XA = B (%dx%d and %dx%d)",
					api, a.Size(-2), a.Size(-1), b.Size(-2), b.Size(-1))
			}
			c.Alloc(0, append(append([]int{}, tensor.BroadcastShapes(batch(a.Shape()), batch(b.Shape()))...),
				b.Size(-2), b.Size(-1)), a.DType())
		},
		CPU: func(c *Ctx) {
			bs := batch(c.Out(0).Shape())
			a, b := spread(c.T(0), bs), spread(c.T(1), bs)
			upper, left := c.Bool(2), c.Bool(3)
			tensor.NoGrad(func() {
				if !left { // X·A = B is Aᵀ·Xᵀ = Bᵀ
					a, b, upper = a.MT(), b.MT(), !upper
				}
				if dt := c.ArgDType(0); b.DType() != dt { // the right side takes the type of the triangle
					b = b.ToDType(dt)
				}
				n, k := b.Size(-2), b.Size(-1)
				x, f := work(b, n), work(a, n)
				choose(x.DType(), solveBatch[float32], solveBatch[float64], solveBatch[complex64],
					solveBatch[complex128])(x, f, n, k, upper, c.Bool(4))
				if !left {
					x = x.MT()
				}
				tensor.CopyRaw(c.Out(0), x)
			})
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			a, x := c.T(0), c.Out(0)
			upper, left, unit := c.Bool(2), c.Bool(3), c.Bool(4)
			r := []*T{nil, op.Call1("aten::linalg_solve_triangular", a.MH(), g, !upper, left, unit)}
			if c.Needs(0) {
				ga := x.MH().MatMul(r[1]).Neg()
				if left {
					ga = r[1].MatMul(x.MH()).Neg()
				}
				off := 0
				if unit {
					off = 1
				}
				if upper {
					r[0] = ga.Triu(tensor.TriuOptions{Diagonal: off})
				} else {
					r[0] = ga.Tril(tensor.TrilOptions{Diagonal: -off})
				}
			}
			return r
		},
	})
}

// solveTriangular is the operator, for gradient rules.
func solveTriangular(a, b *T, upper, left bool) *T {
	return op.Call1("aten::linalg_solve_triangular", a, b, upper, left)
}

// solveBatch solves A·X = B in place of B for each pair of an n×n and an n×k matrix.
func solveBatch[E element](x, f *T, n, k int, upper, unit bool) {
	if n == 0 {
		return
	}
	b, a := data[E](x), data[E](f)
	each(len(a)/(n*n), n*n*k, func(m int) {
		f, x := part(a, m, n*n), part(b, m, n*k)
		if upper {
			lapack.SolveUpper(f, n, x, n, k, k, unit)
		} else {
			lapack.SolveLower(f, n, x, n, k, k, unit)
		}
	})
}
