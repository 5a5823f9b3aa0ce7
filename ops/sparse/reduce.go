package sparse

import "github.com/gotorch-dev/torch/tensor"

func init() {
	tensor.RegisterSparse("aten::sum", func(c *Ctx) {
		c.SetOut(0, call1("aten::sum", values(c.T(0)), c.Value(1)))
	})
	norm := func(c *Ctx, p any, dt tensor.Value) *T {
		return call1("aten::linalg_vector_norm", values(coalesced(c, c.T(0))), p, nil, false, dt)
	}
	// of all elements: what clipping of gradients and torch.norm call
	tensor.RegisterSparse("aten::linalg_vector_norm", func(c *Ctx) {
		if c.Has(2) && len(c.Ints(2)) > 0 && len(c.Ints(2)) < c.T(0).Dim() || c.Bool(3) {
			c.Fail(tensor.ErrNotImpl, "norm of a sparse tensor over some of its dimensions, or with keepdim, is not "+
				"supported")
		}
		c.SetOut(0, norm(c, c.Value(1), c.Value(4)))
	})
	tensor.RegisterSparse("aten::norm.Scalar", func(c *Ctx) { c.SetOut(0, norm(c, c.Value(1), tensor.Value{})) })
}
