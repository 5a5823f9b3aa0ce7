package jit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// MyDecisionGate is x or -x, as the sign of the sum of x says.
type MyDecisionGate struct{ nn.Base }

func (m *MyDecisionGate) Forward(x *tensor.Tensor) *tensor.Tensor {
	return jit.If(x.Sum().GtScalar(0),
		func() []*tensor.Tensor { return []*tensor.Tensor{x} },
		func() []*tensor.Tensor { return []*tensor.Tensor{x.Neg()} })[0]
}

// MyCell holds a gate, a program of its own.
type MyCell struct {
	nn.Base
	DG     *jit.Module `torch:"dg"`
	Linear *nn.Linear
}

func (m *MyCell) Forward(x, h *tensor.Tensor) (y, newH *tensor.Tensor) {
	newH = m.DG.Apply(m.Linear.Forward(x))[0].Add(h).Tanh()
	return newH, newH
}

// MyRNNLoop calls a traced cell for each step of a sequence.
type MyRNNLoop struct {
	nn.Base
	Cell *jit.Module
}

func (m *MyRNNLoop) Forward(xs *tensor.Tensor) (y, h *tensor.Tensor) {
	h = jit.Annotate("h", torch.Zeros([]int{3, 4}))
	y = jit.Annotate("y", torch.Zeros([]int{3, 4}))
	r := jit.For(xs.Size(0), []*tensor.Tensor{y, h}, func(i int, c []*tensor.Tensor) []*tensor.Tensor {
		next := m.Cell.Apply(xs.Select(0, i), c[1])
		return []*tensor.Tensor{jit.Annotate("y", next[0]), jit.Annotate("h", next[1])}
	})
	return r[0], r[1]
}

// WrapRNN is an ordinary module around a scripted loop.
type WrapRNN struct {
	nn.Base
	Loop *jit.Module
}

func (m *WrapRNN) Forward(xs *tensor.Tensor) *tensor.Tensor {
	r := m.Loop.Apply(xs)
	return jit.Annotate("y", r[0]).ReLU()
}

func must(m *jit.Module, err error) *jit.Module {
	if err != nil {
		panic(err)
	}
	return m
}

// A branch that the elements of a tensor decide, in a traced cell, in a scripted loop, in a traced wrapper.
func ExampleScript() {
	torch.ManualSeed(0)
	x, h := torch.Rand([]int{3, 4}), torch.Rand([]int{3, 4})
	gate := must(jit.Script(nn.New(&MyDecisionGate{}), x))
	fmt.Print(gate.Code())
	cell := must(jit.Trace(nn.New(&MyCell{DG: gate, Linear: nn.NewLinear(4, 4)}), x, h,
		jit.TraceOptions{Names: []string{"x", "h"}}))
	fmt.Print(cell.Code())
	loop := must(jit.Script(nn.New(&MyRNNLoop{Cell: cell}), torch.Rand([]int{2, 3, 4}),
		jit.TraceOptions{Names: []string{"xs"}}))
	fmt.Print(loop.Code())
	fmt.Print(loop.Submodule("cell.dg").Code() == gate.Code(), "\n")
	wrap := must(jit.Trace(nn.New(&WrapRNN{Loop: loop}), torch.Rand([]int{10, 3, 4}),
		jit.TraceOptions{Names: []string{"xs"}}))
	fmt.Print(wrap.Code())
	fmt.Println(wrap)
	// Output:
	// def forward(self,
	//     x: Tensor) -> Tensor:
	//   if bool(torch.gt(torch.sum(x), 0)):
	//     _0 = x
	//   else:
	//     _0 = torch.neg(x)
	//   return _0
	// def forward(self,
	//     x: Tensor,
	//     h: Tensor) -> Tuple[Tensor, Tensor]:
	//   dg = self.dg
	//   linear = self.linear
	//   _0 = torch.add((dg).forward((linear).forward(x, ), ), h)
	//   _1 = torch.tanh(_0)
	//   return (_1, _1)
	// def forward(self,
	//     xs: Tensor) -> Tuple[Tensor, Tensor]:
	//   h = torch.zeros([3, 4])
	//   y = torch.zeros([3, 4])
	//   y0 = y
	//   h0 = h
	//   for i in range(torch.size(xs, 0)):
	//     cell = self.cell
	//     _0 = (cell).forward(torch.select(xs, 0, i), h0, )
	//     y1, h1, = _0
	//     y0, h0 = y1, h1
	//   return (y0, h0)
	// true
	// def forward(self,
	//     xs: Tensor) -> Tensor:
	//   loop = self.loop
	//   _0, y, = (loop).forward(xs, )
	//   return torch.relu(y)
	// WrapRNN(
	//   original_name=WrapRNN
	//   (loop): RecursiveScriptModule(
	//     original_name=MyRNNLoop
	//     (cell): MyCell(
	//       original_name=MyCell
	//       (dg): RecursiveScriptModule(original_name=MyDecisionGate)
	//       (linear): Linear(original_name=Linear)
	//     )
	//   )
	// )
}

// Without example inputs the error says why they are needed.
func TestScriptWithoutInputs(t *testing.T) {
	_, err := jit.Script(nn.NewLinear(3, 2))
	if !errors.Is(err, tensor.ErrType) || !strings.Contains(err.Error(), "example inputs") {
		t.Errorf("Script without inputs: %v", err)
	}
}

// A size of the input that only a stride hides is none that the program takes others of.
func TestScriptSizesHiddenByAStride(t *testing.T) {
	m := nn.NewSequential(nn.NewConv1d(2, 3, 3, nn.Conv1dOptions{Stride: nn.Size{3}}), nn.NewFlatten(),
		nn.NewLinear(15, 4))
	x := torch.Rand([]int{2, 2, 15})
	p := must(jit.Script(m, x))
	for _, batch := range []int{2, 5} {
		x := torch.Rand([]int{batch, 2, 15})
		if y, err := p.Forward(x); err != nil || !torch.AllClose(y, m.Forward(x)) {
			t.Error(y, err)
		}
	}
}
