package serialize

import (
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensors makes tensors of what package torchzip reads, for the formats that keep tensors in archives of their own
// shape. Tensors of one storage share memory; a tensor that is described twice by one reference is made once.
type Tensors struct{ d decoder }

// NewTensors makes an empty Tensors.
func NewTensors(opts ...LoadOptions) *Tensors {
	t := &Tensors{decoder{
		tensors: map[*torchzip.TensorRef]*tensor.Tensor{}, storages: map[*torchzip.StorageRef]*tensor.Storage{},
		bare: map[*torchzip.StorageRef]*tensor.Tensor{},
	}}
	if len(opts) > 0 {
		t.d.opts = opts[0]
	}
	return t
}

// Tensor is the tensor that r describes.
func (t *Tensors) Tensor(r *torchzip.TensorRef) (*tensor.Tensor, error) {
	if x := t.d.tensors[r]; x != nil {
		return x, nil
	}
	if r.Quantizer != nil && dtype.Parse(string(r.DType)).IsQuantized() {
		return t.d.quantized(r)
	}
	x, err := t.d.tensor(r)
	if err != nil {
		return nil, err
	}
	t.d.tensors[r] = x
	return x, nil
}
