package loss

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// fusesCosine says for which arguments the kernels serve: float32 and float64 vectors of one shape along the last
// dimension. 16-bit values are rounded between the steps of the composition, as PyTorch's are.
func fusesCosine(c *Ctx) bool {
	a, b := c.T(0), c.T(1)
	dt, nd := a.DType(), a.Dim()
	if !(c.Float(3) >= 0) || dt != tensor.Float32 && dt != tensor.Float64 || b.DType() != dt || nd == 0 ||
		a.Numel() == 0 ||
		!tensor.SameShape(a.Shape(), b.Shape()) {
		return false
	}
	return c.Int(2) == nd-1 || c.Int(2) == -1
}

// composedCosine is the cosine along a dimension in public operators.
func composedCosine(a, b *T, dim int, eps float64) *T {
	dt := tensor.PromoteTypes(a.DType(), b.DType()) // also those of a 0-d tensor
	if !dt.IsFloat() {
		tensor.Fail(tensor.ErrDType, "cosine_similarity: expected common dtype to be floating point, yet common "+
			"dtype is %s", dt.ClassName())
	}
	sh := tensor.BroadcastShapes(a.Shape(), b.Shape())
	d := tensor.WrapDim(dim, len(sh))
	unit := func(x *T) *T {
		x = x.ToDType(dt).Expand(sh)
		n := op.Call1("aten::linalg_vector_norm", x, 2, []int{d}, true)
		low := n.Detach()
		return x.Div(n.Add(low.ClampMinScalar(eps).Sub(low))) // the bound is no part of the gradient
	}
	return unit(a).Mul(unit(b)).SumDim([]int{d})
}

// cosineRows calls f for rows of two contiguous tensors, with their product and their lengths.
func cosineRows[E real](x, y *T, f func(row int, a, b []E, dot, na, nb float64)) {
	n := x.Size(x.Dim() - 1)
	rows := x.Numel() / n
	par.For(rows, max(1, 1<<14/n), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			a, b := op.Raw[E](x)[r*n:][:n], op.Raw[E](y)[r*n:][:n]
			var dot, na, nb float64
			switch a := any(a).(type) {
			case []float32:
				b := any(b).([]float32)
				dot, na, nb = vec.DotF32As64(a, b), vec.SumSquaresF32As64(a, 0), vec.SumSquaresF32As64(b, 0)
			case []float64:
				b := any(b).([]float64)
				dot, na, nb = vec.DotF64(a, b), vec.SumSquaresF64(a, 0), vec.SumSquaresF64(b, 0)
			}
			f(r, a, b, dot, math.Sqrt(na), math.Sqrt(nb))
		}
	})
}

func cosineForward[E real](c *Ctx) {
	o, eps := op.Raw[E](c.Out(0)), c.Float(3)
	cosineRows(tensor.Dense(c.T(0)), tensor.Dense(c.T(1)), func(row int, _, _ []E, dot, na, nb float64) {
		o[row] = E(dot / max(na, eps) / max(nb, eps))
	})
}

// cosineBackward writes g*(b/(|a||b|) - cos*a/|a|²) and its mirror image; where a length is below eps, that takes its place except in the
// length's derivative.
func cosineBackward[E real](c *Ctx) {
	g, eps, mask := op.Raw[E](tensor.DenseAs(c.T(0), c.ArgDType(1))), c.Float(3), c.Bools(4)
	x, y := tensor.Dense(c.T(1)), tensor.Dense(c.T(2))
	n := x.Size(x.Dim() - 1)
	cosineRows(x, y, func(row int, a, b []E, dot, na, nb float64) {
		la, lb := max(na, eps), max(nb, eps)
		both := float64(g[row]) / la / lb
		cos := dot / la / lb * float64(g[row])
		for i, length := range [][2]float64{{la, na}, {lb, nb}} {
			if mask[i] {
				own := 0.0
				if length[1] > 0 {
					own = -cos / length[0] / length[1]
				}
				weighted2(op.Raw[E](c.Out(i))[row*n:][:n], a, b, own, both)
			}
			a, b = b, a
		}
	})
}

