package softmax

import "github.com/gotorch-dev/torch/tensor"

func init() {
	tensor.RegisterONNX(`
		LogSoftmax 13: log_softmax.int($0, axis=-1)
		Softmax 13: softmax.int($0, axis=-1)
	`)
}
