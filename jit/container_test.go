package jit_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A dictionary with the annotation Dict[str, int], which Go's type parameters write.
func ExampleNewDict() {
	m := must(jit.Script(func() *jit.Dict[string, int64] {
		d := jit.NewDict[string, int64]("d")
		d.Set("name", 20)
		return d
	}))
	fmt.Print(m.Code())
	out, _ := m.Call(context.Background(), "forward", nil, nil)
	fmt.Println(graph.Text(out))
	// Output:
	// def forward(self) -> Dict[str, int]:
	//   d = annotate(Dict[str, int], {})
	//   torch._set_item(d, "name", 20)
	//   return d
	// {name: 20}
}

// Steps collects what a cell gives for each step of a sequence, in a list that grows in a loop.
type Steps struct {
	nn.Base
	Cell *nn.Linear
}

func (m *Steps) Forward(xs *tensor.Tensor) (*tensor.Tensor, *jit.List[*tensor.Tensor]) {
	all := jit.NewList[*tensor.Tensor]("all")
	h := torch.Zeros([]int{3})
	jit.For(xs.Size(0), []*tensor.Tensor{h}, func(i int, c []*tensor.Tensor) []*tensor.Tensor {
		h := m.Cell.Forward(xs.Select(0, i)).Add(c[0]).Tanh()
		all.Append(h)
		return []*tensor.Tensor{h}
	})
	return jit.Stack(all, 0).Add(all.At(-1)), all
}

// TestListInLoop: the program is for sequences of any length, also after it was saved and loaded.
func TestListInLoop(t *testing.T) {
	torch.ManualSeed(3)
	m := nn.New(&Steps{Cell: nn.NewLinear(4, 3)})
	s := must(jit.Script(m, torch.Rand([]int{2, 4})))
	var b bytes.Buffer
	if err := s.SaveTo(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := jit.Load(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 5, 9} {
		x := torch.Rand([]int{n, 4})
		want, list := m.Forward(x)
		for _, s := range []*jit.Module{s, loaded} {
			out, err := s.Call(context.Background(), "forward", []tensor.Value{tensor.TensorValue(x)}, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, s.Code())
			}
			items, _ := graph.ItemsOf(out)
			if !items[0].T.AllClose(want) {
				t.Errorf("%d steps: %s, want %s\n%s", n, items[0].T, want, s.Code())
			}
			if got, _ := graph.ItemsOf(items[1]); len(got) != n || !got[n-1].T.AllClose(list.At(n-1)) {
				t.Errorf("%d steps: a list of %d tensors", n, len(got))
			}
		}
	}
}

// TestContainers: lists and dictionaries of all kinds of elements, in each other, traced and eager.
func TestContainers(t *testing.T) {
	f := func(x *tensor.Tensor) (*tensor.Tensor, *jit.Dict[int, *jit.List[float64]], *jit.List[string]) {
		d := jit.NewDict[int, *jit.List[float64]]("d")
		l := jit.NewList[float64]("l")
		l.Append(1.5)
		l.Append(2)
		l.Set(-1, 3)
		d.Set(7, l)
		words := jit.NewList[string]("words")
		words.Append("a")
		by := jit.NewDict[string, *tensor.Tensor]("by")
		by.Set("x", x)
		by.Set("y", x.MulScalar(2))
		y, _ := by.Get("y")
		if _, ok := by.Get("z"); ok || by.Len() != 2 || words.Len() != 1 || l.At(1) != 3 {
			t.Error("the containers hold other elements than they were given")
		}
		return jit.If(x.Sum().GtScalar(0), func() []*tensor.Tensor {
			words.Append("positive")
			return []*tensor.Tensor{y.Exp()}
		}, func() []*tensor.Tensor {
			words.Append("negative")
			return []*tensor.Tensor{y}
		})[0], d, words
	}
	m := must(jit.Script(f, torch.Ones([]int{2})))
	for _, sign := range []float64{1, -1} {
		x := torch.Full([]int{3}, sign)
		y, _, words := f(x)
		out, err := m.Call(context.Background(), "forward", []tensor.Value{tensor.TensorValue(x)}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, m.Code())
		}
		items, _ := graph.ItemsOf(out)
		want := fmt.Sprintf("{7: [1.5, 3.]} [a, %s]", words.At(1))
		if got := graph.Text(items[1]) + " " + graph.Text(items[2]); !items[0].T.AllClose(y) || got != want {
			t.Errorf("%s, want %s; %s, want %s\n%s", got, want, items[0].T, y, m.Code())
		}
	}
}

// TestContainerMistakes: what cannot be recorded is an error.
func TestContainerMistakes(t *testing.T) {
	outer := jit.NewList[int]("outer")
	x := torch.Ones([]int{2})
	for name, f := range map[string]any{
		"made before the recording": func(x *tensor.Tensor) *tensor.Tensor { outer.Append(1); return x },
		"made in a branch": func(x *tensor.Tensor) *tensor.Tensor {
			var l *jit.List[int]
			y := jit.If(x.Sum().GtScalar(0),
				func() []*tensor.Tensor { l = jit.NewList[int]("l"); return []*tensor.Tensor{x} },
				func() []*tensor.Tensor { return []*tensor.Tensor{x.Neg()} })
			if l != nil {
				l.Append(2)
			}
			return y[0]
		},
		"of channels":     func(x *tensor.Tensor) *tensor.Tensor { jit.NewList[chan int]("l"); return x },
		"out of range":    func(x *tensor.Tensor) *tensor.Tensor { jit.NewList[int]("l").At(0); return x },
		"a result before": func(x *tensor.Tensor) (*tensor.Tensor, *jit.List[int]) { return x, outer },
	} {
		if _, err := jit.Script(f, x); err == nil {
			t.Errorf("a container %s is recorded", name)
		}
	}
}
