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
			tensor.NoGrad(func() {
				tensor.CopyRaw(c.Out(0),
					exponential(c.T(0).ToDType(compute(c.ArgDType(0), c.T(0).Size(-1)))))
			})
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

// pade holds the coefficients of a Padé approximant of the exponential: with p(A) = Σ b[k]·Aᵏ it is p(A)/p(-A). It is
// accurate to the precision of the type for matrices up to a norm.
type pade struct {
	limit float64
	b     []float64
}

var (
	pade3 = []float64{120, 60, 12, 1}
	pade5 = []float64{30240, 15120, 3360, 420, 30, 1}
	pade7 = []float64{17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}
	pade9 = []float64{17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1}

	pade13 = []float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
		10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}

	// Table 2.3 of Higham's paper, and the same for float32.
	pade64 = []pade{{1.495585217958292e-2, pade3}, {2.539398330063230e-1, pade5}, {9.504178996162932e-1, pade7},
		{2.097847961257068, pade9}, {5.371920351148152, pade13}}
	pade32 = []pade{{4.258730016922831e-1, pade3}, {1.880152677804762, pade5}, {3.925724783138660, pade7}}
)

// exponential is a Padé approximant with scaling and squaring (N. Higham, The scaling and squaring method for the
// matrix exponential revisited, 2005). The largest norm of a batch chooses the degree; every matrix is scaled by
// itself.
func exponential(a *T) *T {
	n := a.Size(-1)
	if a.Numel() == 0 {
		return a.Clone()
	}
	degrees := pade64
	if a.DType().Real() == tensor.Float32 {
		degrees = pade32
	}
	norms := tensor.Data[float64](tensor.Dense(a.Abs().SumDim([]int{-2}).Amax(tensor.AmaxOptions{Dim: []int{-1}}).
		Flatten().ToDType(tensor.Float64)))
	largest := 0.0
	for _, v := range norms {
		largest = max(largest, v)
	}
	use := degrees[len(degrees)-1]
	for _, d := range degrees {
		if largest <= d.limit {
			use = d
			break
		}
	}
	most := 0
	steps := make([]float64, len(norms))
	for i, v := range norms {
		if v > use.limit && !math.IsInf(v, 1) {
			s := int(math.Ceil(math.Log2(v / use.limit)))
			steps[i] = float64(s)
			most = max(most, s)
		}
	}
	squarings := tensor.FromSlice(steps).Reshape(join(batch(a.Shape()), 1, 1))
	if most > 0 {
		a = a.Mul(squarings.Neg().Exp2().ToDType(a.DType().Real()))
	}
	u, v := use.parts(a, identity(a, n))
	x := op.Call("aten::linalg_solve_ex", v.Sub(u), v.Add(u))[0]
	for i := range most {
		if len(steps) == 1 {
			x = x.MatMul(x)
			continue
		}
		x = op.Call1("aten::where.self", squarings.GtScalar(i), x.MatMul(x), x)
	}
	return x
}

// parts are the odd and the even part of the numerator.
func (d pade) parts(a, id *T) (odd, even *T) {
	b := d.b
	even2 := []*T{id, a.MatMul(a)} // even powers
	most := (len(b) - 1) / 2
	if len(b) > 10 {
		most = 3
	}
	for len(even2) <= most {
		even2 = append(even2, even2[len(even2)-1].MatMul(even2[1]))
	}
	sum := func(from int) *T { // of every second coefficient
		r := even2[1].MulScalar(b[from+2])
		r.AddInPlace(id.MulScalar(b[from]))
		for k := 2; k <= most; k++ {
			r.AddInPlace(even2[k], tensor.AddInPlaceOptions{Alpha: b[from+2*k]})
		}
		return r
	}
	odd, even = sum(1), sum(0)
	if len(b) > 10 { // the powers 8 to 12, as A⁶ times those that there are
		high := func(from int) *T {
			r := even2[1].MulScalar(b[from])
			for k := 2; k <= 3; k++ {
				r.AddInPlace(even2[k], tensor.AddInPlaceOptions{Alpha: b[from+2*(k-1)]})
			}
			return even2[3].MatMul(r)
		}
		odd.AddInPlace(high(9))
		even.AddInPlace(high(8))
	}
	return a.MatMul(odd), even
}
