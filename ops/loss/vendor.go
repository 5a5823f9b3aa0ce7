package loss

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The connectionist temporal classification under the name of AMD's library, for programs that were made on a GPU.
func init() {
	tensor.Register(tensor.Def{
		Schema: "miopen_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank, bool deterministic, bool zero_infinity) -> (Tensor, Tensor)",
		Doc: "is _ctc_loss under the name of MIOpen: the losses [n] of log_probs [T, n, C], and the gradient of their " +
			"sum by log_probs. deterministic changes nothing. PyTorch refuses it without that library; here programs " +
			"that were made on a GPU run.",
		Out: true,
		Body: func(c *Ctx) {
			r := op.Call("aten::_ctc_loss", c.T(0), c.T(1), c.Value(2), c.Value(3), c.Value(4), c.Value(6))
			grad := op.Call("aten::_ctc_loss_backward", r[0].Detach().NewOnes(r[0].Shape()), c.T(0).Detach(),
				c.T(1), c.Value(2), c.Value(3), r[0].Detach(), r[1].Detach(), c.Value(4), c.Value(6))
			c.Return(r[0], grad[0])
		},
	})
}
