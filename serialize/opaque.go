package serialize

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Opaque is a tensor of a file whose dtype is none of PyTorch 2.15's. It can be looked at and saved again.
type Opaque struct {
	// DType is PyTorch's name.
	DType          string
	Shape, Strides []int
	Offset         int // of the first element, in elements
	// Storage holds the bytes, which other tensors of the file may share.
	Storage                 *tensor.Storage
	RequiresGrad, Parameter bool
}

// String says what the tensor is, without its elements.
func (o *Opaque) String() string {
	return fmt.Sprintf("tensor(..., size=%s, dtype=torch.%s)", tensor.ShapeString(o.Shape), o.DType)
}

// opaque decodes a tensor whose dtype the library does not know.
func (d *decoder) opaque(r *torchzip.TensorRef) (*Opaque, error) {
	if o := d.opaques[r]; o != nil {
		return o, nil
	}
	st, err := d.storage(r.Storage)
	if err != nil {
		return nil, d.path.errorf("%w", err)
	}
	o := &Opaque{DType: string(r.DType), Shape: r.Shape, Strides: r.Stride, Offset: r.Offset, Storage: st,
		RequiresGrad: r.RequiresGrad, Parameter: r.Parameter}
	d.opaques[r] = o
	return o, nil
}

// opaque encodes a tensor as it was read.
func (e *encoder) opaque(o *Opaque) (pickle.Value, error) {
	dt := torchzip.DType(o.DType)
	size := dt.ElementSize()
	if size == 0 || o.Storage == nil {
		return nil, e.path.errorf("tensor of unknown dtype %q or without a storage", cut(o.DType))
	}
	ref := e.storages[o.Storage]
	if ref == nil {
		ref = describe(o.Storage, dt, size)
		e.storages[o.Storage] = ref
	}
	t := &torchzip.TensorRef{Storage: ref, DType: dt, Offset: o.Offset, Shape: o.Shape, Stride: o.Strides,
		RequiresGrad: o.RequiresGrad, Parameter: o.Parameter}
	return t, nil
}
