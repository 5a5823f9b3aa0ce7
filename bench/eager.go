package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

// eagerRows are operators on next to no data: what a call, a node of the tape and a backward pass cost.
func eagerRows(c *config) []row {
	one := func(grad bool) row {
		name := "add of one element, no grad"
		if grad {
			name = "add of one element, recorded"
		}
		return row{
			name: name, peer: "add_one", args: arg{"grad": grad},
			prepare: func() work {
				x, y := torch.FromSlice([]float32{1}), torch.FromSlice([]float32{2})
				if grad {
					x.SetRequiresGrad(true)
					y.SetRequiresGrad(true)
				}
				return work{grad: grad, step: func() { x.Add(y) }}
			},
		}
	}
	const links = 100
	chain := row{
		name: fmt.Sprintf("chain of %d multiplications, forward+backward", links), peer: "chain", args: arg{"n": links},
		prepare: func() work {
			x, y := torch.FromSlice([]float32{1}).SetRequiresGrad(true),
				torch.FromSlice([]float32{1}).SetRequiresGrad(true)
			return work{grad: true, step: func() {
				z := x
				for range links {
					z = z.Mul(y)
				}
				z.Backward()
			}}
		},
	}
	const size, batch = 16, 8
	linear := func(backward bool) row {
		pass := "forward"
		if backward {
			pass = "forward+sum+backward"
		}
		return row{
			name: fmt.Sprintf("Linear(%d,%d) batch %d, %s", size, size, batch, pass),
			peer: "linear", args: arg{"size": size, "batch": batch, "backward": backward},
			prepare: func() work {
				m, x := nn.NewLinear(size, size), torch.Randn([]int{batch, size})
				if !backward {
					return work{step: func() { m.Forward(x) }}
				}
				return work{grad: true, step: func() {
					m.ZeroGrad()
					m.Forward(x).Sum().Backward()
				}}
			},
		}
	}
	return []row{one(false), one(true), chain, linear(false), linear(true)}
}
