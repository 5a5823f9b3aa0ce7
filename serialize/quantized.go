package serialize

import (
	"fmt"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// quantized decodes a quantized tensor.
func (d *decoder) quantized(r *torchzip.TensorRef) (*tensor.Tensor, error) {
	if t := d.tensors[r]; t != nil {
		return t, nil
	}
	q, err := d.quantizer(r)
	if err != nil {
		return nil, d.path.errorf("%w: quantizer: %w", ErrFormat, err)
	}
	st, err := d.storage(r.Storage)
	if err != nil {
		return nil, d.path.errorf("%w", err)
	}
	var t *tensor.Tensor
	err = tensor.Try(func() {
		dt := dtype.Parse(string(r.DType))
		if dt.Bits() < 8 {
			if !contiguous(r) {
				tensor.Fail(tensor.ErrShape, "strides %v of elements of less than a byte", r.Stride)
			}
			n := tensor.PackedSize(r.Shape, dt)
			t = tensor.NewPacked(tensor.FromStorage(st, tensor.Uint8, []int{n}, []int{1}, r.Offset), r.Shape, dt, q)
		} else {
			t = tensor.NewQuantized(tensor.FromStorage(st, dt.Integer(), r.Shape, r.Stride, r.Offset), dt, q)
		}
		if r.Parameter {
			t.SetParameter()
		}
	})
	if err != nil {
		return nil, d.path.errorf("%w", err)
	}
	d.tensors[r] = t
	return t, nil
}

// contiguous reports that elements follow one another in order.
func contiguous(r *torchzip.TensorRef) bool {
	n := 1
	for i := len(r.Shape) - 1; i >= 0; i-- {
		if r.Shape[i] > 1 && r.Stride[i] != n {
			return false
		}
		n *= max(1, r.Shape[i])
	}
	return true
}

// quantizer reads what the integers stand for: scheme, scale and zero point, or tensors of them and an axis.
func (d *decoder) quantizer(r *torchzip.TensorRef) (*tensor.Quantizer, error) {
	t := r.Quantizer
	name := t[0].(*pickle.Global).Name
	scheme, known := tensor.ParseQScheme(name)
	q := &tensor.Quantizer{Scheme: scheme}
	if known && scheme == tensor.PerTensorAffine {
		scale, ok1 := t[1].(float64)
		zero, ok2 := t[2].(int64)
		if !ok1 || !ok2 || len(t) != 3 {
			return nil, fmt.Errorf("scale %s and zero point %s", pickle.Repr(t[1]), pickle.Repr(t[2]))
		}
		q.Scale, q.ZeroPoint = scale, int(zero)
		return q, nil
	}
	if !known || scheme.IsSymmetric() || len(t) != 4 {
		return nil, fmt.Errorf("unknown scheme %s of %d values", cut(name), len(t))
	}
	axis, ok := t[3].(int64)
	if !ok || axis < 0 || int(axis) >= len(r.Shape) {
		return nil, fmt.Errorf("axis %s of %d dimensions", pickle.Repr(t[3]), len(r.Shape))
	}
	q.Axis = int(axis)
	for i, to := range []**tensor.Tensor{&q.Scales, &q.ZeroPoints} {
		ref, ok := t[1+i].(*torchzip.TensorRef)
		if !ok || ref.Quantizer != nil || !numeric(ref.DType) || len(ref.Shape) != 1 || ref.Shape[0] != r.Shape[axis] {
			return nil, fmt.Errorf("scales or zero points are %s, want a tensor of %d numbers", pickle.Repr(t[1+i]),
				r.Shape[axis])
		}
		v, err := d.decode(ref)
		if err != nil {
			return nil, err
		}
		*to = v.(*tensor.Tensor)
	}
	if q.ZeroPoints.DType().IsFloat() { // PyTorch writes per_channel_affine for both
		q.Scheme = tensor.PerChannelAffineFloatQParams
		q.Scales, q.ZeroPoints = tensor.DenseAs(q.Scales, tensor.Float32), tensor.DenseAs(q.ZeroPoints, tensor.Float32)
	} else {
		q.Scheme = tensor.PerChannelAffine
		q.Scales, q.ZeroPoints = tensor.DenseAs(q.Scales, tensor.Float64), tensor.DenseAs(q.ZeroPoints, tensor.Int64)
	}
	return q, nil
}

// numeric reports a type of scales or zero points.
func numeric(dt torchzip.DType) bool {
	d := dtype.Parse(string(dt))
	return d == tensor.Float64 || d == tensor.Float32 || d == tensor.Int64 || d == tensor.Int32
}

// quantizerOf is the quantizer of a tensor that is saved.
func (e *encoder) quantizerOf(q *tensor.Quantizer) (pickle.Tuple, error) {
	out := pickle.Tuple{&pickle.Global{Module: "torch", Name: schemeName(q.Scheme)}, q.Scale, int64(q.ZeroPoint)}
	if q.Scales == nil {
		return out, nil
	}
	for i, x := range []*tensor.Tensor{q.Scales, q.ZeroPoints} {
		v, err := e.encode(x)
		if err != nil {
			return nil, err
		}
		out[1+i] = v
	}
	return append(out, int64(q.Axis)), nil
}

// schemeName is what PyTorch writes: the type of the zero points tells the schemes per channel apart.
func schemeName(s tensor.QScheme) string {
	if s.IsPerChannel() {
		s = tensor.PerChannelAffine
	}
	return s.Name()
}
