package quantization

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// QuantStub marks where a model's input becomes quantized. Until Convert it is the identity.
type QuantStub struct{ nn.Base }

// NewQuantStub makes a QuantStub.
func NewQuantStub() *QuantStub { return nn.New(&QuantStub{}) }

// Forward returns x.
func (m *QuantStub) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x })
}

// DeQuantStub marks where a model's numbers become float32 again. Until Convert it is the identity.
type DeQuantStub struct{ nn.Base }

// NewDeQuantStub makes a DeQuantStub.
func NewDeQuantStub() *DeQuantStub { return nn.New(&DeQuantStub{}) }

// Forward returns x.
func (m *DeQuantStub) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x })
}

// Quantize quantizes its input with a scale and a zero point of its own.
type Quantize struct {
	nn.Base
	Scale     *Tensor `torch:"scale,buffer"`
	ZeroPoint *Tensor `torch:"zero_point,buffer"`
	dtype     tensor.DType
}

// NewQuantize makes a Quantize.
func NewQuantize(scale float64, zeroPoint int, dt tensor.DType) *Quantize {
	return nn.New(&Quantize{Scale: tensor.FromSlice([]float32{float32(scale)}),
		ZeroPoint: tensor.FromSlice([]int64{int64(zeroPoint)}), dtype: dt})
}

// Forward quantizes x.
func (m *Quantize) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		return x.QuantizePerTensor(m.Scale.Item(), int(m.ZeroPoint.Item()), m.dtype)
	})
}

// ExtraRepr prints scale, zero point and type.
func (m *Quantize) ExtraRepr() string {
	return fmt.Sprintf("scale=%s, zero_point=%s, dtype=%s", m.Scale, m.ZeroPoint, m.dtype)
}

// DeQuantize gives the float32 numbers that its input stands for.
type DeQuantize struct{ nn.Base }

// NewDeQuantize makes a DeQuantize.
func NewDeQuantize() *DeQuantize { return nn.New(&DeQuantize{}) }

// Forward dequantizes x.
func (m *DeQuantize) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x.Dequantize() })
}

// output is the scale and zero point of a quantized layer's result.
type output struct {
	scale float64
	zero  int
}

func (o *output) text() string {
	return fmt.Sprintf("scale=%s, zero_point=%d", pyfmt.Float(o.scale), o.zero)
}

// QParams are the scale and zero point of the layer's result.
func (o *output) QParams() (scale float64, zeroPoint int) { return o.scale, o.zero }

// FloatFunctional has the operators that quantized models need as modules, so that their results are observed.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.FloatFunctional.html
type FloatFunctional struct{ nn.Base }

// NewFloatFunctional makes a FloatFunctional.
func NewFloatFunctional() *FloatFunctional {
	m := nn.New(&FloatFunctional{})
	nn.RegisterModule(m, postProcess, nn.NewIdentity())
	return m
}

// postProcess is the name under which a module has its observer.
const postProcess = "activation_post_process"

// Forward panics with ErrNotImpl: call one of the operators.
func (m *FloatFunctional) Forward(*Tensor) *Tensor {
	tensor.Fail(tensor.ErrNotImpl, "FloatFunctional is not intended to use the 'forward'. Please use the underlying "+
		"operation")
	return nil
}

// observed passes a result through the observer.
func observed(m nn.Module, y *Tensor) *Tensor {
	for n, c := range nn.NamedChildren(m) {
		if n == postProcess {
			return c.(nn.Layer).Forward(y)
		}
	}
	return y
}

// quantizedForm is what Convert has put in m's place, nil before.
func (m *FloatFunctional) quantizedForm() *QFunctional {
	q, _ := nn.StandIn(m).(*QFunctional)
	return q
}

// Add, AddReLU, Mul, Cat, AddScalar, MulScalar and MatMul compute what their names say.
func (m *FloatFunctional) Add(a, b *Tensor) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.Add(a, b)
	}
	return observed(m, a.Add(b))
}

