package rnn

import "github.com/gotorch-dev/torch/internal/samples"

func init() {
	samples.None("a whole layer of a recurrent network; the family's tests compare it with the composed cells", "gotorch::rnn_layer gotorch::rnn_layer_backward")
}
