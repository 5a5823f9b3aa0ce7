package serialize

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Opaque is a tensor of a file whose dtype has no operators here: a quantized one, an 8-bit float. It can be looked at
// and saved again.
type Opaque struct {
	// DType is PyTorch's name, such as "quint8" or "float8_e4m3fn".
	DType          string
	Shape, Strides []int
	Offset         int // of the first element, in elements
	// Storage holds the bytes, which other tensors of the file may share.
	Storage                 *tensor.Storage
	RequiresGrad, Parameter bool
	Quantizer               *Quantizer // nil unless it is quantized

}

// Quantizer says which numbers the integers of a quantized tensor stand for: (q - zero point) * scale.
type Quantizer struct {
	// Scheme is "per_tensor_affine", "per_channel_affine" or "per_channel_affine_float_qparams".
	Scheme    string
	Scale     float64 // of the whole tensor
	ZeroPoint int
	// Scales and ZeroPoints are those of each index of dimension Axis; nil for "per_tensor_affine".
	Scales, ZeroPoints *tensor.Tensor
	Axis               int
}

// String says what the tensor is, without its elements.
func (o *Opaque) String() string {
	s := fmt.Sprintf("tensor(..., size=%s, dtype=torch.%s", tensor.ShapeString(o.Shape), o.DType)
	if q := o.Quantizer; q != nil && q.Scales != nil {
		s += fmt.Sprintf(", quantization_scheme=torch.%s, axis=%d", q.Scheme, q.Axis)
	} else if q != nil {
		s += fmt.Sprintf(", quantization_scheme=torch.%s, scale=%v, zero_point=%d", q.Scheme, q.Scale, q.ZeroPoint)
	}
	return s + ")"
}

// Dequantize is the float32 tensor that a quantized tensor stands for, as Tensor.dequantize in PyTorch. It is an error
// for tensors that are not quantized, and for dtypes of less than 8 bits.
func (o *Opaque) Dequantize() (t *tensor.Tensor, err error) {
	ints := map[string]tensor.DType{"qint8": tensor.Int8, "quint8": tensor.Uint8, "qint32": tensor.Int32}[o.DType]
	if o.Quantizer == nil || ints == 0 {
		return nil, fmt.Errorf("serialize: a tensor of dtype %s cannot be dequantized", o.DType)
	}
	q := o.Quantizer
	err = tensor.Try(func() {
		tensor.NoGrad(func() {
			x := tensor.FromStorage(o.Storage, ints, o.Shape, o.Strides, o.Offset).To(tensor.Float32)
			if q.Scales == nil {
				t = x.SubScalar(float64(q.ZeroPoint)).MulScalar(q.Scale)
				return
			}
			shape := make([]int, len(o.Shape))
			for i := range shape {
				shape[i] = 1
			}
			shape[q.Axis] = o.Shape[q.Axis]
			each := func(v *tensor.Tensor) *tensor.Tensor { return v.To(tensor.Float32).Reshape(shape) }
			t = x.Sub(each(q.ZeroPoints)).Mul(each(q.Scales))
		})
	})
	return t, err
}

// opaque decodes a tensor whose dtype the library has no operators for.
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
	if r.Quantizer != nil {
		if o.Quantizer, err = d.quantizer(r); err != nil {
			return nil, d.path.errorf("%w: quantizer: %w", ErrFormat, err)
		}
	}
	return o, nil
}

func (d *decoder) quantizer(r *torchzip.TensorRef) (*Quantizer, error) {
	t := r.Quantizer
	q := &Quantizer{Scheme: t[0].(*pickle.Global).Name}
	if q.Scheme == "per_tensor_affine" {
		scale, ok1 := t[1].(float64)
		zero, ok2 := t[2].(int64)
		if !ok1 || !ok2 || len(t) != 3 {
			return nil, fmt.Errorf("scale %s and zero point %s", pickle.Repr(t[1]), pickle.Repr(t[2]))
		}
		q.Scale, q.ZeroPoint = scale, int(zero)
		return q, nil
	}
	if q.Scheme != "per_channel_affine" && q.Scheme != "per_channel_affine_float_qparams" || len(t) != 4 {
		return nil, fmt.Errorf("unknown scheme %s of %d values", cut(q.Scheme), len(t))
	}
	axis, ok := t[3].(int64)
	if !ok || axis < 0 || int(axis) >= len(r.Shape) {
		return nil, fmt.Errorf("axis %s of %d dimensions", pickle.Repr(t[3]), len(r.Shape))
	}
	q.Axis = int(axis)
	for i, to := range []**tensor.Tensor{&q.Scales, &q.ZeroPoints} {
		ref, ok := t[1+i].(*torchzip.TensorRef)
		if !ok || dtype.Parse(string(ref.DType)) == 0 || len(ref.Shape) != 1 || ref.Shape[0] != r.Shape[axis] {
			return nil, fmt.Errorf("scales or zero points are %s, want a tensor of %d numbers", pickle.Repr(t[1+i]),
				r.Shape[axis])
		}
		v, err := d.decode(ref)
		if err != nil {
			return nil, err
		}
		*to = v.(*tensor.Tensor)
	}
	return q, nil
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
	if q := o.Quantizer; q != nil {
		t.Quantizer = pickle.Tuple{&pickle.Global{Module: "torch", Name: q.Scheme}, q.Scale, int64(q.ZeroPoint)}
		if q.Scales != nil {
			t.Quantizer = append(t.Quantizer, int64(q.Axis))
			for i, x := range []*tensor.Tensor{q.Scales, q.ZeroPoints} {
				v, err := e.encode(x)
				if err != nil {
					return nil, err
				}
				t.Quantizer[1+i] = v
			}
		}
	}
	return t, nil
}
