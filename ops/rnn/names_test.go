package rnn_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeen compares what a tracer sees of the layers, given their states, with the operators that PyTorch 2.15 lists
// for its own (make_fx with pre_dispatch).
func TestSeen(t *testing.T) {
	x, h := opstest.Fill(tensor.Float32, 1, 3, 2, 4), opstest.Fill(tensor.Float32, 2, 1, 2, 5)
	x1, h1 := x.Select(0, 0), h.Select(0, 0)
	lstm, gru, rnn, relu := nn.NewLSTM(4, 5), nn.NewGRU(4, 5), nn.NewRNN(4, 5),
		nn.NewRNN(4, 5, nn.RNNOptions{ReLU: true})
	lstmCell, gruCell, rnnCell, reluCell := nn.NewLSTMCell(4, 5), nn.NewGRUCell(4, 5), nn.NewRNNCell(4, 5),
		nn.NewRNNCell(4, 5, nn.RNNCellOptions{ReLU: true})
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { lstm.Forward(x, h, h) }, "lstm.input"}, {func() { gru.Forward(x, h) }, "gru.input"},
		{func() { rnn.Forward(x, h) }, "rnn_tanh.input"}, {func() { relu.Forward(x, h) }, "rnn_relu.input"},
		{func() { lstmCell.Forward(x1, h1, h1) }, "lstm_cell"}, {func() { gruCell.Forward(x1, h1) }, "gru_cell"},
		{func() { rnnCell.Forward(x1, h1) }, "rnn_tanh_cell"}, {func() { reluCell.Forward(x1, h1) }, "rnn_relu_cell"},
	} {
		opstest.Seen(t, c.want, c.f, c.want)
	}
}
