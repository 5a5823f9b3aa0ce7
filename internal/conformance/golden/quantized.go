package golden

import (
	"encoding/json"
	"fmt"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

// encQuantized is an encoded quantized tensor.
type encQuantized struct {
	Q                  string
	DType              string
	Shape, Stride      []int
	Scale              float64
	ZeroPoint          int `json:"zero_point"`
	Axis               *int
	Scales, ZeroPoints string
	QScheme            string
}

// UnmarshalJSON reads zero_points beside zero_point.
func (e *encQuantized) UnmarshalJSON(b []byte) error {
	type plain encQuantized
	x := struct {
		*plain
		Zeros string `json:"zero_points"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(b, &x)
	e.ZeroPoints = x.Zeros
	return err
}

// quantized reads a quantized tensor: integers, and scales and zero points in arrays of their own.
func (d *Decoder) quantized(raw json.RawMessage) (any, error) {
	var e encQuantized
	if err := into(raw, &e); err != nil {
		return nil, err
	}
	dt := dtype.Parse(e.DType)
	if !dt.IsQuantized() {
		return Unsupported("dtype " + e.DType), nil
	}
	src, err := d.Array(e.Q)
	if err != nil {
		return nil, err
	}
	shape := e.Shape
	if shape == nil {
		shape = []int{}
	}
	q := &tensor.Quantizer{Scale: e.Scale, ZeroPoint: e.ZeroPoint}
	if e.Axis != nil {
		q = &tensor.Quantizer{Scheme: tensor.PerChannelAffine, Axis: *e.Axis}
		if s, ok := tensor.ParseQScheme(e.QScheme); ok {
			q.Scheme = s
		}
		if q.Scales, err = d.Array(e.Scales); err != nil {
			return nil, err
		}
		if q.ZeroPoints, err = d.Array(e.ZeroPoints); err != nil {
			return nil, err
		}
	}
	var t *tensor.Tensor
	if dt.Bits() < 8 {
		t = tensor.NewPacked(src.Reshape([]int{-1}), shape, dt, q)
	} else {
		st := e.Stride
		x := tensor.NewStrided(shape, st, dt.Integer())
		if src.Numel() != x.Numel() {
			return nil, fmt.Errorf("golden: %d integers for shape %v", src.Numel(), shape)
		}
		tensor.CopyRaw(x, src)
		t = tensor.NewQuantized(x, dt, q)
	}
	d.Tensors[e.Q] = t
	d.Info[t] = TensorInfo{Key: e.Q, Stride: e.Stride}
	return t, nil
}

// CloseQuantized compares quantized tensors: type, shape, scheme, scales and zero points, and the integers, which may
// be off by quanta. It returns "" or what differs.
func CloseQuantized(g, w *tensor.Tensor, quanta int64) string {
	if !g.IsQuantized() {
		return fmt.Sprintf("got a %s, want a quantized tensor", g.DType())
	}
	p, q := tensor.QuantizerOf(g), tensor.QuantizerOf(w)
	switch {
	case g.DType() != w.DType() || !tensor.SameShape(g.Shape(), w.Shape()):
		return fmt.Sprintf("%s of shape %v, want %s of shape %v", g.DType(), g.Shape(), w.DType(), w.Shape())
	case p.Scheme != q.Scheme || p.Axis != q.Axis:
		return fmt.Sprintf("scheme %s along %d, want %s along %d", p.Scheme, p.Axis, q.Scheme, q.Axis)
	case q.Scheme == tensor.PerTensorAffine:
		if float32(p.Scale) != float32(q.Scale) || p.ZeroPoint != q.ZeroPoint {
			return fmt.Sprintf("scale %v and zero point %d, want %v and %d", p.Scale, p.ZeroPoint, q.Scale, q.ZeroPoint)
		}
	default:
		if why := Close(p.Scales.Double(), q.Scales.Double(), Tolerance{RTol: 1e-6}); why != "" {
			return "scales: " + why
		}
		if why := Close(p.ZeroPoints.Double(), q.ZeroPoints.Double(), Tolerance{RTol: 1e-6}); why != "" {
			return "zero points: " + why
		}
	}
	a := tensor.Data[int64](tensor.DenseAs(tensor.QuantizedInts(g), tensor.Int64))
	b := tensor.Data[int64](tensor.DenseAs(tensor.QuantizedInts(w), tensor.Int64))
	for i := range b {
		if diff := a[i] - b[i]; diff > quanta || -diff > quanta {
			return fmt.Sprintf("integer %d is %d, want %d", i, a[i], b[i])
		}
	}
	return ""
}
