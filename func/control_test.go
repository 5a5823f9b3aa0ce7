package functorch_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/torchtest"
)

// collatz counts the steps of the Collatz sequence from x to 1, with an if in a loop.
func collatz(args []*torch.Tensor) []*torch.Tensor {
	r := functorch.WhileLoop(
		func(c []*torch.Tensor) *torch.Tensor { return c[0].NeScalar(1) },
		func(c []*torch.Tensor) []*torch.Tensor {
			even := c[0].RemainderScalar(2).EqScalar(0)
			next := functorch.Cond(even,
				functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.FloorDivideScalar(2) }),
				functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.MulScalar(3).AddScalar(1) }), c[:1])
			return []*torch.Tensor{next[0], c[1].AddScalar(1)}
		},
		[]*torch.Tensor{args[0], args[0].MulScalar(0)})
	return r[1:]
}

func TestControlFlowOfExamples(t *testing.T) {
	x := torch.FromSlice([]int64{1, 6, 7, 27})
	want := []int64{0, 8, 16, 111}
	for i, n := range want {
		if got := collatz([]*torch.Tensor{x.Select(0, i)})[0].Num().I; got != n {
			t.Errorf("from %d: %d steps, want %d", x.Select(0, i).Num().I, got, n)
		}
	}
	got := functorch.Vmap(collatz)([]*torch.Tensor{x})[0]
	if err := torchtest.AssertClose(got, torch.FromSlice(want)); err != nil {
		t.Error(err)
	}
	square := torch.Stack([]*torch.Tensor{x, x})
	got = functorch.Vmap(functorch.Vmap(collatz))([]*torch.Tensor{square})[0]
	if err := torchtest.AssertClose(got.Select(0, 1), torch.FromSlice(want)); err != nil {
		t.Error("nested: ", err)
	}
}

func TestCondGradient(t *testing.T) {
	f := functorch.One(func(x *torch.Tensor) *torch.Tensor {
		return functorch.Cond(x.GtScalar(0), functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Sin() }),
			functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Exp() }),
			[]*torch.Tensor{x})[0]
	})
	x := torch.FromSlice([]float32{2, -1})
	want := torch.FromSlice([]float32{-0.41614684, 0.36787945})
	got := functorch.Vmap(functorch.Grad(f))([]*torch.Tensor{x})[0]
	if err := torchtest.AssertClose(got, want); err != nil {
		t.Error(err)
	}
}

func TestControlFlowRefusals(t *testing.T) {
	x := torch.Ones([]int{2})
	id := functorch.One(func(x *torch.Tensor) *torch.Tensor { return x })
	for name, f := range map[string]func(){
		"pred of two elements": func() { functorch.Cond(x, id, id, []*torch.Tensor{x}) },
		"no pred":              func() { functorch.Cond(nil, id, id, []*torch.Tensor{x}) },
		"another shape": func() {
			functorch.WhileLoop(func(c []*torch.Tensor) *torch.Tensor { return torch.Full([]int{}, 1) },
				functorch.One((*torch.Tensor).T), []*torch.Tensor{torch.Ones([]int{2, 3})})
		},
		"another number": func() {
			functorch.WhileLoop(func(c []*torch.Tensor) *torch.Tensor { return torch.Full([]int{}, 1) },
				func(c []*torch.Tensor) []*torch.Tensor { return nil }, []*torch.Tensor{x})
		},
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func ExampleCond() {
	f := func(x float32) *torch.Tensor {
		in := torch.FromSlice([]float32{x})
		return functorch.Cond(in.GtScalar(4), functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Neg() }),
			functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Square() }),
			[]*torch.Tensor{in})[0]
	}
	fmt.Println(f(3), f(5))
	// Output: tensor([9.]) tensor([-5.])
}
