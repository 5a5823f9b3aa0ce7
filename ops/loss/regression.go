package loss

import "github.com/gotorch-dev/torch/tensor"

// weighted applies element weights to unreduced losses; the mean is divided by the weights' sum.
func weighted(c *Ctx, x, w *T, how int, f func(how int) *T) *T {
	if w == nil {
		return f(how)
	}
	if !tensor.SameShape(w.Shape(), x.Shape()) {
		c.Fail(tensor.ErrShape, "Weights and input must have the same size.")
	}
	y := f(none).Mul(w)
	switch how {
	case meanOf:
		return y.Sum().Div(w.Sum())
	case sumOf:
		return y.Sum()
	}
	return y
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", Go: "-", Out: true,
		Doc:  "is the squared difference, reduced.",
		Body: func(c *Ctx) { c.Return(mseLoss.reduced(c, c.T(0), c.T(1), 0, c.Int(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", Go: "-",
		Doc:  "is the absolute difference, reduced.",
		Body: func(c *Ctx) { c.Return(l1Loss.reduced(c, c.T(0), c.T(1), 0, c.Int(2))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
		Doc:    "is the mean (or sum, or none) of the squared differences.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html",
		Body: func(c *Ctx) {
			c.Return(weighted(c, c.T(0), c.T(5), reduction(c, 2, 3, 4), func(how int) *T { return mseLoss.reduced(c, c.T(0), c.T(1), 0, how) }))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
		Doc:    "is the mean (or sum, or none) of the absolute differences.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html",
		Body: func(c *Ctx) {
			c.Return(weighted(c, c.T(0), c.T(5), reduction(c, 2, 3, 4), func(how int) *T { return l1Loss.reduced(c, c.T(0), c.T(1), 0, how) }))
		},
	})
}
