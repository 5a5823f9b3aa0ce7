package trace_test

import (
	"context"
	"fmt"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A layer is recorded with a batch of 2, and runs with one of 3, since Dynamic says that the batch may differ.
func ExampleRecord() {
	net := nn.NewSequential(nn.NewFlatten(), nn.NewLinear(4, 2))
	nn.Apply(net, func(m nn.Module) {
		if l, ok := m.(*nn.Linear); ok {
			l.Weight.SetRequiresGrad(false).FillScalarInPlace(1)
			l.Bias.SetRequiresGrad(false).FillScalarInPlace(0.5)
		}
	})
	p, err := trace.Record(net, []any{torch.Rand([]int{2, 2, 2})}, trace.Options{
		Names: []string{"input"}, Dynamic: map[string]map[int]string{"input": {0: "batch"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Inputs(), p.Outputs())
	for _, n := range p.Func.Body.Nodes {
		if n.Operator != nil {
			fmt.Println(n.Op, "in", n.Scope)
		}
	}
	out, err := p.Run(context.Background(), map[string]*tensor.Tensor{"input": torch.Ones([]int{3, 2, 2})})
	fmt.Println(out["output"], err)
	// Output:
	// [input: float32[batch, 2, 2]] [output: float32[batch, 2]]
	// aten::flatten.using_ints in 0 (torch.nn.modules.flatten.Flatten)
	// aten::linear in 1 (torch.nn.modules.linear.Linear)
	// tensor([[4.5000, 4.5000],
	//         [4.5000, 4.5000],
	//         [4.5000, 4.5000]]) <nil>
}
