package norm

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// normExceptDim is the norm of order p over all dimensions but dim, which keeps its place; over all of them when dim is
// -1: aten/src/ATen/native/WeightNorm.cpp.
func normExceptDim(c *Ctx, v *T, p, dim int) *T {
	if dim == -1 {
		return v.Norm(tensor.NormOptions{P: p})
	}
	if dim < 0 || dim >= v.Dim() {
		c.Fail(tensor.ErrIndex, "Dimension out of range (expected -1, or to be in range of [0, %d], but got %d)",
			v.Dim()-1, dim)
	}
	if dim > 0 {
		v = v.Transpose(0, dim)
	}
	shape := make([]int, v.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = v.Size(0)
	n := v.Reshape([]int{v.Size(0), -1}).NormDim(p, []int{1}).Reshape(shape)
	if dim > 0 {
		n = n.Transpose(0, dim)
	}
	return n
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
		Doc: "is the norm of order pow over all dimensions of v but dim; the result has size 1 in these. With a dim of -1 " +
			"it is the norm of all elements, with no dimensions.",
		Body: func(c *Ctx) { c.Return(normExceptDim(c, c.T(0), c.Int(1), c.Int(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
		Doc: "is g * v / norm_except_dim(v, 2, dim): a weight by its length g and its direction v (Salimans and Kingma, " +
			"Weight normalization, 2016).",
		Go:   "-",
		Body: func(c *Ctx) { c.Return(c.T(0).Mul(c.T(1).Div(op.Call1("aten::norm_except_dim", c.T(0), 2, c.Int(2))))) },
	})
}
