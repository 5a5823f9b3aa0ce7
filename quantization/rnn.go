package quantization

import (
	"strconv"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// RNN is an LSTM or a GRU whose weights are quantized; input and states are float32.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.dynamic.LSTM.html
type RNN struct {
	nn.Base
	settings *nn.RNNBase
	lstm     bool
	cells    []*quantized.Cell
}

// ClassName is PyTorch's name.
func (m *RNN) ClassName() string {
	if m.lstm {
		return "DynamicQuantizedLSTM"
	}
	return "DynamicQuantizedGRU"
}

// ExtraRepr prints the sizes.
func (m *RNN) ExtraRepr() string { return m.settings.ExtraRepr() }

// WalkOwn visits nothing: the weights are packed.
func (m *RNN) WalkOwn(func(string, *Tensor), func(string, *Tensor, bool), func(string, nn.Module)) {}

// newRNN quantizes the weights of a recurrent network.
func newRNN(b *nn.RNNBase, lstm bool, q *QConfig) *RNN {
	settings := &nn.RNNBase{InputSize: b.InputSize, HiddenSize: b.HiddenSize, NumLayers: b.NumLayers, Bias: b.Bias,
		BatchFirst: b.BatchFirst, Bidirectional: b.Bidirectional, Dropout: b.Dropout, ProjSize: b.ProjSize}
	m := &RNN{settings: settings, lstm: lstm}
	params := map[string]*Tensor{}
	for n, p := range nn.OwnNamedParameters(b) {
		params[n] = p
	}
	for layer := range b.NumLayers {
		for _, dir := range []string{"", "_reverse"}[:1+btoi(b.Bidirectional)] {
			suffix := "_l" + strconv.Itoa(layer) + dir
			m.cells = append(m.cells, newCell(params["weight_ih"+suffix], params["weight_hh"+suffix],
				params["bias_ih"+suffix], params["bias_hh"+suffix], q))
		}
	}
	return nn.New(m)
}

// newCell quantizes the weights of a cell.
func newCell(wih, whh, bih, bhh *Tensor, q *QConfig) *quantized.Cell {
	pack := func(w, b *Tensor) *quantized.Linear {
		if b == nil {
			b = w.Detach().NewZeros([]int{w.Size(0)})
		}
		return packLinear(dynamicWeight(w, q), b.Detach())
	}
	return quantized.NewCell(pack(wih, bih), pack(whh, bhh), bih, bhh, true)
}

// Forward gives the outputs for x, from states of zeros.
func (m *RNN) Forward(x *Tensor) *Tensor { return m.ForwardAll([]*Tensor{x})[0] }

// ForwardAll gives the outputs and the last states, for x and the first states (zeros where they are missing).
func (m *RNN) ForwardAll(in []*Tensor) []*Tensor {
	in = append(in[:len(in):len(in)], nil, nil)
	x, s := in[0], m.settings
	single := x.Dim() == 2
	batch := 1
	if single {
		b := 1
		if s.BatchFirst {
			b = 0
		}
		x = x.Unsqueeze(b)
	} else if x.Dim() == 3 {
		batch = x.Size(1)
		if s.BatchFirst {
			batch = x.Size(0)
		}
	}
	state := func(t *Tensor) *Tensor {
		switch {
		case t == nil:
			return torch.Zeros([]int{len(m.cells), batch, s.HiddenSize})
		case single:
			return t.Unsqueeze(1)
		}
		return t
	}
	h := state(in[1])
	args := []tensor.Value{tensor.TensorValue(x), tensor.TensorValue(h), tensor.AnyValue(m.cells), tensor.BoolValue(true),
		tensor.IntValue(s.NumLayers), tensor.FloatValue(0), tensor.BoolValue(nn.IsTraining(m)),
		tensor.BoolValue(s.Bidirectional), tensor.BoolValue(s.BatchFirst)}
	name := "aten::quantized_gru.input"
	if m.lstm {
		name = "aten::quantized_lstm.input"
		args[1] = tensor.TensorsValue([]*Tensor{h, state(in[2])})
		args = append(args, tensor.DTypeValue(tensor.QInt8), tensor.BoolValue(true))
	}
	r, err := tensor.CallOp(name, args...)
	if err != nil {
		panic(err)
	}
	out := make([]*Tensor, len(r))
	for i, v := range r {
		out[i] = v.T
		if single {
			d := 1
			if i == 0 && s.BatchFirst {
				d = 0
			}
			out[i] = v.T.Select(d, 0)
		}
	}
	return out
}

// RNNCell is one step of a recurrent network whose weights are quantized.
type RNNCell struct {
	nn.Base
	settings *nn.RNNCellBase
	kind     string // "lstm", "gru", "rnn_tanh", "rnn_relu"
	cell     *quantized.Cell
}

// ClassName is PyTorch's name.
func (m *RNNCell) ClassName() string {
	return map[string]string{"lstm": "DynamicQuantizedLSTMCell", "gru": "DynamicQuantizedGRUCell"}[m.kind]
}

// ExtraRepr prints the sizes.
func (m *RNNCell) ExtraRepr() string { return m.settings.ExtraRepr() }

// WalkOwn visits nothing: the weights are packed.
func (m *RNNCell) WalkOwn(func(string, *Tensor), func(string, *Tensor, bool), func(string, nn.Module)) {
}

func newRNNCell(b *nn.RNNCellBase, kind string, q *QConfig) *RNNCell {
	settings := &nn.RNNCellBase{InputSize: b.InputSize, HiddenSize: b.HiddenSize, ReLU: b.ReLU}
	return nn.New(&RNNCell{settings: settings, kind: kind, cell: newCell(b.WeightIH, b.WeightHH, b.BiasIH, b.BiasHH, q)})
}

// Forward is a step from a state of zeros.
func (m *RNNCell) Forward(x *Tensor) *Tensor { return m.ForwardAll([]*Tensor{x})[0] }

// ForwardAll is a step: x and the states (zeros where they are missing) give the next states.
func (m *RNNCell) ForwardAll(in []*Tensor) []*Tensor {
	in = append(in[:len(in):len(in)], nil, nil)
	x := in[0]
	for i := 1; i < 3; i++ {
		if in[i] == nil {
			in[i] = torch.Zeros(append(append([]int{}, x.Shape()[:x.Dim()-1]...), m.settings.HiddenSize))
		}
	}
	hx := tensor.TensorValue(in[1])
	if m.kind == "lstm" {
		hx = tensor.TensorsValue(in[1:3])
	}
	r, err := tensor.CallOp("quantized::quantized_"+m.kind+"_cell_dynamic", tensor.TensorValue(x), hx,
		tensor.AnyValue(m.cell.Input), tensor.AnyValue(m.cell.Hidden), orEmpty(m.cell.BiasIH), orEmpty(m.cell.BiasHH))
	if err != nil {
		panic(err)
	}
	out := make([]*Tensor, len(r))
	for i, v := range r {
		out[i] = v.T
	}
	return out
}

func orEmpty(t *Tensor) tensor.Value {
	if t == nil {
		t = tensor.FromSlice([]float32{}, 0)
	}
	return tensor.TensorValue(t)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
