package random

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "F::gumbel_softmax(Tensor logits, float tau=1, bool hard=False, float eps=1e-10, int dim=-1) -> Tensor",
		Doc: "draws from the Gumbel-Softmax distribution (Jang et al., Categorical reparameterization with " +
			"Gumbel-Softmax, 2016) along dim, at the temperature tau. With hard the results are one-hot, and their " +
			"gradient is that of the soft sample. eps has no effect. Shapes: logits and result [*]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html",
		Body: func(c *Ctx) {
			x, tau, dim := c.T(0), c.Float(1), c.Int(4)
			noise := op.Call1("aten::exponential_", op.Call1("aten::empty_like", x)).Log().Neg()
			soft := x.Add(noise).DivScalar(tau).Softmax(dim)
			if !c.Bool(2) {
				c.Return(soft)
				return
			}
			_, at := soft.MaxDim(dim, tensor.MaxDimOptions{KeepDim: true})
			hard := op.Call1("aten::scatter_.value", op.Call1("aten::zeros_like", x), dim, at, 1.0)
			c.Return(hard.Sub(soft.Detach()).Add(soft))
		},
	})
}
