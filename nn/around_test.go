package nn_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A function around the forward pass may call it as often as it likes; hooks run once, outside of it, and the function
// of a module inside has its own turn.
func TestForwardAround(t *testing.T) {
	inner := nn.NewReLU()
	net := nn.NewSequential(inner, nn.NewTanh())
	var calls []string
	note := func(s string) { calls = append(calls, s) }
	twice := func(name string) func(nn.Module, func([]*torch.Tensor) []*torch.Tensor, []*torch.Tensor) []*torch.Tensor {
		return func(_ nn.Module, forward func([]*torch.Tensor) []*torch.Tensor, in []*torch.Tensor) []*torch.Tensor {
			note(name)
			forward(in)
			return forward(in)
		}
	}
	outer := nn.RegisterForwardAround(net, twice("net"))
	nn.RegisterForwardAround(inner, twice("relu"))
	net.RegisterForwardPreHook(func(nn.Module, []*torch.Tensor) []*torch.Tensor {
		note("hook")
		return nil
	})
	x := torch.FromSlice([]float32{-1, 1}, 2)
	want := x.ReLU().Tanh()
	if y := net.Forward(x); !y.Equal(want) {
		t.Errorf("%v, want %v", y, want)
	}
	if got := len(calls); got != 4 || calls[0] != "hook" || calls[1] != "net" || calls[2] != "relu" {
		t.Errorf("calls %q", calls)
	}
	outer.Remove()
	calls = nil
	net.Forward(x)
	if len(calls) != 2 {
		t.Errorf("calls without the outer function: %q", calls)
	}
}

func TestForwardAroundEncoderLayer(t *testing.T) {
	torch.ManualSeed(0)
	l := nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{Dropout: torch.Some(0.0), BatchFirst: true})
	x, mask := torch.Randn([]int{1, 3, 8}), torch.Full([]int{3, 3}, -5.0)
	want := l.Forward(x, nn.EncoderMasks{Mask: mask})
	n := 0
	nn.RegisterForwardAround(l, func(_ nn.Module, forward func([]*torch.Tensor) []*torch.Tensor,
		in []*torch.Tensor) []*torch.Tensor {
		n++
		return forward(in)
	})
	if got := l.Forward(x, nn.EncoderMasks{Mask: mask}); n != 1 || !got.Equal(want) {
		t.Errorf("%d calls, %v, want %v", n, got, want)
	}
	err := torch.Try(func() { nn.RegisterForwardAround(nn.NewLSTM(2, 2), nil) })
	if !errors.Is(err, tensor.ErrType) {
		t.Errorf("a network whose pass cannot be repeated: %v", err)
	}
}
