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
		Doc: "is Python's torch.cdist, which names the mode.",
		Body: func(c *Ctx) {
			if s := c.Str(3); s != "use_mm_for_euclid_dist_if_necessary" && s != "use_mm_for_euclid_dist" && s != "donot_use_mm_for_euclid_dist" {
				c.Fail(tensor.ErrValue, "%s is not a valid value for compute_mode", s)
			}
			mode := map[string]int{"use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}[c.Str(3)]
			c.Return(op1("aten::cdist", c.T(0), c.T(1), c.Float(2), mode))
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
	m := c.Int(3)
	if m < 0 || m > 2 {
		c.Fail(tensor.ErrValue, "possible modes: 0, 1, 2, but was: %d", m)
	}
	// as PyTorch chooses: many rows by a matrix product, which loses digits where two rows are near each other
	if p == 2 && (m == 1 || m == 0 && (x[0].Size(-2) > 25 || x[1].Size(-2) > 25)) && x[0].DType() == x[1].DType() && x[0].DType().Size() >= 4 && x[0].Numel() > 0 && x[1].Numel() > 0 {
		c.Return(euclidean(x[0], x[1]))
		return
	}
	c.Return(vectorNorm(x[0].Unsqueeze(-2).Sub(x[1].Unsqueeze(-3)), p, []int{-1}, false, 0))
}

// euclidean is the distance of rows from |a|² + |b|² - 2ab.
func euclidean(a, b *T) *T {
	keep := tensor.SumDimOptions{KeepDim: true}
	na, nb := a.Mul(a).SumDim([]int{-1}, keep), b.Mul(b).SumDim([]int{-1}, keep)
	d := a.MatMul(b.Transpose(-1, -2)).MulScalar(-2).Add(na).Add(nb.Transpose(-1, -2))
	// the root has no slope at 0: there the gradient is 0, as that of a norm
	none := d.Detach().LeScalar(0)
	d = op1("aten::masked_fill.Scalar", d, none, 1).Sqrt()
	return op1("aten::masked_fill.Scalar", d, none, 0)
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
