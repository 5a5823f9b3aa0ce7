package nn_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

func shapesOf(ts []*nn.Tensor) string {
	s := ""
	for _, t := range ts {
		if t == nil {
			s += "nil "
		} else {
			s += fmt.Sprint(t.Shape(), " ")
		}
	}
	return s
}

// TestHookOrder runs a network without an input that requires grad: the hooks of the first layer fire all the same, and
// all in PyTorch's order.
func TestHookOrder(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU(), nn.NewLinear(3, 1))
	var got []string
	for name, x := range nn.NamedModules(m) {
		nn.RegisterForwardPreHook(x, func(nn.Module,
			[]*nn.Tensor) []*nn.Tensor {
			got = append(got, "pre "+name)
			return nil
		})
		nn.RegisterForwardHook(x, func(_ nn.Module, _ []*nn.Tensor, out *nn.Tensor) *nn.Tensor {
			got = append(got, fmt.Sprint("post ", name, " ", out.Shape()))
			return nil
		})
		nn.RegisterFullBackwardHook(x, func(_ nn.Module, in, out []*nn.Tensor) []*nn.Tensor {
			got = append(got, "back "+name+" "+shapesOf(in)+"/ "+shapesOf(out))
			return nil
		})
		nn.RegisterFullBackwardPreHook(x,
			func(_ nn.Module, out []*nn.Tensor) []*nn.Tensor { got = append(got, "backpre "+name); return nil })
	}
	m.Forward(torch.Ones([]int{4, 2})).Sum().Backward()
	want := []string{"pre ", "pre 0", "post 0 [4 3]", "pre 1", "post 1 [4 3]", "pre 2", "post 2 [4 1]", "post  [4 1]",
		"backpre ", "back  nil / [4 1] ", "backpre 2", "back 2 [4 3] / [4 1] ", "backpre 1", "back 1 [4 3] / [4 3] ",
		"backpre 0", "back 0 nil / [4 3] "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestHooksOfSeveralResults covers the layers that take and return more than one tensor.
func TestHooksOfSeveralResults(t *testing.T) {
	torch.ManualSeed(0)
	x := torch.Randn([]int{5, 4, 2}).SetRequiresGrad(true)
	lstm, gru, rnn, cell, att := nn.NewLSTM(2, 3), nn.NewGRU(2, 3), nn.NewRNN(2, 3), nn.NewLSTMCell(2, 3),
		nn.NewMultiheadAttention(2, 1)
	pool := nn.NewMaxPool1d(2, nn.MaxPool1dOptions{ReturnIndices: true})
	q := torch.Randn([]int{5, 4, 2}).SetRequiresGrad(true)
	for _, c := range []struct {
		m    nn.Module
		run  func() *nn.Tensor
		want string
	}{
		{lstm, func() *nn.Tensor { o, _, _ := lstm.Forward(x); return o },
			"[5 4 2] > [5 4 3] [1 4 3] [1 4 3] | [5 4 2] < [5 4 3] nil nil "},
		{gru, func() *nn.Tensor { o, _ := gru.Forward(x, torch.Zeros([]int{1, 4, 3})); return o },
			"[5 4 2] [1 4 3] > [5 4 3] [1 4 3] | [5 4 2] nil < [5 4 3] nil "},
		{rnn, func() *nn.Tensor { o, _ := rnn.Forward(x); return o },
			"[5 4 2] > [5 4 3] [1 4 3] | [5 4 2] < [5 4 3] nil "},
		{cell, func() *nn.Tensor { h, _ := cell.Forward(x.Select(0, 0)); return h },
			"[4 2] > [4 3] [4 3] | [4 2] < [4 3] nil "},
		{att, func() *nn.Tensor { o, _ := att.Forward(q, q, q); return o },
			"[5 4 2] [5 4 2] [5 4 2] > [5 4 2] [4 5 5] | [5 4 2] [5 4 2] [5 4 2] < [5 4 2] nil "},
		{att, func() *nn.Tensor {
			o, _ := att.Forward(q, q, q, nn.AttentionOptions{NoWeights: true})
			return o
		}, "[5 4 2] [5 4 2] [5 4 2] > [5 4 2] nil | [5 4 2] [5 4 2] [5 4 2] < [5 4 2] nil "},
		{pool, func() *nn.Tensor { o, _ := pool.ForwardIndices(x); return o },
			"[5 4 2] > [5 4 1] [5 4 1] | [5 4 2] < [5 4 1] nil "},
	} {
		plain := c.run().Sum()
		got := ""
		hooks := []nn.Handle{
			nn.RegisterForwardPreHook(c.m,
				func(_ nn.Module, in []*nn.Tensor) []*nn.Tensor { got += shapesOf(in) + "> "; return nil }),
			nn.RegisterForwardHookAll(c.m,
				func(_ nn.Module, _, out []*nn.Tensor) []*nn.Tensor { got += shapesOf(out) + "| "; return nil }),
			nn.RegisterFullBackwardHook(c.m, func(_ nn.Module, in, out []*nn.Tensor) []*nn.Tensor {
				got += shapesOf(in) + "< " + shapesOf(out)
				return nil
			}),
		}
		loss := c.run().Sum()
		loss.Backward()
		if got != c.want {
			t.Errorf("%T:\n got %q\nwant %q", c.m, got, c.want)
		}
		if loss.Item() != plain.Item() {
			t.Errorf("%T: %v with hooks, %v without", c.m, loss.Item(), plain.Item())
		}
		for _, h := range hooks {
			h.Remove()
		}
	}
	// a hook may replace the first result only, and the rest stay
	lstm.RegisterForwardHook(func(_ nn.Module, _ []*nn.Tensor, out *nn.Tensor) *nn.Tensor { return out.MulScalar(0) })
	out, h, _ := lstm.Forward(x)
	if out.Abs().Sum().Item() != 0 || h.Abs().Sum().Item() == 0 {
		t.Error("the hook's result is not used, or replaces the state too")
	}
	// the gradient that a pre-hook returns is the one that passes through
	l := nn.NewLinear(2, 1)
	l.RegisterFullBackwardPreHook(func(_ nn.Module,
		out []*nn.Tensor) []*nn.Tensor {
		return []*nn.Tensor{out[0].MulScalar(3)}
	})
	l.Forward(torch.Ones([]int{1, 2})).Sum().Backward()
	if g := l.Weight.Grad().Sum().Item(); g != 6 {
		t.Errorf("gradient %v, want 6", g)
	}
}

// embedding is a layer whose Forward is that of a module it embeds.
type embedding struct{ *nn.Sequential }

// Hooks are given the module that they were registered for, not the embedded one whose Forward runs.
func TestHooksOfEmbedding(t *testing.T) {
	e := nn.New(&embedding{nn.NewSequential(nn.NewLinear(2, 2))})
	root := nn.NewSequential(e)
	var got []nn.Module
	see := func(m nn.Module) { got = append(got, m) }
	nn.RegisterForwardPreHook(e, func(m nn.Module, _ []*torch.Tensor) []*torch.Tensor { see(m); return nil })
	nn.RegisterForwardHook(e, func(m nn.Module, _ []*torch.Tensor, _ *torch.Tensor) *torch.Tensor { see(m); return nil })
	e.RegisterFullBackwardHook(func(m nn.Module, _, _ []*torch.Tensor) []*torch.Tensor { see(m); return nil })
	root.Forward(torch.Ones([]int{1, 2}).SetRequiresGrad(true)).Sum().Backward()
	if len(got) != 3 {
		t.Fatalf("%d calls of hooks, want 3", len(got))
	}
	for i, m := range got {
		if m != nn.Module(e) {
			t.Errorf("hook %d is given %T", i, m)
		}
	}
}
