package nn

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn/utils/rnn"
	"github.com/gotorch-dev/torch/tensor"
)

// reordered is a state (layers·directions, B, H) with its sequences in another order; nil indices leave it.
func reordered(t, order *Tensor) *Tensor {
	if t == nil || order == nil {
		return t
	}
	return t.IndexSelect(1, order)
}

// forwardPacked is forward for packed sequences. Initial and last states are in the order of the original sequences.
func (m *RNNBase) forwardPacked(p rnn.PackedSequence, h0, c0 *Tensor) (out, hn, cn *Tensor) {
	x := p.Data
	if x.Dim() != 2 {
		tensor.Fail(tensor.ErrShape, "input must have 2 dimensions, got %d", x.Dim())
	}
	if x.Size(1) != m.InputSize {
		tensor.Fail(tensor.ErrShape, "input.size(-1) must be equal to input_size. Expected %d, got %d", m.InputSize,
			x.Size(1))
	}
	if p.BatchSizes.Dim() != 1 || p.BatchSizes.Numel() == 0 {
		tensor.Fail(tensor.ErrShape, "%s: batch sizes of shape %s are no packed sequence", m.mode,
			tensor.ShapeString(p.BatchSizes.Shape()))
	}
	n := int(p.BatchSizes.Select(0, 0).Item())
	h0, c0 = m.start(x, n, reordered(h0, p.SortedIndices), reordered(c0, p.SortedIndices))
	params, dropout := m.params(), toFloat(m.Dropout)
	switch {
	case m.mode == "LSTM":
		out, hn, cn = torch.LSTMData(x, p.BatchSizes, []*Tensor{h0, c0}, params, m.Bias, m.NumLayers, dropout,
			m.Training(), m.Bidirectional)
	case m.mode == "GRU":
		out, hn = torch.GRUData(x, p.BatchSizes, h0, params, m.Bias, m.NumLayers, dropout, m.Training(), m.Bidirectional)
	case m.ReLU:
		out, hn = torch.RNNReLUData(x, p.BatchSizes, h0, params, m.Bias, m.NumLayers, dropout, m.Training(),
			m.Bidirectional)
	default:
		out, hn = torch.RNNTanhData(x, p.BatchSizes, h0, params, m.Bias, m.NumLayers, dropout, m.Training(),
			m.Bidirectional)
	}
	return out, reordered(hn, p.UnsortedIndices), reordered(cn, p.UnsortedIndices)
}

// ForwardPacked runs over packed sequences (package nn/utils/rnn) from the state h0 (layers·directions, B, hidden),
// zeros when it is not given. It returns the last layer's outputs, packed alike, and the states of all layers after
// each sequence's last step. BatchFirst makes no difference. Hooks see the data of the packed sequences.
func (m *RNN) ForwardPacked(x rnn.PackedSequence, h0 ...*Tensor) (out rnn.PackedSequence, hn *Tensor) {
	y, hn, _ := m.hooked(x.Data, first(h0), nil, &x)
	return x.With(y), hn
}

// ForwardPacked is RNN's.
func (m *GRU) ForwardPacked(x rnn.PackedSequence, h0 ...*Tensor) (out rnn.PackedSequence, hn *Tensor) {
	y, hn, _ := m.hooked(x.Data, first(h0), nil, &x)
	return x.With(y), hn
}

// ForwardPacked is RNN's, with the states h0 and c0: give both or none.
func (m *LSTM) ForwardPacked(x rnn.PackedSequence, state ...*Tensor) (out rnn.PackedSequence, hn, cn *Tensor) {
	h0, c0 := pair(state)
	y, hn, cn := m.hooked(x.Data, h0, c0, &x)
	return x.With(y), hn, cn
}
