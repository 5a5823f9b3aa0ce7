package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
)

// optimRows are steps of optimizers: many small parameters, and one large one. PyTorch's default has no kernel for the
// whole step, its fused=True has; both are shown.
func optimRows(c *config) []row {
	large := c.size(10_000_000, 1000)
	adam := func(name string, n int, shape []int, fused bool) row {
		if fused {
			name += ", PyTorch fused=True"
		}
		elements := n
		for _, d := range shape {
			elements *= d
		}
		return row{
			name: name, bytes: 28 * float64(elements), // reads p, g, m, v and writes p, m, v
			peer: "adam", args: arg{"count": n, "shape": shape, "fused": fused},
			prepare: func() work {
				opt := optim.NewAdam(withGradients(n, shape), 1e-3)
				return work{grad: true, step: opt.Step}
			},
		}
	}
	clip := func(name string, n int, shape []int) row {
		return row{
			name: name, peer: "clip", args: arg{"count": n, "shape": shape},
			prepare: func() work {
				params := withGradients(n, shape)
				return work{grad: true, step: func() { torch.Tidy(func() { utils.ClipGradNorm(params, 1e-4) }) }}
			},
		}
	}
	small := []int{16, 16}
	return []row{
		adam("Adam, 100 tensors of 16x16", 100, small, false), adam("Adam, 100 tensors of 16x16", 100, small, true),
		adam(fmt.Sprintf("Adam, one of %s", count(large)), 1, []int{large}, false),
		adam(fmt.Sprintf("Adam, one of %s", count(large)), 1, []int{large}, true),
		clip("clip_grad_norm_, 100 tensors of 16x16", 100, small),
		clip(fmt.Sprintf("clip_grad_norm_, one of %s", count(large)), 1, []int{large}),
	}
}

// withGradients makes parameters that have gradients.
func withGradients(n int, shape []int) []*torch.Tensor {
	ps := make([]*torch.Tensor, n)
	for i := range ps {
		ps[i] = torch.Randn(shape).SetRequiresGrad(true)
		ps[i].SetGrad(torch.Randn(shape).MulScalar(1e-3))
	}
	return ps
}
