package graph_test

import (
	"context"
	"fmt"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// A program doubles a tensor until its sum is at least 100, and counts the doublings.
func Example() {
	f := graph.NewFunction("double")
	b := f.Body
	x := b.Param("x", graph.Tensor)
	small := func(b *graph.Block, x *graph.Value) *graph.Value {
		return b.Call1("aten::Bool.Tensor", b.Call1("aten::lt.Scalar", b.Call1("aten::sum", x), 100))
	}
	loop := b.Loop(nil, small(b, x), []*graph.Value{x, b.Const(0)},
		func(b *graph.Block, i *graph.Value, c []*graph.Value) (*graph.Value, []*graph.Value) {
			y := b.Call1("aten::add.Tensor", c[0], c[0])
			return small(b, y), []*graph.Value{y, b.Call1("aten::add.int", c[1], 1)}
		})
	b.Return(loop.Out...)

	out, err := f.Run(context.Background(), tensor.TensorValue(torch.TensorOf[float32](1, 2, 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out[0].T)
	fmt.Println(out[1].N, "times")
	// Output:
	// tensor([16., 32., 64.])
	// 4 times
}

// A graph prints as PyTorch's do.
func ExampleFunction_String() {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	f.Body.Return(f.Body.Call1("aten::softmax.int", x, 1))
	fmt.Print(f)
	// Output:
	// graph(%x : Tensor):
	//   %0 : int = prim::Constant[value=1]()
	//   %1 : Tensor = aten::softmax(%x, %0)
	//   return (%1)
}
