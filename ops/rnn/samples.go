package rnn

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The sample calls of the family; internal/samples describes the notation.
func init() {
	samples.Table(
		"lstm.input :: 3x2x4 [1x2x3,1x2x3] [12x4,12x3,12,12] true 1 0.0 false false false ; 2x3x4 [2x2x3,2x2x3] [12x4,12x3,12x4,12x3] false 1 0.0 false true true",
		"gru.input :: 3x2x4 1x2x3 [9x4,9x3,9,9] true 1 0.0 false false false", "rnn_tanh.input rnn_relu.input :: 3x2x4 2x2x3 [3x4,3x3,3,3,3x3,3x3,3,3] true 2 0.0 false false false",
		"lstm_cell :: 2x4 [2x3,2x3] 12x4 12x3 12 12", "gru_cell :: 2x4 2x3 9x4 9x3 9 9", "rnn_tanh_cell rnn_relu_cell :: 2x4 2x3 3x4 3x3 3 3",
	)
	samples.None("a whole layer of a recurrent network; the family's tests compare it with the composed cells", "gotorch::rnn_cell gotorch::rnn_layer gotorch::rnn_layer_backward")
	for _, d := range []tensor.DeviceType{tensor.CPUDevice, tensor.CUDADevice} {
		tensor.RegisterAMP(d, tensor.AMPLower, "aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu", "aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell", "aten::rnn_relu_cell")
	}
}
