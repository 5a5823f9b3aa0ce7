package linalg

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor",
		Doc: "is the matrix whose columns are the powers 0, 1, …, N-1 of x; N is the length of x by default.\n" +
			"https://pytorch.org/docs/stable/generated/torch.linalg.vander.html",
		Body: func(c *Ctx) {
			x := c.T(0)
			if dt := x.DType(); dt == tensor.Bool || !dt.IsInt() && dt.Real().Size() < 4 {
				c.Fail(tensor.ErrDType, "linalg.vander supports floating point, complex, and integer tensors, but got "+
					"%s", x.DType().ClassName())
			}
			if x.Dim() == 0 {
				x = x.Unsqueeze(-1)
			}
			n := x.Size(-1)
			if c.Has(1) {
				n = c.Int(1)
			}
			if n <= 1 {
				c.Fail(tensor.ErrValue, "N must be greater than 1.")
			}
			c.Return(vandermonde(x, n))
		},
	})
}

// vandermonde holds the powers of x below n in a new last dimension.
func vandermonde(x *T, n int) *T {
	ones := op.Full(x, join(x.Shape(), 1), 1, x.DType())
	if n == 1 {
		return ones
	}
	p := op.Call1("aten::cumprod", x.Unsqueeze(-1).Expand(join(x.Shape(), n-1)), -1)
	return op.Call1("aten::cat", []*T{ones, p}, -1)
}
