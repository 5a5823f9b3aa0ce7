package nn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSequentialOfModules holds a loss, which is no layer, as Python's Sequential does: it is printed and found, and
// Forward refuses it.
func TestSequentialOfModules(t *testing.T) {
	s := nn.NewSequential(nn.NewReLU()).AddModule("loss", nn.NewMSELoss()).AddModule("attn",
		nn.NewMultiheadAttention(4, 2))
	want := "Sequential(\n  (0): ReLU()\n  (loss): MSELoss()\n  (attn): MultiheadAttention("
	if got := nn.Repr(s); !strings.HasPrefix(got, want) {
		t.Errorf("prints %q, want it to begin with %q", got, want)
	}
	if nn.StateDict(s).Get("attn.in_proj_weight") == nil {
		t.Errorf("the parameters of a module that is no layer are not found")
	}
	for name, f := range map[string]func(){
		"Forward": func() { s.Forward(torch.Zeros([]int{2})) },
		"At":      func() { s.At(1) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrType) || !strings.Contains(err.Error(), "MSELoss is no layer") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if s.Slice(0, 2).Len() != 2 {
		t.Errorf("a slice leaves the loss out")
	}
}

// TestSequentialOfEncoders: encoders of transformers, which also take masks, run without masks.
func TestSequentialOfEncoders(t *testing.T) {
	torch.ManualSeed(2)
	layer := nn.NewTransformerEncoderLayer(8, 2, nn.TransformerLayerOptions{DimFeedforward: torch.Some(16)})
	stack, last := nn.NewTransformerEncoder(layer, 2, nil), nn.NewLinear(8, 3)
	s := nn.NewSequential().AddModule("0", layer).AddModule("1", stack).Add("2", last)
	nn.Eval(s)
	x := torch.Randn([]int{5, 2, 8})
	want := last.Forward(stack.Forward(layer.Forward(x)))
	if got := s.Forward(x); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := s.At(0).Forward(x); !got.Equal(layer.Forward(x)) {
		t.Error("At gives another layer")
	}
	s.Forward(x).Sum().Backward()
	if layer.Linear1.Weight.Grad() == nil {
		t.Error("the encoder has no gradient")
	}
}

// TestLazyNormState: batches are counted from the start, also while the other tensors have no shape.
func TestLazyNormState(t *testing.T) {
	m := nn.NewLazyBatchNorm2d()
	if keys := nn.StateDict(m).Keys(); len(keys) != 1 || keys[0] != "num_batches_tracked" {
		t.Errorf("the state of a new lazy layer has the keys %v", keys)
	}
	m.Forward(torch.Randn([]int{2, 3, 4, 4}))
	if n := m.NumBatchesTracked.Item(); n != 1 || len(nn.StateDict(m).Keys()) != 5 {
		t.Errorf("after one batch %v batches are counted, the state has %v", n, nn.StateDict(m).Keys())
	}
}