// weighted2 is d = x*a + y*b.
func weighted2[E real](d, a, b []E, x, y float64) {
	switch d := any(d).(type) {
	case []float32:
		vec.CombineF32(d, any(a).([]float32), any(b).([]float32), float32(x), float32(y), 0)
	case []float64:
		vec.CombineF64(d, any(a).([]float64), any(b).([]float64), x, y, 0)
	}
}

// pairwise is the norm of order p of a-b+eps over the last dimension.
func pairwise(a, b *T, p, eps float64, keep bool) *T {
	d := a.Sub(b)
	d = op.Consumed(d.AddScalar(eps), d)
	return op.Consumed(op.Call1("aten::norm.ScalarOpt_dim", d, p, []int{max(0, d.Dim()-1)}, keep), d)
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
		Doc: "is the cosine x1·x2 / (max(|x1|, eps) * max(|x2|, eps)) of the angles between vectors along " +
			"dimension dim, for tensors that " +
			"broadcast.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html",
		Grad: "SumBackward1",
		Body: func(c *Ctx) {
			eps := c.Float(3)
			if !(eps >= 0) {
				c.Fail(tensor.ErrValue, "cosine_similarity: eps must be non-negative, got: %s", op.CText(eps))
			}
			c.Return(composedCosine(c.T(0), c.T(1), c.Int(2), eps))
		},
		Fuses: fusesCosine,
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			c.Alloc(0, sh[:len(sh)-1], c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				cosineForward[float64](c)
			} else {
				cosineForward[float32](c)
			}
		},
		Save: "x1 x2",
		VJP: func(c *Ctx, g *T) []*T {
			x, y, dim, eps := c.T(0), c.T(1), c.Int(2), c.Float(3)
			mask := []bool{c.Needs(0), c.Needs(1)}
			if tensor.IsGradEnabled() {
				return op.Recorded(c, g, []*T{x, y}, func(in []*T) *T { return composedCosine(in[0], in[1], dim, eps) })
			}
			r := make([]*T, 2)
			for i, v := range op.Call("gotorch::cosine_similarity_backward", g, x, y, eps, mask) {
				if mask[i] {
					r[i] = v
				}
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::cosine_similarity_backward(Tensor grad_output, Tensor x1, Tensor x2, float eps, bool[2] output_mask) -> (Tensor, Tensor)",
		Doc: "are the gradients of x1 and x2 for vectors along the last dimension; output_mask says which are " +
			"wanted, the others come back empty.",
		Go: "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			c.WantLength(4, 2)
			c.WantDType(1, tensor.Float32, tensor.Float64)
			sh := c.Shape(1)
			if len(sh) == 0 || sh[len(sh)-1] == 0 {
				c.Fail(tensor.ErrShape, "expected vectors along the last dimension, got shape %s", tensor.ShapeString(sh))
			}
			c.WantShape(2, sh...)
			c.WantNumel(0, tensor.Size(sh[:len(sh)-1]).Numel())
			c.WantDType(0, c.ArgDType(1))
			c.WantDType(2, c.ArgDType(1))
			for i, wanted := range c.Bools(4) {
				sh := []int{0}
				if wanted {
					sh = c.Shape(1 + i)
				}
				c.Alloc(i, sh, c.ArgDType(1))
			}
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				cosineBackward[float64](c)
			} else {
				cosineBackward[float32](c)
			}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) -> Tensor",
		Doc: "is the norm of order p of x1 - x2 + eps over the last " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pairwise_distance.html",
		Grad: "NormBackward1",
		Body: func(c *Ctx) { c.ReturnNamed(pairwise(c.T(0), c.T(1), c.Float(2), c.Float(3), c.Bool(4))) },
	})
}
