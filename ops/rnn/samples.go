package rnn

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	samples.None("a whole layer of a recurrent network; the family's tests compare it with the composed cells",
		"gotorch::rnn_layer gotorch::rnn_layer_backward")
	tensor.RegisterAMP(tensor.CPUDevice, tensor.AMPLower, "aten::mkldnn_rnn_layer")
	// On a CUDA device autocast takes the cells whole.
	tensor.RegisterAMP(tensor.CUDADevice, tensor.AMPLower, "aten::gru_cell", "aten::lstm_cell", "aten::rnn_relu_cell",
		"aten::rnn_tanh_cell")
}
