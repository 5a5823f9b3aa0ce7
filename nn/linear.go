package nn

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"fmt"

	"github.com/gotorch-dev/torch/tensor"
)

// Identity returns its input.
type Identity struct{ Base }

// NewIdentity makes an Identity.
func NewIdentity() *Identity { return New(&Identity{}) }

// Forward returns x.
func (m *Identity) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return x })
}

// Linear computes x·Wᵀ + b on the last dimension: (…, in) gives (…, out).
type Linear struct {
	Base
	InFeatures, OutFeatures int
	Weight                  *Tensor // (out, in)
	Bias                    *Tensor // (out), nil without
}

// LinearOptions are the options of NewLinear and NewBilinear.
type LinearOptions struct {
	NoBias bool
	DType  tensor.DType  // of the parameters; the default dtype unless given
	Device tensor.Device // where the parameters are made; the default device unless given
}

// NewLinear makes a Linear. Weight and bias are drawn uniformly from ±1/sqrt(in).
func NewLinear(in, out int, opts ...LinearOptions) *Linear {
	m := &Linear{}
	m.setup(in, out, opts)
	return New(m)
}

func (m *Linear) setup(in, out int, opts []LinearOptions) {
	var o LinearOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	m.InFeatures, m.OutFeatures = in, out
	m.Weight = param(at{o.DType, o.Device}, out, in)
	if !o.NoBias {
		m.Bias = param(at{o.DType, o.Device}, out)
	}
	m.ResetParameters()
}

// ResetParameters draws the parameters anew.
func (m *Linear) ResetParameters() { initLinear(m.Weight, m.Bias) }

// Forward applies the layer.
func (m *Linear) Forward(x *Tensor) *Tensor { return m.Run(m.self, x, m.forward) }

func (m *Linear) forward(x *Tensor) *Tensor { return linear(x, m.Weight, m.Bias) }

func linear(x, w, b *Tensor) *Tensor { return F.Linear(x, w, F.LinearOptions{Bias: b}) }

// ExtraRepr prints the sizes.
func (m *Linear) ExtraRepr() string {
	return fmt.Sprintf("in_features=%d, out_features=%d, bias=%s", m.InFeatures, m.OutFeatures, pyBool(m.Bias != nil))
}

// NonDynamicallyQuantizableLinear is a Linear under the name that Python prints for the output projection of attention.
type NonDynamicallyQuantizableLinear struct{ Linear }

func newOutProj(in, out int, o LinearOptions) *NonDynamicallyQuantizableLinear {
	m := &NonDynamicallyQuantizableLinear{}
	m.setup(in, out, []LinearOptions{o})
	return New(m)
}

// Bilinear computes x1ᵀ·W·x2 + b on the last dimensions.
type Bilinear struct {
	Base
	In1Features, In2Features, OutFeatures int
	Weight                                *Tensor // (out, in1, in2)
	Bias                                  *Tensor // (out), nil without
}

// NewBilinear makes a Bilinear. Weight and bias are drawn uniformly from ±1/sqrt(in1).
func NewBilinear(in1, in2, out int, opts ...LinearOptions) *Bilinear {
	var o LinearOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	m := New(&Bilinear{In1Features: in1, In2Features: in2, OutFeatures: out,
		Weight: param(at{o.DType, o.Device}, out, in1, in2)})
	if !o.NoBias {
		m.Bias = param(at{o.DType, o.Device}, out)
	}
	uniformFan(m.Weight, in1)
	if m.Bias != nil {
		uniformFan(m.Bias, in1)
	}
	return m
}

// Forward applies the layer to (…, in1) and (…, in2).
func (m *Bilinear) Forward(x1, x2 *Tensor) *Tensor {
	return runN(m, []*Tensor{x1, x2}, func(in []*Tensor) *Tensor {
		return F.Bilinear(in[0], in[1], m.Weight,
			F.BilinearOptions{Bias: m.Bias})
	})
}

// ExtraRepr prints the sizes.
func (m *Bilinear) ExtraRepr() string {
	return fmt.Sprintf("in1_features=%d, in2_features=%d, out_features=%d, bias=%s", m.In1Features, m.In2Features,
		m.OutFeatures, pyBool(m.Bias != nil))
}
