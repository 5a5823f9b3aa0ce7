package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// funcRows are functions of one small example that vmap maps over a batch of them. The peer has a function of the same
// name and takes arguments of the same shapes.
func funcRows(c *config) []row {
	const none = functorch.None
	batch := c.size(1000, 3)
	one := func(y *torch.Tensor) []*torch.Tensor { return []*torch.Tensor{y} }
	var rows []row
	for _, m := range []struct {
		name    string
		shared  [][]int // shapes of the arguments that all examples share
		own     [][]int // shapes of those of one example
		classes int     // of the numbers that the last argument of an example holds, if it is one of labels
		size    []int   // its shape
		f       functorch.Func
		grad    bool // gradients of the result by the shared arguments
	}{
		{name: "dot", own: [][]int{{256}, {256}},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(a[0].Dot(a[1])) }},
		{name: "matmul", own: [][]int{{32, 32}, {32, 32}},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(a[0].MatMul(a[1])) }},
		{name: "softmax", own: [][]int{{256}},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(a[0].Softmax(0)) }},
		{name: "layer_norm", shared: [][]int{{256}, {256}}, own: [][]int{{256}},
			f: func(a []*torch.Tensor) []*torch.Tensor {
				return one(F.LayerNorm(a[2], []int{256}, F.LayerNormOptions{Weight: a[0], Bias: a[1]}))
			}},
		{name: "distances", own: [][]int{{16, 8}, {16, 8}},
			f: func(a []*torch.Tensor) []*torch.Tensor {
				return one(a[0].Unsqueeze(1).Sub(a[1].Unsqueeze(0)).Square().SumDim([]int{-1}).Sqrt())
			}},
		{name: "cross_entropy", own: [][]int{{16, 10}}, classes: 10, size: []int{16},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(F.CrossEntropy(a[0], a[1])) }},
		{name: "attention", own: [][]int{{4, 16, 32}, {4, 16, 32}, {4, 16, 32}},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(F.ScaledDotProductAttention(a[0], a[1], a[2])) }},
		{name: "indexing", own: [][]int{{100, 16}}, classes: 100, size: []int{20},
			f: func(a []*torch.Tensor) []*torch.Tensor { return one(a[0].Index(a[1])) }},
		{name: "mlp", shared: [][]int{{128, 64}, {128}, {10, 128}, {10}}, own: [][]int{{64}}, classes: 10, grad: true,
			f: func(a []*torch.Tensor) []*torch.Tensor {
				h := F.ReLU(F.Linear(a[4], a[0], F.LinearOptions{Bias: a[1]}))
				return one(F.CrossEntropy(F.Linear(h, a[2], F.LinearOptions{Bias: a[3]}), a[5]))
			}},
		{name: "cnn", shared: [][]int{{8, 1, 3, 3}, {8}, {16, 8, 3, 3}, {16}, {10, 256}, {10}}, own: [][]int{{1, 16, 16}},
			classes: 10, grad: true,
			f: func(a []*torch.Tensor) []*torch.Tensor {
				pad := []int{1, 1}
				h := F.MaxPool2d(F.ReLU(F.Conv2d(a[6].Unsqueeze(0), a[0], F.Conv2dOptions{Bias: a[1], Padding: pad})),
					[]int{2})
				h = F.MaxPool2d(F.ReLU(F.Conv2d(h, a[2], F.Conv2dOptions{Bias: a[3], Padding: pad})), []int{2})
				return one(F.CrossEntropy(F.Linear(h.Flatten(), a[4], F.LinearOptions{Bias: a[5]}), a[7]))
			}},
	} {
		name := m.name
		if m.grad {
			name = "gradients of each example, " + name
		}
		rows = append(rows, row{
			name: fmt.Sprintf("%s, %d examples", name, batch), peer: "mapped",
			args: arg{"f": m.name, "batch": batch, "shared": m.shared, "own": m.own, "classes": m.classes, "size": m.size,
				"grad": m.grad},
			prepare: func() work {
				var args []*torch.Tensor
				var in []int
				for _, sh := range m.shared {
					args, in = append(args, torch.Randn(sh).MulScalar(0.1)), append(in, none)
				}
				for _, sh := range m.own {
					args, in = append(args, torch.Randn(append([]int{batch}, sh...))), append(in, 0)
				}
				if m.classes > 0 {
					args, in = append(args, torch.Randint(m.classes, append([]int{batch}, m.size...))), append(in, 0)
				}
				f := m.f
				if m.grad {
					by := make([]int, len(m.shared))
					for i := range by {
						by[i] = i
					}
					f = functorch.Grad(f, functorch.GradOptions{Argnums: by})
				}
				f = functorch.Vmap(f, functorch.VmapOptions{InDims: in})
				return work{grad: m.grad, step: func() { torch.Tidy(func() { f(args) }) }}
			},
		})
	}
	return rows
}
