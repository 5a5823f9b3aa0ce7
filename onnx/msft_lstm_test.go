package onnx_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// TestDynamicQuantizeLSTM compares the layer with the LSTM of the dequantized weights, which it is close to, and not
// equal to: input and state are rounded to 8 bits.
func TestDynamicQuantizeLSTM(t *testing.T) {
	const in, hidden = 3, 2
	bytes := func(name string, rows int) (*onnxpb.Tensor, *onnxpb.Tensor) {
		q := &onnxpb.Tensor{Name: name, Type: onnxpb.Int8, Dims: []int64{1, int64(rows), 4 * hidden}}
		f := floats(name, []int64{1, 4 * hidden, int64(rows)}, make([]float32, 4*hidden*rows)...)
		for i := range rows {
			for j := range 4 * hidden {
				v := (i*37+j*23)%200 - 100
				q.Ints32 = append(q.Ints32, int64(v))
				f.Floats[j*rows+i] = float32(v-5) * 0.01
			}
		}
		return q, f
	}
	wq, wf := bytes("w", in)
	rq, rf := bytes("r", hidden)
	scale, zero := floats("s", []int64{1}, 0.01),
		&onnxpb.Tensor{Name: "z", Type: onnxpb.Int8, Dims: []int64{1}, Ints32: []int64{5}}
	bias := floats("b", []int64{1, 8 * hidden}, make([]float32, 8*hidden)...)
	bias.Floats[3] = 0.5
	model := func(n *onnxpb.Node, weights ...*onnxpb.Tensor) *onnxpb.Model {
		n.Attrs = []*onnxpb.Attr{{Name: "hidden_size", Type: onnxpb.AttrInt, I: hidden},
			{Name: "direction", Type: onnxpb.AttrString, S: []byte("reverse")}}
		return &onnxpb.Model{IRVersion: 9, Opsets: []onnxpb.Opset{{Version: 18}, {Domain: "com.microsoft", Version: 1}},
			Graph: &onnxpb.Graph{Name: "lstm", Inputs: []onnxpb.Info{value("x", "T", "N", in)},
				Outputs: []onnxpb.Info{value("y", "T", 1, "N", hidden)}, Initializers: weights,
				Nodes: []*onnxpb.Node{n}}}
	}
	quantized := node("DynamicQuantizeLSTM", "x w r b", "y")
	quantized.Domain = "com.microsoft"
	quantized.Inputs = append(quantized.Inputs, "", "", "", "", "s", "z", "s", "z")
	torch.ManualSeed(5)
	x := torch.Randn([]int{6, 2, in})
	got := run(t, read(t, model(quantized, wq, rq, bias, scale, zero)), x)
	want := run(t, read(t, model(node("LSTM", "x w r b", "y"), wf, rf, bias)), x)
	if !got.AllClose(want, tensor.AllCloseOptions{Atol: tensor.Some(0.02)}) {
		t.Errorf("got %v, want about %v", got, want)
	}
	if got.Equal(want) {
		t.Error("nothing was quantized")
	}
}
