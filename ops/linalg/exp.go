package linalg

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const expDoc = "is the exponential of square matrices.\n"

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_matrix_exp(Tensor self) -> Tensor",
		Doc:    expDoc + "https://pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html",
		Out:    true,
		Infer: func(c *Ctx) {
			checkFloating(c, "linalg.matrix_exp", "A", c.T(0)) // of 16 bits, too
			checkShape(c, "linalg.matrix_exp", "A", c.T(0))
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			tensor.NoGrad(func() { tensor.CopyRaw(c.Out(0), exponential(c.T(0).ToDType(compute(c.ArgDType(0), 0)))) })
		},
		Save: "self",
		VJP: func(c *Ctx, g *T) []*T {
			// The derivative in the direction G is the upper right block of exp [A G; 0 A] (N. Higham, Functions of
			// Matrices, 2008, section 10.6); the adjoint takes Aᴴ.
			a := c.T(0).MH()
			n := a.Size(-1)
			top := op.Call1("aten::cat", []*T{a, g.ToDType(a.DType())}, -1)
			bottom := op.Call1("aten::cat", []*T{op.Zeros(a, a.Shape(), a.DType()), a}, -1)
			e := op.Call1("aten::linalg_matrix_exp", op.Call1("aten::cat", []*T{top, bottom}, -2))
			return []*T{e.Narrow(-2, 0, n).Narrow(-1, n, n)}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "matrix_exp(Tensor self) -> Tensor",
		Doc:    expDoc + "https://pytorch.org/docs/stable/generated/torch.matrix_exp.html",
		Body:   func(c *Ctx) { c.Return(op.Call1("aten::linalg_matrix_exp", c.T(0))) },
	})
}

// exponential is the Padé approximant of degree 13 with scaling and squaring (N. Higham, The scaling and squaring
// method for the matrix exponential revisited, 2005). Every matrix of a batch is scaled by itself.
func exponential(a *T) *T {
	n := a.Size(-1)
	if a.Numel() == 0 {
		return a.Clone()
	}
	const limit = 5.371920351148152
	norm := a.Abs().SumDim([]int{-2}).Amax(tensor.AmaxOptions{Dim: []int{-1}}).Flatten()
	most := 0
	steps := make([]float64, norm.Numel())
	for i, v := range tensor.Data[float64](tensor.Dense(norm)) {
		if v > limit && !math.IsInf(v, 1) {
			s := int(math.Ceil(math.Log2(v / limit)))
			steps[i] = float64(s)
			most = max(most, s)
		}
	}
	squarings := tensor.FromSlice(steps).Reshape(join(batch(a.Shape()), 1, 1))
	a = a.Mul(squarings.Neg().Exp2())
	b := [...]float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
		10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
	id := identity(a, n)
	a2 := a.MatMul(a)
	a4 := a2.MatMul(a2)
	a6 := a4.MatMul(a2)
	sum := func(f6, f4, f2, f0 float64) *T {
		r := a6.MulScalar(f6).Add(a4.MulScalar(f4)).Add(a2.MulScalar(f2))
		if f0 != 0 {
			r = r.Add(id.MulScalar(f0))
		}
		return r
	}
	u := a.MatMul(a6.MatMul(sum(b[13], b[11], b[9], 0)).Add(sum(b[7], b[5], b[3], b[1])))
	v := a6.MatMul(sum(b[12], b[10], b[8], 0)).Add(sum(b[6], b[4], b[2], b[0]))
	x := op.Call("aten::linalg_solve_ex", v.Sub(u), v.Add(u))[0]
	for i := range most {
		more := squarings.GtScalar(i)
		x = op.Call1("aten::where.self", more, x.MatMul(x), x)
	}
	return x
}