// AddReLU is described at Add.
func (m *FloatFunctional) AddReLU(a, b *Tensor) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.AddReLU(a, b)
	}
	return observed(m, a.Add(b).ReLU())
}

// Mul is described at Add.
func (m *FloatFunctional) Mul(a, b *Tensor) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.Mul(a, b)
	}
	return observed(m, a.Mul(b))
}

// MatMul is described at Add.
func (m *FloatFunctional) MatMul(a, b *Tensor) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.MatMul(a, b)
	}
	return observed(m, a.MatMul(b))
}

// Cat is described at Add.
func (m *FloatFunctional) Cat(list []*Tensor, dim int) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.Cat(list, dim)
	}
	return observed(m, torch.Cat(list, torch.CatOptions{Dim: dim}))
}

// AddScalar is described at Add; its result has the scale of its input and is not observed.
func (m *FloatFunctional) AddScalar(a *Tensor, b float64) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.AddScalar(a, b)
	}
	return a.AddScalar(b)
}

// MulScalar is described at AddScalar.
func (m *FloatFunctional) MulScalar(a *Tensor, b float64) *Tensor {
	if q := m.quantizedForm(); q != nil {
		return q.MulScalar(a, b)
	}
	return a.MulScalar(b)
}

// QFunctional has the operators of FloatFunctional for quantized tensors.
// https://pytorch.org/docs/stable/generated/torch.ao.nn.quantized.QFunctional.html
type QFunctional struct {
	nn.Base
	output                `torch:"-"`
	ActivationPostProcess *nn.Identity `torch:"activation_post_process"`
}

// NewQFunctional makes a QFunctional whose results have a scale and a zero point.
func NewQFunctional(scale float64, zeroPoint int) *QFunctional {
	return nn.New(&QFunctional{output: output{scale, zeroPoint}, ActivationPostProcess: nn.NewIdentity()})
}

// Forward panics with ErrNotImpl: call one of the operators.
func (m *QFunctional) Forward(*Tensor) *Tensor {
	tensor.Fail(tensor.ErrNotImpl, "Functional is not intended to use the 'forward'. Please use the underlying operation")
	return nil
}

// ExtraRepr prints scale and zero point.
func (m *QFunctional) ExtraRepr() string { return m.text() }

// call1 calls an operator of the namespace quantized with one result.
func call1(name string, args ...tensor.Value) *Tensor {
	r, err := tensor.CallOp("quantized::"+name, args...)
	if err != nil {
		panic(err)
	}
	return r[0].T
}

func (m *QFunctional) binary(name string, a, b *Tensor) *Tensor {
	return m.ActivationPostProcess.Forward(call1(name, tensor.TensorValue(a), tensor.TensorValue(b),
		tensor.FloatValue(m.scale), tensor.IntValue(m.zero)))
}

// Add is FloatFunctional's, and so are the others.
func (m *QFunctional) Add(a, b *Tensor) *Tensor { return m.binary("add", a, b) }

// AddReLU is described at Add.
func (m *QFunctional) AddReLU(a, b *Tensor) *Tensor { return m.binary("add_relu", a, b) }

// Mul is described at Add.
func (m *QFunctional) Mul(a, b *Tensor) *Tensor { return m.binary("mul", a, b) }

// MatMul is described at Add.
func (m *QFunctional) MatMul(a, b *Tensor) *Tensor { return m.binary("matmul", a, b) }

// Cat is described at Add.
func (m *QFunctional) Cat(list []*Tensor, dim int) *Tensor {
	return m.ActivationPostProcess.Forward(call1("cat", tensor.TensorsValue(list), tensor.IntValue(dim),
		tensor.FloatValue(m.scale), tensor.IntValue(m.zero)))
}

// AddScalar is described at Add.
func (m *QFunctional) AddScalar(a *Tensor, b float64) *Tensor {
	return call1("add_scalar", tensor.TensorValue(a), tensor.FloatValue(b))
}

// MulScalar is described at Add.
func (m *QFunctional) MulScalar(a *Tensor, b float64) *Tensor {
	return call1("mul_scalar", tensor.TensorValue(a), tensor.FloatValue(b))
}
