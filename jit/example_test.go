package jit_test

import (
	"context"
	"fmt"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// A module is loaded and asked what it is. The archive is a file that torch.jit.save has written.
func Example() {
	m, err := jit.LoadFile("testdata/hooks.pt")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m)
	for _, p := range m.NamedParameters() {
		fmt.Println(p.Name, p.Tensor.Shape())
	}
	fmt.Print(m.Code("forward"))
	y, err := m.Forward(tensor.FromSlice([]float32{0, 0}, 1, 2))
	fmt.Println(y.Shape(), err)
	// Output:
	// RecursiveScriptModule(
	//   original_name=Hooked
	//   (l): RecursiveScriptModule(original_name=Linear)
	// )
	// l.weight [2 2]
	// l.bias [2]
	// def forward(s,
	//     x: Tensor) -> Tensor:
	//   l = s.l
	//   return (l).forward(x, )
	// [1 2] <nil>
}

// Methods take and give more than tensors: here a tensor of scores and a number, and lists.
func ExampleModule_Call() {
	m, err := jit.LoadFile("testdata/beam_search.pt")
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := tensor.FromSlice([]float32{-1, -2, -3, -2, -1, -4}, 2, 3)
	args := []tensor.Value{tensor.TensorValue(scores), tensor.IntValue(2)}
	v, err := m.Call(context.Background(), "forward", args, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph.Text(v))
	// Output:
	// ([[0, 1], [0, 0]], [-2., -3.])
}
