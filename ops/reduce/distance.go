package reduce

import "github.com/gotorch-dev/torch/tensor"

func init() {
	tensor.Register(tensor.Def{
		Schema: "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
		Doc:    "is the distance of order p between each row of x1 [*, P, M] and each row of x2 [*, R, M].\nhttps://pytorch.org/docs/stable/generated/torch.cdist.html",
		Body:   cdist,
	})
	tensor.Register(tensor.Def{
		Schema: "torch::cdist(Tensor x1, Tensor x2, float p=2.0, str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor", Go: "-",
		Doc: "is Python's torch.cdist, which names the mode; all compute the same.",
		Body: func(c *Ctx) {
			if s := c.Str(3); s != "use_mm_for_euclid_dist_if_necessary" && s != "use_mm_for_euclid_dist" && s != "donot_use_mm_for_euclid_dist" {
				c.Fail(tensor.ErrValue, "%s is not a valid value for compute_mode", s)
			}
			c.Return(op1("aten::cdist", c.T(0), c.T(1), c.Float(2), nil))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::pdist(Tensor input, float p=2.0) -> Tensor", Go: "-",
		Doc:  "is Python's name of pdist.",
		Body: pdist,
	})
	tensor.Register(tensor.Def{
		Schema: "pdist(Tensor self, float p=2) -> Tensor",
		Doc:    "is the distance of order p between each two rows, those of the first row with the others first.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html",
		Body:   pdist,
	})
}

func cdist(c *Ctx) {
	x := [2]*T{c.T(0), c.T(1)}
	for i, t := range x {
		if !t.DType().IsFloat() {
			c.Fail(tensor.ErrDType, "cdist only supports floating-point dtypes, X%d got: %s", i+1, t.DType().ClassName())
		}
	}
	for i, t := range x {
		if t.Dim() < 2 {
			c.Fail(tensor.ErrShape, "cdist only supports at least 2D tensors, X%d got: %dD", i+1, t.Dim())
		}
	}
	if a, b := x[0].Size(-1), x[1].Size(-1); a != b {
		c.Fail(tensor.ErrShape, "X1 and X2 must have the same number of columns. X1: %d X2: %d", a, b)
	}
	p := c.Float(2)
	if !(p >= 0) {
		c.Fail(tensor.ErrValue, "cdist only supports non-negative p values")
	}
	if m := c.Int(3); m < 0 || m > 2 {
		c.Fail(tensor.ErrValue, "possible modes: 0, 1, 2, but was: %d", m)
	}
	c.Return(vectorNorm(x[0].Unsqueeze(-2).Sub(x[1].Unsqueeze(-3)), p, []int{-1}, false, 0))
}

func pdist(c *Ctx) {
	x, p := c.T(0), c.Float(1)
	switch {
	case x.Dim() != 2:
		c.Fail(tensor.ErrShape, "pdist only supports 2D tensors, got: %dD", x.Dim())
	case !x.DType().IsFloat():
		c.Fail(tensor.ErrDType, "pdist only supports floating-point dtypes")
	case !(p >= 0):
		c.Fail(tensor.ErrValue, "pdist only supports non-negative p values")
	}
	n := x.Size(0)
	pairs := op1("aten::triu_indices", n, n, 1)
	a, b := op1("aten::select.int", pairs, 0, 0), op1("aten::select.int", pairs, 0, 1)
	c.Return(vectorNorm(x.IndexSelect(0, a).Sub(x.IndexSelect(0, b)), p, []int{-1}, false, 0))
}
