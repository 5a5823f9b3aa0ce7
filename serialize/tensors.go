package serialize

import (
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pickle"
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

// Mapped says that the archive is mapped into memory (see LoadOptions.MMap): its tensors lie there where they can.
func (t *Tensors) Mapped(archive []byte) { t.d.mapped = archive }

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

// References describes tensors to package torchzip, for the formats that keep tensors in archives of their own shape.
// What shares memory does so in the archive.
type References struct{ e encoder }

// NewReferences makes an empty References.
func NewReferences() *References {
	return &References{encoder{done: map[identity]pickle.Value{}, storages: map[*tensor.Storage]*torchzip.StorageRef{}}}
}

// Reference describes a dense tensor, a parameter as a plain tensor.
func (r *References) Reference(t *tensor.Tensor) (*torchzip.TensorRef, error) {
	v, err := r.e.tensor(t)
	if err != nil {
		return nil, err
	}
	ref, ok := v.(*torchzip.TensorRef)
	if !ok {
		return nil, r.e.path.errorf("a sparse tensor cannot be saved in such an archive")
	}
	ref.Parameter = false
	return ref, nil
}
