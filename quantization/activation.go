package quantization

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Activation is a quantized layer that keeps the parameters of the float one: Hardswish, ELU, norms and the like. Its
// result has a scale and a zero point, its own or its input's.
type Activation struct {
	nn.Base
	// Scale and ZeroPoint are those of the result, of no dimensions; nil where the result has those of the input.
	Scale, ZeroPoint *Tensor
	class            string
	float            nn.Module // whose parameters and settings the layer has
	hidden           bool      // scale and zero point are not in the state dict
	apply            func(x *Tensor, scale, zero tensor.Value) *Tensor
}

// ClassName is PyTorch's name: "QuantizedHardswish".
func (m *Activation) ClassName() string { return m.class }

// ExtraRepr prints the settings of the float layer.
func (m *Activation) ExtraRepr() string {
	if r, ok := m.float.(interface{ ExtraRepr() string }); ok {
		return r.ExtraRepr()
	}
	return ""
}

// QParams are the scale and zero point of the layer's result; 1 and 0 where they are those of the input.
func (m *Activation) QParams() (scale float64, zeroPoint int) {
	if m.Scale == nil {
		return 1, 0
	}
	return m.Scale.Item(), int(m.ZeroPoint.Item())
}

// WalkOwn visits the parameters and buffers of the float layer, then scale and zero point.
func (m *Activation) WalkOwn(param func(string, *Tensor), buf func(string, *Tensor, bool), _ func(string, nn.Module)) {
	for name, t := range nn.OwnNamedParameters(m.float) {
		param(name, t)
	}
	for name, t := range nn.OwnNamedBuffers(m.float) {
		buf(name, t, true)
	}
	if m.Scale != nil {
		buf("scale", m.Scale, !m.hidden)
		buf("zero_point", m.ZeroPoint, !m.hidden)
	}
}

// Forward applies the layer.
func (m *Activation) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.Scale == nil {
			return m.apply(x, tensor.Value{}, tensor.Value{})
		}
		return m.apply(x, tensor.FloatValue(m.Scale.Item()), tensor.IntValue(int(m.ZeroPoint.Item())))
	})
}

// sameScale is the quantized form of a layer whose result has the scale of its input; nil where there is none.
func sameScale(l nn.Module) *Activation {
	m := &Activation{class: "Quantized" + nn.ClassName(l)}
	switch l := l.(type) {
	case *nn.Dropout:
		m.float = nn.DeepCopy(l)
		m.apply = func(x *Tensor, _, _ tensor.Value) *Tensor { return x }
	case *nn.ReLU6:
		m.float = nn.DeepCopy(l)
		m.apply = func(x *Tensor, _, _ tensor.Value) *Tensor {
			return call1("relu6", tensor.TensorValue(x), tensor.BoolValue(false))
		}
	default:
		return nil
	}
	return nn.New(m)
}

// activationOf makes the quantized form of a float layer, followed by a ReLU or not; nil where there is none.
func activationOf(l nn.Module, scale float64, zero int, relu bool) *Activation {
	m := &Activation{Scale: tensor.FromSlice([]float32{float32(scale)}).Reshape([]int{}),
		ZeroPoint: tensor.FromSlice([]int64{int64(zero)}).Reshape([]int{}), class: "Quantized" + nn.ClassName(l)}
	run := func(l nn.Module, name string, before, after []tensor.Value) {
		m.float = l
		m.apply = func(x *Tensor, s, z tensor.Value) *Tensor {
			args := append([]tensor.Value{tensor.TensorValue(x)}, before...)
			return call1(name, append(append(args, s, z), after...)...)
		}
	}
	t, f := tensor.TensorValue, tensor.FloatValue
	norm := func(l nn.Module, b *nn.NormBase, name string) {
		if relu {
			name += "_relu"
		}
		run(l, name, []tensor.Value{t(b.Weight), t(b.Bias), t(b.RunningMean), t(b.RunningVar), f(b.Eps)}, nil)
	}
	instance := func(l nn.Module, b *nn.NormBase) {
		run(l, "instance_norm", []tensor.Value{t(b.Weight), t(b.Bias), f(b.Eps)}, nil)
	}
	switch l := l.(type) {
	case *nn.Hardswish:
		run(nn.DeepCopy(l), "hardswish", nil, nil)
	case *nn.Sigmoid:
		run(nn.DeepCopy(l), "sigmoid", nil, nil)
	case *nn.ELU:
		m.hidden = true
		run(nn.DeepCopy(l), "elu", nil, []tensor.Value{tensor.ScalarValue(l.Alpha)})
	case *nn.LeakyReLU:
		run(nn.DeepCopy(l), "leaky_relu", []tensor.Value{tensor.ScalarValue(l.NegativeSlope), tensor.BoolValue(false)},
			nil)
	case *nn.Softmax:
		dim, _ := l.Dim.Get()
		run(nn.DeepCopy(l), "softmax", []tensor.Value{tensor.IntValue(dim)}, nil)
	case *nn.LayerNorm:
		c := nn.DeepCopy(l)
		run(c, "layer_norm", []tensor.Value{tensor.IntsValue(c.NormalizedShape), t(c.Weight), t(c.Bias), f(c.Eps)}, nil)
	case *nn.GroupNorm:
		c := nn.DeepCopy(l)
		run(c, "group_norm", []tensor.Value{tensor.IntValue(c.NumGroups), t(c.Weight), t(c.Bias), f(c.Eps)}, nil)
	case *nn.BatchNorm2d:
		c := nn.DeepCopy(l)
		norm(c, &c.NormBase, "batch_norm2d")
	case *nn.BatchNorm3d:
		c := nn.DeepCopy(l)
		norm(c, &c.NormBase, "batch_norm3d")
	case *nn.InstanceNorm1d:
		c := nn.DeepCopy(l)
		instance(c, &c.NormBase)
	case *nn.InstanceNorm2d:
		c := nn.DeepCopy(l)
		instance(c, &c.NormBase)
	case *nn.InstanceNorm3d:
		c := nn.DeepCopy(l)
		instance(c, &c.NormBase)
	default:
		return nil
	}
	return nn.New(m)
}
