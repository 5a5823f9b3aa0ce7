package jit_test

import (
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
)

// recurrent is a network whose LSTM gives its outputs alone.
type recurrent struct {
	nn.Base
	LSTM *nn.LSTM
	FC   *nn.Linear
}

func (m *recurrent) Forward(x *torch.Tensor) *torch.Tensor {
	y, _, _ := m.LSTM.Forward(x)
	return m.FC.Forward(y)
}

// TestSaveQuantized records networks with quantized layers, saves them, loads them and saves what was loaded: the
// packed parameters of the layers go through both files.
func TestSaveQuantized(t *testing.T) {
	torch.ManualSeed(0)
	static := func(x *torch.Tensor, layers ...nn.Layer) nn.Layer {
		m := nn.NewSequential(quantization.NewQuantStub())
		for _, l := range append(layers, quantization.NewDeQuantStub()) {
			m.Append(l)
		}
		m.Eval()
		quantization.Prepare(m)
		torch.NoGrad(func() { m.Forward(x) })
		quantization.Convert(m)
		return m
	}
	dynamic := func(m nn.Layer) nn.Layer {
		nn.Eval(m)
		if _, err := quantization.QuantizeDynamic(m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	lines, planes, spaces := torch.Rand([]int{2, 4, 9}), torch.Rand([]int{2, 4, 7, 8}), torch.Rand([]int{1, 4, 5, 5, 5})
	rows, steps := torch.Rand([]int{3, 8}), torch.Rand([]int{5, 2, 8})
	for _, c := range []struct {
		name  string
		model nn.Layer
		x     *torch.Tensor
	}{
		{"conv1d", static(lines, nn.NewConv1d(4, 8, 3, nn.Conv1dOptions{Stride: []int{2}, Padding: []int{1}})), lines},
		{"conv2d", static(planes, nn.NewConv2d(4, 8, 3, nn.Conv2dOptions{Stride: []int{2, 1}, Padding: []int{1, 0},
			Groups: torch.Some(2)}), nn.NewFlatten()), planes},
		{"conv3d", static(spaces, nn.NewConv3d(4, 4, 3, nn.Conv3dOptions{Dilation: []int{2}, NoBias: true})), spaces},
		{"linear", static(rows, nn.NewLinear(8, 4), nn.NewHardswish(),
			nn.NewLinear(4, 3, nn.LinearOptions{NoBias: true})),
			rows},
		{"dynamic", dynamic(nn.NewSequential(nn.NewLinear(8, 6), nn.NewReLU(), nn.NewLinear(6, 2))), rows},
		{"lstm", dynamic(nn.New(&recurrent{LSTM: nn.NewLSTM(8, 6,
			nn.RNNOptions{NumLayers: torch.Some(2), Bidirectional: true}),
			FC: nn.NewLinear(12, 3)})), steps},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := jit.Trace(c.model, c.x)
			if err != nil {
				t.Fatal(err)
			}
			var want *torch.Tensor
			torch.NoGrad(func() { want = c.model.Forward(c.x) })
			for _, stage := range []string{"recorded", "loaded", "loaded twice"} {
				got, err := m.Forward(c.x)
				if err != nil {
					t.Fatalf("%s: %v", stage, err)
				}
				if !torch.Equal(got.Detach(), want) {
					t.Errorf("%s: another result", stage)
				}
				path := filepath.Join(t.TempDir(), "m.pt")
				if err := m.Save(path); err != nil {
					t.Fatalf("%s: %v", stage, err)
				}
				if m, err = jit.LoadFile(path); err != nil {
					t.Fatalf("%s: %v", stage, err)
				}
			}
		})
	}
}
